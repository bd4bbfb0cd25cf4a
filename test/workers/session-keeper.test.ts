import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { registerNode } from '../../src/core/outbox/node-store.ts'
import { insertSession, removeSession, type SessionRow } from '../../src/core/sessions/store.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { type AccountId, createIds } from '../../src/lib/ids.ts'
import { createRandom } from '../../src/lib/random.ts'
import type { HeldSession } from '../../src/workers/held-session.ts'
import { createSessionKeeper } from '../../src/workers/session-keeper.ts'
import { createIo } from '../channels/conformance.ts'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'
import { lookUntil } from '../support/look-until.ts'
import { createSignals } from '../support/signals.ts'

const ids = createIds(systemClock, createRandom())
let database: TestDatabase

beforeAll(async () => {
  database = await createTestDatabase()
})
afterAll(() => database.drop())

beforeEach(async () => {
  await database.db.query({ name: 'keeper_no_sessions', text: 'delete from web_sessions' })
})

/** A linked session that no node holds. */
async function insertLinked(name = 'desk'): Promise<AccountId> {
  const accountId = ids.next('acc')
  const row: SessionRow = {
    accountId,
    id: ids.next('cnn'),
    name,
    live: true,
    sandbox: false,
    state: 'open',
    detail: null,
    pairing: null,
    askedPhone: null,
    phone: '+15550000000',
    pushName: null,
    pairedAtMs: Date.now(),
    openedAtMs: Date.now(),
    changedAtMs: Date.now(),
    wanted: true,
    removing: false,
    turn: 0,
    node: null,
    fence: 0,
  }
  await insertSession(database.db, row)
  return accountId
}

/** The keeper of a new node, with sessions as the test makes them. */
async function startKeeper(
  open: (row: SessionRow) => Pick<HeldSession, 'logOut' | 'close'>,
  revision = () => '',
) {
  const node = await registerNode(database.db, 'host', Date.now(), false)
  return createSessionKeeper({
    db: database.db,
    log: createIo().log,
    node: () => node,
    canHold: () => true,
    settingsOf: async () => ({ revision: revision() }),
    markResting: async () => {},
    open: (row, hold, { revision }) => ({ hold, revision, isHeld: () => true, ...open(row) }),
  })
}

const nothing = async () => {}

async function sessionsLeft(): Promise<{ node: number | null }[]> {
  const { rows } = await database.db.query<{ node: number | null }>({
    name: 'keeper_sessions_left',
    text: 'select node from web_sessions',
  })
  return rows
}

test('a node that stops leaves the log-out of a deleted session to the next one', async () => {
  await removeSession(database.db, await insertLinked(), true, 'desk')
  const begun = Promise.withResolvers<void>()
  const logOut = () => {
    begun.resolve()
    return new Promise<void>(() => {})
  }
  const first = await startKeeper(() => ({ logOut, close: nothing }))
  await first.round()
  await begun.promise
  await first.stop()
  expect(await sessionsLeft()).toEqual([{ node: null }])

  let loggedOut = 0
  const second = await startKeeper(() => ({ logOut: async () => void loggedOut++, close: nothing }))
  await second.round()
  await lookUntil(sessionsLeft, left => left.length === 0, 5_000)
  expect(loggedOut).toBe(1)
  await second.stop()
})

test('a session that takes long to close does not keep others from being opened anew', async () => {
  await insertLinked('slow')
  await insertLinked('fast')
  const gate = Promise.withResolvers<void>()
  const opened = createSignals()
  const names: string[] = []
  let revision = 'one'
  const keeper = await startKeeper(
    ({ name }) => {
      names.push(name)
      opened.notify()
      return { logOut: nothing, close: () => (name === 'slow' ? gate.promise : nothing()) }
    },
    () => revision,
  )
  await keeper.round()
  revision = 'two'
  const round = keeper.round()
  await opened.until(() => names.filter(name => name === 'fast').length === 2)
  expect(names.filter(name => name === 'slow')).toHaveLength(1)
  gate.resolve()
  await round
  expect(names.filter(name => name === 'slow')).toHaveLength(2)
  await keeper.stop()
})
