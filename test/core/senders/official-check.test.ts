import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { OfficialIdentity } from '../../../src/channels/provider.ts'
import { createOfficialCheck } from '../../../src/core/senders/official-check.ts'
import { selectIdentities, sweepIdentities } from '../../../src/core/senders/official-store.ts'
import { type AccountId, type ConnectionId, createIds, toUuid } from '../../../src/lib/ids.ts'
import { createRandom } from '../../../src/lib/random.ts'
import { createTestDatabase, type TestDatabase } from '../../support/database.ts'
import { createFakeClock, type FakeClock } from '../../support/fake-clock.ts'

const IDENTITY: OfficialIdentity = {
  phoneNumber: '+15550783881',
  displayName: 'Jasper’s Market',
  qualityRating: 'GREEN',
  messagingLimit: 'TIER_1K',
  status: 'CONNECTED',
}

let database: TestDatabase
let clock: FakeClock
let accountId: AccountId
let connectionId: ConnectionId
let reads: number
let answer: (signal: AbortSignal) => Promise<OfficialIdentity>
const ids = createIds(createFakeClock(), createRandom())
const log = { info() {}, warn() {}, debug() {} }

beforeAll(async () => {
  database = await createTestDatabase()
})
afterAll(() => database.drop())
beforeEach(() => {
  clock = createFakeClock()
  accountId = ids.next('acc')
  connectionId = ids.next('cnn')
  reads = 0
  answer = async () => IDENTITY
})

/** The check of one node. */
function node() {
  const identity = (signal: AbortSignal) => {
    reads++
    return answer(signal)
  }
  return createOfficialCheck({
    db: database.db,
    clock,
    log,
    links: () => [{ accountId, connectionId, identity }],
  })
}

test('the identity of an official sender is read once an hour, by one of the nodes', async () => {
  const [a, b] = [node(), node()]
  expect((await Promise.all([a(), b()])).toSorted()).toEqual([0, 1])
  await a()
  expect(reads).toBe(1)
  expect(await selectIdentities(database.db, accountId)).toEqual([
    { ...IDENTITY, connectionId, checkedAtMs: clock.now() },
  ])
  await clock.advance(3_600_000)
  answer = async () => ({ ...IDENTITY, qualityRating: 'YELLOW' })
  await b()
  expect(reads).toBe(2)
  expect(await selectIdentities(database.db, accountId)).toMatchObject([{ qualityRating: 'YELLOW' }])
})

test('a failed read is repeated after a minute, and the stored identity is kept', async () => {
  const look = node()
  await look()
  await clock.advance(3_600_000)
  answer = () => Promise.reject(new Error('down'))
  await look()
  await clock.advance(59_999)
  await look()
  expect(reads).toBe(2)
  await clock.advance(1)
  await look()
  expect(reads).toBe(3)
  expect(await selectIdentities(database.db, accountId)).toMatchObject([{ displayName: 'Jasper’s Market' }])
})

test('a read without a response is aborted after ten seconds', async () => {
  let given: AbortSignal | null = null
  const called = new Promise<void>(resolve => {
    answer = signal => {
      given = signal
      resolve()
      return new Promise(() => {})
    }
  })
  const looking = node()()
  await called
  await clock.advance(10_000)
  expect(await looking).toBe(1)
  expect(given!.aborted).toBe(true)
  expect(await selectIdentities(database.db, accountId)).toEqual([])
})

test('an identity is stored without the characters that the database cannot store', async () => {
  answer = async () => ({ ...IDENTITY, displayName: 'Jasper\0s Mark\ud83d', status: 'CONN\0ECTED' })
  await node()()
  expect(await selectIdentities(database.db, accountId)).toMatchObject([
    { ...IDENTITY, displayName: 'Jaspers Mark\ufffd', status: 'CONNECTED' },
  ])
})

test('the identity of a removed connection is swept, and that of an existing one is kept', async () => {
  await node()()
  const removed = connectionId
  connectionId = ids.next('cnn')
  await node()()
  await database.db.query({
    name: 'existing_connection',
    text: `insert into connections (account_id, id, provider, name, channels, config, max_attempts, backoff_ms, allowed_types,
             send_mode_by_type)
           values ($1, $2, 'model', 'official', '{official_chatapp}', '{}', 1, 0, '{otp}', '{}')`,
    values: [toUuid(accountId), toUuid(connectionId)],
  })
  const known = async () =>
    (await selectIdentities(database.db, accountId)).map(identity => identity.connectionId)
  expect((await known()).toSorted()).toEqual([removed, connectionId].toSorted())
  while ((await sweepIdentities(database.db, 10)) > 0);
  expect(await known()).toEqual([connectionId])
})
