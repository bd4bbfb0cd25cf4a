import { beforeEach, describe, expect, test } from 'vitest'
import type { Outcome, PartIds } from '../../../src/channels/provider.ts'
import type { AccountSnapshot } from '../../../src/contract/caller.ts'
import { type Conclude, createConclude } from '../../../src/core/messages/conclude.ts'
import { createFailover, type FailoverDeps } from '../../../src/core/messages/failover.ts'
import type { SettleRow } from '../../../src/core/messages/hot-store.ts'
import { createReceipts } from '../../../src/core/messages/receipts.ts'
import { createWaiters, type Waiters } from '../../../src/core/messages/waiters.ts'
import type { OutboxItem } from '../../../src/core/outbox/dispatch-port.ts'
import { DatabaseUnavailable, type Db } from '../../../src/infra/db.ts'
import { createIds, toUuid } from '../../../src/lib/ids.ts'
import { createRandom } from '../../../src/lib/random.ts'
import { createFakeClock, type FakeClock, turn } from '../../support/fake-clock.ts'

/** An outcome is not lost if the database is unavailable when it arrives. */

let clock: FakeClock
let ids: ReturnType<typeof createIds>
let item: OutboxItem
let settled: SettleRow[]
let storedParts: PartIds[]
let failsToStoreParts: boolean
let optOuts: (string | null)[]
/** For so many of the next calls the database is unavailable. */
let outages: number
let stopping: boolean
let conclude: Conclude
let waiters: Waiters
/** What `settle` reports as the first answer; undefined for that of the settlement. */
let earlierAnswer: string | undefined
/** What the part ids wait for. */
let partsStored: Promise<void> | undefined

const unavailable = () => new DatabaseUnavailable(new Error('Connection terminated unexpectedly'))
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
  storedParts = []
  failsToStoreParts = false
  optOuts = []
  outages = 0
  stopping = false
  waiters = createWaiters()
  earlierAnswer = undefined
  partsStored = undefined
  conclude = createConclude({
    clock,
    ids,
    random: createRandom(),
    log: { debug() {}, info() {}, warn() {}, error() {} } as never,
    settle: {
      async attempt(row) {
        settled.push(row)
        return { answer: earlierAnswer ?? row.answer }
      },
      receipt: async () => false,
      idle: async () => {},
    },
    parts: {
      async store(_, pieces) {
        if (failsToStoreParts) throw new Error('no')
        expect(settled).toHaveLength(storedParts.length)
        storedParts.push(pieces)
        await partsStored
      },
    },
    seal: { seal: plain => Buffer.from(plain) },
    waiters,
    stopping: () => stopping,
    failover: { after: async (_, attempt) => ({ kind: 'stays', tries: attempt }) },
    policyOf: () => ({ maxAttempts: 3, backoffMs: 1_000, unknownDeadlineMs: 1_000 }),
    async storeOptOut(_, providerCode) {
      if (outages-- > 0) throw unavailable()
      optOuts.push(providerCode)
    },
  })
})

describe('the opt-out of a recipient', () => {
  test('is stored once the database is available again, and before the message is settled', async () => {
    outages = 3
    const concluded = conclude.attempt(item, 1, refused)
    await clock.advance(500)
    expect([optOuts, settled]).toEqual([[], []])
    await clock.advance(200)
    expect(await concluded).toEqual({ kind: 'settled', applied: true, dueAt: null })
    expect(optOuts).toEqual(['21610'])
    expect(settled).toMatchObject([{ kind: 'failed', errorCode: 'RECIPIENT_REJECTED' }])
  })

  test('is stored only if the provider says that it is one', async () => {
    const { optedOut: _, ...other } = refused
    await conclude.attempt(item, 1, other)
    expect([optOuts, settled.length]).toEqual([[], 1])
  })

  test('does not delay a node that is stopping', async () => {
    outages = Number.POSITIVE_INFINITY
    stopping = true
    await conclude.attempt(item, 1, refused)
    expect([optOuts, settled.length]).toEqual([[], 1])
  })
})

describe('the request that waits', () => {
  const claim = { operation: 1, key: 'a key', bodyHash: Buffer.alloc(32) }

  test('keeps its key after a refusal, and loses it if the provider was unavailable', async () => {
    for (const code of ['RECIPIENT_REJECTED', 'PROVIDER_UNAVAILABLE'] as const) {
      void waiters.wait(item.id, claim)
      await conclude.attempt(item, 1, { kind: 'rejected', code, detail: 'no' })
    }
    expect(settled.map(({ keyToFree }) => keyToFree)).toEqual([null, claim])
  })

  test('reads the first answer if another outcome was faster', async () => {
    const first = waiters.wait(item.id, claim)
    await conclude.attempt(item, 1, { kind: 'accepted', providerId: '1' })
    expect(await first).toMatchObject({ answer: 'sent' })
    earlierAnswer = 'queued'
    const other = waiters.wait(item.id, claim)
    await conclude.attempt(item, 1, { kind: 'accepted', providerId: '1' })
    expect(await other).toBeNull()
  })
})

