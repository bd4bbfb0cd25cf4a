import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { Link } from '../../../src/channels/provider.ts'
import { telegramProvider } from '../../../src/channels/telegram.ts'
import type { Caller } from '../../../src/contract/caller.ts'
import { createBots } from '../../../src/core/bots/bots.ts'
import { claimFeeds, type FeedRef } from '../../../src/core/bots/feed-store.ts'
import { createBotTokens } from '../../../src/core/bots/tokens.ts'
import { createBotUpdateCheck } from '../../../src/core/bots/update-check.ts'
import { createBotUpdateModes } from '../../../src/core/bots/update-modes.ts'
import { registerNode } from '../../../src/core/outbox/node-store.ts'
import { createSeal } from '../../../src/infra/seal.ts'
import { type BotId, createIds, toUuid } from '../../../src/lib/ids.ts'
import { createRandom } from '../../../src/lib/random.ts'
import { createIo } from '../../channels/conformance.ts'
import { createTestDatabase, type TestDatabase } from '../../support/database.ts'
import { createFakeClock, type FakeClock } from '../../support/fake-clock.ts'
import { type ScriptedTelegram, startScriptedTelegram } from '../../support/scripted-telegram.ts'

/** Detects other programs that take a bot's updates, with a real database and a scripted Bot API. */
const PUBLIC_URL = 'https://posthorn.example.org'
const OTHER = 'https://other.example.com/hooks/secret-of-theirs'
const MINUTE_MS = 60_000
const DAY_MS = 86_400_000

const random = createRandom()
const log = { info() {}, warn() {}, debug() {} }
let database: TestDatabase
let telegram: ScriptedTelegram
let link: Link
let clock: FakeClock
let bots: ReturnType<typeof createNode>
let numbers = 8_000

beforeAll(async () => {
  database = await createTestDatabase()
  telegram = await startScriptedTelegram()
  link = await telegramProvider.open({ apiRoot: telegram.apiRoot }, createIo())
})
afterAll(async () => {
  await link.close()
  await telegram.close()
  await database.drop()
})

beforeEach(async () => {
  await database.db.query({ name: 'no_bots', text: 'with f as (delete from bot_feeds) delete from bots' })
  await database.db.query({ name: 'no_events', text: 'delete from events' })
  clock = createFakeClock()
  bots = createNode(PUBLIC_URL)
})

function createNode(publicUrl: string | null) {
  const { db } = database
  const ids = createIds(clock, random)
  const connectionId = ids.next('cnn')
  const seal = createSeal(Buffer.alloc(32, 7), random)
  // With stale change notifications, every lookup queries the database.
  const tokens = createBotTokens({
    db,
    clock,
    seal,
    changes: { fresh: () => false, subscribe: () => () => {} },
  })
  const platforms = {
    get: () => ({ provider: 'telegram', bots: link.bots! }),
    choose: async () => connectionId,
  } as unknown as Parameters<typeof createBotUpdateModes>[0]['platforms']
  const modes = createBotUpdateModes({ db, clock, ids, seal, log, platforms, tokens, publicUrl })
  const updateCheck = createBotUpdateCheck({
    db,
    clock,
    ids,
    log,
    platforms,
    tokens,
    updateModes: modes,
    publicUrl,
  })
  const caller = { account: { id: ids.next('acc') }, mode: 'live' } as Caller
  const all = createBots({ db, clock, ids, seal, platforms, updateModes: modes, changed() {} })
  const token = `${++numbers}:a`
  const read = async () => (await all.list(caller, {})).data[0]!

  return {
    updateCheck,
    token,
    read,
    async register() {
      await db.query({
        name: 'account_that_listens',
        text: `insert into accounts (id, name, home_country, currency, plan_name, plan_status, allows_scheduling,
                 bulk_ceiling_per_second, rate_limit_per_second, verification_rate_limit_per_second, event_types)
               values ($1, 'Acme', 'US', 'USD', '', 'active', true, 10, 50, 10, '{bot.problem}') on conflict do nothing`,
        values: [toUuid(caller.account.id)],
      })
      return all.register(caller, { token })
    },
    /** Runs a check when the bot is due, and returns the bot's problem. */
    async look() {
      clock.skip(6 * MINUTE_MS)
      await updateCheck.round()
      return (await read()).problem
    },
    async events() {
      const { rows } = await db.query<{ type: string; data: { problem: { code: string } | null } }>({
        name: 'events_of_account',
        text: 'select type, data from events where account_id = $1 order by at, id',
        values: [toUuid(caller.account.id)],
      })
      return rows.map(({ type, data }) => [type, data.problem?.code ?? null])
    },
    feedOf: (id: string, fence: number | null): FeedRef => ({
      accountId: caller.account.id,
      botId: id as BotId,
      fence,
    }),
  }
}

