import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Caller } from '../../../src/contract/caller.ts'
import type { SenderStatus } from '../../../src/contract/sender.ts'
import { insertSender } from '../../../src/core/senders/store.ts'
import type { AccountId } from '../../../src/lib/ids.ts'
import { createTestDatabase, type TestDatabase } from '../../support/database.ts'
import { lookUntil } from '../../support/look-until.ts'
import { BASIC_ACCOUNT, deaf, openRooms, type Rooms } from '../../support/rooms.ts'

let database: TestDatabase
let rooms: Rooms

beforeAll(async () => {
  database = await createTestDatabase()
  rooms = await openRooms(database.db)
})
afterAll(async () => {
  await rooms.stop()
  await database.drop()
})

async function newAccount(): Promise<AccountId> {
  return (await rooms.accountAdmin.create(BASIC_ACCOUNT)).account.id as AccountId
}

/** Stores a sender as a request of the account’s owner does. */
async function addSender(
  accountId: AccountId,
  name: string,
  status: SenderStatus = 'pending',
  isDefault = false,
) {
  const id = rooms.ids.next('snd')
  const sender = { id, accountId, name, status, isDefault, reason: null, webhookConfigured: false }
  expect(await insertSender(database.db, sender)).toBe(true)
  return id
}

describe('the review of a sender name', () => {
  test('approves a pending one, also repeatedly; it cannot be rejected any more', async () => {
    const id = await addSender(await newAccount(), 'Acme')
    expect(await rooms.senderReview.approve(id)).toMatchObject({ id, status: 'approved', reason: null })
    expect(await rooms.senderReview.approve(id)).toMatchObject({ status: 'approved' })
    await expect(rooms.senderReview.reject(id, 'late')).rejects.toMatchObject({ code: 'CONFLICT' })
  })

  test('rejects with a reason that a repeat does not change; it cannot be approved any more', async () => {
    const id = await addSender(await newAccount(), 'Bank')
    expect(await rooms.senderReview.reject(id, 'not your brand')).toMatchObject({
      status: 'rejected',
      reason: 'not your brand',
    })
    expect(await rooms.senderReview.reject(id, 'another')).toMatchObject({ reason: 'not your brand' })
    await expect(rooms.senderReview.approve(id)).rejects.toMatchObject({ code: 'CONFLICT' })
  })

  test('accepts one of two concurrent decisions', async () => {
    const id = await addSender(await newAccount(), 'Race')
    const results = await Promise.allSettled([
      rooms.senderReview.approve(id),
      rooms.senderReview.reject(id, 'no'),
    ])
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
  })

  test('fails with NOT_FOUND for an unknown id', async () => {
    await expect(rooms.senderReview.approve(rooms.ids.next('snd'))).rejects.toMatchObject({
      code: 'NOT_FOUND',
    })
    await expect(rooms.senderReview.approve('x')).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })

  test('lists by status in pages, newest first, and by account', async () => {
    const account = await newAccount()
    const ids = [
      await addSender(account, 'One1'),
      await addSender(account, 'Two2'),
      await addSender(account, 'Three'),
    ]
    const first = await rooms.senderReview.list({ status: 'pending', limit: 2 })
    expect(first.data.map(({ id }) => id)).toEqual([ids[2], ids[1]])
    const second = await rooms.senderReview.list({ status: 'pending', limit: 2, cursor: first.nextCursor! })
    expect(second.data[0]!.id).toBe(ids[0])
    expect(await rooms.senderReview.ofAccount(account)).toHaveLength(3)
    const another = await newAccount()
    await addSender(another, 'One1')
    const theirs = await rooms.senderReview.list({ accountId: account })
    expect(theirs.data.map(({ id }) => id)).toEqual(ids.toReversed())
    await expect(rooms.senderReview.list({ accountId: 'acc_none' })).rejects.toMatchObject({
      code: 'NOT_FOUND',
    })
  })
})

