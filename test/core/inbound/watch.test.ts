import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { type InboundId, type InboundRow, insertInbound } from '../../../src/core/inbound/store.ts'
import {
  createInboundWatch,
  type InboundNews,
  type InboundWatch,
  type InboundWatcher,
} from '../../../src/core/inbound/watch.ts'
import { DatabaseUnavailable, type Db } from '../../../src/infra/db.ts'
import { type AccountId, createIds } from '../../../src/lib/ids.ts'
import { createRandom } from '../../../src/lib/random.ts'
import { createTestDatabase, type TestDatabase } from '../../support/database.ts'
import { createFakeClock, type FakeClock } from '../../support/fake-clock.ts'

/** Streams of inbound messages from a real database, on nodes whose queries the test counts. */
const random = createRandom()
let database: TestDatabase
let clock: FakeClock
let ids: ReturnType<typeof createIds>
let accountId: AccountId
const gone = new AbortController()

beforeAll(async () => {
  database = await createTestDatabase()
})
afterAll(async () => {
  gone.abort()
  await database.drop()
})
beforeEach(() => {
  clock = createFakeClock(Date.now())
  ids = createIds(clock, random)
  accountId = ids.next('acc')
})

type Node = ReturnType<typeof openNode>

function openNode() {
  let underWay = 0
  let asked = 0
  let isAway = false
  const query: Db['query'] = async question => {
    asked++
    underWay++
    try {
      if (isAway) throw new DatabaseUnavailable(null)
      return await database.db.query(question)
    } finally {
      underWay--
    }
  }
  const watch: InboundWatch = createInboundWatch({ db: { query } as Db, clock })

  /** Follows a stream and reads everything at once; returns what was received. */
  async function follow(more: Partial<InboundWatcher> = {}, end = gone.signal): Promise<InboundNews[]> {
    const received: InboundNews[] = []
    const events = await watch.follow(watcher(more), end)
    void (async () => {
      for await (const news of events) received.push(news)
    })()
    await idle()
    return received
  }

  async function idle(): Promise<void> {
    do await new Promise(resolve => setImmediate(resolve))
    while (underWay > 0)
    await new Promise(resolve => setImmediate(resolve))
  }

  return {
    follow,
    /** Opens a stream without reading it. */
    followSlowly: () => watch.follow(watcher({}), gone.signal),
    async poll() {
      await clock.advance(1_000)
      await idle()
    },
    asked: () => asked,
    away(away: boolean) {
      isAway = away
    },
  }
}

function watcher(more: Partial<InboundWatcher>): InboundWatcher {
  return { account: { id: accountId }, filter: {}, cursor: undefined, ...more }
}

async function write(more: Partial<InboundRow> = {}, count = 1): Promise<InboundId[]> {
  const rows = Array.from({ length: count }, () => ({
    ...messageOf(),
    ...more,
    id: more.id ?? ids.next('inb'),
  }))
  await insertInbound(database.db, rows)
  return rows.map(({ id }) => id)
}

function messageOf(): Omit<InboundRow, 'id'> {
  return {
    accountId,
    connectionId: ids.next('cnn'),
    provider: 'telegram',
    providerId: ids.next('evt'),
    channel: 'botapp_bot',
    from: '7000000001',
    to: 'bot_1',
    text: 'Hello',
    button: null,
    buttonTitle: null,
    media: [],
    location: null,
    contacts: [],
    replyTo: null,
    contact: null,
    conversation: { accountId: 'bot_1', chatId: '7000000001', key: 'botapp_bot:bot_1:7000000001' },
    keyword: null,
    sentAtMs: null,
  }
}

const messageIds = (received: readonly InboundNews[]) =>
  received.flatMap(news => (news.kind === 'message' ? [news.message.id] : []))
const kinds = (received: readonly InboundNews[]) => received.map(({ kind }) => kind)

test('streams new messages once, in order and by filter; a new stream begins with a reset', async () => {
  const node = openNode()
  await write()
  const all = await node.follow()
  const some = await node.follow({ filter: { from: '7000000002', conversationKey: 'k' } })
  const others = await node.follow({ account: { id: ids.next('acc') } })
  expect([all, some, others].map(kinds)).toEqual([['reset'], ['reset'], ['reset']])
  const [first] = await write()
  const conversation = { accountId: 'bot_1', chatId: '7000000002', key: 'k' }
  const [second] = await write({ from: '7000000002', conversation })
  await node.poll()
  await node.poll()
  expect([all, some, others].map(messageIds)).toEqual([[first, second], [second], []])
})

test('a message that is stored after newer ones is streamed once', async () => {
  const node = openNode()
  const slow = ids.next('inb')
  clock.skip(10_000)
  const received = await node.follow()
  const [quick] = await write()
  await node.poll()
  await write({ id: slow })
  await node.poll()
  for (let nth = 0; nth < 40; nth++) await node.poll()
  expect(messageIds(received)).toEqual([quick, slow])
})

test('a stream resumes from its cursor on another node; an old or invalid cursor gets a reset', async () => {
  const [here, there] = [openNode(), openNode()]
  const received = await here.follow()
  const [before] = await write()
  await here.poll()
  const { cursor } = received.at(-1)!
  clock.skip(20_000)
  const [between] = await write()
  const again = await there.follow({ cursor })
  expect([messageIds(received), messageIds(again)]).toEqual([[before], [before, between]])
  expect(kinds(again)).not.toContain('reset')
  const [after] = await write()
  await there.poll()
  expect(messageIds(again).at(-1)).toBe(after)
  clock.skip(60_000)
  for (const old of [cursor, '', 'x', '9'.repeat(15), '1'.repeat(400)]) {
    expect(kinds(await there.follow({ cursor: old }))).toEqual(['reset'])
  }
})

test('too many messages at once are replaced by a reset, and the stream continues', async () => {
  const node = openNode()
  const received = await node.follow()
  await write({}, 301)
  await node.poll()
  expect(kinds(received)).toEqual(['reset', 'reset'])
  const [next] = await write()
  await node.poll()
  expect(messageIds(received)).toEqual([next])
})

test('a slow reader gets a reset instead of the messages that it missed', async () => {
  const node = openNode()
  const events = await node.followSlowly()
  expect((await events.next()).value?.kind).toBe('reset')
  for (let nth = 0; nth < 2; nth++) {
    await write({}, 200)
    await node.poll()
  }
  expect((await events.next()).value?.kind).toBe('reset')
})

test('after a database outage a node streams the messages that were stored meanwhile', async () => {
  const node = openNode()
  const received = await node.follow()
  node.away(true)
  const [missed] = await write()
  for (let nth = 0; nth < 30; nth++) await node.poll()
  node.away(false)
  await node.poll()
  expect(messageIds(received)).toEqual([missed])
})

test('a new stream has no messages from before it, also if an earlier one of the account ended on this node', async () => {
  const node = openNode()
  const end = new AbortController()
  await node.follow({}, end.signal)
  end.abort()
  await write()
  clock.skip(60_000)
  const received = await node.follow()
  const [next] = await write()
  await node.poll()
  expect(messageIds(received)).toEqual([next])
})

test('without followers nothing is queried, and a stream ends when its signal aborts', async () => {
  const node: Node = openNode()
  const end = new AbortController()
  const before = node.asked()
  await node.poll()
  expect(node.asked()).toBe(before)
  const events = await createInboundWatch({ db: database.db, clock }).follow(watcher({}), end.signal)
  expect((await events.next()).value?.kind).toBe('reset')
  end.abort()
  expect((await events.next()).done).toBe(true)
})
