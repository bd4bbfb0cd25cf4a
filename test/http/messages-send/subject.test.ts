import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Estimate } from '../../../src/contract/estimate.ts'
import type { BatchResult } from '../../../src/contract/send.ts'
import { messageIdOf, startTestApp, type TestAccount, type TestApp } from '../../support/app.ts'
import { createBulk, untilBulk } from '../../support/bulk.ts'
import { createTemplateCalls } from '../templates/support.ts'

/** `content.subject` counts on e-mail alone; other channels ignore it, whatever it is. */

const PHONE = '+12025550100'
const SUBJECT = 'Parcel 730915'
const IGNORED = [SUBJECT, '', 'x'.repeat(256), 'two\nlines']

let app: TestApp
let account: TestAccount
beforeAll(async () => {
  app = await startTestApp()
  account = await app.createAccount()
})
afterAll(() => app.stop())

async function expectNoSubject(id: string): Promise<void> {
  const message = await account.message(id)
  expect(message).toMatchObject({ subject: null })
  expect(JSON.stringify(message)).not.toContain(SUBJECT)
  const [taken] = await app.until(
    async () => (await account.inbox(message.to)).filter(each => each.messageId === id),
    items => items.length > 0,
  )
  expect(taken).toMatchObject({ subject: null })
}

test('a send over another channel ignores its subject', async () => {
  const bot = { moduleType: 'botapp_bot', accountId: 'bot_1', chatId: '7000000100' }
  const bodies = [
    { to: PHONE },
    { to: PHONE, channel: 'user_chatapp_session' },
    { to: PHONE, channel: 'official_chatapp' },
    { to: bot.chatId, conversationContext: bot },
  ]
  for (const subject of IGNORED) {
    for (const body of bodies) {
      const answer = await account.send({ ...body, content: { text: 'Hello', subject } })
      expect(answer.status, answer.text).toBe(200)
      await expectNoSubject(messageIdOf(answer))
    }
  }
  const { rows } = await app.db.query({ name: 'all_content', text: 'select content::text from messages' })
  expect(JSON.stringify(rows)).not.toContain(SUBJECT)
})

test('a subject beside a template for SMS or beside a code changes nothing', async () => {
  const calls = createTemplateCalls(app, account)
  const { id } = await calls.made({ name: 'code', category: 'sms', subType: 'otp', content: 'Acme: {{1}}' })
  await calls.call('POST', `/${id}/default`)
  for (const body of [
    { template: { id, variablesIndexed: ['112233'] }, content: { subject: SUBJECT } },
    { content: { otpCode: '112233', subject: SUBJECT } },
  ]) {
    const answer = await account.send({ to: PHONE, channel: 'local_sms', ...body })
    expect(answer.status, answer.text).toBe(200)
    await expectNoSubject(messageIdOf(answer))
    expect((await account.message(messageIdOf(answer))).templateId).toBe(id)
    expect((await account.inbox(PHONE))[0]!.text).toBe('Acme: 112233')
  }
})

test('a batch uses its subject for e-mail alone', async () => {
  const answer = await account.send({
    to: [PHONE, 'a@example.com'],
    content: { text: 'Hello', subject: SUBJECT },
  })
  expect(answer.status, answer.text).toBe(200)
  const [sms, mail] = (answer.body as unknown as BatchResult).results
  await expectNoSubject(sms!.messageId!)
  expect((await account.message(mail!.messageId!)).subject).toBe(SUBJECT)
})

test('an estimate of another channel shows no subject', async () => {
  const body = { to: PHONE, content: { text: 'Hello', subject: SUBJECT } }
  const answer = await app.call('/api/v2/messages/estimate', { method: 'POST', key: account.testKey, body })
  const { deliverable, rendered } = answer.body['data'] as Estimate
  expect({ deliverable, rendered }).toEqual({ deliverable: true, rendered: { text: 'Hello', subject: null } })
})

test('a row of a bulk job over another channel ignores its subject', async () => {
  const messages = IGNORED.map(subject => ({ to: PHONE, content: { text: 'Hello', subject } }))
  const { body } = await createBulk(app, account, { messagesPerSecond: 10, messages })
  const job = await untilBulk(app, account, body['id'] as string, 'completed')
  expect(job.counts).toMatchObject({ sent: 4, failed: 0 })
  for (const { messageId } of await account.messages(`?bulkJobId=${job.id}`)) await expectNoSubject(messageId)
})

test('a repeat under an idempotency key needs the same subject, also where it is ignored', async () => {
  const send = (subject: string) =>
    account.send({ to: PHONE, content: { text: 'Hello', subject } }, { idempotencyKey: 'subject' })
  const first = await send('one')
  expect(first.status, first.text).toBe(200)
  expect((await send('one')).text).toBe(first.text)
  expect(await send('two')).toMatchObject({ status: 409, body: { code: 'IDEMPOTENCY_KEY_CONFLICT' } })
})