test('our own webhook is left unchanged, whatever the case of its host or its explicit port', async () => {
  const { id } = await bots.register()
  const url = `${PUBLIC_URL}/webhooks/botapp/${id}`
  for (const spelt of [url, url.replace('posthorn', 'POSTHORN'), url.replace('.org', '.org:443')]) {
    telegram.webhooks.set(bots.token, spelt)
    expect(await bots.look()).toBeNull()
  }
  expect(telegram.callsOf('setWebhook').filter(({ token }) => token === bots.token)).toHaveLength(1)
  expect(await bots.events()).toEqual([])
})

test('a foreign webhook is replaced once; when it returns, it stays until the bot is registered again', async () => {
  const { id } = await bots.register()
  const ours = telegram.webhooks.get(bots.token)
  telegram.webhooks.set(bots.token, OTHER)
  const problem = await bots.look()
  expect(problem).toMatchObject({ code: 'taken_back', since: expect.any(String) })
  expect(problem!.detail).toContain('other.example.com')
  expect(problem!.detail).not.toContain('secret-of-theirs')
  expect(telegram.webhooks.get(bots.token)).toBe(ours)
  expect(await bots.look()).toBeNull()

  telegram.webhooks.set(bots.token, OTHER)
  expect(await bots.look()).toMatchObject({ code: 'taken' })
  clock.skip(2 * DAY_MS)
  expect(await bots.look()).toMatchObject({ code: 'taken' })
  expect(telegram.webhooks.get(bots.token)).toBe(OTHER)

  // Registering the bot again claims its updates for this server.
  expect((await bots.register()).id).toBe(id)
  expect(telegram.webhooks.get(bots.token)).toBe(ours)
  expect(await bots.read()).toMatchObject({ state: 'active', mode: 'webhook', problem: null })
  expect(await bots.look()).toBeNull()
  const problems = ['taken_back', null, 'taken']
  expect(await bots.events()).toEqual(problems.map(code => ['bot.problem', code]))
})

test('a foreign webhook that returns a day after it was replaced is replaced again, but not earlier', async () => {
  await bots.register()
  const ours = telegram.webhooks.get(bots.token)
  /** Sets the foreign webhook, and checks the bot so long after the latest replacement. The check in between is 6 minutes after it. */
  async function returnAfter(ms: number) {
    expect(await bots.look()).toBeNull()
    telegram.webhooks.set(bots.token, OTHER)
    clock.skip(ms - 12 * MINUTE_MS)
    return bots.look()
  }
  telegram.webhooks.set(bots.token, OTHER)
  expect(await bots.look()).toMatchObject({ code: 'taken_back' })
  for (let day = 0; day < 2; day++) {
    expect(await returnAfter(DAY_MS)).toMatchObject({ code: 'taken_back' })
    expect(telegram.webhooks.get(bots.token)).toBe(ours)
  }
  expect(await returnAfter(DAY_MS - 1)).toMatchObject({ code: 'taken' })
  expect(telegram.webhooks.get(bots.token)).toBe(OTHER)
})

test('a bot with an unreadable token does not stop the checks of other bots', async () => {
  const broken = createNode(PUBLIC_URL)
  const { id } = await broken.register()
  await database.db.query({
    name: 'break_token',
    text: `update bots set token = '\\x00' where id = $1`,
    values: [toUuid(id as BotId)],
  })
  await bots.register()
  telegram.webhooks.set(bots.token, OTHER)
  expect(await bots.look()).toMatchObject({ code: 'taken_back' })
})

test('our webhook is set again when the foreign one has been removed and a day has passed', async () => {
  await bots.register()
  const ours = telegram.webhooks.get(bots.token)
  for (const code of ['taken_back', 'taken']) {
    telegram.webhooks.set(bots.token, OTHER)
    expect(await bots.look()).toMatchObject({ code })
  }
  telegram.webhooks.set(bots.token, '')
  expect(await bots.look()).toMatchObject({ code: 'taken' })
  clock.skip(DAY_MS)
  expect(await bots.look()).toMatchObject({ code: 'taken_back' })
  expect(telegram.webhooks.get(bots.token)).toBe(ours)
})

