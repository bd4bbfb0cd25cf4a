import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { BotPlatform, BotWebhook } from '../../../src/contract/bot-platform.ts'
import type { Caller } from '../../../src/contract/caller.ts'
import { createBots } from '../../../src/core/bots/bots.ts'
import type { Platforms } from '../../../src/core/bots/platforms.ts'
import { createBotTokens } from '../../../src/core/bots/tokens.ts'
import { createBotUpdateModes } from '../../../src/core/bots/update-modes.ts'
import { createSeal } from '../../../src/infra/seal.ts'
import { type BotId, createIds } from '../../../src/lib/ids.ts'
import { createRandom } from '../../../src/lib/random.ts'
import { createTestDatabase, type TestDatabase } from '../../support/database.ts'
import { createFakeClock } from '../../support/fake-clock.ts'

/** How updates come, where removals and broken tokens cross it: over a real store and a platform of the test's own. */
const PUBLIC_URL = 'https://posthorn.example.org'
const clock = createFakeClock()
const random = createRandom()
const ids = createIds(clock, random)
const log = { info() {}, warn() {}, debug() {} }

let database: TestDatabase
/** By token, as the platform has it. */
let webhooks: Map<string, string | null>
/** What is to happen when the platform has taken a webhook, and before it says so. */
let onListen: (webhook: BotWebhook | null) => Promise<unknown>

beforeAll(async () => {
  database = await createTestDatabase()
})
afterAll(() => database.drop())
beforeEach(async () => {
  await database.db.query({ name: 'no_bots', text: 'with f as (delete from bot_feeds) delete from bots' })
  webhooks = new Map()
  onListen = async () => {}
})

const platform = {
  identify: async token => ({
    kind: 'answer',
    value: { platformId: token.split(':')[0]!, username: 'a_bot', name: 'A bot' },
  }),
  async setWebhook(token, webhook) {
    webhooks.set(token, webhook === null ? null : webhook.url)
    await onListen(webhook)
    return { kind: 'answer', value: true }
  },
} as Partial<BotPlatform> as BotPlatform

function createNode(publicUrl: string | null, masterKey = Buffer.alloc(32, 7)) {
  const { db } = database
  const seal = createSeal(masterKey, random)
  // Without word of changes every look-up asks the store.
  const changes = { fresh: () => false, subscribe: () => () => {} }
  const tokens = createBotTokens({ db, clock, seal, changes })
  const connectionId = ids.next('cnn')
  const platforms = {
    get: () => ({ provider: 'telegram', bots: platform }),
    chooseConnection: async () => connectionId,
  } as Partial<Platforms> as Platforms
  const settling = createBotUpdateModes({ db, clock, ids, seal, log, platforms, tokens, publicUrl })
  const bots = createBots({ db, clock, ids, seal, platforms, updateModes: settling, changed() {} })
  return { tokens, settling, bots }
}

const caller = () => ({ account: { id: ids.next('acc') }, mode: 'live' }) as Caller

test('bots whose tokens do not open keep nobody from being settled, and can be removed', async () => {
  const owner = caller()
  const lost = createNode(null, Buffer.alloc(32, 8))
  const broken = await Promise.all(
    Array.from({ length: 9 }, (_, at) => lost.bots.register(owner, { token: `${100 + at}:a` })),
  )
  const { bots, settling } = createNode(null)
  const { id } = await bots.register(owner, { token: '200:a' })

  // Under another public address all of them are to be settled anew, in no order.
  const moved = createNode(PUBLIC_URL)
  await moved.settling.round()
  expect(webhooks.get('200:a')).toBe(moved.settling.webhookUrlOf(id as BotId))
  await settling.round()
  expect(webhooks.get('200:a')).toBeNull()

  // One that had a webhook: nobody can speak for it any more.
  await createNode(PUBLIC_URL, Buffer.alloc(32, 8)).settling.round()
  for (const bot of broken) await moved.bots.remove(owner, bot.id)
  expect((await bots.list(owner, {})).data.map(bot => bot.id)).toEqual([id])
})

test('a bot that is removed while its webhook is being set has none afterwards', async () => {
  const owner = caller()
  const { id } = await createNode(null).bots.register(owner, { token: '300:a' })
  const moved = createNode(PUBLIC_URL)
  // The whole removal passes between the platform's taking the webhook and its word of it.
  onListen = async webhook => webhook && moved.bots.remove(owner, id)
  await moved.settling.setUp({ id: id as BotId })
  expect(webhooks.get('300:a')).toBeNull()

  onListen = async () => {}
  const again = (await moved.bots.register(owner, { token: '300:a' })).id as BotId
  const known = (await moved.tokens.find(again))!
  await moved.bots.remove(owner, again)
  await moved.settling.reclaim(known, 'webhook')
  expect(webhooks.get('300:a')).toBeNull()
})

test('a webhook that is set while its bot is being removed is taken away with it', async () => {
  const owner = caller()
  const { bots, settling } = createNode(PUBLIC_URL)
  const { id } = await bots.register(owner, { token: '400:a' })
  let crossed = false
  // The platform hears that nobody listens; before the bot is gone, a round settles it once more.
  onListen = async webhook => {
    if (webhook || crossed) return
    crossed = true
    await settling.setUp({ id: id as BotId })
  }
  await bots.remove(owner, id)
  expect(crossed).toBe(true)
  expect(webhooks.get('400:a')).toBeNull()
})
