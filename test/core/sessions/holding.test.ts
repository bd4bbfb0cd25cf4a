import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { Inbound, Receipt } from '../../../src/channels/provider.ts'
import type { SessionIo, SessionLink } from '../../../src/channels/shared/session.ts'
import { registerNode, removeNode } from '../../../src/core/outbox/node-store.ts'
import { listChats } from '../../../src/core/sessions/chat-store.ts'
import { selectKeys, upsertKeys } from '../../../src/core/sessions/key-store.ts'
import { createHeldKeys, type HeldKeys } from '../../../src/core/sessions/keys.ts'
import { createSessionStates } from '../../../src/core/sessions/states.ts'
import {
  claimSessions,
  deleteSession,
  insertSession,
  lockClaim,
  restartSession,
  type SessionClaim,
  type SessionRow,
} from '../../../src/core/sessions/store.ts'
import { type Database, DatabaseUnavailable } from '../../../src/infra/db.ts'
import { createSeal } from '../../../src/infra/seal.ts'
import { systemClock } from '../../../src/lib/clock.ts'
import { type AccountId, createIds } from '../../../src/lib/ids.ts'
import { createRandom } from '../../../src/lib/random.ts'
import { type HeldSessionDeps, holdSession } from '../../../src/workers/held-session.ts'
import { createTestDatabase, type TestDatabase } from '../../support/database.ts'
import { createFakeClock } from '../../support/fake-clock.ts'
import { lookUntil } from '../../support/look-until.ts'
import { createSessionIo } from '../../support/web-session-io.ts'

const random = createRandom()
const ids = createIds(systemClock, random)
const seal = createSeal(Buffer.alloc(32, 3), random)

let database: TestDatabase
let accountId: AccountId
let nodes: [number, number]

beforeAll(async () => {
  database = await createTestDatabase()
})
afterAll(() => database.drop())

beforeEach(async () => {
  accountId = ids.next('acc')
  nodes = [
    await registerNode(database.db, 'a', Date.now(), false),
    await registerNode(database.db, 'b', Date.now(), false),
  ]
  const row: SessionRow = {
    accountId,
    id: ids.next('cnn'),
    name: 'desk',
    live: true,
    sandbox: false,
    state: 'connecting',
    detail: null,
    pairing: null,
    askedPhone: null,
    phone: null,
    pushName: null,
    pairedAtMs: null,
    openedAtMs: null,
    changedAtMs: Date.now(),
    wanted: true,
    removing: false,
    turn: 0,
    node: null,
    fence: 0,
  }
  await insertSession(database.db, row)
})

async function claim(node: number): Promise<SessionClaim[]> {
  const rows = await claimSessions(database.db, node, 10)
  return rows
    .filter(row => row.accountId === accountId)
    .map(({ id, fence, turn }) => ({ accountId, id, node, fence, turn }))
}

const keysOf = (hold: SessionClaim): HeldKeys =>
  createHeldKeys({ db: database.db, clock: systemClock, seal, mayRetry: () => false }, hold)
const states = () => createSessionStates({ db: database.db, clock: systemClock, ids, seal })
const chat = (name: string | null, chatId = '+15550000001') =>
  ({ chatId, kind: 'user', name, lastMessageAtMs: null }) as const
const OPEN = { state: 'open', phone: '+15550000000', pushName: null } as const

test('when nodes claim a session at once, exactly one gets it', async () => {
  const claims = await Promise.all([...nodes, ...nodes].map(claim))
  expect(claims.flat()).toHaveLength(1)
  expect(await claim(nodes[0])).toEqual([])
})

test('a node that lost its claim cannot write keys, chats or states', async () => {
  const [first] = await claim(nodes[0])
  const earlier = keysOf(first!)
  expect(await earlier.write([{ kind: 'session', id: 'ada', value: 'old' }])).toBe(true)
  expect(await states().recordState(first!, OPEN)).toBe(true)

  await removeNode(database.db, nodes[0])
  const [second] = await claim(nodes[1])
  expect(second!.fence).toBe(first!.fence + 1)
  const later = keysOf(second!)
  expect(await later.write([{ kind: 'session', id: 'ada', value: 'new' }])).toBe(true)
  expect(await earlier.write([{ kind: 'session', id: 'ada', value: 'stale' }])).toBe(false)
  expect(await states().recordState(first!, { state: 'logged_out', detail: 'stale' })).toBe(false)
  expect(await states().recordChats(second!, [chat('Bob')])).toBe(true)
  expect(await states().recordChats(first!, [chat('Stale'), chat('Gone', '+15550000009')])).toBe(false)
  expect(await listChats(database.db, second!, null, null, 10)).toEqual([chat('Bob')])
  expect(await later.read('session', ['ada', 'bob'])).toEqual(new Map([['ada', 'new']]))
})