describe('a platform sender', () => {
  test('is approved at creation; a new default replaces the old one; the name must be free', async () => {
    await rooms.senderReview.createPlatform({ name: 'First', isDefault: true })
    const second = await rooms.senderReview.createPlatform({ name: 'Second', isDefault: true })
    expect(second).toMatchObject({ accountId: null, status: 'approved', isDefault: true })
    const { data } = await rooms.senderReview.list({ status: 'approved', limit: 500 })
    expect(data.filter(each => each.accountId === null && each.isDefault)).toEqual([second])
    await expect(rooms.senderReview.createPlatform({ name: 'First' })).rejects.toMatchObject({
      code: 'VALIDATION_ERROR',
      details: [{ path: 'name' }],
    })
  })

  test('is the default if it is created while another default is being created', async () => {
    const { senderReview } = rooms
    const blocked = async () => {
      const { rows } = await database.db.query({
        name: 'test_blocked',
        text: `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
      })
      return rows.length
    }
    let second: Promise<unknown> = Promise.resolve()
    await database.db.transaction(async tx => {
      await senderReview.createPlatformIn(tx, { name: 'AtOnce1', isDefault: true })
      second = senderReview.createPlatform({ name: 'AtOnce2', isDefault: true })
      second.catch(() => {})
      await lookUntil(blocked, waiting => waiting > 0, 10_000)
    })
    expect(await second).toMatchObject({ name: 'AtOnce2', isDefault: true })
    const { data } = await senderReview.list({ status: 'approved', limit: 500 })
    expect(data.filter(each => each.isDefault && each.accountId === null)).toHaveLength(1)
  })

  test.each(['ab', 'a'.repeat(12), 'Bad!', '12', '1'.repeat(16), '...'])('cannot be named %s', async name => {
    await expect(rooms.senderReview.createPlatform({ name })).rejects.toMatchObject({
      details: [{ path: 'name' }],
    })
  })
})

describe('the sender that an account may name', () => {
  test('is its own before the platform’s of the same name, also as the default', async () => {
    const account = await newAccount()
    const platform = await rooms.senderReview.createPlatform({ name: 'Shared', isDefault: true })
    await rooms.caughtUp()
    expect((await rooms.senders.forAccount(account)).default).toMatchObject({ id: platform.id })

    const own = await addSender(account, 'Shared', 'approved', true)
    const pending = await addSender(account, 'Waiting')
    await rooms.caughtUp()
    const found = await rooms.senders.forAccount(account)
    expect(found.default).toMatchObject({ id: own, accountId: account })
    expect(found.byName.get('Shared')).toMatchObject({ id: own })
    expect(found.byId.get(platform.id)).toMatchObject({ name: 'Shared' })
    expect(found.byId.get(pending)).toMatchObject({ status: 'pending' })
    expect((await rooms.senders.forAccount(await newAccount())).byId.has(own)).toBe(false)
  })

  test('is the platform’s until its own of the same name is approved', async () => {
    const account = await newAccount()
    const platform = await rooms.senderReview.createPlatform({ name: 'Notice' })
    const own = await addSender(account, 'Notice')
    const named = async () => {
      await rooms.caughtUp()
      return (await rooms.senders.forAccount(account)).byName.get('Notice')
    }
    expect(await named()).toMatchObject({ id: platform.id, status: 'approved' })
    await rooms.senderReview.approve(own)
    expect(await named()).toMatchObject({ id: own, accountId: account })
  })

  test('is up to date at once on the node that changed it', async () => {
    const alone = await openRooms(database.db, { connect: deaf })
    const account = (await alone.accountAdmin.create(BASIC_ACCOUNT)).account.id as AccountId
    const caller = { account: { id: account } } as Caller
    const known = async (id: string) => (await alone.senders.forAccount(account)).byId.get(id)
    await alone.senders.forAccount(account)

    const { id } = await alone.ownSenders.request(caller, { name: 'Parcels' })
    expect(await known(id)).toMatchObject({ status: 'pending' })
    await alone.senderReview.approve(id)
    expect(await known(id)).toMatchObject({ status: 'approved' })
    await alone.ownSenders.makeDefault(caller, id)
    expect((await alone.senders.forAccount(account)).default).toMatchObject({ id })
    const platform = await alone.senderReview.createPlatform({ name: 'Everybody' })
    expect(await known(platform.id)).toMatchObject({ name: 'Everybody' })
    await alone.stop()
  })
})