test('recent failures of webhook calls are reported with Telegram’s error while updates are pending', async () => {
  await bots.register()
  const failing = (agoMs: number, waiting: number) => ({
    url: telegram.webhooks.get(bots.token),
    pending_update_count: waiting,
    last_error_date: Math.floor((clock.now() - agoMs) / 1_000),
    last_error_message: 'Wrong response from the webhook: 502 Bad Gateway',
  })
  const answer = (info: () => object) =>
    telegram.answer(({ method }) => (method === 'getWebhookInfo' ? telegram.ok(info()) : null))
  answer(() => failing(MINUTE_MS, 3))
  expect(await bots.look()).toMatchObject({
    code: 'unreachable',
    detail: expect.stringContaining('502 Bad Gateway'),
  })
  answer(() => failing(MINUTE_MS, 0))
  expect(await bots.look()).toBeNull()
  answer(() => failing(DAY_MS, 3))
  expect(await bots.look()).toBeNull()
  telegram.answer(null)
})

test('an inconclusive response changes nothing, and a rejected token makes the bot unauthorized', async () => {
  await bots.register()
  for (const act of [
    telegram.error(404, 'Not Found: unsupported method getWebhookInfo'),
    telegram.ok({}),
    { status: 502, body: '<html>' },
  ]) {
    telegram.answer(({ method }) => (method === 'getWebhookInfo' ? act : null))
    expect(await bots.look()).toBeNull()
  }
  expect((await bots.read()).state).toBe('active')
  telegram.answer(() => telegram.error(401, 'Unauthorized'))
  await bots.look()
  telegram.answer(null)
  expect(await bots.read()).toMatchObject({ state: 'unauthorized', problem: null })
})

test('each bot is checked by one node only, and not again before it is due', async () => {
  await bots.register()
  const other = createNode(PUBLIC_URL)
  await other.register()
  telegram.calls.length = 0
  await Promise.all([bots.updateCheck.round(), other.updateCheck.round()])
  await bots.updateCheck.round()
  expect(telegram.callsOf('getWebhookInfo').map(({ token }) => token)).toEqual(
    expect.arrayContaining([bots.token, other.token]),
  )
  expect(telegram.callsOf('getWebhookInfo')).toHaveLength(2)
})

test('a bot is checked again after a clock that was far ahead was set right', async () => {
  await bots.register()
  clock.jump(40 * DAY_MS)
  expect(await bots.look()).toBeNull()
  clock.jump(-40 * DAY_MS)
  telegram.webhooks.set(bots.token, OTHER)
  expect(await bots.look()).toMatchObject({ code: 'taken_back' })
})

test('a foreign webhook is replaced again after a clock that was far ahead, which had replaced one, was set right', async () => {
  await bots.register()
  clock.jump(40 * DAY_MS)
  telegram.webhooks.set(bots.token, OTHER)
  expect(await bots.look()).toMatchObject({ code: 'taken_back' })
  clock.jump(-40 * DAY_MS)
  expect(await bots.look()).toBeNull()
  telegram.webhooks.set(bots.token, OTHER)
  expect(await bots.look()).toMatchObject({ code: 'taken_back' })
})

test('a polling node records conflicts with a webhook or another poller while it holds the bot’s lease', async () => {
  const asking = createNode(null)
  const { id } = await asking.register()
  const node = await registerNode(database.db, 'here', clock.now(), false)
  const [lease] = await claimFeeds(database.db, node, 1)
  expect(lease).toMatchObject({ botId: id, hasProblem: false })
  const feed = asking.feedOf(id, lease!.fence)
  const problem = async () => (await asking.read()).problem?.code ?? null

  await asking.updateCheck.onPollConflict(asking.feedOf(id, lease!.fence - 1))
  expect(await problem()).toBeNull()
  await asking.updateCheck.onPollConflict(feed)
  expect(await problem()).toBe('shared')
  await asking.updateCheck.onRecovered(feed)
  expect(await problem()).toBeNull()

  for (const code of ['taken_back', 'taken', 'taken']) {
    telegram.webhooks.set(asking.token, OTHER)
    await asking.updateCheck.onWebhookConflict(feed)
    expect(await problem()).toBe(code)
  }
  expect(telegram.webhooks.get(asking.token)).toBe(OTHER)
  await asking.updateCheck.onRecovered(feed)
  expect(await problem()).toBeNull()
})
