import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { isId, timeOf, toUuid } from '../../../src/lib/ids.ts'
import { type Answer, messageIdOf, startTestApp, type TestAccount, type TestApp } from '../../support/app.ts'
import { replays } from './refusal.ts'

const PHONE = '+12025550100'

let app: TestApp
let account: TestAccount
beforeAll(async () => {
  app = await startTestApp()
  account = await app.createAccount()
})
afterAll(() => app.stop())

type Result = {
  requestId: string
  status: string
  scheduledAt?: string
  resolved: { channel: string; provider: string; senderSource: string; channels: string[] }
  billing: { estimatedCost: number; currency: string; parts?: number }
  tracking: { messageId: string; usageId: string; queueId: string | null }
}

const ok = (answer: Answer): Result => {
  expect(answer.status, answer.text).toBe(200)
  return answer.body as Result
}

describe('the response to a send', () => {
  test('has exactly these fields, in this order, for a message that is sent at once', async () => {
    const answer = await account.send({ to: PHONE, text: 'Hello' })
    const result = ok(answer)
    expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8')
    expect(answer.text).toBe(
      JSON.stringify({
        success: true,
        requestId: answer.headers.get('x-request-id'),
        status: 'sent',
        resolved: {
          channel: 'local_sms',
          provider: 'sandbox',
          senderSource: 'platform',
          channels: ['local_sms', 'official_chatapp'],
        },
        billing: { estimatedCost: 0.0079, currency: 'USD', parts: 1 },
        tracking: { messageId: result.tracking.messageId, usageId: result.tracking.usageId, queueId: null },
      }),
    )
    expect(isId('req', result.requestId)).toBe(true)
    expect(isId('msg', result.tracking.messageId)).toBe(true)
    expect(isId('usg', result.tracking.usageId)).toBe(true)
  })

  test('has scheduledAt and a queueId for a scheduled message', async () => {
    const at = new Date(
      timeOf(messageIdOf(await account.send({ to: PHONE, text: 'Hello' })) as 'msg_') + 3_600_000,
    )
    const offset = at.toISOString().replace('Z', '+00:00')
    const result = ok(await account.send({ to: PHONE, text: 'Hello', options: { scheduleAt: offset } }))
    expect(Object.keys(result)).toEqual([
      'success',
      'requestId',
      'status',
      'scheduledAt',
      'resolved',
      'billing',
      'tracking',
    ])
    expect(result).toMatchObject({ status: 'scheduled', scheduledAt: at.toISOString() })
    expect(isId('que', result.tracking.queueId!)).toBe(true)
  })

  test('has no billing.parts for an e-mail', async () => {
    const mail = ok(await account.send({ to: 'a@example.com', content: { subject: 'Hi', text: 'Hello' } }))
    expect(mail.billing).toEqual({ estimatedCost: 0.001, currency: 'USD' })
    expect(mail.resolved.channels).toEqual(['email_user'])
  })

  test('names the sandbox as provider and sets X-Sandbox, with test and live keys', async () => {
    for (const live of [false, true]) {
      const answer = await account.send({ to: PHONE, text: 'Hello' }, { live })
      expect(ok(answer).resolved.provider).toBe('sandbox')
      expect(answer.headers.get('x-sandbox')).toBe('true')
    }
  })

  test('carries the account’s rate limit in the RateLimit headers', async () => {
    const own = await app.createAccount({ plan: { rateLimitPerSecond: 7 } })
    const { headers } = await own.send({ to: PHONE, text: 'Hello' })
    expect(headers.get('ratelimit-policy')).toBe('"api";q=14;w=2')
    expect(headers.get('ratelimit')).toMatch(/^"api";r=13;t=\d+$/)
  })
})

