import { afterAll, beforeAll, expect, test } from 'vitest'
import { createBatches } from '../../../src/core/messages/batches.ts'
import type { StoredKey } from '../../../src/core/messages/idempotency-store.ts'
import { registerNode } from '../../../src/core/outbox/node-store.ts'
import { createIds } from '../../../src/lib/ids.ts'
import { createRandom } from '../../../src/lib/random.ts'
import { createTestDatabase, type TestDatabase } from '../../support/database.ts'
import { createFakeClock } from '../../support/fake-clock.ts'

let database: TestDatabase
beforeAll(async () => {
  database = await createTestDatabase()
})
afterAll(() => database.drop())

const FIVE_MINUTES_MS = 300_000

async function startNode(aheadMs: number) {
  const clock = createFakeClock(Date.now() + aheadMs)
  await registerNode(database.db, `ahead by ${aheadMs}`, clock.now(), false)
  const ids = createIds(clock, createRandom())
  return { clock, ids, batches: createBatches({ db: database.db, clock, ids }) }
}

test.each([
  ['ahead', 0, FIVE_MINUTES_MS],
  ['behind', FIVE_MINUTES_MS, 0],
])('a batch in progress is not taken over by a node whose clock is %s', async (_, hereMs, thereMs) => {
  await database.db.query({ name: 'no_nodes', text: 'delete from nodes' })
  const here = await startNode(hereMs)
  const account = here.ids.next('acc')
  const claim = { operation: 1, key: 'one', bodyHash: Buffer.of(1) }
  expect(await here.batches.claim(account, claim, [here.ids.next('msg')])).toEqual(expect.any(Number))

  const there = await startNode(thereMs)
  const existing = (await there.batches.claim(account, claim, [there.ids.next('msg')])) as StoredKey
  expect(await there.batches.claimUnfinished(account, claim, existing)).toBeNull()
})

test('an abandoned batch is taken over once, by nodes of which one has a clock that is behind', async () => {
  const here = await startNode(0)
  const account = here.ids.next('acc')
  const claim = { operation: 1, key: 'left', bodyHash: Buffer.of(1) }
  await here.batches.claim(account, claim, [here.ids.next('msg')])
  await database.db.query({
    name: 'left_for_long',
    text: `update idempotency set batch_at = batch_at - interval '11 seconds' where key = 'left'`,
  })

  const there = await startNode(-FIVE_MINUTES_MS)
  const existing = (await there.batches.claim(account, claim, [])) as StoredKey
  const takeovers = await Promise.all(
    [here, there].map(({ batches }) => batches.claimUnfinished(account, claim, existing)),
  )
  expect(takeovers.filter(left => left !== null)).toHaveLength(1)
})

test('a batch whose request ended without an answer is taken over at once on its node, and only there', async () => {
  const here = await startNode(0)
  const there = await startNode(0)
  const account = here.ids.next('acc')
  const claim = { operation: 1, key: 'given up', bodyHash: Buffer.of(1) }
  const claimedAt = (await here.batches.claim(account, claim, [here.ids.next('msg')])) as number
  const existing = (await here.batches.claim(account, claim, [])) as StoredKey
  expect(await here.batches.claimUnfinished(account, claim, existing)).toBeNull()

  here.batches.leave(account, claim, claimedAt)
  expect(await there.batches.claimUnfinished(account, claim, existing)).toBeNull()
  expect(await here.batches.claimUnfinished(account, claim, existing)).not.toBeNull()
  // Now the repeat works on it.
  const repeated = (await here.batches.claim(account, claim, [])) as StoredKey
  expect(await here.batches.claimUnfinished(account, claim, repeated)).toBeNull()
})

test('an abandoned batch waits no longer because the clock of the database was set back', async () => {
  const { clock, ids, batches } = await startNode(0)
  const account = ids.next('acc')
  const claim = { operation: 1, key: 'of the future', bodyHash: Buffer.of(1) }
  await batches.claim(account, claim, [ids.next('msg')])
  await database.db.query({
    name: 'set_back',
    text: `update idempotency set batch_at = batch_at + interval '1 hour' where key = 'of the future'`,
  })
  const existing = (await batches.claim(account, claim, [])) as StoredKey
  expect(await batches.claimUnfinished(account, claim, existing)).toBeNull()
  await clock.advance(9_999)
  expect(await batches.claimUnfinished(account, claim, existing)).toBeNull()
  await clock.advance(1)
  expect(await batches.claimUnfinished(account, claim, existing)).not.toBeNull()
})

test('a request whose batch was taken up by a repeat does not store its answer', async () => {
  const { ids, batches } = await startNode(0)
  const account = ids.next('acc')
  const claim = { operation: 1, key: 'slow', bodyHash: Buffer.of(1) }
  await batches.claim(account, claim, [])
  await database.db.query({
    name: 'slow_for_long',
    text: `update idempotency set batch_at = batch_at - interval '11 seconds' where key = 'slow'`,
  })
  const existing = (await batches.claim(account, claim, [])) as StoredKey
  const { takenUpAt } = (await batches.claimUnfinished(account, claim, existing))!

  expect(
    await batches.finish(account, claim, existing.batchClaimedAt!, { status: 207, body: 'of the first' }),
  ).toBe(false)
  expect(await batches.finish(account, claim, takenUpAt, { status: 200, body: 'of the repeat' })).toBe(true)
  expect(await batches.claim(account, claim, [])).toMatchObject({ status: 200, body: 'of the repeat' })
})
