import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { AdminAccountWithKeys } from '../../../src/contract/admin.ts'
import { PERMISSIONS } from '../../../src/contract/enums.ts'
import { replacePools, selectAccountForUpdate } from '../../../src/core/accounts/store.ts'
import { acceptSends, settleAttempts } from '../../../src/core/messages/hot-store.ts'
import type { Db } from '../../../src/infra/db.ts'
import { type AccountId, toUuid } from '../../../src/lib/ids.ts'
import { faultPaths } from '../../support/app.ts'
import { crossLocks } from '../../support/cross-locks.ts'
import { createFakeClock } from '../../support/fake-clock.ts'
import { acceptRow, settleRow } from '../../support/message-rows.ts'
import { type Operator, startOperator } from '../../support/operator.ts'
import { BASIC_ACCOUNT } from '../../support/rooms.ts'

const clock = createFakeClock(Date.UTC(2026, 10, 20, 12))
let operator: Operator

beforeAll(async () => {
  operator = await startOperator({ clock })
})
afterAll(() => operator.stop())

const FULL = {
  ...BASIC_ACCOUNT,
  plan: {
    name: 'gold',
    status: 'inactive',
    allowsScheduling: false,
    pool: [
      { channels: ['local_sms', 'int_sms'], limit: 100 },
      { channels: ['email_user'], limit: 5 },
    ],
    bulkCeilingPerSecond: 3,
    rateLimitPerSecond: 4,
    verificationRateLimitPerSecond: 5,
  },
  balance: 12.345678,
}

async function create(change: object = {}) {
  const { status, body } = await operator.admin('POST', '/accounts', { ...BASIC_ACCOUNT, ...change })
  expect(status).toBe(201)
  return body['data'] as { account: AdminAccountWithKeys; liveKey: string; testKey: string }
}

async function read(id: string): Promise<AdminAccountWithKeys> {
  const { status, body } = await operator.admin('GET', `/accounts/${id}`)
  expect(status).toBe(200)
  return body['data'] as AdminAccountWithKeys
}

