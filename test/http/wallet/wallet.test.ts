import { afterAll, beforeAll, expect, test } from 'vitest'
import type { LedgerEntry } from '../../../src/contract/wallet.ts'
import { type Operator, startOperator } from '../../support/operator.ts'
import { BASIC_ACCOUNT } from '../../support/rooms.ts'

let operator: Operator

beforeAll(async () => {
  operator = await startOperator()
})
afterAll(() => operator.stop())

test('GET /api/v2/wallet and its ledger return the data of the key’s own account only', async () => {
  const [one, other] = await Promise.all(
    [1.25, 40].map(balance => operator.rooms.accountAdmin.create({ ...BASIC_ACCOUNT, balance })),
  )
  await operator.rooms.wallets.credit(one!.account.id, { amount: 0.75, note: 'Top up' })
  const wallet = await operator.frame.call('GET', '/api/v2/wallet', { key: one!.liveKey })
  expect(wallet).toMatchObject({
    status: 200,
    body: { success: true, data: { balance: 2, held: 0, captured: 0, credited: 2, currency: 'USD' } },
  })

  const page = await operator.frame.call('GET', '/api/v2/wallet/ledger?limit=1', { key: one!.liveKey })
  const [first] = page.body['data'] as LedgerEntry[]
  expect(first).toMatchObject({ type: 'credit', amount: 0.75, note: 'Top up', currency: 'USD' })
  const cursor = page.body['nextCursor'] as string
  const rest = await operator.frame.call('GET', `/api/v2/wallet/ledger?cursor=${cursor}`, {
    key: one!.liveKey,
  })
  expect(rest.body).toMatchObject({ data: [{ amount: 1.25, note: 'Opening balance' }], nextCursor: null })

  const foreign = await operator.frame.call('GET', '/api/v2/wallet/ledger', { key: other!.liveKey })
  expect((foreign.body['data'] as LedgerEntry[]).map(({ amount }) => amount)).toEqual([40])
})

test.each([
  'limit=0',
  'limit=501',
  'limit=1.5',
  'cursor=nonsense',
  'cursor=',
  'source=pool',
  'createdAfter=yesterday',
  'createdBefore=',
])('GET /api/v2/wallet/ledger?%s is rejected', async query => {
  const { liveKey } = await operator.rooms.accountAdmin.create(BASIC_ACCOUNT)
  const answer = await operator.frame.call('GET', `/api/v2/wallet/ledger?${query}`, { key: liveKey })
  expect(answer).toMatchObject({ status: 400, body: { success: false, code: 'VALIDATION_ERROR' } })
})
