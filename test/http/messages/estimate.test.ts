import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Estimate } from '../../../src/contract/estimate.ts'
import { startTestApp, type TestAccount, type TestApp } from '../../support/app.ts'

let app: TestApp
let account: TestAccount

beforeAll(async () => {
  app = await startTestApp()
  account = await app.createAccount({ balance: 1 })
})
afterAll(() => app.stop())

async function estimate(body: unknown, key = account.liveKey): Promise<Estimate> {
  const answer = await app.call('/api/v2/messages/estimate', { method: 'POST', key, body })
  expect(answer.status, answer.text).toBe(200)
  return answer.body['data'] as Estimate
}

test('an estimate has the same route, cost and parts as the send', async () => {
  const body = { to: '+12025550123', text: 'Forty-two €'.repeat(20) }
  const estimated = await estimate(body)
  const before = await account.wallet()
  const sent = await account.send(body, { live: true })
  const after = await account.wallet()
  expect(estimated.deliverable).toBe(true)
  expect(estimated.reasons).toEqual([])
  expect(sent.body['resolved']).toEqual(estimated.resolved)
  const { source, ...billing } = estimated.billing!
  expect(sent.body['billing']).toEqual(billing)
  expect(source).toBe('wallet')
  expect(estimated.sms).toEqual({ encoding: 'GSM-7', characters: 240, parts: 2 })
  expect(estimated.rendered).toEqual({ text: body.text, subject: null })
  expect(estimated).not.toHaveProperty('scheduledAt')
  expect(before.balance - after.balance).toBeCloseTo(billing.estimatedCost, 6)
})

test('an estimate stores and holds nothing', async () => {
  const before = await account.footprint()
  await estimate({ to: '+12025550123', text: 'x' })
  expect(await account.footprint()).toEqual(before)
})

test.each([
  [
    'a foreign number over local SMS',
    { to: '+447700900123', text: 'x', channel: 'local_sms' },
    'VALIDATION_ERROR',
    'channel',
  ],
  ['an invalid recipient', { to: 'nobody', text: 'x' }, 'VALIDATION_ERROR', 'to'],
  [
    'a template that does not exist',
    { to: '+12025550123', template: { id: 'x' } },
    'NOT_FOUND',
    'template.id',
  ],
  [
    'a recipient without the chat app',
    { to: '+12025550001', text: 'x', channel: 'official_chatapp' },
    'CHATAPP_NOT_REGISTERED',
    'to',
  ],
] as const)('an estimate gives the same reason as the send for %s', async (_, body, code, path) => {
  const estimated = await estimate(body)
  const sent = await account.send(body, { live: true })
  expect(estimated.deliverable).toBe(false)
  expect(estimated.reasons[0]).toMatchObject({ code, path })
  expect(sent.body['code']).toBe(code)
})

test('an estimate with an empty wallet is not deliverable', async () => {
  const poor = await app.createAccount({ balance: 0 })
  const estimated = await estimate({ to: '+12025550123', text: 'x' }, poor.liveKey)
  expect(estimated.deliverable).toBe(false)
  expect(estimated.reasons[0]).toMatchObject({ code: 'INSUFFICIENT_BALANCE' })
})

test('an estimate uses the pool of the plan, as far as it goes', async () => {
  const pooled = await app.createAccount({
    balance: 0,
    plan: { pool: [{ channels: ['local_sms'], limit: 1 }] },
  })
  const body = { to: '+12025550123', text: 'x' }
  expect((await estimate(body, pooled.liveKey)).billing?.source).toBe('pool')
  await pooled.send(body, { live: true })
  expect((await estimate(body, pooled.liveKey)).deliverable).toBe(false)
})

test('an estimate with a test key has the payment source that a live key would use', async () => {
  const body = { to: '+12025550123', text: 'x' }
  const poor = await app.createAccount({ balance: 0 })
  const estimated = await estimate(body, poor.testKey)
  expect([estimated.deliverable, estimated.billing?.source]).toEqual([true, 'wallet'])
  const sent = await poor.send(body)
  expect(sent.body['billing']).toMatchObject({ estimatedCost: estimated.billing!.estimatedCost })
  const pooled = await app.createAccount({
    balance: 0,
    plan: { pool: [{ channels: ['local_sms'], limit: 1 }] },
  })
  expect((await estimate(body, pooled.testKey)).billing?.source).toBe('pool')
})

test('an estimate is rejected when the body does not match the schema', async () => {
  const answer = await app.call('/api/v2/messages/estimate', {
    method: 'POST',
    key: account.liveKey,
    body: { to: 1 },
  })
  expect(answer.status).toBe(400)
  expect(answer.body).toMatchObject({ code: 'VALIDATION_ERROR', details: [{ path: 'to' }] })
})
