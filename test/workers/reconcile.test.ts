import { expect, test } from 'vitest'
import type { Links, OpenLink } from '../../src/channels/links.ts'
import type { LateOutcome, Link, Outcome } from '../../src/channels/provider.ts'
import type { Db } from '../../src/infra/db.ts'
import { fromUuid } from '../../src/lib/ids.ts'
import type { Log } from '../../src/lib/log.ts'
import { createReconciler } from '../../src/workers/reconcile.ts'
import { createFakeClock } from '../support/fake-clock.ts'
import { sentInt4s } from '../support/sent-array.ts'

const UUID = '00000000-0000-7000-8000-000000000001'
const connectionId = fromUuid('cnn', UUID)
const silentLog: Log = { info() {}, warn() {}, debug() {} }

/** A reconciler whose database returns `rows` lookups in all, and whose provider responds as `find` does. */
function start(find: Link['find'], rows: number) {
  const clock = createFakeClock()
  const concluded: LateOutcome[] = []
  const outcomes: Outcome['kind'][] = []
  const limits: number[] = []
  let left = rows
  const db = {
    async query({ values }: { values: unknown[] }) {
      const limit = sentInt4s(values[2])[0]!
      limits.push(limit)
      const count = Math.min(limit, left)
      left -= count
      const row = { account_id: UUID, id: UUID, connection_id: UUID, attempt: 1, asks: 1 }
      return { rows: Array.from({ length: count }, () => row), rowCount: count }
    },
  } as unknown as Db
  const open = { id: connectionId, provider: 'test', link: { ...(find && { find }) } } as unknown as OpenLink
  const links = { get: () => open, all: () => [open] } as unknown as Links
  const reconciler = createReconciler({
    db,
    clock,
    log: silentLog,
    links,
    concludeLate: async (_, late) => void concluded.push(late),
    observe: (_, outcome) => outcomes.push(outcome),
  })
  return { clock, reconciler, concluded, outcomes, limits }
}

test('a provider without lookups is not queried', async () => {
  const { reconciler, limits } = start(undefined, 5)
  expect(await reconciler.round()).toBe(0)
  expect(limits).toEqual([])
})

test.each<[string, Link['find']]>([
  [
    'throws an error synchronously',
    () => {
      throw new Error('no')
    },
  ],
  ['returns a rejected promise', () => Promise.reject(new Error('no'))],
  ['returns an unknown outcome', async () => ({ kind: 'unknown', detail: '' })],
  ['throttles the lookup', async () => ({ kind: 'throttled', afterMs: 1_000 })],
])('no outcome is concluded when the provider %s', async (_, find) => {
  const { reconciler, concluded, outcomes } = start(find, 3)
  expect(await reconciler.round()).toBe(3)
  await reconciler.idle()
  expect(outcomes).toHaveLength(3)
  expect(concluded).toEqual([])
})

test('a lookup that hangs times out even if it ignores its signal, and its slot is free again', async () => {
  let aborted = 0
  const { clock, reconciler, concluded, outcomes, limits } = start((_, signal) => {
    signal.addEventListener('abort', () => aborted++)
    return new Promise(() => {})
  }, 20)
  expect(await reconciler.round()).toBe(8)
  expect(await reconciler.round()).toBe(0)
  expect(limits).toEqual([8])
  await clock.advance(17_000)
  await reconciler.idle()
  expect([aborted, outcomes.length, concluded.length]).toEqual([8, 8, 0])
  expect(await reconciler.round()).toBe(8)
  await reconciler.stop()
})

test('a lookup that hangs does not delay stop()', async () => {
  const { reconciler, concluded } = start(() => new Promise(() => {}), 3)
  await reconciler.round()
  await reconciler.stop()
  expect(concluded).toEqual([])
  expect(await reconciler.round()).toBe(0)
})