test('writes with an earlier claim of the same host are refused after the session was claimed again', async () => {
  const [first] = await claim(nodes[0])
  await removeNode(database.db, nodes[0])
  await claim(nodes[1])
  await removeNode(database.db, nodes[1])
  const again = await registerNode(database.db, 'a', Date.now(), false)
  const [third] = await claim(again)
  expect(await keysOf({ ...first!, node: again }).write([{ kind: 'k', id: '1', value: 'x' }])).toBe(false)
  expect(await keysOf(third!).write([{ kind: 'k', id: '1', value: 'x' }])).toBe(true)
})

test('changes of keys are written all or none', async () => {
  const [hold] = await claim(nodes[0])
  const keys = keysOf(hold!)
  await keys.write([{ kind: 'k', id: '1', value: 'one' }])
  const nul = 'a\0b'
  await expect(
    keys.write([
      { kind: 'k', id: '1', value: null },
      { kind: nul, id: '2', value: 'two' },
    ]),
  ).rejects.toThrow()
  expect(await keys.read('k', ['1'])).toEqual(new Map([['1', 'one']]))
})

test('a state from before a restart is not recorded after it', async () => {
  const [hold] = await claim(nodes[0])
  await restartSession(database.db, accountId, true, 'desk', true, Date.now())
  expect(await states().recordState(hold!, { state: 'closed', detail: 'too late', reconnects: false })).toBe(
    false,
  )
})

test('a recorded log-out deletes the keys of the session', async () => {
  const [hold] = await claim(nodes[0])
  const keys = keysOf(hold!)
  await keys.write([{ kind: 'credentials', id: '', value: 'secret' }])
  expect(await states().recordState(hold!, { state: 'logged_out', detail: 'unlinked' })).toBe(true)
  expect(await keys.read('credentials', [''])).toEqual(new Map())
})

test('a session that is deleted while a key is being written leaves no key', async () => {
  const [hold] = await claim(nodes[0])
  let forgetting: Promise<boolean> | undefined
  await database.db.transaction(async tx => {
    await lockClaim(tx, hold!)
    await upsertKeys(tx, hold!, [{ kind: 'k', keyId: '1', value: Buffer.from('late') }])
    forgetting = deleteSession(database.db, hold!)
    await lookUntil(waitersForLocks, n => n === 1, 3_000)
  })
  expect(await forgetting).toBe(true)
  expect(await selectKeys(database.db, hold!, 'k', ['1'])).toEqual([])
})

async function waitersForLocks(): Promise<number> {
  const { rows } = await database.db.query<{ n: number }>({
    name: 'waiters_for_locks',
    text: `select count(*)::integer as n from pg_stat_activity
            where datname = current_database() and wait_event_type = 'Lock'`,
  })
  return rows[0]!.n
}

test('names that the database cannot store as they are harm neither the session nor its other chats', async () => {
  const [hold] = await claim(nodes[0])
  expect(await states().recordState(hold!, { ...OPEN, pushName: 'A\0da\ud800' })).toBe(true)
  const names = ['Bob', '\0', `\0${'x'.repeat(1_000)}`]
  await states().recordChats(
    hold!,
    names.map((name, at) => chat(name, `+1555000000${at}`)),
  )
  const kept = await listChats(database.db, hold!, null, null, 10)
  expect(kept.map(({ name }) => name)).toEqual(['Bob', null, 'x'.repeat(255)])
})

test('chats that are recorded after their session was deleted are not stored', async () => {
  const [hold] = await claim(nodes[0])
  expect(await deleteSession(database.db, hold!)).toBe(true)
  expect(await states().recordChats(hold!, [chat('Late'), chat('Later', '+15550000009')])).toBe(false)
  expect(await listChats(database.db, hold!, null, null, 10)).toEqual([])
})

test('a session that is deleted while its chats are being recorded leaves no chat', async () => {
  const [hold] = await claim(nodes[0])
  let deleting: Promise<boolean> | undefined
  const transaction: Database['transaction'] = work =>
    database.db.transaction(async tx => {
      const recorded = await work(tx)
      deleting = deleteSession(database.db, hold!)
      await lookUntil(waitersForLocks, n => n === 1, 3_000)
      return recorded
    })
  const db = { ...database.db, transaction }
  const recording = createSessionStates({ db, clock: systemClock, ids, seal })
  expect(await recording.recordChats(hold!, [chat('Late'), chat('Later', '+15550000009')])).toBe(true)
  expect(await deleting).toBe(true)
  expect(await listChats(database.db, hold!, null, null, 10)).toEqual([])
})

