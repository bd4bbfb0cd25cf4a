import { expect, test } from 'vitest'
import { awaitFirstAnswer } from '../../../src/core/messages/first-answer.ts'
import { type KeyClaim, SEND_OPERATION } from '../../../src/core/messages/hot-store.ts'
import type { Prepared } from '../../../src/core/messages/prepare.ts'
import { createWaiters } from '../../../src/core/messages/waiters.ts'
import { DatabaseUnavailable, type Db } from '../../../src/infra/db.ts'
import { createIds } from '../../../src/lib/ids.ts'
import { createRandom } from '../../../src/lib/random.ts'
import { createFakeClock } from '../../support/fake-clock.ts'

const clock = createFakeClock()
const ids = createIds(clock, createRandom())
/** Of these the word may stand in the store alone. */
const prepared = { accountId: ids.next('acc'), senderSource: 'session', currency: 'USD' } as Prepared

function hear(failure: Error, claim: KeyClaim | null) {
  const db: Db = { query: () => Promise.reject(failure) }
  const deps = { db, clock, waiters: createWaiters(), syncWaitMs: 1_000 }
  return awaitFirstAnswer(deps, ids.next('msg'), prepared, claim, Promise.resolve(null))
}

const away = new DatabaseUnavailable(new Error('Connection terminated unexpectedly'))
const claim = { operation: SEND_OPERATION, key: 'a key', bodyHash: Buffer.of(1) }

test('who was accepted and has no key is not told 503, by which it would be sent twice', async () => {
  expect(await hear(away, null)).toMatchObject({ answer: 'queued' })
})

test('who has a key may ask again, and what is told once must be stored', async () => {
  await expect(hear(away, claim)).rejects.toBe(away)
})

test('any other failure is none of the database being away', async () => {
  const broken = new Error('column does not exist')
  await expect(hear(broken, null)).rejects.toBe(broken)
})