describe('POST /api/admin/accounts', () => {
  test('creates an account with its plan, pools, balance and two working owner keys', async () => {
    const answer = await operator.admin('POST', '/accounts', FULL)
    expect(answer.status).toBe(201)
    expect(answer.body).toEqual({
      success: true,
      data: {
        account: {
          id: expect.stringMatching(/^acc_[0-9a-z]{26}$/),
          name: 'Acme',
          status: 'active',
          homeCountry: 'US',
          currency: 'USD',
          phone: { number: '+12025550123', verified: true },
          quietHours: null,
          verification: {
            codeLength: 6,
            validityMinutes: 10,
            channels: [],
            templateId: null,
            channelOrder: 'policy',
            trialPercent: 5,
          },
          plan: {
            ...FULL.plan,
            pool: FULL.plan.pool.map(pool => ({ ...pool, used: 0, resetsAt: '2026-12-01T00:00:00.000Z' })),
          },
          wallet: { balance: 12.345678, held: 0, captured: 0, credited: 12.345678, currency: 'USD' },
          createdAt: '2026-11-20T12:00:00.000Z',
        },
        liveKey: expect.stringMatching(/^ph_live_/),
        testKey: expect.stringMatching(/^ph_test_/),
      },
    })
    const { account, liveKey, testKey } = answer.body['data'] as Awaited<ReturnType<typeof create>>
    for (const [key, mode] of [
      [liveKey, 'live'],
      [testKey, 'test'],
    ] as const) {
      expect(await operator.rooms.keys.lookup(key)).toMatchObject({
        mode,
        role: 'owner',
        permissions: new Set(PERMISSIONS),
        account: { id: account.id },
      })
    }
    const { keys } = await read(account.id)
    expect(keys.map(({ mode }) => mode)).toEqual(['test', 'live'])
    expect(JSON.stringify(keys)).not.toContain(liveKey)
  })

  test('applies the defaults where phone, plan and other optional fields are null', async () => {
    const { account } = await create({ phone: null, plan: null, quietHours: null, verification: null })
    expect(account).toMatchObject({
      phone: { number: null, verified: false },
      plan: {
        name: 'default',
        status: 'active',
        allowsScheduling: true,
        pool: [],
        bulkCeilingPerSecond: 10,
        rateLimitPerSecond: 50,
        verificationRateLimitPerSecond: 10,
      },
      wallet: { balance: 0, credited: 0 },
    })
  })

  test('creates one account per idempotency key and returns its API keys only once', async () => {
    const make = (change: object = {}, key = 'customer 7') =>
      operator.admin('POST', '/accounts', { ...FULL, ...change }, { 'idempotency-key': key })
    const answers = await Promise.all(Array.from({ length: 8 }, () => make()))
    expect(answers.map(answer => answer.status)).toEqual(Array(8).fill(201))
    const made = answers.map(({ body }) => body['data'] as Awaited<ReturnType<typeof create>>)
    expect(new Set(made.map(({ account }) => account.id)).size).toBe(1)
    expect(made.filter(({ liveKey, testKey }) => liveKey !== null && testKey !== null)).toHaveLength(1)
    expect(answers.filter(({ headers }) => !headers.has('idempotency-replayed'))).toHaveLength(1)

    const { account } = made[0]!
    const renamed = await operator.admin('PATCH', `/accounts/${account.id}`, { name: 'Renamed' })
    expect(renamed.status).toBe(200)
    expect((await make()).body['data']).toMatchObject({
      account: { id: account.id, name: 'Renamed', wallet: { credited: 12.345678 } },
      liveKey: null,
      testKey: null,
    })
    expect(await make({ balance: 1 })).toMatchObject({
      status: 409,
      body: { code: 'IDEMPOTENCY_KEY_CONFLICT' },
    })
    const other = await make({}, 'customer 8')
    expect((other.body['data'] as (typeof made)[0]).account.id).not.toBe(account.id)
    expect(faultPaths(await make({}, 'x'.repeat(201)))).toEqual(['Idempotency-Key'])
    // A rejected request does not use up the key: a corrected one succeeds with it.
    expect((await make({ name: '' }, 'customer 9')).status).toBe(400)
    expect((await make({}, 'customer 9')).status).toBe(201)
  })

  test.each<[string, object, string[]]>([
    ['no name', { name: undefined }, ['name']],
    ['an empty name', { name: '' }, ['name']],
    ['a blank name', { name: ' \u00a0 ' }, ['name']],
    ['a name in two lines', { name: 'Acme\nInc' }, ['name']],
    ['an unknown country', { homeCountry: 'XX' }, ['homeCountry']],
    ['a country given by its name', { homeCountry: 'Egypt' }, ['homeCountry']],
    ['an unknown currency', { currency: 'ABC' }, ['currency']],
    ['an invalid phone number', { phone: { number: '0123', verified: true } }, ['phone.number']],
    ['a verified phone without a number', { phone: { verified: true } }, ['phone.number']],
    [
      'a verified phone with a null for its number',
      { phone: { number: null, verified: true } },
      ['phone.number'],
    ],
    ['a phone that is not an object', { phone: '+12025550123' }, ['phone']],
    ['a negative balance', { balance: -0.01 }, ['balance']],
    ['a balance with seven decimals', { balance: 0.0000001 }, ['balance']],
    ['a balance given as a string', { balance: '100' }, ['balance']],
    [
      'a pool with a negative limit',
      { plan: { pool: [{ channels: ['int_sms'], limit: -1 }] } },
      ['plan.pool[0].limit'],
    ],
    [
      'a pool with an unknown channel',
      { plan: { pool: [{ channels: ['fax'], limit: 1 }] } },
      ['plan.pool[0].channels[0]'],
    ],
    ['a rate limit of zero', { plan: { rateLimitPerSecond: 0 } }, ['plan.rateLimitPerSecond']],
    [
      'several faults',
      { homeCountry: 'XX', currency: 'ABC', balance: -1 },
      ['homeCountry', 'currency', 'balance'],
    ],
  ])('rejects %s, names its path, and stores nothing', async (_, change, paths) => {
    const count = async () => (await operator.rooms.accountAdmin.list({ limit: 500 })).data.length
    const before = await count()
    const answer = await operator.admin('POST', '/accounts', { ...BASIC_ACCOUNT, ...change })
    expect(answer.status).toBe(400)
    expect(answer.body).toMatchObject({ success: false, code: 'VALIDATION_ERROR' })
    expect(faultPaths(answer)).toEqual(paths)
    expect(await count()).toBe(before)
  })

  test.each([null, 'Bearer wrong', 'Basic abc'])(
    'returns 401 without the operator token (%s)',
    async authorization => {
      const headers: Record<string, string> = authorization === null ? {} : { authorization }
      const answer = await operator.frame.call('POST', '/api/admin/accounts', {
        headers,
        body: BASIC_ACCOUNT,
      })
      expect(answer).toMatchObject({ status: 401, body: { code: 'UNAUTHORIZED' } })
    },
  )
})