describe('the channel of a send', () => {
  const bot = { moduleType: 'botapp_bot', accountId: 'bot_1', chatId: '7000000100' }
  const group = '120363020000000100@g.us'

  test.each([
    ['a phone number of the home country', { to: PHONE }, 'local_sms', ['local_sms', 'official_chatapp']],
    ['a foreign phone number', { to: '+4915112345678' }, 'int_sms', ['int_sms', 'official_chatapp']],
    [
      'a foreign phone number with the home calling code',
      { to: '+14165550100' },
      'int_sms',
      ['int_sms', 'official_chatapp'],
    ],
    [
      'a phone number with spaces and brackets',
      { to: '+1 (202) 555-0100' },
      'local_sms',
      ['local_sms', 'official_chatapp'],
    ],
    ['an e-mail address', { to: 'a@example.com' }, 'email_user', ['email_user']],
    ['a group', { to: group }, 'user_chatapp_session', ['user_chatapp_session']],
    [
      'a conversationContext of a web session',
      { to: PHONE, conversationContext: { moduleType: 'chatapp_web', accountId: 'main', chatId: PHONE } },
      'user_chatapp_session',
      ['user_chatapp_session'],
    ],
    [
      'a conversationContext of an official sender',
      {
        to: PHONE,
        conversationContext: { moduleType: 'chatapp_official', accountId: 'platform', chatId: PHONE },
      },
      'official_chatapp',
      ['official_chatapp'],
    ],
    [
      'a conversationContext of a bot',
      { to: bot.chatId, conversationContext: bot },
      'botapp_bot',
      ['botapp_bot'],
    ],
  ])(
    'for %s is chosen automatically without a channel, and with null or auto',
    async (_, body, channel, channels) => {
      for (const asked of [undefined, null, 'auto']) {
        const { resolved } = ok(await account.send({ text: 'Hello', channel: asked, ...body }))
        expect([resolved.channel, resolved.channels]).toEqual([channel, channels])
      }
    },
  )

  test.each([
    ['local_sms', PHONE, {}],
    ['int_sms', '+4915112345678', {}],
    ['official_chatapp', PHONE, {}],
    ['user_chatapp_session', PHONE, {}],
    [
      'user_chatapp_session',
      group,
      { conversationContext: { moduleType: 'chatapp_web', accountId: 'main', chatId: group } },
    ],
    ['botapp_bot', bot.chatId, { conversationContext: bot }],
    ['email_user', 'a@example.com', {}],
  ])('%s is used when the request names it', async (channel, to, more) => {
    const { resolved } = ok(await account.send({ to, channel, text: 'Hello', ...more }))
    expect([resolved.channel, resolved.channels]).toEqual([channel, [channel]])
  })

  test('content.text takes precedence over the top-level text', async () => {
    const id = messageIdOf(await account.send({ to: PHONE, text: 'short', content: { text: 'long' } }))
    expect((await account.message(id)).text).toBe('long')
  })

  test.each([PHONE, 'code@example.com'])(
    'an empty text counts as absent: to %s a code is sent in the default text',
    async to => {
      for (const words of [
        { content: { text: '', otpCode: '317042' } },
        { text: '', content: { otpCode: '317042' } },
      ]) {
        const id = messageIdOf(await account.send({ to, ...words }))
        expect(await account.inbox(to)).toContainEqual(
          expect.objectContaining({ messageId: id, text: 'Your verification code is 317042' }),
        )
      }
      const id = messageIdOf(await account.send({ to, text: 'short', content: { text: '' } }))
      expect((await account.message(id)).text).toBe('short')
    },
  )
})

