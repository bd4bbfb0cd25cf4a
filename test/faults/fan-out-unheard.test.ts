import { afterEach, beforeEach, expect, test } from 'vitest'
import type { VerificationAttempt } from '../../src/contract/verification.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { startTestApp, type TestAccount, type TestApp } from '../support/app.ts'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'
import { verifications } from '../support/verification.ts'
import { type DatabaseProxy, startDatabaseProxy } from './support/database-proxy.ts'

/**
 * A code is sent on two channels, and the response of the database to a query for the second one is lost. The
 * response under the idempotency key must stay the same after that, and be true.
 */
let database: TestDatabase
let proxy: DatabaseProxy
let node: TestApp
let account: TestAccount

beforeEach(async () => {
  database = await createTestDatabase()
  proxy = await startDatabaseProxy(database.url)
  node = await startTestApp({ database, databaseUrl: proxy.url })
  account = await node.createAccount()
  const answer = await node.call('/api/v2/account', {
    method: 'PATCH',
    key: account.liveKey,
    body: { verification: { channels: ['local_sms', 'official_chatapp'] } },
  })
  expect(answer.status).toBe(200)
  await node.pass(300)
})
afterEach(async () => {
  proxy.set('open')
  await node.stop()
  await proxy.close()
  await database.drop()
})

/** On both channels: accepted by the sandbox at once, or only after the longest wait of a request. */
const QUICK = '+12025550199'
const SLOW = '+12025550006'

const start = (to = QUICK, on = node, idempotencyKey = 'both') =>
  verifications(on, account).post('send', { to }, { live: true, idempotencyKey })

type Deliveries = NonNullable<VerificationAttempt['deliveries']>

/** The response that a client gets in the end when it repeats the request. */
async function finalResponse(to = QUICK, on = node): Promise<{ text: string; deliveries: Deliveries }> {
  const { text, body } = await on.until(
    () => start(to, on),
    ({ status }) => status === 200,
  )
  return { text, deliveries: (body as VerificationAttempt).deliveries! }
}

/** Expects that exactly the deliveries of the response are sent, once and paid for, and that the key replays the response. */
async function expectKept(
  { text, deliveries }: Awaited<ReturnType<typeof finalResponse>>,
  to = QUICK,
): Promise<void> {
  const messages = await node.until(
    () => account.messages(),
    all => all.every(({ status }) => ['delivered', 'read', 'cancelled'].includes(status)),
  )
  const sent = messages.filter(({ status }) => status !== 'cancelled')
  expect(sent.map(({ messageId }) => messageId).sort()).toEqual(
    deliveries.map(({ messageId }) => messageId).sort(),
  )
  expect((await account.inbox(to)).map(({ channel }) => channel).sort()).toEqual(
    deliveries.map(({ channel }) => channel).sort(),
  )
  const { held, captured } = await account.wallet()
  const cost = sent.reduce((sum, { billing }) => sum + billing.cost, 0)
  expect([held, captured]).toEqual([0, expect.closeTo(cost, 6)])
  expect(await start(to)).toMatchObject({ status: 200, text })
}

test('a second delivery that is withdrawn is not in the response', async () => {
  // Every response is lost until the request ends: a slow node might repeat the query before that, and succeed.
  const losing = proxy.loseEvery('accept_sends')
  const [first] = await Promise.all([start(), losing.first])
  losing.stop()
  expect(first).toMatchObject({ status: 503, body: { code: 'SERVICE_UNAVAILABLE' } })
  await node.until(
    () => account.messages('?status=cancelled'),
    cancelled => cancelled.length === 1,
  )
  const again = await finalResponse()
  expect(again.deliveries.map(({ channel }) => channel)).toEqual(['local_sms'])
  await expectKept(again)
}, 60_000)

test('a second delivery whose acceptance got no response in the first request is in the next response', async () => {
  const lost = proxy.loseAt('fix_answer', 'after')
  const [first] = await Promise.all([start(SLOW), lost])
  expect(first).toMatchObject({ status: 503, body: { code: 'SERVICE_UNAVAILABLE' } })
  const again = await finalResponse(SLOW)
  expect(again.deliveries.map(({ channel }) => channel)).toEqual(['local_sms', 'official_chatapp'])
  await expectKept(again, SLOW)
}, 60_000)

/** Each node has a clock of its own, unless it uses that of the machine. */
test('a second delivery that another node has reported is not withdrawn', async () => {
  const [one, other] = await Promise.all([
    startTestApp({ database, databaseUrl: proxy.url, clock: systemClock }),
    startTestApp({ database, clock: systemClock }),
  ])
  try {
    expect((await start('+12025550198', one, 'warm')).status).toBe(200)
    proxy.deafenAt('accept_sends')
    expect((await start(QUICK, one)).status).toBe(503)
    const again = await finalResponse(QUICK, other)
    expect(again.deliveries.map(({ channel }) => channel)).toEqual(['local_sms', 'official_chatapp'])
    proxy.set('open')
    expect(await finalResponse(QUICK, one)).toEqual(again)
    // The first delivery was begun and never concluded; the second one was never begun.
    await other.until(
      () => other.call(`/api/v2/messages/${again.deliveries[1]!.messageId}`, { key: account.liveKey }),
      ({ body }) => ['sent', 'delivered', 'read'].includes((body['data'] as { status: string }).status),
    )
    expect(await finalResponse(QUICK, other)).toEqual(again)
  } finally {
    await Promise.all([one.stop(), other.stop()])
  }
}, 60_000)