describe('GET /api/admin/accounts', () => {
  test('pages through the accounts, newest first', async () => {
    const made = [await create(), await create(), await create()].map(({ account }) => account.id)
    const first = await operator.admin('GET', '/accounts?limit=2')
    const ids = (first.body['data'] as { id: string }[]).map(({ id }) => id)
    expect(ids).toEqual([made[2], made[1]])
    const second = await operator.admin('GET', `/accounts?limit=2&cursor=${first.body['nextCursor']}`)
    expect((second.body['data'] as { id: string }[])[0]!.id).toBe(made[0])
    const whole = await operator.admin('GET', '/accounts?limit=500')
    expect(whole.body['nextCursor']).toBeNull()
  })

  test('finds accounts by part of a name in whatever case, page by page, and one by its id', async () => {
    const first = await create({ name: 'Käse 100% North' })
    const second = await create({ name: 'KÄSE 100% South' })
    await create({ name: 'Käse 1000' })
    const find = async (q: string, more = '') => {
      const { body } = await operator.admin('GET', `/accounts?q=${encodeURIComponent(q)}${more}`)
      return { ids: (body['data'] as { id: string }[]).map(({ id }) => id), next: body['nextCursor'] }
    }
    const both = { ids: [second.account.id, first.account.id], next: null }
    expect(await find('käse 100%')).toEqual(both)
    expect(await find('KÄSE 100%')).toEqual(both)
    const page = await find('käse 100%', '&limit=1')
    expect(page.ids).toEqual([second.account.id])
    expect(await find('käse 100%', `&limit=1&cursor=${page.next}`)).toEqual({
      ids: [first.account.id],
      next: null,
    })
    expect(await find(first.account.id)).toEqual({ ids: [first.account.id], next: null })
    expect(await find('no account of this name')).toEqual({ ids: [], next: null })
  })

  test.each(['limit=0', 'limit=501', 'limit=x', 'cursor=zzz', 'q=', `q=${'x'.repeat(255)}`])(
    'returns 400 for ?%s',
    async query => {
      expect(await operator.admin('GET', `/accounts?${query}`)).toMatchObject({
        status: 400,
        body: { code: 'VALIDATION_ERROR' },
      })
    },
  )
})

