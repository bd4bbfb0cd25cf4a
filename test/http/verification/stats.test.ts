import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { StatsRow } from '../../../src/contract/verification-stats.ts'
import { toUuid } from '../../../src/lib/ids.ts'
import { startTestApp, type TestAccount, type TestApp } from '../../support/app.ts'
import { codeFor, type Verifications, verifications, wrongCode } from '../../support/verification.ts'

let app: TestApp
let account: TestAccount
let ver: Verifications

beforeAll(async () => {
  app = await startTestApp({ startMs: NOON_MS })
})
afterAll(() => app.stop())
beforeEach(async () => {
  account = await app.createAccount({ plan: { verificationRateLimitPerSecond: 100_000 } })
  ver = verifications(app, account)
})

/** Noon of today, so that no test runs into the next day. */
const NOON_MS = Math.floor(Date.now() / 86_400_000) * 86_400_000 + 43_200_000
const LIVE = { live: true }
const today = () => new Date(app.now()).toISOString().slice(0, 10)

async function stats(query = '', key = account.liveKey): Promise<StatsRow[]> {
  const answer = await app.call(`/api/v2/verification/stats${query}`, { key })
  expect(answer.status, answer.text).toBe(200)
  return answer.body['data'] as StatsRow[]
}

async function confirm(to: string, verificationId: string, options = LIVE): Promise<void> {
  const answer = await ver.post('verify', { verificationId, code: await codeFor(account, to) }, options)
  expect(answer.status, answer.text).toBe(200)
}

/** The totals counted directly from verifications and messages. */
async function counted(): Promise<Partial<StatsRow>> {
  const { rows } = await app.db.query<Record<string, number>>({
    name: 'count_verifications',
    text: `with v as (select * from verifications where account_id = $1 and live),
                m as (select m.* from v cross join unnest(v.messages) i (id)
                        join messages m on m.account_id = v.account_id and m.id = i.id)
           select (select count(*) from v where status = 'verified' or exists (
                     select from messages m where m.account_id = v.account_id and m.id = any (v.messages)
                        and m.status in ('sent', 'delivered', 'read', 'undelivered'))) as started,
                  (select count(*) from m where status in ('sent', 'delivered', 'read', 'undelivered')) as sent,
                  (select count(*) from m where status in ('delivered', 'read')) as delivered,
                  (select count(*) from v where status = 'verified') as verified,
                  (select coalesce(sum(amount), 0)::bigint from m where money = 'captured' and funding = 'wallet') as cost,
                  (select count(*) from verification_blocks where account_id = $1 and action = 'blocked') as blocked`,
    values: [toUuid(account.id as `acc_${string}`)],
  })
  const { cost, ...rest } = rows[0]!
  return { ...rest, cost: cost! / 1_000_000 }
}

/** What is counted of the account's codes so far; reading the stats would count the newest anew. */
async function countedSoFar(): Promise<{ sent: number; verified: number }> {
  const { rows } = await app.db.query<{ sent: number; verified: number }>({
    name: 'counted_so_far',
    text: `select coalesce(sum(sent), 0)::integer as sent, coalesce(sum(verified), 0)::integer as verified
             from verification_totals where account_id = $1`,
    values: [toUuid(account.id as `acc_${string}`)],
  })
  return rows[0]!
}

/** Codes of the account with a receipt. */
async function countDelivered(): Promise<number> {
  const { rows } = await app.db.query<{ delivered: number }>({
    name: 'delivered_of',
    text: `select count(*)::integer as delivered from messages where account_id = $1 and status = 'delivered'`,
    values: [toUuid(account.id as `acc_${string}`)],
  })
  return rows[0]!.delivered
}

/** Rows of the account's verifications that will be counted again. */
async function countLooks(): Promise<number> {
  const { rows } = await app.db.query({
    name: 'looks_of',
    text: 'select 1 from verification_looks where $1 = any (accounts)',
    values: [toUuid(account.id as `acc_${string}`)],
  })
  return rows.length
}

test('verification stats without data have one row of zeros, and no groups', async () => {
  expect(await stats()).toEqual([
    {
      ...{ day: null, channel: null, country: null, started: 0, sent: 0, delivered: 0, verified: 0 },
      ...{ conversion: null, cost: 0, currency: 'USD', blocked: 0 },
    },
  ])
  expect(await stats('?groupBy=day')).toEqual([])
})

