import { afterAll, beforeAll, expect, test } from 'vitest'
import { registerNode } from '../../src/core/outbox/node-store.ts'
import { insertSession, removeSession, type SessionRow } from '../../src/core/sessions/store.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { createIds } from '../../src/lib/ids.ts'
import { createRandom } from '../../src/lib/random.ts'
import type { HeldSession } from '../../src/workers/held-session.ts'
import { createSessionKeeper } from '../../src/workers/session-keeper.ts'
import { createIo } from '../channels/conformance.ts'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'
import { lookUntil } from '../support/look-until.ts'

const ids = createIds(systemClock, createRandom())
let database: TestDatabase

beforeAll(async () => {
  database = await createTestDatabase()
})
afterAll(() => database.drop())

/** A linked session that was deleted while no node held it. */
async function insertRemoved(): Promise<void> {
  const accountId = ids.next('acc')
  const row: SessionRow = {
    accountId,
    id: ids.next('cnn'),
    name: 'desk',
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
  await removeSession(database.db, accountId, true, 'desk')
}

/** A node's keeper, whose sessions are logged out as `logOut` says. */
async function startKeeper(logOut: () => Promise<void>) {
  const node = await registerNode(database.db, 'host', Date.now(), false)
  return createSessionKeeper({
    db: database.db,
    log: createIo().log,
    node: () => node,
    canHold: () => true,
    settingsOf: async () => ({ revision: '' }),
    markResting: async () => {},
    open: (_row, hold): HeldSession => ({
      hold,
      revision: '',
      isHeld: () => true,
      logOut,
      close: async () => {},
    }),
  })
}

async function sessionsLeft(): Promise<{ node: number | null }[]> {
  const { rows } = await database.db.query<{ node: number | null }>({
    name: 'keeper_sessions_left',
    text: 'select node from web_sessions',
  })
  return rows
}

test('a node that stops leaves the log-out of a deleted session to the next one', async () => {
  await insertRemoved()
  const begun = Promise.withResolvers<void>()
  const first = await startKeeper(() => {
    begun.resolve()
    return new Promise(() => {})
  })
  await first.round()
  await begun.promise
  await first.stop()
  expect(await sessionsLeft()).toEqual([{ node: null }])

  let loggedOut = 0
  const second = await startKeeper(async () => void loggedOut++)
  await second.round()
  await lookUntil(sessionsLeft, left => left.length === 0, 5_000)
  expect(loggedOut).toBe(1)
  await second.stop()
})
