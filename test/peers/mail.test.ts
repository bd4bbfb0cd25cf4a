import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { systemClock } from '../../src/lib/clock.ts'
import { messageIdOf, startTestApp, type TestAccount, type TestApp } from '../support/app.ts'
import { type MailDev, type ReadMail, startMailDev } from '../support/maildev.ts'

/** Sends mail through the HTTP API and reads it back from MailDev, an independent mail server. */

const PICTURE = randomBytes(150_000)
const TO = 'reader@example.com'

let maildev: MailDev
let files: Server
let filesUrl: string
let app: TestApp
let account: TestAccount

beforeAll(async () => {
  maildev = await startMailDev()
  files = createServer((request, response) => {
    if (request.url === '/horn.png') response.setHeader('content-type', 'image/png').end(PICTURE)
    else if (request.url === '/away') response.writeHead(302, { location: 'http://127.0.0.1:9/' }).end()
    else response.writeHead(404).end()
  }).listen(0, '127.0.0.1')
  await once(files, 'listening')
  const host = `127.0.0.1:${(files.address() as AddressInfo).port}`
  filesUrl = `http://${host}`
  // A slow machine must not turn "sent" into "queued".
  const env = { POSTHORN_ALLOW_PRIVATE_HOSTS: host, POSTHORN_SYNC_WAIT_MS: '20000' }
  app = await startTestApp({ clock: systemClock, env })
  account = await app.createAccount({ balance: 1 })
  await connect()
})
afterAll(async () => {
  await app.stop()
  files.close()
  await maildev.stop()
})

async function connect(): Promise<void> {
  const created = await app.admin('POST', '/connections', {
    provider: 'smtp',
    name: 'Mail',
    channels: ['email_user'],
    config: {
      host: '127.0.0.1',
      port: maildev.smtpPort,
      secure: false,
      from: 'Pösthorn <no-reply@example.org>',
    },
  })
  expect(created.status, created.text).toBe(201)
  const { id } = (created.body['data'] as { connection: { id: string } }).connection
  await app.until(
    () => app.admin('POST', `/connections/${id}/test`),
    ({ body }) => (body['data'] as { ok: boolean } | undefined)?.ok === true,
  )
  await app.until(
    () => account.read<{ providerKey: string }[]>('/api/v2/messages/policies'),
    policies => policies.some(policy => policy.providerKey === 'smtp'),
  )
}

async function deliver(body: Record<string, unknown>): Promise<{ mail: ReadMail; messageId: string }> {
  const count = maildev.count()
  const answer = await account.send({ to: TO, ...body }, { live: true })
  expect(answer.body, answer.text).toMatchObject({
    status: 'sent',
    resolved: { channel: 'email_user', provider: 'smtp', senderSource: 'platform', channels: ['email_user'] },
    billing: { estimatedCost: 0.001, currency: 'USD' },
  })
  expect(answer.headers.get('x-sandbox')).toBeNull()
  return { mail: await maildev.mail(count + 1), messageId: messageIdOf(answer) }
}