describe('the sender of a message', () => {
  const own = { id: 'snd_01jd0000000000000000000001', name: 'Own' }
  let sending: TestAccount

  beforeAll(async () => {
    sending = await app.createAccount()
    await app.db.query({
      name: 'insert_sender',
      text: `insert into sms_senders (account_id, id, name, status, is_default) values ($1,$2,$3,'approved',true)`,
      values: [toUuid(sending.id as `acc_${string}`), toUuid(own.id as `snd_${string}`), own.name],
    })
  })

  /** Before and after the sandbox’s sender name has been read. */
  const PLATFORM_NAME = expect.stringMatching(/^(Platform|Posthorn Sandbox)$/)
  const bot = { moduleType: 'botapp_bot', accountId: 'bot_1', chatId: '7000000100' }

  test.each([
    ['the account’s default if the request names none', {}, 'account_default', 'Own'],
    ['the one named by its id', { sender: { id: own.id } }, 'request', 'Own'],
    ['the one named by its name', { sender: { name: 'Posthorn' } }, 'request', 'Posthorn'],
    ['the one named by the alias senderId', { senderId: own.id }, 'request', 'Own'],
    [
      'the account’s default if the request names null',
      { sender: { id: null }, senderId: null },
      'account_default',
      'Own',
    ],
    [
      'the platform’s official sender if the request names none',
      { channel: 'official_chatapp' },
      'platform',
      PLATFORM_NAME,
    ],
    [
      'the platform’s official sender if the request names it',
      { channel: 'official_chatapp', officialSenderId: 'platform' },
      'request',
      PLATFORM_NAME,
    ],
    [
      'the web session of the conversationContext',
      { conversationContext: { moduleType: 'chatapp_web', accountId: 'main', chatId: PHONE } },
      'session',
      'main',
    ],
    ['the bot of the conversationContext', { to: bot.chatId, conversationContext: bot }, 'bot', 'bot_1'],
  ])('is %s', async (_, body, source, sender) => {
    const answer = await sending.send({ to: PHONE, text: 'Hello', ...body })
    expect(ok(answer).resolved.senderSource).toBe(source)
    expect(await sending.message(messageIdOf(answer))).toMatchObject({ senderSource: source, sender })
  })

  test('is the platform’s when the account has none of its own', async () => {
    const answer = await account.send({ to: PHONE, text: 'Hello' })
    expect(ok(answer).resolved.senderSource).toBe('platform')
    expect(await account.message(messageIdOf(answer))).toMatchObject({ sender: 'Posthorn' })
  })
})

describe('SMS parts and price', () => {
  test.each([
    ['one letter', 'a', 1],
    ['160 GSM-7 characters', 'a'.repeat(160), 1],
    ['161 GSM-7 characters', 'a'.repeat(161), 2],
    ['306 GSM-7 characters', 'a'.repeat(306), 2],
    ['307 GSM-7 characters', 'a'.repeat(307), 3],
    ['158 GSM-7 characters and a euro sign, which counts as two', `${'a'.repeat(158)}€`, 1],
    ['159 GSM-7 characters and a euro sign', `${'a'.repeat(159)}€`, 2],
    ['80 euro signs', '€'.repeat(80), 1],
    ['every extension character', '^{}\\[~]|€\f'.repeat(8), 1],
    [
      'a euro sign that must not be split between two parts: 152 + € + 152',
      `${'a'.repeat(152)}€${'a'.repeat(152)}`,
      3,
    ],
    ['70 UCS-2 characters', 'ж'.repeat(70), 1],
    ['71 UCS-2 characters', 'ж'.repeat(71), 2],
    ['134 UCS-2 characters', 'ж'.repeat(134), 2],
    ['135 UCS-2 characters', 'ж'.repeat(135), 3],
    ['71 characters of which one is not in GSM-7', `${'a'.repeat(70)}ś`, 2],
    ['35 emoji of two UTF-16 units each', '🎺'.repeat(35), 1],
    ['36 emoji of two UTF-16 units each', '🎺'.repeat(36), 2],
    [
      'an emoji that must not be split between two parts: 66 + 🎺 + 66',
      `${'ж'.repeat(66)}🎺${'ж'.repeat(66)}`,
      3,
    ],
    ['1,530 GSM-7 characters, which are ten parts', 'a'.repeat(1_530), 10],
  ])('are correct for %s', async (_, text, parts) => {
    const { billing } = ok(await account.send({ to: PHONE, text }))
    expect(billing).toEqual({ estimatedCost: (parts * 7_900) / 1_000_000, currency: 'USD', parts })
  })

  test.each([
    [{ to: '+447400123456' }, 0.04],
    [{ to: '+4915112345678' }, 0.09],
    [{ to: '+33612345678' }, 0.08],
    [{ to: PHONE, channel: 'official_chatapp' }, 0.03],
    [{ to: PHONE, channel: 'official_chatapp', messageType: 'otp' }, 0.02],
    [{ to: PHONE, channel: 'user_chatapp_session' }, 0.005],
  ])('the price depends on destination, channel and message type: %j', async (body, price) => {
    expect(ok(await account.send({ text: 'Hello', ...body })).billing.estimatedCost).toBe(price)
  })
})

