import { beforeEach, describe, expect, test } from 'vitest'
import type { Outcome, PartIds } from '../../../src/channels/provider.ts'
import type { AccountSnapshot } from '../../../src/contract/caller.ts'
import { type Conclude, createConclude } from '../../../src/core/messages/conclude.ts'
import { createFailover, type FailoverDeps } from '../../../src/core/messages/failover.ts'
import type { SettleRow } from '../../../src/core/messages/hot-store.ts'
import { createReceipts } from '../../../src/core/messages/receipts.ts'
import { createWaiters } from '../../../src/core/messages/waiters.ts'
import type { OutboxItem } from '../../../src/core/outbox/dispatch-port.ts'
import { DatabaseUnavailable, type Db } from '../../../src/infra/db.ts'
import { createIds, toUuid } from '../../../src/lib/ids.ts'
import { createRandom } from '../../../src/lib/random.ts'
import { createFakeClock, type FakeClock } from '../../support/fake-clock.ts'

/** What a provider said is not lost because the database is away at that moment. */

let clock: FakeClock
let ids: ReturnType<typeof createIds>
let item: OutboxItem
let settled: SettleRow[]
let noted: PartIds[]
let failsToNote: boolean
let optOuts: (string | null)[]
/** So many of the next calls find the database away. */
let away: number
let stopping: boolean
let conclude: Conclude

const gone = () => new DatabaseUnavailable(new Error('Connection terminated unexpectedly'))
const refused: Outcome = {
  kind: 'rejected',
  code: 'RECIPIENT_REJECTED',
  detail: 'opted out',
  providerCode: '21610',
  optedOut: true,
}

beforeEach(() => {
  clock = createFakeClock()
  ids = createIds(clock, createRandom())
  item = {
    accountId: ids.next('acc'),
    id: ids.next('msg'),
    connectionId: ids.next('cnn'),
    channel: 'int_sms',
    messageType: 'marketing',
    recipient: '+447700900123',
    sender: null,
    content: { text: 'Sale', subject: null, html: false, attachment: null, context: null },
  }
  settled = []
  noted = []
  failsToNote = false
  optOuts = []
  away = 0
  stopping = false
  conclude = createConclude({
    clock,
    ids,
    random: createRandom(),
    log: { debug() {}, info() {}, warn() {}, error() {} } as never,
    settle: {
      async attempt(row) {
        settled.push(row)
        return { answer: row.answer }
      },
      receipt: async () => false,
      idle: async () => {},
    },
    parts: {
      async store(_, pieces) {
        if (failsToNote) throw new Error('no')
        expect(settled).toHaveLength(noted.length)
        noted.push(pieces)
      },
    },
    seal: { seal: plain => Buffer.from(plain) },
    waiters: createWaiters(),
    stopping: () => stopping,
    failover: { after: async (_, attempt) => ({ kind: 'stays', tries: attempt }) },
    policyOf: () => ({ maxAttempts: 3, backoffMs: 1_000, unknownDeadlineMs: 1_000 }),
    async storeOptOut(_, providerCode) {
      if (away-- > 0) throw gone()
      optOuts.push(providerCode)
    },
  })
})

describe('that a recipient has opted out', () => {
  test('is written down as soon as the database is back, and before the message is settled', async () => {
    away = 3
    const concluded = conclude.attempt(item, 1, refused)
    await clock.advance(500)
    expect([optOuts, settled]).toEqual([[], []])
    await clock.advance(200)
    expect(await concluded).toEqual({ kind: 'settled', applied: true, dueAt: null })
    expect(optOuts).toEqual(['21610'])
    expect(settled).toMatchObject([{ kind: 'failed', errorCode: 'RECIPIENT_REJECTED' }])
  })

  test('does not keep a node that stops', async () => {
    away = Number.POSITIVE_INFINITY
    stopping = true
    await conclude.attempt(item, 1, refused)
    expect([optOuts, settled.length]).toEqual([[], 1])
  })
})

describe('what its provider calls the parts of a message', () => {
  const pieces = { whole: 'a,b', ids: ['a', 'b'], total: 2 }
  const accepted: Outcome = { kind: 'accepted', providerId: 'a,b', parts: 2, pieces }

  test('is noted before the message is settled, whether all of them were taken or not', async () => {
    await conclude.attempt(item, 1, accepted)
    await conclude.attempt(item, 2, { kind: 'unknown', detail: '1 of 2', pieces })
    expect([noted, settled.length]).toEqual([[pieces, pieces], 2])
  })

  test('keeps no message from being settled', async () => {
    failsToNote = true
    await conclude.attempt(item, 1, accepted)
    expect(settled).toMatchObject([{ kind: 'sent', providerId: 'a,b' }])
  })
})

/** A lone half of a pair, and a NUL: no text of the database holds either. */
const UNHEARD = 'no\0\ud83d'