describe('a mail', () => {
  test('of text has its subject, text and sender', async () => {
    const text = 'Grüße, 你好 👋\n.\n..dots'
    const { mail, messageId } = await deliver({ content: { subject: 'Ünïcödé 🎺', text } })
    expect(mail.subject).toBe('Ünïcödé 🎺')
    expect(mail.text.trimEnd()).toBe(text)
    expect(mail.html).toBeUndefined()
    expect(mail.from).toEqual([{ address: 'no-reply@example.org', name: 'Pösthorn' }])
    expect(mail.to).toMatchObject([{ address: TO }])
    const message = await account.message(messageId)
    expect(message).toMatchObject({ status: 'sent', billing: { state: 'captured', parts: null } })
    expect(message.providerMessageId).toContain(mail.messageId.replace(/[<>]/g, ''))
  })

  test('of HTML has an HTML and a plain-text version', async () => {
    const { mail } = await deliver({ content: { subject: 'Hi', text: '<h1>Hällo</h1><p>you</p>' } })
    expect(mail.html).toContain('<h1>Hällo</h1>')
    expect(mail.text.trim()).toBe('Hällo\n\nyou')
  })

  test('is sent without a subject', async () => {
    const { mail } = await deliver({ text: 'Hello' })
    expect([mail.subject ?? '', mail.text.trimEnd()]).toEqual(['', 'Hello'])
  })

  test('carries a file of the request byte for byte', async () => {
    const attachment = {
      type: 'document',
      base64: PICTURE.toString('base64'),
      mimetype: 'application/pdf',
      fileName: 'rechnung-ä.pdf',
    }
    const { mail } = await deliver({ content: { subject: 'File', text: 'See below' }, attachment })
    expect(mail.attachments).toMatchObject([{ fileName: 'rechnung-ä.pdf', contentType: 'application/pdf' }])
    const name = mail.attachments![0]!.generatedFileName
    expect((await maildev.attachment(mail.id, name)).equals(PICTURE)).toBe(true)
    expect(await account.footprint()).toMatchObject({ outbox: 0 })
  })

  test('carries a file from a private host that the operator allows', async () => {
    const attachment = { type: 'image', publicUrl: `${filesUrl}/horn.png`, mimetype: 'image/png' }
    const { mail, messageId } = await deliver({ content: { subject: 'Picture', text: 'Look' }, attachment })
    expect(mail.attachments).toMatchObject([{ fileName: 'horn.png', contentType: 'image/png' }])
    const name = mail.attachments![0]!.generatedFileName
    expect((await maildev.attachment(mail.id, name)).equals(PICTURE)).toBe(true)
    expect((await account.message(messageId)).attachment).toMatchObject({ publicUrl: `${filesUrl}/horn.png` })
  })

  test('with a one-time code is marked as auto-generated, and the code is not kept or logged', async () => {
    const { mail, messageId } = await deliver({ messageType: 'otp', content: { otpCode: '914626' } })
    expect(mail.subject).toBe('Your verification code')
    expect(mail.text).toContain('914626')
    expect(mail.headers['auto-submitted']).toBe('auto-generated')
    const message = await account.message(messageId)
    expect(message).toMatchObject({ text: '••••••', subject: '••••••' })
    expect(app.log.join('')).not.toContain('914626')
  })
})

describe('a mail that cannot be sent', () => {
  test.each([
    ['does not exist', '/missing'],
    ['redirects to another address', '/away'],
  ])('because its file %s is rejected and costs nothing', async (_, path) => {
    const before = [maildev.count(), await account.wallet()]
    const attachment = { type: 'image', publicUrl: filesUrl + path }
    const answer = await account.send({ to: TO, text: 'Look', attachment }, { live: true })
    expect([answer.status, answer.body['code']], answer.text).toEqual([400, 'MESSAGE_REJECTED'])
    expect([maildev.count(), await account.wallet()]).toEqual(before)
  })

  test('because the URL of its file is private is rejected by validation, also for another port', async () => {
    for (const publicUrl of [
      'http://127.0.0.1:9/a.png',
      'https://127.0.0.1/a.png',
      'https://10.0.0.1/a.png',
    ]) {
      const answer = await account.send(
        { to: TO, text: 'Look', attachment: { type: 'image', publicUrl } },
        { live: true },
      )
      expect([answer.status, answer.body['details']]).toMatchObject([400, [{ path: 'attachment.publicUrl' }]])
    }
  })
})

test('a mail sent with a test key goes to the sandbox only', async () => {
  const count = maildev.count()
  const answer = await account.send({ to: TO, text: 'Hello' })
  expect(answer.body).toMatchObject({ status: 'sent', resolved: { provider: 'sandbox' } })
  expect(maildev.count()).toBe(count)
})