test('verification stats match the stored verifications and messages, at once and later', async () => {
  await app.admin('PUT', `/accounts/${account.id}/fraud`, {
    allowedCountries: { countries: ['US', 'GB', 'DE'] },
  })
  const started: [string, string][] = []
  const endings = ['1111', '1112', '0004', '0005', '1113', '0002', '1114']
  for (const prefix of ['+1305555', '+4474001', '+4915112', '+33612']) {
    for (const ending of endings) {
      const to = `${prefix}${prefix.startsWith('+49') || prefix.startsWith('+33') ? '34' : ''}${prefix.startsWith('+44') ? '2' : ''}${ending}`
      const answer = await ver.post('send', { to }, LIVE)
      if (answer.status === 200) started.push([to, answer.body['verificationId'] as string])
    }
  }
  expect(started.length).toBeGreaterThan(10)
  for (const [at, [to, id]] of started.entries()) if (at % 2 === 0) await confirm(to, id)
  const soon = await stats()
  expect(soon).toMatchObject([await counted()])
  expect(soon[0]!.verified).toBeGreaterThan(3)
  expect(soon[0]!.blocked).toBe(7)

  // Receipts, resends and superseded codes are counted later.
  await app.leap(65_000)
  const [to, id] = started.at(-1)!
  await ver.post('resend', { verificationId: id }, LIVE)
  await ver.post('send', { to }, LIVE)
  await app.leap(3 * 3_600_000)
  const later = await stats()
  expect(later).toMatchObject([await counted()])
  expect(later[0]!.sent).toBeGreaterThan(soon[0]!.sent)
  expect(later[0]!.delivered).toBeGreaterThan(soon[0]!.delivered)
  expect(later[0]!.conversion).toBe(later[0]!.verified / later[0]!.started)

  // The groups add up to the total.
  for (const groupBy of ['day', 'channel', 'country', 'day,channel,country']) {
    const rows = await stats(`?groupBy=${groupBy}`)
    for (const name of ['started', 'sent', 'delivered', 'verified', 'blocked'] as const) {
      expect(
        rows.reduce((sum, row) => sum + row[name], 0),
        `${groupBy} ${name}`,
      ).toBe(later[0]![name])
    }
  }
  const byCountry = await stats('?groupBy=country')
  expect(byCountry.map(({ country }) => country)).toEqual(['DE', 'FR', 'GB', 'US'])
  expect(byCountry[1]).toMatchObject({
    started: 0,
    sent: 0,
    conversion: null,
    blocked: 7,
    day: null,
    channel: null,
  })
})

test('the stats chore counts final verifications once, page by page', async () => {
  for (let n = 0; n < 6; n++) {
    const to = `+1212555${1_100 + n}`
    const { verificationId } = await ver.start({ to }, LIVE)
    await confirm(to, verificationId)
  }
  // A verification that is not final would be checked again only much later.
  await app.until(countDelivered, delivered => delivered === 6)
  // By now all of them are old enough for the chore.
  await app.leap(21 * 60_000)
  await app.until(
    async () => {
      const { rows } = await app.db.query<{ totals: number; open: number }>({
        name: 'totals_of',
        text: `select (select coalesce(sum(verified), 0)::integer from verification_totals where account_id = $1) as totals,
                      (select count(*)::integer from verification_looks where $1 = any (accounts)) as open`,
        values: [toUuid(account.id as `acc_${string}`)],
      })
      return rows[0]!
    },
    ({ totals, open }) => totals === 6 && open === 0,
  )
  expect(await stats('?groupBy=day')).toMatchObject([
    { day: today(), started: 6, verified: 6, conversion: 1 },
  ])
})

test('the stats chore counts a last resend that is allowed although its code has long expired', async () => {
  const shortLived = { verification: { validityMinutes: 2 } }
  expect((await app.admin('PATCH', `/accounts/${account.id}`, shortLived)).status).toBe(200)
  await app.admin('PUT', `/accounts/${account.id}/fraud`, { recipient: { mode: 'off' } })
  const to = '+12125551500'
  const { verificationId, expiresAt } = await ver.start({ to }, LIVE)
  const startedMs = Date.parse(expiresAt) - 120_000
  const resendAt = async (seconds: number) => {
    await app.leap(startedMs + seconds * 1_000 - app.now())
    const answer = await ver.post('resend', { verificationId }, LIVE)
    expect(answer.status, answer.text).toBe(200)
  }
  // Each as late as it is allowed.
  for (const seconds of [115, 225, 455, 800]) await resendAt(seconds)
  await app.until(countDelivered, delivered => delivered === 5)
  await app.leap(startedMs + 1_205_000 - app.now())
  await app.until(countedSoFar, ({ sent }) => sent === 5)
  await resendAt(1_215)
  await confirm(to, verificationId)
  await app.until(countDelivered, delivered => delivered === 6)
  await app.leap(2 * 3_600_000)
  await app.until(countLooks, open => open === 0)
  expect(await countedSoFar()).toEqual({ sent: 6, verified: 1 })
})

