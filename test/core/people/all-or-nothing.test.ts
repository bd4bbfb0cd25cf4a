import { Secret, TOTP } from 'otpauth'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { createAttempts } from '../../../src/core/people/attempts.ts'
import { createAuthentication } from '../../../src/core/people/authentication.ts'
import { createBrowsers } from '../../../src/core/people/browsers.ts'
import { createInvitations } from '../../../src/core/people/invitations.ts'
import { createMembers } from '../../../src/core/people/members.ts'
import { insertMembership, selectMember } from '../../../src/core/people/membership-store.ts'
import { createOwnLogin } from '../../../src/core/people/own-login.ts'
import { createPasswords } from '../../../src/core/people/passwords.ts'
import { createPeopleAdmin } from '../../../src/core/people/people-admin.ts'
import { createSessions } from '../../../src/core/people/sessions.ts'
import { insertUser, selectUser, setPassword, type UserId } from '../../../src/core/people/user-store.ts'
import { type Database, DatabaseUnavailable, type Db } from '../../../src/infra/db.ts'
import { createSeal } from '../../../src/infra/seal.ts'
import type { AccountId } from '../../../src/lib/ids.ts'
import { createRandom } from '../../../src/lib/random.ts'
import { crossLocks } from '../../support/cross-locks.ts'
import { createTestDatabase, type TestDatabase } from '../../support/database.ts'
import { openRooms, type Rooms } from '../../support/rooms.ts'

const PASSWORD = 'correct horse battery'
const OTHER_PASSWORD = 'staple of the other kind'
const EMAIL = 'ann@example.com'
const VISIT = { ip: '127.0.0.1', userAgent: null, browser: null, host: 'localhost', forwarded: false }
const OPERATOR = { type: 'operator_token' as const, id: null, name: 'Operator token' }

let database: TestDatabase
let rooms: Rooms
/** The name of the statement for which the database is away. */
let failing: string | null
let people: ReturnType<typeof openPeople>
let ann: UserId
let accountId: AccountId

beforeAll(async () => {
  database = await createTestDatabase()
})
afterAll(() => database.drop())

beforeEach(async () => {
  failing = null
  rooms = await openRooms(database.db)
  people = openPeople(withFailures(database.db))
  const { account } = await rooms.accountAdmin.create({ name: 'Acme', homeCountry: 'US', currency: 'USD' })
  accountId = account.id as AccountId
  ann = rooms.ids.next('usr')
  const password = await people.passwords.hash(PASSWORD)
  await insertUser(database.db, {
    id: ann,
    email: EMAIL,
    emailKey: EMAIL,
    name: 'Ann',
    password,
    operator: true,
  })
})
afterEach(async () => {
  await database.db.query({ name: 'test_no_people', text: 'delete from users' })
  await rooms.stop()
})

function withFailures(db: Database): Database {
  const guard = (to: Db): Db => ({
    query: query =>
      query.name === failing ? Promise.reject(new DatabaseUnavailable(new Error('away'))) : to.query(query),
  })
  return { ...db, ...guard(db), transaction: work => db.transaction(tx => work(guard(tx))) }
}

function openPeople(db: Database) {
  const random = createRandom()
  const seal = createSeal(Buffer.alloc(32, 7), random)
  const { clock, ids, changes, accounts } = rooms
  const browsers = createBrowsers({ random, seal })
  const sessions = createSessions({ db, clock, ids, random, seal, changes, accounts, browsers })
  const attempts = createAttempts({ clock })
  const passwords = createPasswords({ random })
  const proof = createAuthentication({ db, clock, seal, attempts, passwords, browsers })
  const shared = { db, clock, ids, random, seal, attempts, passwords, proof, sessions }
  const invitations = createInvitations(shared)
  const members = createMembers({ ...shared, invitations, mail: async () => 'not_asked', publicUrl: null })
  const admin = createPeopleAdmin({ ...shared, invitations, members, publicUrl: null })
  return { passwords, proof, sessions, invitations, admin, ownLogin: createOwnLogin(shared) }
}

const signIn = async () => people.sessions.begin(database.db, (await selectUser(database.db, ann))!, VISIT)
const logIn = (password: string) => people.proof.verifyLogin({ email: EMAIL, password }, VISIT)

