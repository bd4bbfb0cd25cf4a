import { expect, test } from 'vitest'
import type { BotUpdate, PlatformResult } from '../../src/contract/bot-platform.ts'
import type { Database, Query } from '../../src/infra/db.ts'
import { createIds, toUuid } from '../../src/lib/ids.ts'
import { createRandom } from '../../src/lib/random.ts'
import { createBotFeeds } from '../../src/workers/bot-feeds.ts'
import { type BotPollerDeps, startBotPoller } from '../../src/workers/bot-poller.ts'
import { createFakeClock } from '../support/fake-clock.ts'

/** How often a bot's updates are polled when the platform or the database does not work as it should. */

type Updates = PlatformResult<readonly BotUpdate[]>

const ids = createIds(createFakeClock(), createRandom())
const lease = {
  accountId: ids.next('acc'),
  botId: ids.next('bot'),
  connectionId: ids.next('cnn'),
  fence: 1,
  hasProblem: false,
}
const update: BotUpdate = { id: 1, chat: null, atMs: null, what: null, press: null }
/** Further polls get no response, so that endless polling cannot hang the test. */
const MAX_POLLS = 200

function scripted(answer: (signal: AbortSignal) => Promise<Updates>, take: () => Promise<'stored' | 'lost'>) {
  const clock = createFakeClock()
  let polls = 0
  const bots = {
    async updates(_token: string, _ask: object, signal: AbortSignal) {
      if (++polls > MAX_POLLS) return new Promise<never>(() => {})
      return answer(signal)
    },
  }
  const deps = {
    clock,
    random: createRandom(),
    log: { info() {}, warn() {}, debug() {} },
    platforms: { get: () => ({ provider: 'telegram', bots }) },
    tokens: { find: () => ({ token: '1:token' }) },
    updates: { store: take },
    reportInvalidToken: async () => {},
    listening: {
      onWebhookConflict: async () => {},
      onPollConflict: async () => {},
      onRecovered: async () => {},
    },
    onLost() {},
  } as unknown as BotPollerDeps
  return { clock, deps, polls: () => polls }
}

test('a platform that responds at once without updates is not polled in a tight loop', async () => {
  const { clock, deps, polls } = scripted(
    async () => ({ kind: 'answer', value: [] }),
    async () => 'stored',
  )
  const poller = startBotPoller(lease, deps)
  await clock.advance(30_000)
  expect(polls()).toBeLessThan(12)
  await poller.stop()
})

test('a platform that repeats updates although they were confirmed is not polled in a tight loop', async () => {
  let latest = 3
  const { clock, deps, polls } = scripted(
    async () => ({ kind: 'answer', value: [1, 2, latest].map(id => ({ ...update, id })) }),
    async () => 'stored',
  )
  const poller = startBotPoller(lease, deps)
  await clock.advance(60_000)
  expect(polls()).toBeLessThan(12)
  // A new update ends the pauses: the next poll is made at once, and the pauses after it are short again.
  const before = polls()
  latest = 4
  await clock.advance(40_000)
  expect(polls() - before).toBeGreaterThan(3)
  expect(polls() - before).toBeLessThan(12)
  await poller.stop()
})

test('a lasting conflict with another poller is logged once', async () => {
  const warnings: object[] = []
  const { clock, deps } = scripted(
    async () => ({ kind: 'conflict', webhook: false }),
    async () => 'stored',
  )
  const warn = (fields: object) => void warnings.push(fields)
  const poller = startBotPoller(lease, { ...deps, log: { ...deps.log, warn } })
  await clock.advance(600_000)
  expect(warnings).toEqual([{ botId: lease.botId, answer: 'conflict', detail: null }])
  await poller.stop()
})

test('a lasting conflict is recorded once, and cleared when no other poller was seen for a while', async () => {
  const recorded: string[] = []
  let answer: Updates = { kind: 'conflict', webhook: false }
  const { clock, deps } = scripted(
    async () => answer,
    async () => 'stored',
  )
  const listening = {
    onWebhookConflict: async () => void recorded.push('taken'),
    onPollConflict: async () => void recorded.push('shared'),
    onRecovered: async () => void recorded.push('heard'),
  }
  const poller = startBotPoller(lease, { ...deps, listening })
  await clock.advance(100_000)
  expect(recorded).toEqual(['shared'])
  // Between two polls of the other program an update arrives.
  answer = { kind: 'answer', value: [] }
  await clock.advance(60_000)
  expect(recorded).toEqual(['shared'])
  await clock.advance(120_000)
  expect(recorded).toEqual(['shared', 'heard'])
  answer = { kind: 'conflict', webhook: true }
  await clock.advance(31_000)
  expect(recorded.slice(0, 3)).toEqual(['shared', 'heard', 'taken'])
  await poller.stop()
})

