import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Estimate } from '../../../src/contract/estimate.ts'
import { messageIdOf, startTestApp, type TestAccount, type TestApp } from '../../support/app.ts'
import { createTemplateCalls, OFFICIAL, SMS, type TemplateCalls } from '../templates/support.ts'
import { allInvalidAt, invalidAt, refused } from './refusal.ts'

/** A template of subType `free` says nothing of its purpose: each send does. */

const PHONE = '+12025550100'
const TYPES = ['utility', 'marketing', 'free_text']

let app: TestApp
let account: TestAccount
let templates: TemplateCalls
let template: { id: string; variablesIndexed: string[] }
beforeAll(async () => {
  app = await startTestApp()
  account = await app.createAccount()
  templates = createTemplateCalls(app, account)
  const { id } = await templates.made({ ...SMS, name: 'note', subType: 'free', content: 'Note {{1}}' })
  template = { id, variablesIndexed: ['7'] }
})
afterAll(() => app.stop())

test('a send by a free template may be of any type but otp, and is free_text without one', async () => {
  for (const type of [...TYPES, undefined]) {
    const answer = await account.send({ to: PHONE, template, ...(type && { messageType: type }) })
    expect(answer.status, answer.text).toBe(200)
    expect(await account.message(messageIdOf(answer))).toMatchObject({
      messageType: type ?? 'free_text',
      templateId: template.id,
      text: 'Note 7',
    })
  }
  await invalidAt(account, { to: PHONE, template, messageType: 'otp' }, 'messageType')
  const content = { otpCode: '7' }
  await allInvalidAt(
    account,
    [{}, { messageType: 'utility' }].map(more => ({ to: PHONE, template, content, ...more })),
    'content.otpCode',
  )
})

test('a template of any other sub type, and a free one of the official chat app, keeps its own type', async () => {
  for (const subType of ['utility', 'marketing']) {
    const { id } = await templates.made({ ...SMS, name: `an_${subType}`, subType })
    const named = { to: PHONE, template: { id, variablesIndexed: ['1', '2'] } }
    const others = [...TYPES, 'otp'].filter(type => type !== subType)
    await allInvalidAt(
      account,
      others.map(messageType => ({ ...named, messageType })),
      'messageType',
    )
  }
  const official = await templates.made({ ...OFFICIAL, name: 'a_free', subType: 'free' })
  expect((await templates.decided(official.id)).status).toBe('approved')
  const named = { to: PHONE, template: { id: official.id, variablesIndexed: ['1', '2'] } }
  await allInvalidAt(
    account,
    ['utility', 'marketing', 'otp'].map(messageType => ({ ...named, messageType })),
    'messageType',
  )
  const answer = await account.send({ ...named, messageType: 'free_text' })
  expect(answer.status, answer.text).toBe(200)
})

test('the price and the suppressions of a send by a free template are those of its type', async () => {
  const price = (messageType: string, cost: number) => ({
    channel: 'local_sms',
    country: 'US',
    messageType,
    price: cost,
    currency: 'USD',
  })
  const prices = [price('*', 0.01), price('utility', 0.02), price('marketing', 0.03)]
  expect((await app.admin('PUT', '/prices', { prices })).status).toBe(200)
  const body = { to: PHONE, reason: 'asked' }
  const key = account.liveKey
  const added = await app.call('/api/v2/suppressions', { method: 'POST', key, body })
  expect(added.status, added.text).toBe(201)

  const estimate = async (messageType: string, to: string) => {
    const answer = await app.call('/api/v2/messages/estimate', {
      method: 'POST',
      key,
      body: { to, template, messageType },
    })
    return (answer.body['data'] as Estimate).billing?.estimatedCost
  }
  const costs = await Promise.all(TYPES.map(type => estimate(type, '+12025550101')))
  expect(costs).toEqual([0.02, 0.03, 0.01])
  expect(await estimate('marketing', PHONE)).toBeUndefined()
  await refused(
    account,
    { to: PHONE, template, messageType: 'marketing' },
    { status: 400, code: 'RECIPIENT_SUPPRESSED', paths: ['to'] },
  )
  const utility = await account.send({ to: PHONE, template, messageType: 'utility' })
  expect(utility.status, utility.text).toBe(200)
})