describe('billing', () => {
  test('a send with a test key charges nothing, but shows the cost', async () => {
    const poor = await app.createAccount({ balance: 0 })
    const answer = await poor.send({ to: PHONE, text: 'Hello' })
    expect(ok(answer).billing.estimatedCost).toBe(0.0079)
    expect(await poor.wallet()).toMatchObject({ balance: 0, held: 0, captured: 0 })
    expect((await poor.message(messageIdOf(answer))).billing).toEqual({
      cost: 0.0079,
      currency: 'USD',
      parts: 1,
      source: 'none',
      state: 'none',
    })
  })

  test('sends with a live key are charged exactly, to a millionth', async () => {
    const paying = await app.createAccount({ balance: 1.000001 })
    for (let count = 1; count <= 3; count++) {
      await paying.send({ to: PHONE, text: 'a'.repeat(161) }, { live: true })
      const wallet = await paying.wallet()
      expect(wallet).toEqual({
        balance: (1_000_001 - count * 15_800) / 1_000_000,
        held: 0,
        captured: (count * 15_800) / 1_000_000,
        credited: 1.000001,
        currency: 'USD',
        lowBalance: 0,
      })
    }
  })

  test('the cost of a scheduled message is held, and captured when it is sent', async () => {
    const paying = await app.createAccount({ balance: 1 })
    const now = timeOf(messageIdOf(await paying.send({ to: PHONE, text: 'Hello' })) as 'msg_')
    const options = { scheduleAt: new Date(now + 2_000).toISOString() }
    const id = messageIdOf(await paying.send({ to: PHONE, text: 'Hello', options }, { live: true }))
    expect(await paying.wallet()).toMatchObject({ balance: 0.9921, held: 0.0079, captured: 0 })
    expect((await paying.message(id)).billing).toMatchObject({ state: 'held', source: 'wallet' })
    const sent = await app.until(
      () => paying.message(id),
      message => message.status === 'sent',
    )
    expect(Date.parse(sent.sentAt!)).toBeGreaterThanOrEqual(now + 2_000)
    expect(await paying.wallet()).toMatchObject({ balance: 0.9921, held: 0, captured: 0.0079 })
  })

  test('the plan’s pool is used first, then the wallet', async () => {
    const pooled = await app.createAccount({
      balance: 0.01,
      plan: { pool: [{ channels: ['local_sms', 'int_sms'], limit: 2 }] },
    })
    const sources: unknown[] = []
    for (let count = 1; count <= 3; count++) {
      const id = messageIdOf(await pooled.send({ to: PHONE, text: 'Hello' }, { live: true }))
      sources.push((await pooled.message(id)).billing.source)
    }
    expect(sources).toEqual(['pool', 'pool', 'wallet'])
    expect(await pooled.wallet()).toMatchObject({ balance: 0.0021, held: 0, captured: 0.0079 })
    expect(await pooled.footprint()).toMatchObject({ poolUsed: 2 })
    // Neither covers the fourth; e-mail is not covered by the pool.
    expect((await pooled.send({ to: PHONE, text: 'Hello' }, { live: true })).status).toBe(402)
    const mail = await pooled.send({ to: 'a@example.com', text: 'Hello' }, { live: true })
    expect((await pooled.message(messageIdOf(mail))).billing.source).toBe('wallet')
  })
})

