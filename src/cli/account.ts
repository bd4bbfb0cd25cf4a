import type { AdminAccount, AdminAccountWithKeys, AdminKey } from '../contract/admin.ts'
import { misuse } from '../lib/refusal.ts'
import type { Body } from './client.ts'
import { clientCommand, type Invocation } from './client-command.ts'
import { idempotencyHeaders } from './idempotency.ts'
import { PAGE_OPTIONS, queryOf } from './query.ts'
import { card, table } from './show.ts'

export const create = clientCommand({
  usage:
    'account create --name NAME --country US --currency USD [--phone +12025550123] [--verified] [--balance 10] ' +
    '[--plan NAME] [--scheduling] [--pool CHANNEL[,CHANNEL]=LIMIT]… [--idempotency-key KEY]',
  argCount: 0,
  options: {
    name: { type: 'string' },
    country: { type: 'string' },
    currency: { type: 'string' },
    phone: { type: 'string' },
    verified: { type: 'boolean' },
    balance: { type: 'string' },
    plan: { type: 'string' },
    scheduling: { type: 'boolean' },
    pool: { type: 'string', multiple: true },
    'idempotency-key': { type: 'string' },
  },
  call(given) {
    const body = {
      name: given.required('name'),
      homeCountry: given.required('country'),
      currency: given.required('currency'),
      phone: { number: given.text('phone'), verified: given.flag('verified') },
      plan: planOf(given),
      balance: given.number('balance'),
    }
    return given.client.admin('POST', '/accounts', body, idempotencyHeaders(given))
  },
  show(answer) {
    const { account, liveKey, testKey } = answer['data'] as {
      account: AdminAccount
      liveKey: string | null
      testKey: string | null
    }
    if (liveKey === null) {
      return `${cardOf(account)}\n\nAn earlier request with this idempotency key created the account; its API keys cannot be shown again.`
    }
    const keys = card([
      ['live key', liveKey],
      ['test key', testKey],
    ])
    return `${cardOf(account)}\n\nThe keys are shown only once:\n${keys}`
  },
})

function planOf(given: Invocation) {
  return {
    name: given.text('plan'),
    allowsScheduling: given.flag('scheduling') || undefined,
    pool: given.texts('pool')?.map(readPool),
  }
}

function readPool(text: string): { channels: string[]; limit: number } {
  const [, channels, limit] = /^([a-z_,]+)=(\d+)$/.exec(text) ?? []
  if (channels === undefined) {
    throw misuse('--pool must be CHANNEL[,CHANNEL]=LIMIT, such as local_sms,int_sms=1000')
  }
  return { channels: channels.split(','), limit: Number(limit) }
}

export const list = clientCommand({
  usage: 'account list [--find TEXT] [--limit 50] [--cursor CURSOR]',
  argCount: 0,
  options: { find: { type: 'string' }, ...PAGE_OPTIONS },
  call(given) {
    const asked = { limit: 'limit', cursor: 'cursor', q: 'find' }
    return given.client.admin('GET', `/accounts${queryOf(given, asked)}`)
  },
  show: answer =>
    table(
      ['id', 'name', 'status', 'country', 'plan', 'balance', 'held', 'currency'],
      (answer['data'] as AdminAccount[]).map(({ id, name, status, homeCountry, plan, wallet }) => [
        id,
        name,
        status,
        homeCountry,
        plan.name,
        wallet.balance,
        wallet.held,
        wallet.currency,
      ]),
    ),
})

export const show = clientCommand({
  usage: 'account show ACCOUNT',
  argCount: 1,
  call: ({ client, pathArgs }) => client.admin('GET', `/accounts/${pathArgs[0]}`),
  show(answer: Body) {
    const account = answer['data'] as AdminAccountWithKeys
    return `${cardOf(account)}\n\n${keyTable(account.keys)}`
  },
})

function cardOf(account: AdminAccount): string {
  const { plan, wallet, phone } = account
  return card([
    ['id', account.id],
    ['name', account.name],
    ['status', account.status],
    ['home country', account.homeCountry],
    ['phone', `${phone.number ?? '–'} (${phone.verified ? 'verified' : 'not verified'})`],
    ['plan', `${plan.name}, ${plan.status}${plan.allowsScheduling ? ', with scheduling' : ''}`],
    ...plan.pool.map(
      ({ channels, used, limit, resetsAt }) =>
        ['pool', `${channels.join(', ')}: ${used} of ${limit} used, resets at ${resetsAt}`] as const,
    ),
    ['wallet', `${wallet.balance} ${wallet.currency}, ${wallet.held} held`],
    ['created', account.createdAt],
  ])
}

function keyTable(keys: readonly AdminKey[]): string {
  return table(
    ['key', 'name', 'prefix', 'mode', 'role', 'last used', 'expires', 'revoked'],
    keys.map(key => [
      key.id,
      key.name,
      key.prefix,
      key.mode,
      key.role,
      key.lastUsedAt,
      key.expiresAt,
      key.revokedAt,
    ]),
  )
}
