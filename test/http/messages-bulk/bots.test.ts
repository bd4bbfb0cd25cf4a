import { afterAll, beforeAll, expect, test } from 'vitest'
import type { BotView } from '../../../src/contract/bot.ts'
import { startTestApp, type TestAccount, type TestApp } from '../../support/app.ts'
import { bulkRows, createBulk, readBulkRows, untilBulk } from '../../support/bulk.ts'

/** Rows of one job to several chats of bots: each row is validated against its own chat. */

let app: TestApp
let account: TestAccount
let bot: BotView

beforeAll(async () => {
  app = await startTestApp()
  account = await app.createAccount()
  const answer = await app.call('/api/v2/botapp-bots', {
    method: 'POST',
    key: account.testKey,
    body: { token: '424242:bulk-rows-to-chats' },
  })
  expect(answer.status, answer.text).toBe(201)
  bot = (answer.body['data'] as { bot: BotView }).bot
}, 60_000)
afterAll(() => app.stop())

/** Subscribers of the sandbox's bots, which accept messages at once. */
const ADA = '7000001000'
const LATE = '7000000004'

const row = (chatId: string, accountId: string = bot.id) => ({
  to: chatId,
  channel: 'botapp_bot',
  content: { text: 'Hello' },
  conversationContext: { moduleType: 'botapp_bot', accountId, chatId },
})

async function ended(messages: object[]) {
  const { status, text, body } = await createBulk(app, account, { messagesPerSecond: 10, messages })
  expect(status, text).toBe(202)
  const id = body['id'] as string
  const job = await untilBulk(app, account, id, 'completed', 'rejected')
  const invalid = await readBulkRows(account, id, '?status=invalid')
  return { job, invalid: invalid.map(({ index, errorCode }) => [index, errorCode]) }
}

test('rows to a bot and rows to phone numbers can be mixed in one bulk job', async () => {
  const { job, invalid } = await ended([...bulkRows(1), row(ADA), ...bulkRows(1), row(LATE)])
  expect(invalid).toEqual([])
  expect(job).toMatchObject({ status: 'completed', counts: { sent: 4, failed: 0 } })
})

test('a row to a chat that never started the bot, or to an unknown bot, is invalid', async () => {
  const nobody = `bot_${'0'.repeat(26)}`
  const { job, invalid } = await ended([row(ADA), row('7000009999'), row(LATE), row(ADA, nobody), row(ADA)])
  expect(job).toMatchObject({ status: 'rejected', errorCode: 'VALIDATION_FAILED' })
  expect(invalid).toEqual([
    [1, 'VALIDATION_ERROR'],
    [3, 'NOT_FOUND'],
  ])
})

test('an invalid chat in the first row does not make the other rows invalid', async () => {
  const { invalid } = await ended([row('7000009999'), row(ADA), row(LATE)])
  expect(invalid).toEqual([[0, 'VALIDATION_ERROR']])
})
