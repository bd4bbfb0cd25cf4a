import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { selectAccountForUpdate, updateAccount } from '../../../src/core/accounts/store.ts'
import type { CreditResult } from '../../../src/core/billing/wallets.ts'
import type { AccountId } from '../../../src/lib/ids.ts'
import { createTestDatabase, type TestDatabase } from '../../support/database.ts'
import { lookUntil } from '../../support/look-until.ts'
import { BASIC_ACCOUNT, openRooms, type Rooms } from '../../support/rooms.ts'

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

describe('a credit', () => {
  test('adds up with concurrent ones, returns wallet and ledger entry, and changes no other account', async () => {
    const { account } = await rooms.accountAdmin.create(BASIC_ACCOUNT)
    await Promise.all(Array.from({ length: 40 }, () => rooms.wallets.credit(account.id, { amount: 0.1 })))
    const { account: other } = await rooms.accountAdmin.create(BASIC_ACCOUNT)
    const { credited } = await rooms.wallets.credit(account.id, { amount: 1.5, note: 'Invoice 7' })
    expect(credited).toMatchObject({ balance: 5.5, held: 0, captured: 0, credited: 5.5, currency: 'USD' })
    expect(credited.entry).toMatchObject({ type: 'credit', amount: 1.5, note: 'Invoice 7' })
    expect(await rooms.wallets.read(other.id as never)).toMatchObject({ balance: 0 })
  })

  test.each([
    [0, 'must be greater than 0'],
    [-1, 'must be greater than 0'],
    [0.0000001, 'six decimals'],
    [1e16, 'six decimals'],
  ])('of %s is rejected, and the wallet is unchanged', async (amount, message) => {
    const { account } = await rooms.accountAdmin.create({ ...BASIC_ACCOUNT, balance: 1 })
    await expect(rooms.wallets.credit(account.id, { amount })).rejects.toMatchObject({
      code: 'VALIDATION_ERROR',
      message: expect.stringContaining(message),
      details: [{ path: 'amount' }],
    })
    expect(await rooms.wallets.read(account.id as never)).toMatchObject({ credited: 1 })
  })

  test('that would make the sum too large for an exact number is rejected', async () => {
    const { account } = await rooms.accountAdmin.create({ ...BASIC_ACCOUNT, balance: 2 ** 33 })
    await expect(rooms.wallets.credit(account.id, { amount: 0.000001 })).rejects.toMatchObject({
      code: 'VALIDATION_ERROR',
      details: [{ path: 'amount' }],
    })
    expect(await rooms.wallets.read(account.id as never)).toMatchObject({ credited: 2 ** 33 })
  })

  test('that waits for a concurrent change of the currency returns the new one', async () => {
    const { account } = await rooms.accountAdmin.create(BASIC_ACCOUNT)
    const id = account.id as AccountId
    let answer: Promise<CreditResult> | undefined
    await database.db.transaction(async tx => {
      const before = (await selectAccountForUpdate(tx, id))!
      await updateAccount(tx, id, { ...before, currency: 'EUR' })
      answer = rooms.wallets.credit(id, { amount: 1 })
      await lookUntil(isLockAwaited, waits => waits, 10_000)
    })
    const { credited } = await answer!
    expect(credited).toMatchObject({ credited: 1, currency: 'EUR' })
    expect(credited.entry).toMatchObject({ currency: 'EUR' })
  })

  test('to an unknown account fails with NOT_FOUND', async () => {
    await expect(rooms.wallets.credit(rooms.ids.next('acc'), { amount: 1 })).rejects.toMatchObject({
      code: 'NOT_FOUND',
    })
    await expect(rooms.wallets.credit('acc_x', { amount: 1 })).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })
})

/** Whether a database session waits for a lock. */
async function isLockAwaited(): Promise<boolean> {
  const { rows } = await database.db.query<{ waits: boolean }>({
    name: 'someone_waits',
    text: `select exists (select 1 from pg_stat_activity
             where datname = current_database() and wait_event_type = 'Lock') as waits`,
  })
  return rows[0]!.waits
}