describe('the part ids of a message', () => {
  const pieces = { whole: 'a,b', ids: ['a', 'b'], total: 2 }

  test('hold its settlement back until they are stored', async () => {
    const stored = Promise.withResolvers<void>()
    partsStored = stored.promise
    const concluded = conclude.attempt(item, 1, { kind: 'accepted', providerId: 'a,b', pieces })
    await turn()
    expect([storedParts, settled]).toEqual([[pieces], []])
    stored.resolve()
    await concluded
    expect(settled).toMatchObject([{ kind: 'sent' }])
  })
  const accepted: Outcome = { kind: 'accepted', providerId: 'a,b', parts: 2, pieces }

  test('are stored before the message is settled, whether all parts were taken or not', async () => {
    await conclude.attempt(item, 1, accepted)
    await conclude.attempt(item, 2, { kind: 'unknown', detail: '1 of 2', pieces })
    expect([storedParts, settled.length]).toEqual([[pieces, pieces], 2])
  })

  test('do not prevent the settlement if they cannot be stored', async () => {
    failsToStoreParts = true
    await conclude.attempt(item, 1, accepted)
    expect(settled).toMatchObject([{ kind: 'sent', providerId: 'a,b' }])
  })
})

/** A NUL and a lone surrogate: a text column can store neither. */
const UNSTORABLE = 'no\0\ud83d'

describe('text of a provider that the database cannot store', () => {
  test.each<[Outcome, object]>([
    [
      { kind: 'accepted', providerId: 'id\0', code: UNSTORABLE },
      { kind: 'sent', providerId: 'id', providerCode: 'no\ufffd' },
    ],
    [
      { kind: 'rejected', code: 'MESSAGE_REJECTED', detail: UNSTORABLE, providerCode: 'E\0 7' },
      { kind: 'failed', errorDetail: 'no\ufffd', providerCode: 'E 7' },
    ],
    [
      { kind: 'unknown', detail: 'x'.repeat(1_000) },
      { kind: 'unknown', errorDetail: 'x'.repeat(500) },
    ],
    [
      { kind: 'throttled', afterMs: 1, detail: UNSTORABLE },
      { kind: 'queued', errorDetail: 'no\ufffd' },
    ],
    [
      { kind: 'throttled', afterMs: 1 },
      { kind: 'queued', errorDetail: 'throttled' },
    ],
  ])('is replaced or cut, and the outcome is settled: %j', async (outcome, row) => {
    await conclude.attempt(item, 1, outcome)
    expect(settled).toMatchObject([row])
  })

  test('is removed from part ids', async () => {
    const pieces = { whole: 'a\0,b', ids: ['a\0', 'b'], total: 3 }
    await conclude.attempt(item, 1, { kind: 'unknown', detail: '2 of 3', pieces })
    expect(storedParts).toEqual([{ whole: 'a,b', ids: ['a', 'b'], total: 3 }])
  })
})

describe('the failover of a message that was not taken', () => {
  const failover = () =>
    createFailover({
      clock,
      stopping: () => stopping,
      maxAttempts: () => 3,
      async account() {
        if (outages-- > 0) throw unavailable()
        return { id: item.accountId } as AccountSnapshot
      },
      world: () => ({ connections: [{ id: item.connectionId, channels: ['int_sms'] }] }) as never,
    } as unknown as FailoverDeps)
  const busy = { kind: 'retry', detail: 'busy' } as const

  test('is decided once the database is available again', async () => {
    outages = 3
    const onward = failover().after(item, 1, busy)
    await clock.advance(600)
    expect(await onward).toEqual({ kind: 'stays', tries: 1 })
    expect(outages).toBe(-1)
  })

  test('is not retried by a node that is stopping', async () => {
    outages = Number.POSITIVE_INFINITY
    stopping = true
    await expect(failover().after(item, 1, busy)).rejects.toThrow(DatabaseUnavailable)
  })
})

describe('a one-time code that is queued for a retry', () => {
  const retry: Outcome = { kind: 'retry', detail: 'busy' }
  const secrets = () => settled.map(row => row.secret?.toString() ?? null)

  test('is stored sealed if this node has its text', async () => {
    item = { ...item, messageType: 'otp', content: { ...item.content, text: 'Use 317042' } }
    await conclude.attempt(item, 1, retry)
    await conclude.attempt({ ...item, content: { ...item.content, text: null } }, 1, retry)
    await conclude.notMade({ accountId: item.accountId, id: item.id, connectionId: item.connectionId }, 1)
    expect(secrets()).toEqual([JSON.stringify({ text: 'Use 317042', subject: null }), null, null])
  })

  test('stores no text of an accepted code, nor of a message that is no code', async () => {
    await conclude.attempt(item, 1, retry)
    await conclude.attempt({ ...item, messageType: 'otp' }, 1, { kind: 'accepted', providerId: 'x1' })
    expect(secrets()).toEqual([null, null])
  })
})

const TIMES = ['attempt', 'settled', 'scheduled', 'unknown', 'sent', 'delivered', 'read', 'ended'].map(
  name => `${name}_at`,
)

describe('a late submit response', () => {
  const lateDb = (row: object | null): Db => ({
    async query<R extends object>() {
      if (outages-- > 0) throw unavailable()
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

  test('is applied once the database is available again', async () => {
    outages = 5
    const taken = receiptsOf(row()).applyLate(item.connectionId, late())
    await clock.advance(900)
    expect(settled).toEqual([])
    await clock.advance(200)
    await taken
    expect(settled).toMatchObject([{ kind: 'sent', attempt: 2, providerId: 'x1' }])
  })

  test.each<[string, () => object | null]>([
    ['for an unknown message', () => null],
    ['for an attempt that is no longer the last', () => row({ attempt: 3 })],
    [
      'from another connection than that of the message',
      () => row({ connection_id: toUuid(ids.next('cnn')) }),
    ],
  ])('%s changes nothing', async (_, found) => {
    await receiptsOf(found()).applyLate(item.connectionId, late())
    expect(settled).toEqual([])
  })
})
