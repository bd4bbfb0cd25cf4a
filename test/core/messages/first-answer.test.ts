import { expect, test } from 'vitest'
import { awaitFirstAnswer } from '../../../src/core/messages/first-answer.ts'
import { type KeyClaim, SEND_OPERATION } from '../../../src/core/messages/hot-store.ts'
import type { Prepared } from '../../../src/core/messages/prepare.ts'
import { createWaiters } from '../../../src/core/messages/waiters.ts'
import { DatabaseUnavailable, type Db } from '../../../src/infra/db.ts'
import { createIds, toUuid } from '../../../src/lib/ids.ts'
import { createRandom } from '../../../src/lib/random.ts'
import { createFakeClock } from '../../support/fake-clock.ts'

const clock = createFakeClock()
const ids = createIds(clock, createRandom())
/** A send over a web session, whose outcome may be in the database only. */
const prepared = { accountId: ids.next('acc'), senderSource: 'session', currency: 'USD' } as Prepared

function firstAnswer(failure: Error, claim: KeyClaim | null) {
  const db: Db = { query: () => Promise.reject(failure) }
  const deps = { db, clock, waiters: createWaiters(), syncWaitMs: 1_000 }
  return awaitFirstAnswer(deps, ids.next('msg'), prepared, claim, Promise.resolve(null))
}

const unavailable = new DatabaseUnavailable(new Error('Connection terminated unexpectedly'))
const claim = { operation: SEND_OPERATION, key: 'a key', bodyHash: Buffer.of(1) }

test('without a key, an accepted send is answered as queued if the database is unavailable', async () => {
  expect(await firstAnswer(unavailable, null)).toMatchObject({ answer: 'queued' })
})

test('with a key, an unavailable database is an error, because the answer must be stored', async () => {
  await expect(firstAnswer(unavailable, claim)).rejects.toBe(unavailable)
})

test('any other error is thrown, also without a key', async () => {
  const broken = new Error('column does not exist')
  await expect(firstAnswer(broken, null)).rejects.toBe(broken)
})

/** The row of a message that its provider rejected. */
function rejectedRow() {
  const times = ['attempt', 'settled', 'scheduled', 'unknown', 'sent', 'delivered', 'read', 'ended']
  return {
    id: toUuid(ids.next('msg')),
    account_id: toUuid(prepared.accountId),
    connection_id: toUuid(ids.next('cnn')),
    candidates: 'local_sms',
    template_id: null,
    bulk_job_id: null,
    past_attempts: null,
    status: 'failed',
    answer: 'failed',
    error_code: 'RECIPIENT_REJECTED',
    error_detail: 'no such number',
    ...Object.fromEntries(times.map(name => [`${name}_at`, null])),
  }
}

test.each([
  ['an outcome that is in the database only is read', Promise.resolve(null), 'failed'],
  ['nothing is read after a wait that is over', new Promise<never>(() => {}), 'queued'],
] as const)('without a key, %s', async (_, outcome, answer) => {
  const db = { query: async () => ({ rows: [rejectedRow()], rowCount: 1 }) } as unknown as Db
  const deps = { db, clock, waiters: createWaiters(), syncWaitMs: 1_000 }
  const bySms = { ...prepared, senderSource: 'account_default' } as Prepared
  const answering = awaitFirstAnswer(deps, ids.next('msg'), bySms, null, outcome)
  await clock.advance(1_000)
  expect(await answering).toMatchObject({ answer })
})