describe('PATCH /api/admin/accounts/{id}', () => {
  test('updates the given fields and leaves the others and the wallet unchanged', async () => {
    const { account } = await create(FULL)
    const change = { name: 'Renamed', homeCountry: 'GB', plan: { allowsScheduling: true }, balance: 999 }
    const { status, body } = await operator.admin('PATCH', `/accounts/${account.id}`, change)
    expect(status).toBe(200)
    expect(body['data']).toMatchObject({
      name: 'Renamed',
      homeCountry: 'GB',
      phone: account.phone,
      plan: { ...account.plan, allowsScheduling: true },
      wallet: account.wallet,
      keys: [expect.anything(), expect.anything()],
    })
  })

  test('keeps the limits of the plan where its own name is given again, and takes those of another plan', async () => {
    const { account } = await create(FULL)
    const patch = async (plan: object) =>
      (await operator.admin('PATCH', `/accounts/${account.id}`, { plan })).body['data']
    expect(await patch({ name: FULL.plan.name, rateLimitPerSecond: 7 })).toMatchObject({
      plan: { ...account.plan, rateLimitPerSecond: 7 },
    })
    expect(await patch({ name: 'silver' })).toMatchObject({
      plan: { name: 'silver', status: 'active', rateLimitPerSecond: 50 },
    })
  })

  test('verifies the phone of an account only when it has a number', async () => {
    const { account } = await create({ phone: null })
    const patch = (phone: object) => operator.admin('PATCH', `/accounts/${account.id}`, { phone })
    const refused = await patch({ verified: true })
    expect([refused.status, faultPaths(refused)]).toEqual([400, ['phone.number']])
    expect((await patch({ verified: false })).status).toBe(200)
    expect((await patch({ number: '+12025550123' })).status).toBe(200)
    expect((await patch({ verified: true })).body['data']).toMatchObject({
      phone: { number: '+12025550123', verified: true },
    })
  })

  test('keeps the usage of a pool when its limit changes, and resets it in a new month', async () => {
    const { account } = await create(FULL)
    await operator.rooms.setUsed(account.id, 'int_sms', 40)
    const pool = [
      { channels: ['int_sms', 'local_sms'], limit: 200 },
      { channels: ['botapp_bot'], limit: 1 },
    ]
    const { body } = await operator.admin('PATCH', `/accounts/${account.id}`, { plan: { pool } })
    const resetsAt = '2026-12-01T00:00:00.000Z'
    expect((body['data'] as AdminAccountWithKeys).plan.pool).toEqual([
      { channels: ['int_sms', 'local_sms'], limit: 200, used: 40, resetsAt },
      { channels: ['botapp_bot'], limit: 1, used: 0, resetsAt },
    ])
    await clock.advance(30 * 86_400_000)
    expect((await read(account.id)).plan.pool[0]).toMatchObject({
      used: 0,
      resetsAt: '2027-01-01T00:00:00.000Z',
    })
  })

  test('keeps the usage of a pool that another change is adding meanwhile', async () => {
    const { account } = await create()
    const accountId = account.id as AccountId
    const pool = { channels: ['int_sms'] as const, limit: 100 }
    async function addUsedPool(tx: Db): Promise<void> {
      await selectAccountForUpdate(tx, accountId)
      await replacePools(tx, accountId, [{ id: 1, ...pool }], clock.now() + 86_400_000)
      const text = 'update pools set used = 40 where account_id = $1'
      await tx.query({ name: 'test_use_pool', text, values: [toUuid(accountId)] })
    }
    const replacePool = () => operator.admin('PATCH', `/accounts/${account.id}`, { plan: { pool: [pool] } })
    await crossLocks(operator.db, addUsedPool, replacePool, async () => {})
    expect((await read(account.id)).plan.pool).toMatchObject([{ ...pool, used: 40 }])
  })

  test('does not return a failed message to a pool created after the pool that counted it', async () => {
    const { account } = await create(FULL)
    const accountId = account.id as AccountId
    const { ids } = operator.rooms
    const { db } = operator
    const of = {
      accountId,
      id: ids.next('msg'),
      connectionId: ids.next('cnn'),
      eventId: ids.next('evt'),
      dueAt: clock.now(),
    }
    await acceptSends(db, 1, clock.now(), [acceptRow(of, { channel: 'email_user', pooled: true })], false)
    const change = (...pool: object[]) =>
      operator.admin('PATCH', `/accounts/${account.id}`, { plan: { pool } })
    const [first] = FULL.plan.pool
    await change(first!)
    await change(first!, { channels: ['botapp_bot'], limit: 5 })
    await operator.rooms.setUsed(account.id, 'botapp_bot', 3)
    await settleAttempts(db, clock.now(), [settleRow(of, { kind: 'failed' })], false)
    expect((await read(account.id)).plan.pool[1]).toMatchObject({ channels: ['botapp_bot'], used: 3 })
  })

  test('returns 409 for a change of currency once the wallet was credited', async () => {
    const rich = await create({ balance: 1 })
    const poor = await create()
    expect(await operator.admin('PATCH', `/accounts/${rich.account.id}`, { currency: 'EUR' })).toMatchObject({
      status: 409,
      body: { code: 'CONFLICT' },
    })
    expect(await operator.admin('PATCH', `/accounts/${poor.account.id}`, { currency: 'EUR' })).toMatchObject({
      status: 200,
      body: { data: { currency: 'EUR', wallet: { currency: 'EUR' } } },
    })
  })

  test('rejects an invalid field and leaves the account unchanged', async () => {
    const { account } = await create()
    const answer = await operator.admin('PATCH', `/accounts/${account.id}`, {
      name: 'New',
      homeCountry: 'XX',
    })
    expect(answer.status).toBe(400)
    expect((await read(account.id)).name).toBe('Acme')
  })

  test.each(['PATCH', 'GET'])('%s returns 404 for an unknown id', async method => {
    for (const id of [operator.rooms.ids.next('acc'), 'acc_1', 'x']) {
      const body = method === 'PATCH' ? {} : undefined
      expect(await operator.admin(method, `/accounts/${id}`, body)).toMatchObject({
        status: 404,
        body: { success: false, code: 'NOT_FOUND' },
      })
    }
  })
})

