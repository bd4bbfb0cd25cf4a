import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { CHANNELS, MESSAGE_TYPES } from '../../../src/contract/enums.ts'
import { type Answer, faultPaths, messageIdOf, startTestApp, type TestApp } from '../../support/app.ts'
import { invalidAt } from '../messages-send/refusal.ts'

/** When live keys can use the sandbox, and when they cannot. */

const BODY = { to: '+12025550100', text: 'Hello' }
const MAIL = { to: 'a@example.com', content: { subject: 'Hi', text: 'Hello' } }

function expectNoRoute(answer: Answer): void {
  expect([answer.status, answer.body['code']], answer.text).toEqual([400, 'VALIDATION_ERROR'])
  expect(answer.body['error']).toContain('no route')
  expect(faultPaths(answer)).toEqual(['channel'])
  expect(answer.headers.get('x-sandbox')).toBeNull()
}

async function policiesOf(app: TestApp, key: string): Promise<boolean[]> {
  const { body } = await app.call('/api/v2/messages/policies', { key })
  return (body['data'] as { enabled: boolean }[]).map(policy => policy.enabled)
}

describe('POSTHORN_SANDBOX=off', () => {
  let app: TestApp
  beforeAll(async () => {
    app = await startTestApp({ env: { POSTHORN_SANDBOX: 'off' } })
  })
  afterAll(() => app.stop())

  test('leaves live keys without a route, but not test keys', async () => {
    const account = await app.createAccount()
    for (const body of [BODY, { ...BODY, channel: 'official_chatapp' }, MAIL]) {
      expectNoRoute(await invalidAt(account, body, 'channel'))
    }
    const answer = await account.send(BODY)
    expect([answer.status, answer.headers.get('x-sandbox')]).toEqual([200, 'true'])
    const delivered = await app.until(
      () => account.message(messageIdOf(answer)),
      message => message.status === 'delivered',
    )
    expect(delivered.mode).toBe('test')
  })

  test('shows the policies as disabled to a live key, and as enabled to a test key', async () => {
    const account = await app.createAccount()
    expect(await policiesOf(app, account.liveKey)).toEqual(CHANNELS.map(() => false))
    expect(await policiesOf(app, account.testKey)).toEqual(CHANNELS.map(() => true))
  })

  test('logs no warning that live keys send to the sandbox', () => {
    expect(app.log.join('')).not.toContain('live keys send to the sandbox')
  })
})