test('a verification that failed over to another channel counts for that channel', async () => {
  const to = '+12125550166'
  const { verificationId } = await ver.start({ to, channel: 'local_sms' }, LIVE)
  // The state after a failover.
  await app.db.query({
    name: 'fail_over_to_the_app',
    text: `update messages set channel = 'official_chatapp' where id = $1`,
    values: [toUuid(verificationId as `ver_${string}`)],
  })
  await confirm(to, verificationId)
  expect(await stats('?groupBy=channel')).toMatchObject([
    { channel: 'official_chatapp', started: 1, sent: 1, verified: 1, conversion: 1 },
  ])
})

test('codes paid from the plan’s pool have no cost in the stats', async () => {
  account = await app.createAccount({
    plan: { verificationRateLimitPerSecond: 100_000, pool: [{ channels: ['local_sms'], limit: 2 }] },
  })
  ver = verifications(app, account)
  for (let n = 0; n < 3; n++) await ver.start({ to: `+1212555${1_400 + n}` }, LIVE)
  const { captured } = await account.wallet()
  expect(captured).toBeGreaterThan(0)
  expect(await stats()).toMatchObject([{ started: 3, sent: 3, cost: captured }])
})

test('concurrent reads of the stats count each verification once', async () => {
  for (let n = 0; n < 8; n++) {
    const to = `+1212555${1_300 + n}`
    const { verificationId } = await ver.start({ to }, LIVE)
    if (n % 2 === 0) await confirm(to, verificationId)
  }
  const all = await Promise.all(Array.from({ length: 12 }, () => stats()))
  for (const rows of [...all, await stats()])
    expect(rows).toMatchObject([{ started: 8, sent: 8, verified: 4 }])
})

test('verification stats are separate for each mode and account', async () => {
  const { verificationId } = await ver.start({ to: '+12125550177' })
  const wrong = wrongCode(await codeFor(account, '+12125550177'))
  await ver.post('verify', { verificationId, code: wrong })
  expect(await stats('', account.testKey)).toMatchObject([{ started: 1, sent: 1, verified: 0, cost: 0 }])
  expect(await stats()).toMatchObject([{ started: 0 }])
  const other = await app.createAccount()
  expect(await stats('', other.testKey)).toMatchObject([{ started: 0 }])
})

test('pages of verification stats are in the order of their groups', async () => {
  for (const to of ['+12125550188', '+447400123488', '+4915112345688']) await ver.start({ to }, LIVE)
  const countries: (string | null)[] = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const more: string = cursor === '' ? '' : `&cursor=${cursor}`
    const answer = await app.call(`/api/v2/verification/stats?groupBy=country,channel&limit=1${more}`, {
      key: account.liveKey,
    })
    expect(answer.status, answer.text).toBe(200)
    countries.push(...(answer.body['data'] as StatsRow[]).map(({ country }) => country))
    cursor = answer.body['nextCursor'] as string | null
  }
  expect(countries).toEqual(['DE', 'GB', 'US'])
})

describe('the date range of verification stats', () => {
  test('includes both ends', async () => {
    await ver.start({ to: '+12125550199' }, LIVE)
    expect(await stats(`?from=${today()}&to=${today()}`)).toMatchObject([{ started: 1 }])
    expect(await stats('?from=2020-01-01&to=2020-01-31')).toMatchObject([{ started: 0 }])
    const longAgo = new Date(app.now() - 400 * 86_400_000).toISOString().slice(0, 10)
    expect(await stats(`?from=${longAgo}`)).toMatchObject([{ started: 1 }])
    expect(await stats('?to=0001-01-01')).toMatchObject([{ started: 0 }])
  })

  test.each([
    ['from=yesterday', 'from'],
    ['from=2026-02-31', 'from'],
    ['to=2026-1-1', 'to'],
    ['from=2026-02-02&to=2026-02-01', 'from'],
    ['from=2020-01-01&to=2026-01-01', 'from'],
    ['groupBy=hour', 'groupBy'],
    ['groupBy=day,', 'groupBy'],
    ['cursor=none', 'cursor'],
    ['limit=0', 'limit'],
  ])('rejects ?%s', async (query, path) => {
    const answer = await app.call(`/api/v2/verification/stats?${query}`, { key: account.liveKey })
    expect([answer.status, answer.body['code']]).toEqual([400, 'VALIDATION_ERROR'])
    expect(answer.body['details']).toMatchObject([{ path }])
  })

  test('returns 401 without a key', async () => {
    expect((await app.call('/api/v2/verification/stats')).status).toBe(401)
  })
})
