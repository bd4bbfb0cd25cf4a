import type { WalletView } from '../contract/wallet.ts'
import { misuse } from '../lib/refusal.ts'
import { clientCommand } from './client-command.ts'
import { idempotencyHeaders } from './idempotency.ts'
import { card } from './show.ts'

export const credit = clientCommand({
  usage: 'wallet credit ACCOUNT AMOUNT [--note TEXT] [--idempotency-key KEY]',
  argCount: 2,
  options: { note: { type: 'string' }, 'idempotency-key': { type: 'string' } },
  call(given) {
    const amount = given.args[1]!
    if (!/^\d+(\.\d+)?$/.test(amount)) {
      throw misuse('AMOUNT must be a number of currency units, such as 25 or 0.5.')
    }
    const body = { amount: Number(amount), note: given.text('note') }
    return given.client.admin(
      'POST',
      `/accounts/${given.pathArgs[0]}/credits`,
      body,
      idempotencyHeaders(given),
    )
  },
  show(answer) {
    const { balance, held, captured, credited, currency } = answer['data'] as WalletView
    return card([
      ['balance', `${balance} ${currency}`],
      ['held', held],
      ['captured', captured],
      ['credited', credited],
    ])
  },
})
