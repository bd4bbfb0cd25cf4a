import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'
import { fromModel, fromStore, readStore } from './store.ts'
import { openWorld, setup, step, take, type World } from './world.ts'

const RUNS = 80
const STEPS = 60
const MAX_MS = 100_000

let database: TestDatabase

beforeAll(async () => {
  database = await createTestDatabase()
})
afterAll(() => database.drop())

async function compare(world: World): Promise<void> {
  const raw = await readStore(world.db, world.accountIds)
  expect(fromStore(raw)).toEqual(fromModel(world.state))
  for (const wallet of raw.wallets) {
    expect(wallet.balance + wallet.held + wallet.captured).toBe(wallet.credited)
    // The columns of the messages are the ledger: they add up to the wallet.
    expect([wallet.held, wallet.captured]).toEqual([wallet.sumHeld, wallet.sumCaptured])
  }
}

test('the database agrees with the model after each step, and no step creates or loses money', async () => {
  const steps = fc.array(step, { minLength: 20, maxLength: STEPS, size: 'max' })
  await fc.assert(
    fc.asyncProperty(setup, steps, async (accounts, actions) => {
      const world = await openWorld(database.db, accounts)
      for (const action of actions) {
        await take(world, action)
        await compare(world)
      }
    }),
    // A failure is reported, shrunk or not, before the test times out.
    { numRuns: RUNS, interruptAfterTimeLimit: MAX_MS, markInterruptAsFailure: true },
  )
}, 120_000)
