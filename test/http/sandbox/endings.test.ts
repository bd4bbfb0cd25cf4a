import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Channel } from '../../../src/contract/enums.ts'
import type { MessageWithTimeline } from '../../../src/contract/message.ts'
import { type Answer, messageIdOf, startTestApp, type TestAccount, type TestApp } from '../../support/app.ts'

/** The behaviour of the sandbox for each recipient suffix, on every channel, through the whole program. */

let app: TestApp
beforeAll(async () => {
  app = await startTestApp()
})
afterAll(() => app.stop())

/** A body for a recipient with this suffix. */
const TO: Record<Channel, (ending: string) => Record<string, unknown>> = {
  local_sms: ending => ({ to: `+1202555${ending}`, channel: 'local_sms' }),
  int_sms: ending => ({ to: `+4915112${ending}`, channel: 'int_sms' }),
  official_chatapp: ending => ({ to: `+1202555${ending}`, channel: 'official_chatapp' }),
  user_chatapp_session: ending => ({ to: `12036302000000${ending}@g.us`, channel: 'user_chatapp_session' }),
  botapp_bot: ending => ({
    to: `700000${ending}`,
    channel: 'botapp_bot',
    conversationContext: { moduleType: 'botapp_bot', accountId: 'bot_1', chatId: `700000${ending}` },
  }),
  email_user: ending => ({ to: `ph-${ending}@example.com`, channel: 'email_user' }),
}
const CHANNELS = Object.keys(TO) as Channel[]
const CHATAPP: readonly Channel[] = ['official_chatapp', 'user_chatapp_session']

const HELLO = { text: 'Hello' }

/** Uses a new account for each send, since a throttled lane belongs to its account. */
async function send(
  channel: Channel,
  ending: string,
  words: object = HELLO,
): Promise<{ account: TestAccount; answer: Answer }> {
  const account = await app.createAccount()
  const answer = await app.during(
    account.send({ ...TO[channel](ending), ...words }, { live: true, idempotencyKey: 'once' }),
  )
  expect(answer.headers.get('x-sandbox'), answer.text).toBe('true')
  return { account, answer }
}

async function sent(channel: Channel, ending: string, words?: object) {
  const { account, answer } = await send(channel, ending, words)
  expect(answer.status, answer.text).toBe(200)
  expect((answer.body['resolved'] as { provider: string }).provider).toBe('sandbox')
  const messageId = messageIdOf(answer)
  const ends = (status: MessageWithTimeline['status']) =>
    app.until(
      () => account.message(messageId),
      message => message.status === status,
    )
  return { account, answer, messageId, ends }
}

const RANKS = ['scheduled', 'queued', 'sending', 'sent', 'delivered', 'read']

/** Every status in the timeline. Checks that they only go forward, and that the last is the message's own. */
function statuses(message: MessageWithTimeline): string[] {
  const all = message.timeline.flatMap(({ event, status }) => (event === 'status' ? [status!] : []))
  const ranks = all.map(status => RANKS.indexOf(status)).filter(rank => rank >= 0)
  expect(ranks, all.join()).toEqual(ranks.toSorted())
  expect(all.at(-1)).toBe(message.status)
  return all
}
const attempts = (message: MessageWithTimeline) =>
  message.timeline.filter(entry => entry.event === 'attempt').map(entry => [entry.attempt, entry.outcome])

