import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ConnectionView } from '../../../src/contract/admin.ts'
import type { ProviderMessagePolicy } from '../../../src/contract/message.ts'
import { whatsAppCloudFixture } from '../../channels/whatsapp-cloud.exchange.ts'
import { type Answer, faultPaths, startTestApp, type TestAccount, type TestApp } from '../../support/app.ts'

let app: TestApp
let account: TestAccount

beforeAll(async () => {
  app = await startTestApp()
  account = await app.createAccount()
}, 60_000)
afterAll(() => app.stop())

const PLAIN = { otp: 'plain_text', utility: 'plain_text', marketing: 'plain_text', free_text: 'plain_text' }
const OPTIONAL = Object.fromEntries(Object.keys(PLAIN).map(type => [type, 'template_optional']))

const mail = (more: object = {}) =>
  app.admin('POST', '/connections', {
    provider: 'smtp',
    name: 'Mail',
    channels: ['email_user'],
    config: { host: '127.0.0.1', port: 1, from: 'a@example.com' },
    accountId: account.id,
    ...more,
  })
const chat = (more: object = {}) =>
  app.admin('POST', '/connections', {
    provider: 'whatsapp-cloud',
    name: 'Chat',
    channels: ['official_chatapp'],
    config: whatsAppCloudFixture.configFor('http://127.0.0.1:1'),
    accountId: account.id,
    ...more,
  })

const created = (answer: Answer) => {
  expect(answer.status, answer.text).toBe(201)
  return (answer.body['data'] as { connection: ConnectionView }).connection
}
const patch = (id: string, change: object) => app.admin('PATCH', `/connections/${id}`, change)

async function policies(): Promise<ProviderMessagePolicy[]> {
  return account.read<ProviderMessagePolicy[]>('/api/v2/messages/policies')
}
async function policyOf(priorityOrder: number): Promise<ProviderMessagePolicy | undefined> {
  return (await policies()).find(each => each.priorityOrder === priorityOrder)
}

describe('the policy of a connection', () => {
  test('defaults to the policy of its provider', async () => {
    const connection = created(await mail({ priorityOrder: 11 }))
    expect(connection).toMatchObject({
      allowedTypes: ['otp', 'utility', 'marketing', 'free_text'],
      sendModeByType: PLAIN,
    })
    expect(await policyOf(11)).toEqual({
      providerKey: 'smtp',
      channel: 'email_user',
      enabled: true,
      allowedTypes: ['otp', 'utility', 'marketing', 'free_text'],
      sendModeByType: PLAIN,
      requiresApprovedTemplate: false,
      supportsUserSender: expect.any(Boolean),
      supportsSystemSenderFallback: expect.any(Boolean),
      priorityOrder: 11,
      retryPolicy: connection.retryPolicy,
    })
  })

  test('can be narrowed on creation and updated later, field by field', async () => {
    const narrow = created(
      await chat({
        priorityOrder: 12,
        allowedTypes: ['otp', 'utility'],
        sendModeByType: { otp: 'plain_text' },
      }),
    )
    const modes = { ...OPTIONAL, otp: 'plain_text' }
    expect(narrow).toMatchObject({ allowedTypes: ['otp', 'utility'], sendModeByType: modes })
    expect(await policyOf(12)).toMatchObject({ allowedTypes: ['otp', 'utility'], sendModeByType: modes })

    const changed = await patch(narrow.id, {
      priorityOrder: 13,
      retryPolicy: { backoffMs: 77 },
      allowedTypes: ['free_text', 'otp', 'otp'],
      sendModeByType: { otp: 'template_optional', utility: 'plain_text' },
    })
    expect(changed.body['data']).toMatchObject({
      priorityOrder: 13,
      retryPolicy: { maxAttempts: narrow.retryPolicy.maxAttempts, backoffMs: 77 },
      // In the order of the contract, without duplicates.
      allowedTypes: ['otp', 'free_text'],
      sendModeByType: { ...OPTIONAL, utility: 'plain_text' },
    })
    expect(await policyOf(12)).toBeUndefined()
    expect(await policyOf(13)).toMatchObject({
      allowedTypes: ['otp', 'free_text'],
      sendModeByType: { ...OPTIONAL, utility: 'plain_text' },
      retryPolicy: { backoffMs: 77 },
    })
    // Fields absent from the patch stay unchanged.
    const renamed = await patch(narrow.id, { name: 'Else' })
    expect(renamed.body['data']).toMatchObject({ allowedTypes: ['otp', 'free_text'] })
    await patch(narrow.id, { enabled: false })
    expect(await policyOf(13)).toMatchObject({ enabled: false })
  })

  test('restricts which message types are sent over the connection', async () => {
    const other = await app.createAccount()
    const { id } = created(await mail({ accountId: other.id, allowedTypes: ['otp'] }))
    const body = { to: 'someone@example.com', text: 'Hello', messageType: 'utility' }
    const refused = await other.send(body, { live: true })
    expect([refused.status, faultPaths(refused)]).toEqual([400, ['messageType']])
    await patch(id, { allowedTypes: ['otp', 'utility'] })
    // Nothing listens on that port; only the routing matters here.
    const sent = await app.during(other.send(body, { live: true }))
    expect(sent.body).toMatchObject({ status: 'queued', resolved: { provider: 'smtp' } })
  })
})

describe('an invalid policy', () => {
  test.each<[string, () => Promise<Answer>, string]>([
    ['an empty list of allowed types', () => mail({ allowedTypes: [] }), 'allowedTypes'],
    ['an unknown message type', () => mail({ allowedTypes: ['otp', 'spam'] }), 'allowedTypes[1]'],
    ['allowed types that are not a list', () => mail({ allowedTypes: 'otp' }), 'allowedTypes'],
    ['an unknown send mode', () => mail({ sendModeByType: { otp: 'shout' } }), 'sendModeByType.otp'],
    [
      'a send mode that the provider does not support',
      () => mail({ sendModeByType: { otp: 'template_optional' } }),
      'sendModeByType.otp',
    ],
    [
      'a retry policy of zero attempts',
      () => mail({ retryPolicy: { maxAttempts: 0 } }),
      'retryPolicy.maxAttempts',
    ],
    ['a negative priority', () => mail({ priorityOrder: -1 }), 'priorityOrder'],
  ])('is rejected on creation with the path of the field: %s', async (_, ask, path) => {
    const answer = await ask()
    expect([answer.status, answer.body['code'], faultPaths(answer)]).toEqual([
      400,
      'VALIDATION_ERROR',
      [path],
    ])
  })

  test('is rejected on update, which then changes nothing', async () => {
    const { id } = created(await mail({ priorityOrder: 15 }))
    const answer = await patch(id, { priorityOrder: 16, sendModeByType: { free_text: 'template_optional' } })
    expect([answer.status, faultPaths(answer)]).toEqual([400, ['sendModeByType.free_text']])
    expect(await policyOf(16)).toBeUndefined()
    expect(await policyOf(15)).toMatchObject({ sendModeByType: PLAIN })
  })
})
