import { afterAll, beforeAll, expect, test } from 'vitest'
import { PERMISSIONS } from '../../../src/contract/enums.ts'
import { createFakeClock } from '../../support/fake-clock.ts'
import { type Operator, startOperator } from '../../support/operator.ts'
import { BASIC_ACCOUNT } from '../../support/rooms.ts'

const clock = createFakeClock(Date.UTC(2026, 11, 31, 23, 59, 59))
let operator: Operator

beforeAll(async () => {
  operator = await startOperator({ clock })
})
afterAll(() => operator.stop())

test('GET /api/v2/account returns account, wallet, plan, key and senders; pool usage resets each month', async () => {
  const { account, liveKey } = await operator.rooms.accountAdmin.create({
    ...BASIC_ACCOUNT,
    plan: { pool: [{ channels: ['email_user'], limit: 3 }] },
    balance: 7.5,
  })
  await operator.rooms.setUsed(account.id, 'email_user', 2)
  const before = await operator.frame.call('GET', '/api/v2/account', { key: liveKey })
  const data = {
    id: account.id,
    name: 'Acme',
    status: 'active',
    homeCountry: 'US',
    phone: { number: '+12025550123', verified: true },
    currency: 'USD',
    quietHours: null,
    verification: { codeLength: 6, validityMinutes: 10, channels: [], templateId: null },
    wallet: { balance: 7.5, held: 0 },
    plan: {
      name: 'default',
      status: 'active',
      allowsScheduling: true,
      pool: [{ channels: ['email_user'], limit: 3, used: 2, resetsAt: '2027-01-01T00:00:00.000Z' }],
    },
    key: {
      id: expect.stringMatching(/^key_/),
      name: 'Owner (live)',
      prefix: liveKey.slice(0, 12),
      mode: 'live',
      permissions: [...PERMISSIONS],
    },
    smsSenders: [],
    officialSenders: [],
  }
  expect(before).toMatchObject({ status: 200, body: { success: true, data } })
  expect(Object.keys(before.body['data'] as object)).toEqual(Object.keys(data))

  await clock.advance(1_000)
  const after = await operator.frame.call('GET', '/api/v2/account', { key: liveKey })
  expect(after.body).toMatchObject({
    data: { plan: { pool: [{ used: 0, resetsAt: '2027-02-01T00:00:00.000Z' }] } },
  })
})

test('account and wallet reads need a valid key, but no permission and no verified phone', async () => {
  const { account } = await operator.rooms.accountAdmin.create({ ...BASIC_ACCOUNT, phone: {} })
  const { apiKey } = await operator.rooms.accountAdmin.createKey(
    account.id,
    { name: 'Bare', mode: 'test', role: 'member', permissions: [] },
    { type: 'operator_token', id: null, name: 'Operator token' },
  )
  for (const path of ['/api/v2/account', '/api/v2/wallet', '/api/v2/wallet/ledger']) {
    expect((await operator.frame.call('GET', path, { key: apiKey })).status).toBe(200)
    expect((await operator.frame.call('GET', path, { key: null })).status).toBe(401)
    expect((await operator.frame.call('GET', path, { key: `${apiKey}x` })).status).toBe(401)
  }
})