describe('an idempotent replay', () => {
  test('returns the same bytes, also after the message’s status has changed', async () => {
    const body = { to: PHONE, text: 'Hello' }
    const options = { live: true, idempotencyKey: 'replay' }
    const first = await account.send(body, options)
    expect(first.headers.get('idempotency-replayed')).toBeNull()
    await replays(account, body, first, options)
    await app.until(
      () => account.message(messageIdOf(first)),
      message => message.status === 'delivered',
    )
    await replays(account, body, first, options)
    await replays(account, '{"text": "Hello", "to": "+12025550100"}', first, options)
  })

  test('is no longer given after 24 hours: the key can then be used for another body', async () => {
    const body = { to: PHONE, text: 'Hello' }
    const options = { idempotencyKey: 'a day' }
    const first = await account.send(body, options)
    // Ages the stored key instead of waiting a day.
    const age = (hours: number) =>
      app.db.query({
        name: 'age_key',
        text: `update idempotency set created_at = created_at - make_interval(mins => $1) where key = 'a day'`,
        values: [Math.round(hours * 60)],
      })
    await age(23.9)
    await replays(account, body, first, options)
    await age(0.2)
    const second = await account.send({ ...body, text: 'Another' }, options)
    expect([second.status, second.headers.get('idempotency-replayed')]).toEqual([200, null])
    expect(messageIdOf(second)).not.toBe(messageIdOf(first))
  })

  test('takes the key from the header first, then from the body, then from options', async () => {
    const body = {
      to: PHONE,
      text: 'Hello',
      idempotencyKey: 'in the body',
      options: { idempotencyKey: 'in the options' },
    }
    const first = await account.send(body, { idempotencyKey: 'in the header' })
    const byBody = await account.send(body)
    const byOptions = await account.send({ ...body, idempotencyKey: undefined })
    expect(new Set([first, byBody, byOptions].map(messageIdOf)).size).toBe(3)
    // The keys themselves are not part of the body comparison.
    const plain = { to: PHONE, text: 'Hello' }
    await replays(account, plain, first, { idempotencyKey: 'in the header' })
    await replays(account, plain, byBody, { idempotencyKey: 'in the body' })
    await replays(account, plain, byOptions, { idempotencyKey: 'in the options' })
  })

  test('is limited to the account: another account may use the same key', async () => {
    const other = await app.createAccount()
    const body = { to: PHONE, text: 'Hello' }
    const mine = await account.send(body, { idempotencyKey: 'shared' })
    const theirs = await other.send(body, { idempotencyKey: 'shared' })
    expect(messageIdOf(mine)).not.toBe(messageIdOf(theirs))
  })

  test('is not given without a key: the same body is sent twice', async () => {
    const body = { to: PHONE, text: 'Hello' }
    const [first, second] = [await account.send(body), await account.send(body)]
    expect(messageIdOf(first)).not.toBe(messageIdOf(second))
  })
})

describe('one-time codes', () => {
  test('appear only in the sandbox inbox, never in lists, messages, the database or the log', async () => {
    const code = '805317'
    const sends = [
      { to: PHONE, messageType: 'otp', content: { otpCode: code } },
      { to: PHONE, content: { otpCode: code, text: `Use ${code} to log in` } },
      { to: 'a@example.com', messageType: 'otp', content: { otpCode: code, subject: `Code ${code}` } },
      { to: PHONE, channel: 'official_chatapp', messageType: 'otp', text: `Your code: ${code}` },
    ]
    const own = await app.createAccount()
    for (const [at, body] of sends.entries()) {
      const answer = await own.send(body, { live: true, idempotencyKey: `otp ${at}` })
      expect(answer.text).not.toContain(code)
      const message = await own.message(messageIdOf(answer))
      expect(message).toMatchObject({ messageType: 'otp', text: '••••••' })
      expect(JSON.stringify(message)).not.toContain(code)
    }
    expect(JSON.stringify(await own.messages())).not.toContain(code)
    expect((await own.inbox()).map(each => each.text)).toEqual([
      `Your code: ${code}`,
      `Your verification code is ${code}`,
      `Use ${code} to log in`,
      `Your verification code is ${code}`,
    ])
    const stored = await app.db.query<{ rows: string }>({
      name: 'all_rows',
      text: `select (select json_agg(m) from messages m)::text || coalesce((select json_agg(o) from outbox o)::text, '')
               || (select json_agg(i) from idempotency i)::text || coalesce((select json_agg(e) from events e)::text, '') as rows`,
    })
    expect(stored.rows[0]!.rows).not.toContain(code)
    expect(app.log.join('')).not.toContain(code)
  })

  test('of scheduled messages are stored encrypted until they are sent', async () => {
    const code = '664209'
    const own = await app.createAccount()
    const now = timeOf(messageIdOf(await own.send({ to: PHONE, text: 'Hello' })) as 'msg_')
    const options = { scheduleAt: new Date(now + 1_000).toISOString() }
    const id = messageIdOf(await own.send({ to: PHONE, content: { otpCode: code }, options }))
    const { rows } = await app.db.query<{ secret: Buffer; content: string }>({
      name: 'sealed',
      text: 'select o.secret, m.content::text from outbox o join messages m on m.id = o.message_id where m.id = $1',
      values: [toUuid(id as `msg_${string}`)],
    })
    expect(rows[0]!.secret.toString('latin1') + rows[0]!.content).not.toContain(code)
    await app.until(
      () => own.message(id),
      message => message.status === 'sent',
    )
    expect((await own.inbox())[0]!.text).toBe(`Your verification code is ${code}`)
    expect(await own.footprint()).toMatchObject({ outbox: 0 })
  })
})

