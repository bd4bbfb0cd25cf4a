import { afterAll, beforeAll, expect, test } from 'vitest'
import type { BotUpdate } from '../../../src/contract/bot-platform.ts'
import { claimFeeds, listHeldFeeds, releaseFeeds } from '../../../src/core/bots/feed-store.ts'
import { deleteBot, insertBot, listBots, setMode } from '../../../src/core/bots/store.ts'
import { selectChats } from '../../../src/core/bots/subscriber-store.ts'
import { type BotUpdates, createBotUpdates } from '../../../src/core/bots/updates.ts'
import { createOptOuts } from '../../../src/core/consent/opt-outs.ts'
import { createStoreInbound } from '../../../src/core/inbound/store-inbound.ts'
import { registerNode } from '../../../src/core/outbox/node-store.ts'
import { type Database, DatabaseUnavailable } from '../../../src/infra/db.ts'
import { systemClock as clock } from '../../../src/lib/clock.ts'
import { type BotId, createIds } from '../../../src/lib/ids.ts'
import { createPhones } from '../../../src/lib/phone.ts'
import { createRandom } from '../../../src/lib/random.ts'
import { createTestDatabase, type TestDatabase } from '../../support/database.ts'

/** Bot updates that two nodes store in one real database. */
const ids = createIds(clock, createRandom())
const ACCOUNT = ids.next('acc')
const CONNECTION = ids.next('cnn')
let database: TestDatabase
let nodes: [BotUpdates, BotUpdates]
let platformIds = 100
/** Button presses that either node acknowledged to the platform. */
const presses: string[] = []

beforeAll(async () => {
  database = await createTestDatabase()
  nodes = [createNode(database.db), createNode(database.db)]
})
afterAll(() => database.drop())

function createNode(db: Database): BotUpdates {
  const log = { info() {}, warn() {}, debug() {} }
  const optOuts = createOptOuts({ db, clock, ids })
  const keep = createStoreInbound({ clock, ids, phones: createPhones({ cacheSize: 10 }), optOuts })
  return createBotUpdates({
    db,
    clock,
    ids,
    log,
    storeInbound: keep,
    onEventsStored() {},
    acknowledge: (_, press) => void presses.push(press),
  })
}

async function addBot(polled = false): Promise<BotId> {
  const token = Buffer.from('sealed')
  const bot = {
    accountId: ACCOUNT,
    id: ids.next('bot'),
    connectionId: CONNECTION,
    sandbox: false,
    platformId: String(++platformIds),
    username: null,
    name: 'Bot',
    token,
    state: 'active',
    mode: null,
    publicUrl: null,
  } as const
  await insertBot(database.db, bot)
  if (polled) await setMode(database.db, bot, 'polling', null)
  return bot.id
}

const feedOf = (botId: BotId, fence: number | null = null) => ({
  accountId: ACCOUNT,
  botId,
  fence,
  connectionId: CONNECTION,
  provider: 'telegram',
})

function words(id: number, chatId: string): BotUpdate {
  const none = { media: [], location: null, contacts: [] }
  const message = { text: 'Hi', button: null, buttonTitle: null, name: null, replyTo: null, ...none }
  return {
    id,
    chat: { chatId, userId: chatId, username: null, firstName: null, lastName: null },
    atMs: clock.now(),
    what: { kind: 'message', start: null, message },
    press: null,
  }
}

async function stored(botId: BotId): Promise<number> {
  const { rows } = await database.db.query<{ n: number }>({
    name: 'inbound_of_bot',
    text: 'select count(*)::integer as n from inbound_messages where recipient = $1',
    values: [botId],
  })
  return rows[0]!.n
}

async function subscribers(botId: BotId): Promise<number> {
  const bots = await listBots(database.db, ACCOUNT, null, 500)
  return bots.find(({ id }) => id === botId)!.subscribers
}

test('each update is stored once when both nodes receive the same updates at once and repeatedly', async () => {
  const botId = await addBot()
  const told = Array.from({ length: 60 }, (_, at) => ({
    ...words(at, String(at % 20)),
    press: at % 6 ? null : `p${at}`,
  }))
  const takes = [0, 1, 0, 1, 1, 0].map(node => nodes[node]!.store(feedOf(botId), told))
  expect(new Set(await Promise.all(takes))).toEqual(new Set(['stored']))
  expect(await stored(botId)).toBe(60)
  expect(presses.toSorted()).toEqual(told.flatMap(({ press }) => press ?? []).toSorted())
  expect(await subscribers(botId)).toBe(20)
})

