import { expect, test } from 'vitest'
import type { Caller } from '../../../src/contract/caller.ts'
import { createWebhookDeliveries } from '../../../src/core/callbacks/deliveries.ts'
import type { Db, Query } from '../../../src/infra/db.ts'
import { createIds, toUuid } from '../../../src/lib/ids.ts'
import { createRandom } from '../../../src/lib/random.ts'
import { createFakeClock } from '../../support/fake-clock.ts'
import { createSignals } from '../../support/signals.ts'

/** Limits of concurrent replays of ranges: each inserts thousands of rows. The database is a fake whose replays end on command. */
const clock = createFakeClock()
const ids = createIds(clock, createRandom())
const webhookId = ids.next('whk')
const callerOf = () => ({ account: { id: ids.next('acc') }, mode: 'live' }) as Caller
const range = { from: '2026-01-01T00:00:00Z', to: '2026-01-02T00:00:00Z' }
const ENDPOINT = {
  uuid: toUuid(webhookId),
  url: 'https://example.com/',
  description: '',
  eventTypes: ['*'],
  enabled: true,
  failingSince: null,
  disabledAt: null,
  disabledReason: null,
  previousUntil: null,
}

function slowStore() {
  const signals = createSignals()
  const replays: PromiseWithResolvers<void>[] = []
  let most = 0
  let now = 0
  const db: Db = {
    async query<R extends object>({ name }: Query) {
      if (name === 'webhook_by_id') return { rows: [ENDPOINT] as unknown as R[], rowCount: 1 }
      const replay = Promise.withResolvers<void>()
      replays.push(replay)
      most = Math.max(most, ++now)
      signals.notify()
      await replay.promise
      now--
      return { rows: [], rowCount: 0 }
    },
  }
  const deliveries = createWebhookDeliveries({ db, clock, ids })
  return {
    replay: (caller: Caller) => deliveries.replayRange(caller, webhookId, range),
    most: () => most,
    asked: (count: number) => signals.until(() => replays.length >= count),
    end: (at: number) => replays[at]!.resolve(),
  }
}

test('at most two replays of ranges run at a time, so that sends have the database', async () => {
  const store = slowStore()
  const all = Array.from({ length: 6 }, () => store.replay(callerOf()))
  for (let at = 0; at < 6; at++) {
    await store.asked(Math.min(at + 2, 6))
    store.end(at)
  }
  for (const { data } of await Promise.all(all)) expect(data.queued).toBe(0)
  expect(store.most()).toBe(2)
})

test('rejects the fifth concurrent replay of one account, and still serves other accounts', async () => {
  const store = slowStore()
  const caller = callerOf()
  const taken = Array.from({ length: 4 }, () => store.replay(caller))
  await store.asked(2)
  await expect(store.replay(caller)).rejects.toMatchObject({ code: 'RATE_LIMITED', retryAfterSeconds: 1 })
  const other = store.replay(callerOf())
  for (let at = 0; at < 5; at++) {
    await store.asked(Math.min(at + 2, 5))
    store.end(at)
  }
  await Promise.all([...taken, other])
  const again = store.replay(caller)
  await store.asked(6)
  store.end(5)
  expect((await again).data.queued).toBe(0)
})