describe('attachments and e-mail content', () => {
  test('base64 attachments on a session and an e-mail reach the provider complete', async () => {
    const bytes = Buffer.from('a picture'.repeat(1_000))
    const attachment = {
      type: 'image',
      base64: bytes.toString('base64'),
      mimetype: 'image/png',
      fileName: 'horn.png',
    }
    for (const body of [
      { to: PHONE, channel: 'user_chatapp_session', attachment, content: { text: 'A caption' } },
      { to: 'a@example.com', attachment, content: { subject: 'A horn', text: '<p>Look</p>' } },
    ]) {
      const id = messageIdOf(await account.send(body))
      expect((await account.message(id)).attachment).toEqual({
        type: 'image',
        mimetype: 'image/png',
        fileName: 'horn.png',
        publicUrl: null,
        sizeBytes: bytes.length,
      })
      const taken = (await account.inbox(body.to)).find(each => each.messageId === id)!
      expect(taken.media).toMatchObject([{ type: 'image', fileName: 'horn.png', sizeBytes: bytes.length }])
    }
  })

  test('HTML text of an e-mail is sent as HTML, plain text as plain text', async () => {
    await account.send({ to: 'html@example.com', content: { subject: 'Hi', text: '<p>Hello</p>' } })
    await account.send({ to: 'text@example.com', content: { subject: 'Hi', text: '1 < 2 and 3 > 2' } })
    expect((await account.inbox('html@example.com'))[0]).toMatchObject({ html: '<p>Hello</p>', text: null })
    expect((await account.inbox('text@example.com'))[0]).toMatchObject({
      html: null,
      text: '1 < 2 and 3 > 2',
    })
  })

  test('an e-mail without a subject is sent without one', async () => {
    await account.send({ to: 'bare@example.com', text: 'Hello' })
    expect((await account.inbox('bare@example.com'))[0]).toMatchObject({ subject: null, text: 'Hello' })
  })
})

test('metadata is returned as it was sent, nulls included', async () => {
  const metadata = { order: 7, tags: ['a', null, { deep: null }], price: 1.1, text: 'ä', none: null }
  const id = messageIdOf(await account.send({ to: PHONE, text: 'Hello', options: { metadata } }))
  expect((await account.message(id)).metadata).toEqual(metadata)
})

test('numbers in metadata are returned with all of their digits', async () => {
  const metadata =
    '{"order":9007199254740993,"list":[-123456789012345678901234567891,0.12345678901234567891]}'
  const body = `{"to":"${PHONE}","text":"Hello","options":{"metadata":${metadata}}}`
  const id = messageIdOf(await account.send(body))
  for (const path of [`/api/v2/messages/${id}`, '/api/v2/messages?limit=1']) {
    expect((await app.call(path, { key: account.testKey })).text).toContain(`"metadata":${metadata}`)
  }
})