test('a button press is acknowledged once if the response to its COMMIT is lost and the platform repeats it', async () => {
  const botId = await addBot()
  const pressed = { ...words(1, '1'), press: 'unheard' }
  const unheard: Database = {
    ...database.db,
    async transaction(work) {
      await database.db.transaction(work)
      throw new DatabaseUnavailable(new Error('Connection terminated'))
    },
  }
  await expect(createNode(unheard).store(feedOf(botId), [pressed])).rejects.toThrow(DatabaseUnavailable)
  expect(await nodes[0].store(feedOf(botId), [pressed])).toBe('stored')
  expect(await stored(botId)).toBe(1)
  expect(presses.filter(press => press === 'unheard')).toHaveLength(1)
})

test('a button press that could not be stored is acknowledged when it is', async () => {
  const botId = await addBot()
  const pressed = { ...words(1, '1'), press: 'refused' }
  const away: Database = {
    ...database.db,
    transaction: work =>
      database.db.transaction(tx =>
        work({
          query: query =>
            query.name === 'inbound_insert'
              ? Promise.reject(new DatabaseUnavailable(new Error('Connection terminated')))
              : tx.query(query),
        }),
      ),
  }
  await expect(createNode(away).store(feedOf(botId), [pressed])).rejects.toThrow(DatabaseUnavailable)
  expect(presses).not.toContain('refused')
  expect(await nodes[0].store(feedOf(botId), [pressed])).toBe('stored')
  expect(presses.filter(press => press === 'refused')).toHaveLength(1)
})

test('concurrent updates of many bots on both nodes cause no deadlock', async () => {
  const bots = await Promise.all(Array.from({ length: 8 }, () => addBot()))
  const takes = Array.from({ length: 200 }, (_, at) =>
    nodes[at % 2]!.store(feedOf(bots[(at * 7) % 8]!), [words(at, String(at % 3))]),
  )
  expect(new Set(await Promise.all(takes))).toEqual(new Set(['stored']))
  for (const bot of bots) expect(await stored(bot)).toBe(25)
})

test('updates are rejected from a node that lost the lease of the bot, and for a deleted bot', async () => {
  const botId = await addBot(true)
  const node = await registerNode(database.db, 'here', clock.now(), false)
  const [lease] = await claimFeeds(database.db, node, 1)
  expect(lease).toMatchObject({ botId, connectionId: CONNECTION })
  expect(await nodes[0].store(feedOf(botId, lease!.fence), [words(1, '1')])).toBe('stored')
  // The node is alive: no other node can claim the bot until its lease is released.
  const other = await registerNode(database.db, 'there', clock.now(), false)
  expect(await claimFeeds(database.db, other, 1)).toEqual([])
  await releaseFeeds(database.db, [lease!])
  const [next] = await claimFeeds(database.db, other, 1)
  expect(next!.fence).toBeGreaterThan(lease!.fence)
  expect(await nodes[0].store(feedOf(botId, lease!.fence), [words(2, '2')])).toBe('lost')
  expect(await nodes[1].store(feedOf(botId, next!.fence), [words(2, '2')])).toBe('stored')
  expect(await stored(botId)).toBe(2)

  await deleteBot(database.db, ACCOUNT, botId)
  expect(await nodes[1].store(feedOf(botId), [words(3, '3')])).toBe('lost')
  expect(await selectChats(database.db, [{ accountId: ACCOUNT, botId, chatId: '3' }])).toEqual([])
})

test('bots are spread over the live nodes, and those beyond the share of a node count as surplus', async () => {
  const { db } = database
  await db.query({ name: 'no_nodes', text: 'delete from nodes' })
  await Promise.all(Array.from({ length: 5 }, () => addBot(true)))
  const first = await registerNode(db, 'first', clock.now(), false)
  expect(await claimFeeds(db, first, 500)).toHaveLength(5)
  expect(await listHeldFeeds(db, first)).toMatchObject({ surplus: 0 })
  const second = await registerNode(db, 'second', clock.now(), false)
  expect(await claimFeeds(db, second, 500)).toEqual([])
  const { leases, surplus } = await listHeldFeeds(db, first)
  expect(surplus).toBe(2)
  await releaseFeeds(db, leases.slice(0, surplus))
  expect(await claimFeeds(db, second, 500)).toHaveLength(2)
  expect(await claimFeeds(db, first, 500)).toEqual([])
})

test('an update that the database rejects is skipped, and the others of its batch are stored', async () => {
  const botId = await addBot()
  expect(await nodes[0].store(feedOf(botId), [words(1, '1'), words(1.5, '2'), words(3, '3')])).toBe('stored')
  expect(await stored(botId)).toBe(2)
})
