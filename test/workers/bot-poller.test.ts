import { expect, test } from 'vitest'
import type { BotUpdate, PlatformResult } from '../../src/contract/bot-platform.ts'
import type { Database, Query } from '../../src/infra/db.ts'
import { createIds, toUuid } from '../../src/lib/ids.ts'
import { createRandom } from '../../src/lib/random.ts'
import { createBotFeeds } from '../../src/workers/bot-feeds.ts'
import { type BotPollerDeps, startBotPoller } from '../../src/workers/bot-poller.ts'
import { createFakeClock } from '../support/fake-clock.ts'

/** How often a bot's updates are asked for, by platforms and stores that do not work as they should. */

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
/** Whoever asks without end is left without an answer, so that the test comes to one. */
const MOST_QUESTIONS = 200

function scripted(answer: (signal: AbortSignal) => Promise<Updates>, take: () => Promise<'stored' | 'lost'>) {
  const clock = createFakeClock()
  let questions = 0
  const bots = {
    async updates(_token: string, _ask: object, signal: AbortSignal) {
      if (++questions > MOST_QUESTIONS) return new Promise<never>(() => {})
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
  return { clock, deps, questions: () => questions }
}

test('a platform that answers at once that there is nothing is not asked without end', async () => {
  const { clock, deps, questions } = scripted(
    async () => ({ kind: 'answer', value: [] }),
    async () => 'stored',
  )
  const poller = startBotPoller(lease, deps)
  await clock.advance(30_000)
  expect(questions()).toBeLessThan(12)
  await poller.stop()
})

test('a bot that another program asks for is told of once', async () => {
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

test('another program that goes on asking is noted once, and no more where nobody else has asked for a while', async () => {
  const said: string[] = []
  let answer: Updates = { kind: 'conflict', webhook: false }
  const { clock, deps } = scripted(
    async () => answer,
    async () => 'stored',
  )
  const listening = {
    onWebhookConflict: async () => void said.push('taken'),
    onPollConflict: async () => void said.push('shared'),
    onRecovered: async () => void said.push('heard'),
  }
  const poller = startBotPoller(lease, { ...deps, listening })
  await clock.advance(100_000)
  expect(said).toEqual(['shared'])
  // Between two of the other's questions an update comes.
  answer = { kind: 'answer', value: [] }
  await clock.advance(60_000)
  expect(said).toEqual(['shared'])
  await clock.advance(120_000)
  expect(said).toEqual(['shared', 'heard'])
  answer = { kind: 'conflict', webhook: true }
  await clock.advance(31_000)
  expect(said.slice(0, 3)).toEqual(['shared', 'heard', 'taken'])
  await poller.stop()
})

test('while the store takes nothing, updates are asked for more and more slowly', async () => {
  const { clock, deps, questions } = scripted(
    async () => ({ kind: 'answer', value: [update] }),
    () => Promise.reject(new Error('the database is gone')),
  )
  const poller = startBotPoller(lease, deps)
  await clock.advance(60_000)
  expect(questions()).toBeLessThan(12)
  await poller.stop()
})

test('a node that cannot see the store asks nothing: its bots may be another node’s by now', async () => {
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

test('a bot that is taken anew, by a new claim, is asked for once: two of one node would cut each other off', async () => {
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
  // Settled again between two rounds: nobody held it for that moment.
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