test('polling slows down while the database cannot store updates', async () => {
  const { clock, deps, polls } = scripted(
    async () => ({ kind: 'answer', value: [update] }),
    () => Promise.reject(new Error('the database is gone')),
  )
  const poller = startBotPoller(lease, deps)
  await clock.advance(60_000)
  expect(polls()).toBeLessThan(12)
  await poller.stop()
})

test('a node without its database stops polling, since another node may have its bots by now', async () => {
  const waiting = (signal: AbortSignal) =>
    new Promise<Updates>(resolve =>
      signal.addEventListener('abort', () => resolve({ kind: 'unavailable', detail: 'aborted' })),
    )
  const { clock, deps } = scripted(waiting, async () => 'stored')
  let gone = false
  const row = {
    account_id: toUuid(lease.accountId),
    bot_id: toUuid(lease.botId),
    connection_id: toUuid(lease.connectionId),
    fence: 1,
    share: 1,
  }
  const query = async ({ name }: Query) => {
    if (gone) throw new Error('the database is gone')
    return { rows: name === 'bot_feeds_held' ? [row] : [], rowCount: 0 }
  }
  const feeds = createBotFeeds({ ...deps, db: { query } as unknown as Database, clock, node: () => 1 })
  await feeds.round()
  expect(feeds.count()).toBe(1)
  gone = true
  for (const [afterMs, count] of [
    [2_000, 1],
    [2_000, 1],
    [3_000, 0],
  ] as const) {
    await clock.advance(afterMs)
    await expect(feeds.round()).rejects.toThrow()
    expect(feeds.count()).toBe(count)
  }
  gone = false
  await clock.advance(2_000)
  await feeds.round()
  expect(feeds.count()).toBe(1)
  await feeds.stop()
})

test('a bot that the same node claims again is polled by one poller only', async () => {
  const clock = createFakeClock()
  const asking = new Set<AbortSignal>()
  const waiting = (signal: AbortSignal) =>
    new Promise<Updates>(resolve => {
      asking.add(signal)
      signal.addEventListener('abort', () => {
        asking.delete(signal)
        resolve({ kind: 'unavailable', detail: 'aborted' })
      })
    })
  const { deps } = scripted(waiting, async () => 'stored')
  const row = {
    account_id: toUuid(lease.accountId),
    bot_id: toUuid(lease.botId),
    connection_id: toUuid(lease.connectionId),
    fence: 0,
    share: 1,
  }
  // The bot is free to be claimed again, as when its mode was set up again between two rounds.
  let settled = true
  const query = async ({ name }: Query) => {
    if (name === 'bot_feeds_held') return { rows: [row], rowCount: 1 }
    if (name !== 'bot_feeds_claim' || !settled) return { rows: [], rowCount: 0 }
    settled = false
    row.fence++
    return { rows: [{ ...row }], rowCount: 1 }
  }
  const feeds = createBotFeeds({ ...deps, db: { query } as unknown as Database, clock, node: () => 1 })
  await feeds.round()
  await clock.advance(2_000)
  expect(asking.size).toBe(1)
  settled = true
  await feeds.round()
  await clock.advance(2_000)
  expect(row.fence).toBe(2)
  expect(asking.size).toBe(1)
  await feeds.stop()
  expect(asking.size).toBe(0)
})

test.each([
  ['an invalid token', { kind: 'unauthorized' }],
  ['another webhook', { kind: 'conflict', webhook: true }],
] as const)('a stop does not wait for a silent platform that is asked about %s', async (_, answer) => {
  const { clock, deps } = scripted(
    async () => answer,
    async () => 'stored',
  )
  const asked = Promise.withResolvers<void>()
  const silent = () => {
    asked.resolve()
    return new Promise<never>(() => {})
  }
  const poller = startBotPoller(lease, {
    ...deps,
    reportInvalidToken: silent,
    listening: { ...deps.listening, onWebhookConflict: silent },
  })
  await clock.advance(0)
  await asked.promise
  await poller.stop()
})
