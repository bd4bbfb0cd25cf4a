import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startDatabaseProxy } from '../../faults/support/database-proxy.ts'
import { messageIdOf, startTestApp, type TestApp } from '../../support/app.ts'
import { createTestDatabase } from '../../support/database.ts'

/** The sandbox fails the first two attempts to this number and accepts the third. */
const FAILING = '+12025550003'

let app: TestApp
beforeAll(async () => {
  app = await startTestApp()
})
afterAll(() => app.stop())

/** Changes the sandbox's retry policy. */
async function allowAttempts(maxAttempts: number): Promise<void> {
  const { body } = await app.admin('GET', '/connections')
  const [sandbox] = body['data'] as { id: string }[]
  const changed = await app.admin('PATCH', `/connections/${sandbox!.id}`, { retryPolicy: { maxAttempts } })
  expect(changed.status).toBe(200)
}

describe('503 PROVIDER_UNAVAILABLE', () => {
  test('when no provider accepts the message: the hold is released, and the idempotency key is free again', async () => {
    const account = await app.createAccount()
    // Names its channel, since `auto` would fail over to the next one.
    const body = { to: FAILING, text: 'Hello', channel: 'local_sms' }
    const options = { live: true, idempotencyKey: 'unavailable' }
    await allowAttempts(1)
    const refusals = await app.until(
      () => app.during(account.send(body, options)),
      answer => answer.status === 503,
    )
    expect(refusals.body).toMatchObject({
      success: false,
      code: 'PROVIDER_UNAVAILABLE',
      retryAfterSeconds: 5,
      requestId: refusals.headers.get('x-request-id'),
    })
    expect(refusals.headers.get('retry-after')).toBe('5')
    expect(refusals.headers.get('x-sandbox')).toBe('true')
    expect(await account.wallet()).toMatchObject({ balance: 100, held: 0, captured: 0 })
    expect(await account.footprint()).toMatchObject({ keys: 0, outbox: 0 })
    const [failed] = await account.messages('?status=failed')
    expect(failed).toMatchObject({ errorCode: 'PROVIDER_UNAVAILABLE', attempts: 1 })
    expect(failed!.billing.state).toBe('released')

    await allowAttempts(5)
    const answer = await app.until(
      () => app.during(account.send(body, options)),
      ({ status }) => status !== 503,
    )
    expect([answer.status, answer.headers.get('idempotency-replayed')]).toEqual([200, null])
    const taken = await app.until(
      () => account.message(messageIdOf(answer)),
      message => message.sentAt !== null,
    )
    expect(taken.attempts).toBe(3)
  })
})

describe('503 SERVICE_UNAVAILABLE', () => {
  test('while the database is unreachable: for sends, reads and /readyz, with Retry-After', async () => {
    const database = await createTestDatabase()
    const proxy = await startDatabaseProxy(database.url)
    const own = await startTestApp({ databaseUrl: proxy.url })
    try {
      const warm = { method: 'POST', key: own.demoKey, body: { to: '+12025550100', text: 'Hello' } }
      expect((await own.call('/api/v2/messages/send', warm)).status).toBe(200)
      await proxy.close()
      const requests = [
        own.call('/api/v2/messages/send', warm),
        own.call('/api/v2/messages/send', { ...warm, body: {}, headers: { 'idempotency-key': 'away' } }),
        own.call('/api/v2/messages', { key: own.demoKey }),
        own.call('/readyz'),
      ]
      for (const request of requests) {
        const answer = await own.during(request)
        expect([answer.status, answer.body['code']], answer.text).toEqual([503, 'SERVICE_UNAVAILABLE'])
        expect(Number(answer.headers.get('retry-after'))).toBe(answer.body['retryAfterSeconds'])
        expect(answer.body['requestId']).toBe(answer.headers.get('x-request-id'))
        expect(answer.text).not.toMatch(/ECONN|postgres|socket/i)
      }
    } finally {
      await own.stop()
      await database.drop()
    }
  })
})