test('chats that are recorded while their session is being deleted are not stored', async () => {
  const [hold] = await claim(nodes[0])
  let recording: Promise<boolean> | undefined
  const transaction: Database['transaction'] = work =>
    database.db.transaction(async tx => {
      const deleted = await work(tx)
      recording = states().recordChats(hold!, [chat('Late')])
      await lookUntil(waitersForLocks, n => n === 1, 3_000)
      return deleted
    })
  expect(await deleteSession({ ...database.db, transaction }, hold!)).toBe(true)
  expect(await recording).toBe(false)
  expect(await listChats(database.db, hold!, null, null, 10)).toEqual([])
})

/** A session that is held, with `link` once the test resolves it. */
async function holdWith(deps: Partial<HeldSessionDeps> = {}) {
  const opened = Promise.withResolvers<SessionIo>()
  const link = Promise.withResolvers<SessionLink>()
  const io = createSessionIo()
  const [claimed] = await claim(nodes[0])
  const session = holdSession({ ...claimed!, name: 'desk' } as SessionRow, claimed!, '', {
    clock: systemClock,
    log: io.log,
    sessionStates: states(),
    keysOf,
    openLink(given) {
      opened.resolve(given)
      return link.promise
    },
    io: () => io,
    attach: () => () => {},
    sentText: io.sentText,
    stopping: () => false,
    ...deps,
  })
  return { session, io: await opened.promise, link }
}

/** A database that is away, or slow, for what a session received. */
function createInbox(isReady: () => boolean | Promise<void>) {
  const stored: string[] = []
  return {
    stored,
    io: () => ({
      ...createSessionIo(),
      async emit(inbound: readonly Inbound[]) {
        if ((await isReady()) === false) throw new DatabaseUnavailable(null)
        stored.push(...inbound.map(each => (each as Receipt).providerId))
      },
    }),
  }
}

const received = (providerId: string): Receipt[] => [
  { kind: 'receipt', providerId, status: 'read', atMs: null, providerCode: null, detail: null },
]

test('what a session received is kept while the database is unavailable, and stored when it is back', async () => {
  const clock = createFakeClock()
  let away = true
  const inbox = createInbox(() => !away)
  const { io } = await holdWith({ clock, io: inbox.io })
  const kept = io.emit(received('first'))
  await clock.advance(60_000)
  away = false
  await clock.advance(1_000)
  await kept
  expect(inbox.stored).toEqual(['first'])
})

test('a session is closed once what it received is stored, also what comes while its line ends', async () => {
  const gate = Promise.withResolvers<void>()
  const inbox = createInbox(() => gate.promise)
  const { session, io, link } = await holdWith({ io: inbox.io })
  void io.emit(received('first'))
  const passedOn = Promise.withResolvers<void>()
  link.resolve({
    async close() {
      void io.emit(received('last'))
      passedOn.resolve()
    },
  } as SessionLink)
  const closed = session.close().then(() => expect(inbox.stored).toEqual(['first', 'last']))
  await passedOn.promise
  setImmediate(gate.resolve)
  await closed
})

test('a session is closed although the database is away, and what it received is stored later', async () => {
  const clock = createFakeClock()
  let away = true
  const inbox = createInbox(() => !away)
  const { session, io, link } = await holdWith({ clock, io: inbox.io })
  link.resolve({ close: async () => {} } as SessionLink)
  const kept = io.emit(received('first'))
  const closed = session.close()
  await clock.advance(2_000)
  await closed
  away = false
  await clock.advance(1_000)
  await kept
  expect(inbox.stored).toEqual(['first'])
})

test('a session that opens while it is being closed takes no messages', async () => {
  let attached = 0
  const attach = () => {
    attached++
    return () => void attached--
  }
  const { session, io, link } = await holdWith({ attach })
  link.resolve({ close: async () => {} } as SessionLink)
  const closed = session.close()
  io.reportState(OPEN)
  await closed
  expect(attached).toBe(0)
})

test('of chats that are recorded one by one, groups and the newest 5,000 are kept', async () => {
  const hold = (await claim(nodes[0]))[0]!
  const at = (nth: number) => ({ ...chat(null, `+1555${1_000_000 + nth}`), lastMessageAtMs: 1_000 * nth })
  await states().recordChats(
    hold,
    Array.from({ length: 4_999 }, (_, nth) => at(nth)),
  )
  const group = {
    chatId: '120363000000000000@g.us',
    kind: 'group',
    name: 'Team',
    lastMessageAtMs: null,
  } as const
  for (const one of [group, at(5_000), at(5_001), at(5_001)]) {
    expect(await states().recordChats(hold, [one])).toBe(true)
  }
  const kept = await listChats(database.db, hold, null, null, 6_000)
  expect(kept).toHaveLength(5_000)
  const names = kept.map(({ chatId }) => chatId)
  expect([group, at(5_001), at(2), at(1), at(0)].map(({ chatId }) => names.includes(chatId))).toEqual([
    true,
    true,
    true,
    false,
    false,
  ])
})
