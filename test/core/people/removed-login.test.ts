import { createHash } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createBrowsers } from '../../../src/core/people/browsers.ts'
import { createPeopleAdmin } from '../../../src/core/people/people-admin.ts'
import { insertSession, listSessions, type SessionId } from '../../../src/core/people/session-store.ts'
import { createSessions } from '../../../src/core/people/sessions.ts'
import { insertUser, selectUser } from '../../../src/core/people/user-store.ts'
import type { Db } from '../../../src/infra/db.ts'
import { createSeal } from '../../../src/infra/seal.ts'
import { toUuid } from '../../../src/lib/ids.ts'
import { createRandom } from '../../../src/lib/random.ts'
import { crossLocks } from '../../support/cross-locks.ts'
import { createTestDatabase, type TestDatabase } from '../../support/database.ts'
import { openRooms } from '../../support/rooms.ts'

let database: TestDatabase

beforeAll(async () => {
  database = await createTestDatabase()
})
afterAll(() => database.drop())

/** As the chore does that stores when sessions were last used. */
const lock = (id: SessionId) => (tx: Db) =>
  tx.query({
    name: 'test_lock_session',
    text: 'select 1 from console_sessions where id = $1 for no key update',
    values: [toUuid(id)],
  })

test('a removed login locks its sessions in the order of their ids, as others do', async () => {
  const { db } = database
  const rooms = await openRooms(db)
  const random = createRandom()
  const seal = createSeal(Buffer.alloc(32, 7), random)
  const { clock, ids, changes, accounts } = rooms
  const browsers = createBrowsers({ random, seal })
  const sessions = createSessions({ db, clock, ids, random, seal, changes, accounts, browsers })
  const unused = {} as never
  const admin = createPeopleAdmin({
    db,
    clock,
    invitations: unused,
    members: unused,
    sessions,
    publicUrl: null,
  })

  const userId = ids.next('usr')
  const email = 'ann@example.com'
  await insertUser(db, { id: userId, email, emailKey: email, name: 'Ann', password: 'none', operator: false })
  const user = (await selectUser(db, userId))!
  const [first, second] = [ids.next('ses'), ids.next('ses')]
  // Where the rows are in the table is the other order.
  for (const id of [second, first]) {
    const hash = createHash('sha256').update(id).digest()
    const atMs = clock.now()
    const session = { id, userId, createdAtMs: atMs, lastSeenAtMs: atMs, ip: null, userAgent: null }
    await insertSession(db, session, hash, user)
  }
  await crossLocks(db, lock(first), () => admin.remove(userId), lock(second))
  expect(await listSessions(db, userId)).toEqual([])
  await rooms.stop()
})
