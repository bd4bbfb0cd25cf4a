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

/** Update modes (webhook or polling) during removals and with unreadable tokens, with a real database and a fake platform. */
const PUBLIC_URL = 'https://posthorn.example.org'
const clock = createFakeClock()
const random = createRandom()
const ids = createIds(clock, random)
const log = { info() {}, warn() {}, debug() {} }

let database: TestDatabase
/** The webhook that the platform has for each token. */
let webhooks: Map<string, string | null>
/** Called after the platform has stored a webhook and before it responds. */
let onWebhookSet: (webhook: BotWebhook | null) => Promise<unknown>

beforeAll(async () => {
  database = await createTestDatabase()
})
afterAll(() => database.drop())
beforeEach(async () => {
  await database.db.query({ name: 'no_bots', text: 'with f as (delete from bot_feeds) delete from bots' })
  webhooks = new Map()
  onWebhookSet = async () => {}
})

const platform = {
  identify: async token => ({
    kind: 'answer',
    value: { platformId: token.split(':')[0]!, username: 'a_bot', name: 'A bot' },
  }),
  async setWebhook(token, webhook) {
    webhooks.set(token, webhook === null ? null : webhook.url)
    await onWebhookSet(webhook)
    return { kind: 'answer', value: true }
  },
} as Partial<BotPlatform> as BotPlatform

function createNode(publicUrl: string | null, masterKey = Buffer.alloc(32, 7)) {
  const { db } = database
  const seal = createSeal(masterKey, random)
  // With stale change notifications, every lookup queries the database.
  const changes = { fresh: () => false, subscribe: () => () => {} }
  const tokens = createBotTokens({ db, clock, seal, changes })
  const connectionId = ids.next('cnn')
  const platforms = {
    get: () => ({ provider: 'telegram', bots: platform }),
    choose: async () => connectionId,
  } as Partial<Platforms> as Platforms
  const modes = createBotUpdateModes({ db, clock, ids, seal, log, platforms, tokens, publicUrl })
  const bots = createBots({ db, clock, ids, seal, platforms, updateModes: modes, changed() {} })
  return { tokens, modes, bots }
}

const caller = () => ({ account: { id: ids.next('acc') }, mode: 'live' }) as Caller

test('bots with unreadable tokens do not stop the setup of other bots, and can be removed', async () => {
  const owner = caller()
  const lost = createNode(null, Buffer.alloc(32, 8))
  const broken = await Promise.all(
    Array.from({ length: 9 }, (_, at) => lost.bots.register(owner, { token: `${100 + at}:a` })),
  )
  const { bots, modes } = createNode(null)
  const { id } = await bots.register(owner, { token: '200:a' })

  // With another public URL the mode of all bots is outdated, and they are set up in no particular order.
  const moved = createNode(PUBLIC_URL)
  await moved.modes.round()
  expect(webhooks.get('200:a')).toBe(moved.modes.webhookUrlOf(id as BotId))
  await modes.round()
  expect(webhooks.get('200:a')).toBeNull()

  // These bots get a webhook, which this server can no longer delete at the platform.
  await createNode(PUBLIC_URL, Buffer.alloc(32, 8)).modes.round()
  for (const bot of broken) await moved.bots.remove(owner, bot.id)
  expect((await bots.list(owner, {})).data.map(bot => bot.id)).toEqual([id])
})

test('a bot that is removed while its webhook is being set has no webhook afterwards', async () => {
  const owner = caller()
  const { id } = await createNode(null).bots.register(owner, { token: '300:a' })
  const moved = createNode(PUBLIC_URL)
  // The whole removal happens after the platform has stored the webhook and before it responds.
  onWebhookSet = async webhook => webhook && moved.bots.remove(owner, id)
  await moved.modes.setUp({ id: id as BotId })
  expect(webhooks.get('300:a')).toBeNull()

  onWebhookSet = async () => {}
  const again = (await moved.bots.register(owner, { token: '300:a' })).id as BotId
  const known = (await moved.tokens.find(again))!
  await moved.bots.remove(owner, again)
  await moved.modes.reclaim(known, 'webhook')
  expect(webhooks.get('300:a')).toBeNull()
})

test('a webhook that is set while its bot is being removed is deleted with the bot', async () => {
  const owner = caller()
  const { bots, modes } = createNode(PUBLIC_URL)
  const { id } = await bots.register(owner, { token: '400:a' })
  let crossed = false
  // After the webhook is deleted at the platform and before the bot is deleted, a round sets it up once more.
  onWebhookSet = async webhook => {
    if (webhook || crossed) return
    crossed = true
    await modes.setUp({ id: id as BotId })
  }
  await bots.remove(owner, id)
  expect(crossed).toBe(true)
  expect(webhooks.get('400:a')).toBeNull()
})