describe('keys of an account', () => {
  const KEY = { name: 'CI', mode: 'live', role: 'member', permissions: ['messages:read'] }

  test('are created, and stop working once revoked; a repeated revoke changes nothing', async () => {
    const { account } = await create()
    const made = await operator.admin('POST', `/accounts/${account.id}/keys`, KEY)
    expect(made.status).toBe(201)
    const { key, apiKey } = made.body['data'] as { key: { id: string }; apiKey: string }
    expect(key).toMatchObject({ ...KEY, prefix: apiKey.slice(0, 12), expiresAt: null, revokedAt: null })
    expect((await operator.frame.call('GET', '/api/v2/account', { key: apiKey })).status).toBe(200)

    const path = `/accounts/${account.id}/keys/${key.id}`
    const revoked = await operator.admin('DELETE', path)
    expect(revoked).toMatchObject({
      status: 200,
      body: { data: { id: key.id, revokedAt: expect.any(String) } },
    })
    await operator.rooms.caughtUp()
    expect((await operator.frame.call('GET', '/api/v2/account', { key: apiKey })).status).toBe(401)
    await clock.advance(5_000)
    expect((await operator.admin('DELETE', path)).body).toEqual(revoked.body)
    // Only the response to its creation contains the whole key.
    const shown = await operator.admin('GET', `/accounts/${account.id}`)
    expect(shown.text).toContain(key.id)
    for (const { text } of [shown, revoked]) expect(text).not.toContain(apiKey)
  })

  test.each<[string, object, string]>([
    ['an unknown mode', { mode: 'prod' }, 'mode'],
    ['an unknown role', { role: 'admin' }, 'role'],
    ['an unknown permission', { permissions: ['messages:read', 'root'] }, 'permissions[1]'],
    ['no permissions', { permissions: undefined }, 'permissions'],
    ['a past expiry', { expiresAt: '2020-01-01T00:00:00Z' }, 'expiresAt'],
    ['an expiry without a zone', { expiresAt: '2040-01-01T00:00:00' }, 'expiresAt'],
    ['an expiry on a day that does not exist', { expiresAt: '2040-02-30T00:00:00Z' }, 'expiresAt'],
  ])('with %s are rejected', async (_, change, path) => {
    const { account } = await create()
    const answer = await operator.admin('POST', `/accounts/${account.id}/keys`, { ...KEY, ...change })
    expect(answer.status).toBe(400)
    expect(faultPaths(answer)).toEqual([path])
  })

  test('of another account return 404, as does an unknown account', async () => {
    const [one, two] = [await create(), await create()]
    const { keys } = await read(two.account.id)
    expect((await operator.admin('DELETE', `/accounts/${one.account.id}/keys/${keys[0]!.id}`)).status).toBe(
      404,
    )
    expect(
      (await operator.admin('POST', `/accounts/${operator.rooms.ids.next('acc')}/keys`, KEY)).status,
    ).toBe(404)
  })
})

describe('POST /api/admin/accounts/{id}/credits', () => {
  test('returns the updated wallet and the ledger entry', async () => {
    const { account } = await create({ balance: 1 })
    const answer = await operator.admin('POST', `/accounts/${account.id}/credits`, {
      amount: 2.5,
      note: 'June',
    })
    expect(answer.status).toBe(201)
    expect(answer.body['data']).toMatchObject({
      balance: 3.5,
      held: 0,
      captured: 0,
      credited: 3.5,
      currency: 'USD',
      entry: { type: 'credit', amount: 2.5, note: 'June' },
    })
  })

  test('credits once per idempotency key, also under concurrency, and returns 409 for another amount or note', async () => {
    const { account } = await create({ balance: 1 })
    const path = `/accounts/${account.id}/credits`
    const credit = (amount: number, key = 'invoice 18', note = 'June') =>
      operator.admin('POST', path, { amount, note }, { 'idempotency-key': key })
    const answers = await Promise.all(Array.from({ length: 8 }, () => credit(2.5)))
    expect(answers.map(answer => answer.status)).toEqual(Array(8).fill(201))
    expect(
      new Set(answers.map(({ body }) => (body['data'] as { entry: { id: string } }).entry.id)).size,
    ).toBe(1)
    expect(answers.filter(({ headers }) => !headers.has('idempotency-replayed'))).toHaveLength(1)
    expect((await credit(2.5)).body['data']).toMatchObject({
      balance: 3.5,
      entry: { amount: 2.5, note: 'June' },
    })
    for (const other of [await credit(5), await credit(2.5, 'invoice 18', 'July')]) {
      expect(other).toMatchObject({ status: 409, body: { code: 'IDEMPOTENCY_KEY_CONFLICT' } })
    }
    expect((await credit(5, 'invoice 19')).body['data']).toMatchObject({ balance: 8.5 })
    expect(faultPaths(await credit(5, 'x'.repeat(201)))).toEqual(['Idempotency-Key'])
  })

  test.each([0, -5, '5', null, 0.0000001])('returns 400 for an amount of %s', async amount => {
    const { account } = await create()
    const answer = await operator.admin('POST', `/accounts/${account.id}/credits`, { amount })
    expect(answer.status).toBe(400)
    expect(faultPaths(answer)).toEqual(['amount'])
  })
})