describe('the sandbox’s connection', () => {
  let app: TestApp
  let sandboxId: string
  beforeAll(async () => {
    app = await startTestApp()
    const { body } = await app.admin('GET', '/connections')
    sandboxId = (body['data'] as { id: string; provider: string }[]).find(
      each => each.provider === 'sandbox',
    )!.id
  })
  afterAll(() => app.stop())

  test('logs a warning at start for every channel without a real connection', () => {
    const warning = app.log.map(line => JSON.parse(line)).find(line => line.level === 'warn' && line.channels)
    expect(warning.channels).toEqual([...CHANNELS])
  })

  test('takes and shows every message type for test keys, also where live keys may send only some', async () => {
    const account = await app.createAccount()
    await app.admin('PATCH', `/connections/${sandboxId}`, { allowedTypes: ['otp'] })
    const typesOf = async (key: string) => {
      const { body } = await app.call('/api/v2/messages/policies', { key })
      return (body['data'] as { allowedTypes: string[] }[])[0]!.allowedTypes
    }
    expect(await typesOf(account.liveKey)).toEqual(['otp'])
    expect((await account.send(BODY)).status).toBe(200)
    expect(await typesOf(account.testKey)).toEqual([...MESSAGE_TYPES])
    await app.admin('PATCH', `/connections/${sandboxId}`, { allowedTypes: MESSAGE_TYPES })
  })

  test('leaves live keys, but not test keys, without a route while it is disabled', async () => {
    const account = await app.createAccount()
    expect((await account.send(BODY, { live: true })).status).toBe(200)
    await app.admin('PATCH', `/connections/${sandboxId}`, { enabled: false })
    const refused = await app.until(
      () => account.send(BODY, { live: true }),
      answer => answer.status !== 200,
    )
    expectNoRoute(refused)
    const answer = await account.send(BODY)
    expect([answer.status, answer.body['status'], answer.headers.get('x-sandbox')]).toEqual([
      200,
      'sent',
      'true',
    ])
    expect(await policiesOf(app, account.liveKey)).toEqual(CHANNELS.map(() => false))
    expect(await policiesOf(app, account.testKey)).toEqual(CHANNELS.map(() => true))
    const template = { name: 'hello', category: 'chatapp', subType: 'utility', language: 'en', body: 'Hello' }
    const createTemplate = (key: string) =>
      app.call('/api/v2/templates', { method: 'POST', key, body: template })
    const rejectedTemplate = await createTemplate(account.liveKey)
    expect([rejectedTemplate.status, faultPaths(rejectedTemplate)], rejectedTemplate.text).toEqual([
      400,
      ['officialSenderId'],
    ])
    expect((await createTemplate(account.testKey)).status).toBe(201)

    await app.admin('PATCH', `/connections/${sandboxId}`, { enabled: true })
    const back = await app.until(
      () => account.send(BODY, { live: true }),
      answer => answer.status === 200,
    )
    expect(back.headers.get('x-sandbox')).toBe('true')
  })

  test('keeps scheduled live messages waiting while it is disabled, and sends test messages', async () => {
    const account = await app.createAccount()
    const options = { scheduleAt: new Date(app.now() + 60_000).toISOString() }
    const [live, tried] = [
      await account.send({ ...BODY, options }, { live: true }),
      await account.send({ ...BODY, options }),
    ].map(messageIdOf)
    await app.admin('PATCH', `/connections/${sandboxId}`, { enabled: false })
    await app.until(
      () => account.send(BODY, { live: true }),
      answer => answer.status !== 200,
    )
    await app.leap(120_000)
    const delivered = (id: string) =>
      app.until(
        () => account.message(id),
        message => message.status === 'delivered',
      )
    await delivered(tried!)
    expect((await account.message(live!)).sentAt).toBeNull()

    await app.admin('PATCH', `/connections/${sandboxId}`, { enabled: true })
    await delivered(live!)
  })

  test('does not replace a real connection that is disabled', async () => {
    const account = await app.createAccount()
    const created = await app.admin('POST', '/connections', {
      provider: 'smtp',
      name: 'Mail',
      channels: ['email_user'],
      accountId: account.id,
      enabled: false,
      config: { host: '127.0.0.1', port: 9, secure: false, from: 'no-reply@example.org' },
    })
    expect(created.status, created.text).toBe(201)
    const refused = await app.until(
      () => account.send(MAIL, { live: true }),
      answer => answer.status !== 200,
    )
    expectNoRoute(refused)
    // A test key, another channel and another account still use the sandbox.
    expect((await account.send(MAIL)).headers.get('x-sandbox')).toBe('true')
    expect((await account.send(BODY, { live: true })).headers.get('x-sandbox')).toBe('true')
    const other = await app.createAccount()
    expect((await other.send(MAIL, { live: true })).headers.get('x-sandbox')).toBe('true')
  })

  test('marks an estimate as it marks the send', async () => {
    const account = await app.createAccount()
    const estimate = (key: string, body: object) =>
      app.call('/api/v2/messages/estimate', { method: 'POST', key, body })
    const connection = {
      provider: 'smtp',
      name: 'Mail',
      channels: ['email_user'],
      accountId: account.id,
      config: { host: '127.0.0.1', port: 9, secure: false, from: 'no-reply@example.org' },
    }
    expect((await app.admin('POST', '/connections', connection)).status).toBe(201)
    const real = await app.until(
      () => estimate(account.liveKey, MAIL),
      ({ body }) => (body['data'] as { resolved: { provider: string } }).resolved.provider === 'smtp',
    )
    expect(real.headers.get('x-sandbox')).toBeNull()
    expect((await estimate(account.testKey, MAIL)).headers.get('x-sandbox')).toBe('true')
    expect((await estimate(account.liveKey, BODY)).headers.get('x-sandbox')).toBe('true')
    const unroutable = await estimate(account.testKey, { to: 'nobody', text: 'Hello' })
    expect([unroutable.status, unroutable.headers.get('x-sandbox')]).toEqual([200, null])
  })
})
