import { afterAll, beforeAll, expect, test } from 'vitest'
import { createAttempts } from '../../../src/core/people/attempts.ts'
import { createAuthentication } from '../../../src/core/people/authentication.ts'
import { createBrowsers } from '../../../src/core/people/browsers.ts'
import { createOwnLogin } from '../../../src/core/people/own-login.ts'
import { createPasswords } from '../../../src/core/people/passwords.ts'
import { createSessions } from '../../../src/core/people/sessions.ts'
import { insertUser, selectUser } from '../../../src/core/people/user-store.ts'
import { createSeal } from '../../../src/infra/seal.ts'
import { createRandom } from '../../../src/lib/random.ts'
import { createTestDatabase, type TestDatabase } from '../../support/database.ts'
import { deaf, openRooms } from '../../support/rooms.ts'

let database: TestDatabase

beforeAll(async () => {
  database = await createTestDatabase()
})
afterAll(() => database.drop())

test('a changed name shows in the user’s session at once, without a change notification', async () => {
  const { db } = database
  const rooms = await openRooms(db, { connect: deaf })
  const random = createRandom()
  const seal = createSeal(Buffer.alloc(32, 7), random)
  const { clock, ids, changes, accounts } = rooms
  const browsers = createBrowsers({ random, seal })
  const sessions = createSessions({ db, clock, ids, random, seal, changes, accounts, browsers })
  const attempts = createAttempts({ clock })
  const passwords = createPasswords({ random })
  const proof = createAuthentication({ db, clock, seal, attempts, passwords, browsers })
  const ownLogin = createOwnLogin({ db, clock, random, seal, attempts, passwords, proof, sessions })

  const id = ids.next('usr')
  const email = 'ann@example.com'
  await insertUser(db, { id, email, emailKey: email, name: 'Ann', password: 'none', operator: false })
  const visit = { ip: '127.0.0.1', userAgent: null, browser: null, host: 'localhost', forwarded: false }
  const { token } = await sessions.begin(db, (await selectUser(db, id))!, visit)
  const ann = (await sessions.lookup(token))!
  await ownLogin.update(ann, { name: 'Ann Other' })
  expect(await sessions.lookup(token)).toMatchObject({ name: 'Ann Other' })
  await rooms.stop()
})
