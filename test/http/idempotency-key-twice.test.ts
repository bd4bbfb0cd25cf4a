import { afterAll, beforeAll, expect, test } from 'vitest'
import type { KEYED_PATHS } from '../../sdk/calls.ts'
import { startTestApp, type TestAccount, type TestApp } from '../support/app.ts'
import { sendRaw, splitRaw } from './frame/frame.ts'

const PHONE = '+12025550123'
const BODIES: Record<keyof typeof KEYED_PATHS, unknown> = {
  '/api/admin/accounts': { name: 'Twice', homeCountry: 'US', currency: 'USD' },
  '/api/admin/accounts/{id}/credits': { amount: 5 },
  '/api/v2/messages/bulk': { messagesPerSecond: 5, messages: [{ to: PHONE, text: 'Hello' }] },
  '/api/v2/messages/send': { to: PHONE, text: 'Hello' },
  '/api/v2/verification/send': { to: PHONE },
}

let app: TestApp
let account: TestAccount
beforeAll(async () => {
  app = await startTestApp()
  account = await app.createAccount()
})
afterAll(() => app.stop())

/** The response to a POST with a header for each of `keys`. */
async function post(path: keyof typeof KEYED_PATHS, keys: readonly string[]) {
  const body = JSON.stringify(BODIES[path])
  const head = [
    `POST ${path.replace('{id}', account.id)} HTTP/1.1`,
    'Host: x',
    path.startsWith('/api/admin')
      ? `Authorization: Bearer ${app.operatorToken}`
      : `X-API-Key: ${account.testKey}`,
    ...keys.map(key => `Idempotency-Key: ${key}`),
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
  ]
  const bytes = `${head.join('\r\n')}\r\n\r\n${body}`
  return splitRaw(await app.during(sendRaw(Number(new URL(app.url).port), bytes)))
}

test.each(Object.keys(BODIES) as (keyof typeof KEYED_PATHS)[])('two keys at %s are refused', async path => {
  const { status, body } = await post(path, ['order-1', 'order-2'])
  const isBulk = path === '/api/v2/messages/bulk'
  expect([status, body['code']]).toEqual([400, isBulk ? 'IDEMPOTENCY_KEY_INVALID' : 'VALIDATION_ERROR'])
  expect(body['error']).toContain('Idempotency-Key')
  expect(body['error']).toContain('must be given once only')
  expect((await post(path, ['order-1, order-2'])).status).toBeLessThan(300)
})
