import { afterAll, beforeAll, expect, test } from 'vitest'
import { settleAttempts } from '../../src/core/messages/hot-store.ts'
import { type AccountId, createIds, type MessageId } from '../../src/lib/ids.ts'
import { createRandom } from '../../src/lib/random.ts'
import { messageIdOf, startTestApp, type TestAccount, type TestApp } from '../support/app.ts'
import { createFakeClock } from '../support/fake-clock.ts'

let app: TestApp
let account: TestAccount
beforeAll(async () => {
  app = await startTestApp()
  account = await app.createAccount()
})
afterAll(() => app.stop())

test('a code whose text was erased fails when a late outcome says that it was not accepted', async () => {
  const answer = await app.during(account.send({ to: '+12025550005', content: { otpCode: '918273' } }))
  const id = messageIdOf(answer) as MessageId
  const unknown = await app.until(
    () => account.message(id),
    message => message.status === 'unknown',
  )
  await app.db.query({ name: 'forget_taken', text: 'delete from sandbox_messages' })

  await settleAttempts(app.db, Date.now(), [lateOutcome(id, unknown.connectionId)], false)

  const after = await app.until(
    () => account.message(id),
    message => message.status !== 'queued',
  )
  expect(after).toMatchObject({ status: 'failed', errorCode: 'INTERNAL_ERROR', attempts: 1 })
  expect(await account.inbox()).toEqual([])
})

/** The outcome that a node may still report after it was declared dead. */
function lateOutcome(id: MessageId, connectionId: string) {
  return {
    accountId: account.id as AccountId,
    id,
    attempt: 1,
    connectionId: connectionId as `cnn_${string}`,
    kind: 'queued' as const,
    providerId: null,
    providerCode: null,
    errorCode: null,
    errorDetail: 'not taken',
    dueAt: Date.now() - 1,
    uncounted: false,
    answer: null,
    secret: null,
    keyToFree: null,
    eventId: createIds(createFakeClock(), createRandom()).next('evt'),
  }
}