describe.each(CHANNELS)('%s', channel => {
  const isChatApp = CHATAPP.includes(channel)
  const last = isChatApp ? 'read' : 'delivered'
  const delivered = isChatApp ? ['delivered', 'read'] : ['delivered']

  test('0001: is not registered on a chat app; is delivered on other channels', async () => {
    if (!isChatApp) {
      const { ends } = await sent(channel, '0001')
      expect(statuses(await ends('delivered'))).toEqual(['queued', 'sending', 'sent', 'delivered'])
      return
    }
    const { account, answer } = await send(channel, '0001')
    expect([answer.status, answer.body['code']]).toEqual([400, 'CHATAPP_NOT_REGISTERED'])
    expect(await account.footprint()).toMatchObject({ messages: 0, outbox: 0, keys: 1 })
    expect(await account.wallet()).toMatchObject({ balance: 100, held: 0, captured: 0 })
    expect(await account.inbox()).toEqual([])
    const again = await account.send(
      { ...TO[channel]('0001'), text: 'Hello' },
      { live: true, idempotencyKey: 'once' },
    )
    expect([again.text, again.headers.get('idempotency-replayed')]).toEqual([answer.text, 'true'])
    expect(again.headers.get('x-sandbox')).toBe('true')
  })

  test('0001: is not registered on a chat app when a message is scheduled, either', async () => {
    const account = await app.createAccount({ balance: 100 })
    const options = { scheduleAt: new Date(app.now() + 60_000).toISOString() }
    const answer = await account.send({ ...TO[channel]('0001'), text: 'Later', options }, { live: true })
    if (!isChatApp) {
      expect(answer.body['status']).toBe('scheduled')
      return
    }
    expect([answer.status, answer.body['code']]).toEqual([400, 'CHATAPP_NOT_REGISTERED'])
    expect(await account.wallet()).toMatchObject({ balance: 100, held: 0, captured: 0 })
    expect(await account.messages()).toEqual([])
  })

  test('0002: is rejected, and the hold is released', async () => {
    const { account, answer } = await send(channel, '0002')
    expect([answer.status, answer.body['code']]).toEqual([400, 'RECIPIENT_REJECTED'])
    expect(answer.body['details']).toMatchObject([{ path: 'to' }])
    expect(await account.wallet()).toMatchObject({ balance: 100, held: 0, captured: 0 })
    const [failed] = await account.messages('?status=failed')
    expect(failed).toMatchObject({ errorCode: 'RECIPIENT_REJECTED', billing: { state: 'released' } })
    const message = await account.message(failed!.messageId)
    expect(statuses(message)).toEqual(['queued', 'sending', 'failed'])
    expect(message.timeline).toContainEqual(
      expect.objectContaining({
        event: 'attempt',
        outcome: 'rejected',
        providerCode: '0002',
        explanation: expect.any(String),
      }),
    )
    const again = await account.send(
      { ...TO[channel]('0002'), text: 'Hello' },
      { live: true, idempotencyKey: 'once' },
    )
    expect([again.status, again.text]).toEqual([400, answer.text])
    expect(again.headers.get('idempotency-replayed')).toBe('true')
    expect(again.headers.get('x-sandbox')).toBe('true')
  })

  test('0003: fails twice, then is accepted, also for a one-time code', async () => {
    const code = { content: { otpCode: '317042' } }
    const { account, messageId, ends } = await sent(channel, '0003', code)
    const message = await ends(last)
    expect(message.attempts).toBe(3)
    expect(attempts(message)).toEqual([
      [1, 'retry'],
      [2, 'retry'],
      [3, 'accepted'],
    ])
    expect(statuses(message)).toEqual(['queued', 'sending', 'sent', ...delivered])
    const text = 'Your verification code is 317042'
    expect(await account.inbox()).toMatchObject([{ messageId, attempts: 3, text }])
  })

  test('0004: is accepted and charged, but not delivered', async () => {
    const { account, answer, ends } = await sent(channel, '0004')
    expect(answer.body['status']).toBe('sent')
    const message = await ends('undelivered')
    expect(statuses(message)).toEqual(['queued', 'sending', 'sent', 'undelivered'])
    expect(message.billing.state).toBe('captured')
    expect(await account.wallet()).toMatchObject({ held: 0, captured: message.billing.cost })
  })

  test('0005: is unknown; the money stays held, and the message is not submitted again', async () => {
    const { account, answer, messageId, ends } = await sent(channel, '0005')
    expect(answer.body).toMatchObject({
      status: 'queued',
      tracking: { queueId: messageId.replace('msg', 'que') },
    })
    const message = await ends('unknown')
    expect(statuses(message)).toEqual(['queued', 'sending', 'unknown'])
    expect(attempts(message)).toEqual([[1, 'unknown']])
    expect(message.billing.state).toBe('held')
    await app.pass(2_000)
    expect(await account.message(messageId)).toMatchObject({ status: 'unknown', attempts: 1 })
    expect(await account.wallet()).toMatchObject({ held: message.billing.cost, captured: 0 })
    expect(await account.inbox()).toMatchObject([{ messageId, attempts: 1 }])
  })

  test('0006: throttles the account’s lane for five seconds, but not another account’s', async () => {
    const { account, answer, messageId, ends } = await sent(channel, '0006')
    expect(answer.body['status']).toBe('queued')
    const waiting = await account.message(messageId)
    expect([waiting.status, statuses(waiting), attempts(waiting)]).toEqual([
      'queued',
      ['queued'],
      [[1, 'throttled']],
    ])
    const meanwhile = account.send({ ...TO[channel]('0100'), text: 'Hello' })
    const other = await app.createAccount()
    const free = await other.send({ ...TO[channel]('0100'), text: 'Hello' })
    expect(free.body['status']).toBe('sent')
    const message = await ends(last)
    const waitedMs = Date.parse(message.sentAt!) - Date.parse(message.createdAt)
    expect(waitedMs).toBeGreaterThanOrEqual(5_000)
    expect(waitedMs).toBeLessThan(10_000)
    expect(message.attempts).toBe(1)
    expect(attempts(message)).toEqual([
      [1, 'throttled'],
      [1, 'accepted'],
    ])
    expect(statuses(message)).toEqual(['queued', 'sending', 'sent', ...delivered])
    const held = await account.message(messageIdOf(await meanwhile))
    expect(Date.parse(held.sentAt!)).toBeGreaterThanOrEqual(Date.parse(message.createdAt) + 5_000)
  })

  test('0007: a receipt before the submit response and another after it count as one delivery', async () => {
    const { account, ends } = await sent(channel, '0007')
    const message = await ends('delivered')
    expect(statuses(message)).toEqual(['queued', 'sending', 'sent', 'delivered'])
    await app.pass(2_000)
    expect((await account.message(message.messageId)).timeline).toEqual(message.timeline)
    expect(await account.wallet()).toMatchObject({ held: 0, captured: message.billing.cost })
  })

  test('any other: is accepted, delivered after a second, and read after two on chat apps', async () => {
    const { ends, answer } = await sent(channel, '0100')
    expect(answer.body).toMatchObject({ status: 'sent', tracking: { queueId: null } })
    const message = await ends(last)
    expect(statuses(message)).toEqual(['queued', 'sending', 'sent', ...delivered])
    const age = (at: string | null) => Date.parse(at!) - Date.parse(message.createdAt)
    expect(age(message.deliveredAt)).toBeGreaterThanOrEqual(1_000)
    if (isChatApp) expect(age(message.readAt)).toBeGreaterThanOrEqual(2_000)
    else expect(message.readAt).toBeNull()
    const times = message.timeline.map(entry => entry.at)
    expect(times).toEqual(times.toSorted())
  })
})
