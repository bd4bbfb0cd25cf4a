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

test('says what a send then does, to the cent and the part', async () => {
  const body = { to: '+12025550123', text: 'Forty-two €'.repeat(20) }
  const told = await estimate(body)
  const before = await account.wallet()
  const sent = await account.send(body, { live: true })
  const after = await account.wallet()
  expect(told.deliverable).toBe(true)
  expect(told.reasons).toEqual([])
  expect(sent.body['resolved']).toEqual(told.resolved)
  const { source, ...billing } = told.billing!
  expect(sent.body['billing']).toEqual(billing)
  expect(source).toBe('wallet')
  expect(told.sms).toEqual({ encoding: 'GSM-7', characters: 240, parts: 2 })
  expect(told.rendered).toEqual({ text: body.text, subject: null })
  expect(told).not.toHaveProperty('scheduledAt')
  expect(before.balance - after.balance).toBeCloseTo(billing.estimatedCost, 6)
})

test('stores nothing and holds nothing', async () => {
  const before = await account.footprint()
  await estimate({ to: '+12025550123', text: 'x' })
  expect(await account.footprint()).toEqual(before)
})

test.each([
  [
    'a number on the wrong side of the border',
    { to: '+447700900123', text: 'x', channel: 'local_sms' },
    'VALIDATION_ERROR',
    'channel',
  ],
  ['a recipient that is none', { to: 'nobody', text: 'x' }, 'VALIDATION_ERROR', 'to'],
  [
    'a template that does not exist',
    { to: '+12025550123', template: { id: 'x' } },
    'NOT_FOUND',
    'template.id',
  ],
  [
    'somebody without the chat app',
    { to: '+12025550001', text: 'x', channel: 'official_chatapp' },
    'CHATAPP_NOT_REGISTERED',
    'to',
  ],
] as const)('gives the reason for %s', async (_, body, code, path) => {
  const told = await estimate(body)
  const sent = await account.send(body, { live: true })
  expect(told.deliverable).toBe(false)
  expect(told.reasons[0]).toMatchObject({ code, path })
  expect(sent.body['code']).toBe(code)
})

test('knows an empty wallet', async () => {
  const poor = await app.createAccount({ balance: 0 })
  const told = await estimate({ to: '+12025550123', text: 'x' }, poor.liveKey)
  expect(told.deliverable).toBe(false)
  expect(told.reasons[0]).toMatchObject({ code: 'INSUFFICIENT_BALANCE' })
})

test('knows the pool of a plan', async () => {
  const pooled = await app.createAccount({
    balance: 0,
    plan: { pool: [{ channels: ['local_sms'], limit: 1 }] },
  })
  const body = { to: '+12025550123', text: 'x' }
  expect((await estimate(body, pooled.liveKey)).billing?.source).toBe('pool')
  await pooled.send(body, { live: true })
  expect((await estimate(body, pooled.liveKey)).deliverable).toBe(false)
})

test('says to a test key what a live one would pay with, though nothing is paid', async () => {
  const body = { to: '+12025550123', text: 'x' }
  const poor = await app.createAccount({ balance: 0 })
  const told = await estimate(body, poor.testKey)
  expect([told.deliverable, told.billing?.source]).toEqual([true, 'wallet'])
  const sent = await poor.send(body)
  expect(sent.body['billing']).toMatchObject({ estimatedCost: told.billing!.estimatedCost })
  const pooled = await app.createAccount({
    balance: 0,
    plan: { pool: [{ channels: ['local_sms'], limit: 1 }] },
  })
  expect((await estimate(body, pooled.testKey)).billing?.source).toBe('pool')
})

test('refuses a body that does not match the schema', async () => {
  const answer = await app.call('/api/v2/messages/estimate', {
    method: 'POST',
    key: account.liveKey,
    body: { to: 1 },
  })
  expect(answer.status).toBe(400)
  expect(answer.body).toMatchObject({ code: 'VALIDATION_ERROR', details: [{ path: 'to' }] })
})