test('a link whose sign-in fails is not used up, and has changed nothing', async () => {
  const { link } = await people.admin.createResetLink(ann, 'http://localhost', OPERATOR)
  const body = { token: link.split('#')[1]!, password: OTHER_PASSWORD }
  failing = 'session_insert'
  await expect(people.invitations.accept(body, VISIT)).rejects.toThrow(DatabaseUnavailable)
  failing = null
  expect(await logIn(PASSWORD)).toMatchObject({ id: ann })
  expect(await people.invitations.accept(body, VISIT)).toMatchObject({ signedIn: { userId: ann } })
  expect(await logIn(OTHER_PASSWORD)).toMatchObject({ id: ann })
})

test('a password whose new session cannot be stored is not changed, and the old sessions go on', async () => {
  const { token, signedIn } = await signIn()
  const change = { currentPassword: PASSWORD, newPassword: OTHER_PASSWORD }
  failing = 'session_insert'
  await expect(people.ownLogin.changePassword(signedIn, change, VISIT)).rejects.toThrow(DatabaseUnavailable)
  failing = null
  expect(await people.sessions.lookup(token)).toMatchObject({ userId: ann })
  expect(await logIn(PASSWORD)).toMatchObject({ id: ann })
})

test('the second factor is not turned off by a password that a reset replaces meanwhile, and nobody is signed in by it', async () => {
  const { token, signedIn } = await signIn()
  const hash = await people.passwords.hash(OTHER_PASSWORD)
  async function reset(tx: Db): Promise<void> {
    await setPassword(tx, ann, hash)
    await people.sessions.endAll(tx, ann)
  }
  const ended: unknown[] = []
  const turnOff = () =>
    people.ownLogin.disableTotp(signedIn, PASSWORD, VISIT).then(
      done => ended.push(done),
      error => ended.push(error),
    )
  await crossLocks(database.db, reset, turnOff, async () => {})
  expect(ended).toMatchObject([{ code: 'VALIDATION_ERROR', details: [{ path: 'password' }] }])
  people.sessions.forget(ann)
  expect(await people.sessions.lookup(token)).toBeNull()
  expect(await logIn(OTHER_PASSWORD)).toMatchObject({ id: ann })
})

test('a member is not removed where the keys that they leave cannot be listed', async () => {
  for (const [userId, role] of [
    [ann, 'member'],
    [rooms.ids.next('usr'), 'owner'],
  ] as const) {
    if (userId !== ann) {
      const email = 'owner@example.com'
      const user = { id: userId, email, emailKey: email, name: 'Bo', password: 'none', operator: true }
      await insertUser(database.db, user)
    }
    const membership = { accountId, userId, role, permissions: [] }
    await insertMembership(database.db, membership, rooms.clock.now())
  }
  failing = 'keys_made_by'
  for (const from of [accountId, undefined]) {
    await expect(people.admin.remove(ann, from)).rejects.toThrow(DatabaseUnavailable)
    expect(await selectMember(database.db, accountId, ann)).not.toBeNull()
  }
  failing = null
  expect(await people.admin.remove(ann)).toMatchObject({ left: [accountId], removed: { apiKeys: [] } })
})

test('attempts that failed because the database is away do not count as wrong guesses', async () => {
  const { signedIn } = await signIn()
  const { link } = await people.admin.createResetLink(ann, 'http://localhost', OPERATOR)
  const token = link.split('#')[1]!
  const { secret } = await people.ownLogin.startTotp(signedIn, PASSWORD)
  const authenticator = new TOTP({ secret: Secret.fromBase32(secret) })
  const code = authenticator.generate({ timestamp: rooms.clock.now() })
  const confirm = () => people.ownLogin.confirmTotp(signedIn, code, VISIT)
  const totp = authenticator.generate({ timestamp: rooms.clock.now() + 30_000 })
  const logInByCode = () => people.proof.verifyLogin({ email: EMAIL, password: PASSWORD, totp }, VISIT)

  await failTimes(31, 'invitation_by_token', () => people.invitations.preview(token, VISIT))
  expect(await people.invitations.preview(token, VISIT)).toMatchObject({ kind: 'reset' })
  await failTimes(11, 'user_by_id', confirm)
  expect(await confirm()).toMatchObject({ entered: { signedIn: { userId: ann } } })
  await failTimes(11, 'user_totp_use', logInByCode)
  expect(await logInByCode()).toMatchObject({ id: ann })
})

async function failTimes(times: number, statement: string, attempt: () => Promise<unknown>): Promise<void> {
  failing = statement
  for (let count = 0; count < times; count++) await expect(attempt()).rejects.toThrow(DatabaseUnavailable)
  failing = null
}
