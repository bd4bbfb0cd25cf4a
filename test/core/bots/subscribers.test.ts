import { expect, test } from 'vitest'
import type { Caller } from '../../../src/contract/caller.ts'
import { createBotSubscribers } from '../../../src/core/bots/subscribers.ts'
import type { Db, Query } from '../../../src/infra/db.ts'
import { createIds, toUuid } from '../../../src/lib/ids.ts'
import { createRandom } from '../../../src/lib/random.ts'
import { createFakeClock } from '../../support/fake-clock.ts'
import { createSignals } from '../../support/signals.ts'

/** Limits of concurrent searches: each reads all subscribers of a bot, possibly a million. The database is a fake whose searches end on command. */
const ids = createIds(createFakeClock(), createRandom())
const botId = ids.next('bot')
const callerOf = () => ({ account: { id: ids.next('acc') }, mode: 'live' }) as Caller
const query = { q: 'ada', page: 1, limit: 50 }

function slowStore() {
  const signals = createSignals()
  const searches: PromiseWithResolvers<void>[] = []
  let most = 0
  let now = 0
  const db: Db = {
    async query<R extends object>({ name, values }: Query) {
      if (name === 'bot_by_id') {
        const row = { account_id: values![0], id: toUuid(botId), connection_id: null, platform_id: '1' }
        return { rows: [row] as unknown as R[], rowCount: 1 }
      }
      const search = Promise.withResolvers<void>()
      searches.push(search)
      most = Math.max(most, ++now)
      signals.notify()
      await search.promise
      now--
      return { rows: [{ chat_id: null, total: 0 }] as unknown as R[], rowCount: 1 }
    },
  }
  return {
    db,
    most: () => most,
    asked: (count: number) => signals.until(() => searches.length >= count),
    end: (at: number) => searches[at]!.resolve(),
  }
}

test('at most two searches run at a time, so that sends have the database', async () => {
  const store = slowStore()
  const subscribers = createBotSubscribers({ db: store.db })
  const all = Array.from({ length: 6 }, () => subscribers.list(callerOf(), botId, query))
  for (let at = 0; at < 6; at++) {
    await store.asked(Math.min(at + 2, 6))
    store.end(at)
  }
  for (const { data } of await Promise.all(all)) expect(data.total).toBe(0)
  expect(store.most()).toBe(2)
})

test('rejects the 21st concurrent search of one account, and still serves other accounts', async () => {
  const store = slowStore()
  const subscribers = createBotSubscribers({ db: store.db })
  const caller = callerOf()
  const search = (who: Caller) => subscribers.list(who, botId, query)
  const taken = Array.from({ length: 20 }, () => search(caller))
  await expect(search(caller)).rejects.toMatchObject({ code: 'RATE_LIMITED', retryAfterSeconds: 1 })
  const other = search(callerOf())
  for (let at = 0; at < 21; at++) {
    await store.asked(Math.min(at + 2, 21))
    store.end(at)
  }
  await Promise.all([...taken, other])
  const again = search(caller)
  await store.asked(22)
  store.end(21)
  expect((await again).data.total).toBe(0)
})