describe('words that the store cannot hold', () => {
  test.each<[Outcome, object]>([
    [
      { kind: 'accepted', providerId: 'id\0', code: UNHEARD },
      { kind: 'sent', providerId: 'id', providerCode: 'no\ufffd' },
    ],
    [
      { kind: 'rejected', code: 'MESSAGE_REJECTED', detail: UNHEARD, providerCode: 'E\0 7' },
      { kind: 'failed', errorDetail: 'no\ufffd', providerCode: 'E 7' },
    ],
    [
      { kind: 'unknown', detail: 'x'.repeat(1_000) },
      { kind: 'unknown', errorDetail: 'x'.repeat(500) },
    ],
    [
      { kind: 'throttled', afterMs: 1, detail: UNHEARD },
      { kind: 'queued', errorDetail: 'no\ufffd' },
    ],
    [
      { kind: 'throttled', afterMs: 1 },
      { kind: 'queued', errorDetail: 'throttled' },
    ],
  ])('do not keep an outcome from being one: %j', async (outcome, row) => {
    await conclude.attempt(item, 1, outcome)
    expect(settled).toMatchObject([row])
  })

  test('nor the parts from being noted', async () => {
    const pieces = { whole: 'a\0,b', ids: ['a\0', 'b'], total: 3 }
    await conclude.attempt(item, 1, { kind: 'unknown', detail: '2 of 3', pieces })
    expect(noted).toEqual([{ whole: 'a,b', ids: ['a', 'b'], total: 3 }])
  })
})

describe('another way for a message that was not taken', () => {
  const failover = () =>
    createFailover({
      clock,
      stopping: () => stopping,
      maxAttempts: () => 3,
      async account() {
        if (away-- > 0) throw gone()
        return { id: item.accountId } as AccountSnapshot
      },
      world: () => ({ connections: [{ id: item.connectionId, channels: ['int_sms'] }] }) as never,
    } as unknown as FailoverDeps)
  const busy = { kind: 'retry', detail: 'busy' } as const

  test('is looked for as soon as the database is back', async () => {
    away = 3
    const onward = failover().after(item, 1, busy)
    await clock.advance(600)
    expect(await onward).toEqual({ kind: 'stays', tries: 1 })
    expect(away).toBe(-1)
  })

  test('does not keep a node that stops', async () => {
    away = Number.POSITIVE_INFINITY
    stopping = true
    await expect(failover().after(item, 1, busy)).rejects.toThrow(DatabaseUnavailable)
  })
})

describe('a code that is to be sent again', () => {
  const retry: Outcome = { kind: 'retry', detail: 'busy' }
  const words = () => settled.map(row => row.secret?.toString() ?? null)

  test('is written down sealed, by whoever still has its words', async () => {
    item = { ...item, messageType: 'otp', content: { ...item.content, text: 'Use 317042' } }
    await conclude.attempt(item, 1, retry)
    await conclude.attempt({ ...item, content: { ...item.content, text: null } }, 1, retry)
    await conclude.notMade({ accountId: item.accountId, id: item.id, connectionId: item.connectionId }, 1)
    expect(words()).toEqual([JSON.stringify({ text: 'Use 317042', subject: null }), null, null])
  })

  test('alone: not what was taken, and nothing that may be read', async () => {
    await conclude.attempt(item, 1, retry)
    await conclude.attempt({ ...item, messageType: 'otp' }, 1, { kind: 'accepted', providerId: 'x1' })
    expect(words()).toEqual([null, null])
  })
})

const TIMES = ['attempt', 'settled', 'scheduled', 'unknown', 'sent', 'delivered', 'read', 'ended'].map(
  name => `${name}_at`,
)

describe('an answer that came late', () => {
  const lateDb = (row: object | null): Db => ({
    async query<R extends object>() {
      if (away-- > 0) throw gone()
      return { rows: (row ? [row] : []) as R[], rowCount: row ? 1 : 0 }
    },
  })
  const row = (more: object = {}) => ({
    id: toUuid(item.id),
    account_id: toUuid(item.accountId),
    connection_id: toUuid(item.connectionId),
    channel: item.channel,
    message_type: item.messageType,
    recipient: item.recipient,
    candidates: item.channel,
    status: 'unknown',
    attempt: 2,
    past_attempts: null,
    content: item.content,
    template_id: null,
    bulk_job_id: null,
    ...Object.fromEntries(TIMES.map(name => [name, null])),
    ...more,
  })
  const receiptsOf = (found: object | null) =>
    createReceipts({
      db: lateDb(found),
      clock,
      ids,
      stopping: () => stopping,
      settle: { attempt: async () => null, receipt: async () => false, idle: async () => {} },
      parts: { joinReceipts: async () => [] },
      conclude,
      handOver() {},
      observe() {},
    })
  const late = () => ({
    accountId: item.accountId,
    attemptId: `${item.id}.2`,
    outcome: { kind: 'accepted', providerId: 'x1' } as const,
  })

  test('is taken when the database is back', async () => {
    away = 5
    const taken = receiptsOf(row()).applyLate(item.connectionId, late())
    await clock.advance(900)
    expect(settled).toEqual([])
    await clock.advance(200)
    await taken
    expect(settled).toMatchObject([{ kind: 'sent', attempt: 2, providerId: 'x1' }])
  })

  test.each<[string, () => object | null]>([
    ['of a message that nobody knows', () => null],
    ['of an attempt that is no longer the last', () => row({ attempt: 3 })],
    ['over another connection', () => row({ connection_id: toUuid(ids.next('cnn')) })],
  ])('%s changes nothing', async (_, found) => {
    await receiptsOf(found()).applyLate(item.connectionId, late())
    expect(settled).toEqual([])
  })
})
