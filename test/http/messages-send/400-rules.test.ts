import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { toUuid } from '../../../src/lib/ids.ts'
import { startTestApp, type TestAccount, type TestApp } from '../../support/app.ts'
import { allInvalidAt, invalidAt } from './refusal.ts'

/** Bodies of the right shape that break a rule: each error names its field, and nothing but the response is stored. */

const PHONE = '+12025550100'
const FOREIGN = '+4915112345678'

let app: TestApp
let account: TestAccount
beforeAll(async () => {
  app = await startTestApp()
  account = await app.createAccount()
})
afterAll(() => app.stop())

describe('to', () => {
  test('is required', async () => {
    await allInvalidAt(
      account,
      [{ text: 'Hello' }, { to: null, text: 'Hello' }, { to: '', text: 'Hello' }],
      'to',
    )
  })

  test.each([
    [
      'neither a phone number nor an e-mail address',
      ['hello', '12025550100', '+', '+0', '+1', '00491511234567', 'tel:+12025550100'],
    ],
    [
      'too short or too long for its country',
      ['+1202555010', '+120255501000', '+49151', '+1234567890123456'],
    ],
    ['digits of other scripts', ['+１２０２５５５０１００', '+٢٠١٠٠٠٠٠٠٠٠']],
    ['a phone number with letters', ['+1800FLOWERS', '+1202555010O']],
    [
      'a malformed e-mail address',
      ['a@', '@example.com', 'a@b', 'a b@example.com', 'a@exa mple.com', 'a@@example.com'],
    ],
    [
      'an e-mail address with a name, list or invalid character',
      [
        'A <a@example.com>',
        'a@example.com,b@example.com',
        'a@example.com\r\nBcc: b@example.com',
        'a@-example.com',
        'a\u0007@example.com',
        `${'a'.repeat(65)}@example.com`,
      ],
    ],
    ['a malformed group id', ['@g.us', 'group@g.us', '12@g.us']],
  ])('is rejected when it is: %s', async (_, recipients) => {
    const bodies = recipients.map(to => ({ to, text: 'Hello' }))
    await allInvalidAt(account, bodies, 'to')
  })

  test('must be an address that the channel can reach', async () => {
    const cases = {
      local_sms: ['a@example.com', '120363020000000004@g.us', '7000000100'],
      int_sms: ['a@example.com', '120363020000000004@g.us', '7000000100'],
      official_chatapp: ['a@example.com', '120363020000000004@g.us', '7000000100'],
      user_chatapp_session: ['a@example.com', '7000000100'],
      email_user: [PHONE, '120363020000000004@g.us', '7000000100'],
    }
    for (const [channel, recipients] of Object.entries(cases)) {
      await allInvalidAt(
        account,
        recipients.map(to => ({ to, channel, text: 'Hello' })),
        'to',
      )
    }
  })
})

describe('channel', () => {
  test('int_sms for a home number is rejected, and the error names local_sms', async () => {
    const answer = await invalidAt(account, { to: PHONE, channel: 'int_sms', text: 'Hello' }, 'channel')
    expect(answer.body['error']).toContain('local_sms')
  })

  test('local_sms for a foreign number is rejected, naming int_sms, also where the calling code is shared', async () => {
    for (const to of [FOREIGN, '+14165550100', '+18765550100']) {
      const answer = await invalidAt(account, { to, channel: 'local_sms', text: 'Hello' }, 'channel')
      expect(answer.body['error']).toContain('int_sms')
    }
  })

  test('rejects unknown channel names, which are case-sensitive', async () => {
    const wrong = ['sms', 'whatsapp', 'LOCAL_SMS', 'email', 'telegram', '']
    await allInvalidAt(
      account,
      wrong.map(channel => ({ to: PHONE, channel, text: 'Hello' })),
      'channel',
    )
  })

  test('a destination without a price has no route', async () => {
    const poor = await app.createAccount({ currency: 'JPY' })
    const answer = await invalidAt(poor, { to: PHONE, text: 'Hello' }, 'to')
    expect(answer.body['error']).toContain('no route')
  })
})

describe('the content', () => {
  test('must not be empty', async () => {
    const nothing = [
      {},
      { content: {} },
      { content: { subject: 'Hi' } },
      { text: '' },
      { content: { text: '' } },
    ]
    await allInvalidAt(
      account,
      nothing.map(each => ({ to: PHONE, ...each })),
      'content',
    )
  })

  test('of an SMS is limited to ten parts', async () => {
    await invalidAt(account, { to: PHONE, text: 'x'.repeat(1_531) }, 'text')
    await invalidAt(account, { to: PHONE, content: { text: 'ж'.repeat(671) } }, 'content.text')
    expect((await account.send({ to: PHONE, text: 'x'.repeat(1_530) })).status).toBe(200)
    expect((await account.send({ to: PHONE, text: 'ж'.repeat(670) })).status).toBe(200)
  })

  test('of a chat message is limited to 4,096 characters, a caption to 1,024', async () => {
    const chat = { to: PHONE, channel: 'user_chatapp_session' }
    const attachment = { type: 'image', base64: 'QUJD' }
    await invalidAt(account, { ...chat, content: { text: 'x'.repeat(4_097) } }, 'content.text')
    await invalidAt(account, { ...chat, attachment, content: { text: 'x'.repeat(1_025) } }, 'content.text')
    expect((await account.send({ ...chat, content: { text: 'x'.repeat(4_096) } })).status).toBe(200)
  })

  test('has for e-mail a subject of 1 to 255 characters in one line', async () => {
    const to = 'a@example.com'
    const wrong = ['', 'x'.repeat(256), 'a\nBcc: b@example.com', 'a\rb']
    await allInvalidAt(
      account,
      wrong.map(subject => ({ to, content: { text: 'Hello', subject } })),
      'content.subject',
    )
    const batch = { to: [to, 'b@example.com'], channel: 'email_user' }
    await allInvalidAt(
      account,
      wrong.map(subject => ({ ...batch, content: { text: 'Hello', subject } })),
      'content.subject',
    )
    const longest = { to, content: { text: 'Hello', subject: 'x'.repeat(255) } }
    expect((await account.send(longest)).status).toBe(200)
  })
})

describe('one-time codes', () => {
  test('are only allowed in messages of type otp', async () => {
    const types = ['utility', 'marketing', 'free_text']
    await allInvalidAt(
      account,
      types.map(messageType => ({ to: PHONE, messageType, content: { otpCode: '123456' } })),
      'content.otpCode',
    )
  })

  test('consist of letters, digits and hyphens', async () => {
    const codes = ['12 34', '12\n34', 'code!', '<b>']
    await allInvalidAt(
      account,
      codes.map(otpCode => ({ to: PHONE, messageType: 'otp', content: { otpCode } })),
      'content.otpCode',
    )
  })

  test('must be contained in the text sent with them', async () => {
    const content = { otpCode: '123456', text: 'Your code is 654321' }
    const answer = await invalidAt(account, { to: PHONE, messageType: 'otp', content }, 'content.text')
    expect(answer.text).not.toMatch(/123456|654321/)
  })
})

describe('sender', () => {
  const unapproved: Record<string, string> = {}

  beforeAll(async () => {
    for (const status of ['pending', 'rejected']) {
      const id = `snd_01jd00000000000000000000${status === 'pending' ? '01' : '02'}`
      unapproved[status] = id
      await app.db.query({
        name: 'insert_sender',
        text: 'insert into sms_senders (account_id, id, name, status) values ($1,$2,$3,$4)',
        values: [
          toUuid(account.id as `acc_${string}`),
          toUuid(id as `snd_${string}`),
          `My ${status}`,
          status,
        ],
      })
    }
  })

  test.each([
    [{ sender: { id: 'snd_01jd0000000000000000000099' } }, 'sender.id'],
    [{ sender: { id: 'nonsense' } }, 'sender.id'],
    [{ senderId: 'nonsense' }, 'senderId'],
    [{ sender: { name: 'Nobody' } }, 'sender.name'],
    [{ sender: { name: 'posthorn' } }, 'sender.name'],
    [{ sender: { name: 'My pending' } }, 'sender.name'],
  ])('%j is rejected as unknown or not approved', async (choice, path) => {
    await invalidAt(account, { to: PHONE, text: 'Hello', ...choice }, path)
  })

  test.each([
    [{ to: 'ada@example.com' }],
    [{ to: PHONE, channel: 'official_chatapp' }],
    [{ to: PHONE, channel: 'user_chatapp_session' }],
  ])('is validated even on a channel that does not use it: %j', async to => {
    const body = { ...to, text: 'Hello' }
    await invalidAt(account, { ...body, sender: { id: 'nonsense' } }, 'sender.id')
    await invalidAt(account, { ...body, senderId: 'nonsense' }, 'senderId')
    await invalidAt(account, { ...body, sender: { name: 'My pending' } }, 'sender.name')
    const another = await app.createAccount()
    expect((await another.send({ ...body, sender: { name: 'Posthorn' } })).status).toBe(200)
  })

  test('a pending or rejected one is rejected with its status', async () => {
    for (const [status, id] of Object.entries(unapproved)) {
      const answer = await invalidAt(account, { to: PHONE, text: 'Hello', sender: { id } }, 'sender.id')
      expect(answer.body['error']).toContain(status)
    }
  })

  test('named in two ways must be one and the same sender', async () => {
    const key = account.liveKey
    const made = await app.call('/api/v2/sms-senders', { method: 'POST', key, body: { name: 'My own' } })
    const { id } = (made.body['data'] as { smsSender: { id: string } }).smsSender
    await app.admin('POST', `/sms-senders/${id}/approve`)
    const by = (sender: object) => ({ to: PHONE, text: 'Hello', sender })
    await app.until(
      () => app.call('/api/v2/messages/estimate', { method: 'POST', key, body: by({ id, name: 'My own' }) }),
      ({ body }) => (body['data'] as { deliverable: boolean }).deliverable,
    )
    await invalidAt(account, by({ id, name: 'Posthorn' }), 'sender.name')
    await invalidAt(account, { ...by({ name: 'Posthorn' }), senderId: id }, 'sender.name')
    const official = { to: PHONE, channel: 'official_chatapp', text: 'Hello', officialSenderId: 'ofs_1' }
    await invalidAt(account, { ...official, sender: { officialId: 'platform' } }, 'officialSenderId')
  })

  test('of another account is rejected as unknown', async () => {
    const other = await app.createAccount()
    await invalidAt(other, { to: PHONE, text: 'Hello', sender: { id: unapproved['pending'] } }, 'sender.id')
    await invalidAt(other, { to: PHONE, text: 'Hello', sender: { name: 'My pending' } }, 'sender.name')
  })

  test('that is an unknown official sender is rejected', async () => {
    const body = { to: PHONE, channel: 'official_chatapp', text: 'Hello' }
    await invalidAt(account, { ...body, sender: { officialId: 'ofs_1' } }, 'sender.officialId')
    await invalidAt(account, { ...body, officialSenderId: 'ofs_1' }, 'officialSenderId')
  })
})

describe('options.scheduleAt', () => {
  test.each([
    [
      'not an ISO 8601 time with its offset',
      ['tomorrow', '', '2030', '2030-01-31', '2030-01-31 09:00:00Z', '1924988400', '2030-01-31T09:00:00'],
    ],
    [
      'a time that does not exist',
      [
        '2030-13-01T09:00:00Z',
        '2030-02-30T09:00:00Z',
        '2030-04-31T09:00:00Z',
        '2030-01-31T25:00:00Z',
        '2030-01-31T09:00:00+25:00',
      ],
    ],
  ])('is rejected when it is %s', async (_, times) => {
    const bodies = times.map(scheduleAt => ({ to: PHONE, text: 'Hello', options: { scheduleAt } }))
    for (const answer of await allInvalidAt(account, bodies, 'options.scheduleAt')) {
      expect(answer.body['error']).toContain('must be an ISO 8601 time')
    }
  })

  test('is rejected when it is in the past, now, or more than a year ahead', async () => {
    const nowMs = Date.parse((await account.message(await sent())).createdAt)
    const times = [nowMs - 1, nowMs, nowMs - 86_400_000, nowMs + 366 * 86_400_000]
    await allInvalidAt(
      account,
      times.map(atMs => ({
        to: PHONE,
        text: 'Hello',
        options: { scheduleAt: new Date(atMs).toISOString() },
      })),
      'options.scheduleAt',
    )
  })

  async function sent(): Promise<string> {
    const { body } = await account.send({ to: PHONE, text: 'Hello' })
    return (body['tracking'] as { messageId: string }).messageId
  }
})

describe('conversationContext', () => {
  const bot = { moduleType: 'botapp_bot', accountId: 'bot_1', chatId: '7000000100' }
  const group = '120363020000000100@g.us'

  test('is required in full for a bot', async () => {
    await allInvalidAt(
      account,
      [{ to: bot.chatId, channel: 'botapp_bot', text: 'Hello' }],
      'conversationContext',
    )
    for (const missing of ['moduleType', 'accountId', 'chatId']) {
      const conversationContext = { ...bot, [missing]: undefined }
      const body = { to: bot.chatId, channel: 'botapp_bot', text: 'Hello', conversationContext }
      await invalidAt(account, body, `conversationContext.${missing}`)
    }
  })

  test('must match the channel', async () => {
    await allInvalidAt(
      account,
      [
        { to: bot.chatId, channel: 'user_chatapp_session', text: 'Hello', conversationContext: bot },
        { to: PHONE, channel: 'local_sms', text: 'Hello', conversationContext: { ...bot, chatId: PHONE } },
        {
          to: PHONE,
          channel: 'official_chatapp',
          text: 'Hello',
          conversationContext: { moduleType: 'chatapp_web', accountId: 'main', chatId: PHONE },
        },
      ],
      'conversationContext.moduleType',
    )
  })

  test('must name the chat or group of the recipient', async () => {
    const web = { moduleType: 'chatapp_web', accountId: 'main' }
    await allInvalidAt(
      account,
      [
        { to: '7000000101', channel: 'botapp_bot', text: 'Hello', conversationContext: bot },
        { to: group, text: 'Hello', conversationContext: { ...web, chatId: '120363020000000101@g.us' } },
        { to: PHONE, text: 'Hello', conversationContext: { ...web, chatId: group } },
      ],
      'conversationContext.chatId',
    )
  })
})

describe('attachment', () => {
  const chat = { to: PHONE, channel: 'user_chatapp_session' }

  test('needs a publicUrl or base64; for a bot, a publicUrl', async () => {
    await invalidAt(account, { ...chat, attachment: { type: 'image' } }, 'attachment.publicUrl')
    const conversationContext = { moduleType: 'botapp_bot', accountId: 'bot_1', chatId: '7000000100' }
    await invalidAt(
      account,
      { to: '7000000100', conversationContext, attachment: { type: 'image', base64: 'QUJD' } },
      'attachment.publicUrl',
    )
  })

  test('base64 must not be empty, save for a bot, which ignores it', async () => {
    await invalidAt(account, { ...chat, attachment: { type: 'image', base64: '' } }, 'attachment.base64')
    const conversationContext = { moduleType: 'botapp_bot', accountId: 'bot_1', chatId: '7000000100' }
    const bot = { to: '7000000100', conversationContext }
    for (const base64 of ['', 'QUJD', '%', 'data:image/png;base64,QUJD']) {
      const attachment = { type: 'image', publicUrl: 'http://example.com/a.png', base64 }
      await invalidAt(account, { ...bot, attachment }, 'attachment.publicUrl')
    }
  })

  test('is rejected over SMS', async () => {
    await invalidAt(
      account,
      { to: PHONE, text: 'Hello', attachment: { type: 'image', base64: 'QUJD' } },
      'attachment',
    )
    // Without a text too, the fault is the attachment and not a missing text.
    await invalidAt(account, { to: PHONE, attachment: { type: 'image', base64: 'QUJD' } }, 'attachment')
  })

  test('base64 must be raw, complete and padded', async () => {
    const wrong = [
      'data:image/png;base64,QUJD',
      'DATA:;base64,QUJD',
      'QUJ',
      'QUJD=',
      'QU D',
      'QUJ-',
      'ÄÖÜß',
      '=',
      '====',
    ]
    await allInvalidAt(
      account,
      wrong.map(base64 => ({ ...chat, attachment: { type: 'image', base64 } })),
      'attachment.base64',
    )
  })

  test.each([
    [
      'another scheme than https',
      [
        'http://example.com/a.png',
        'ftp://example.com/a',
        'file:///etc/passwd',
        'javascript:alert(1)',
        'data:,x',
      ],
    ],
    [
      'a malformed URL',
      ['example.com/a.png', 'https://', 'https:// x', '//example.com/a.png', 'https://exa mple.com/'],
    ],
    [
      'a loopback address in any notation',
      [
        'https://127.0.0.1/',
        'https://127.1/',
        'https://2130706433/',
        'https://0x7f000001/',
        'https://0177.0.0.1/',
        'https://0x7f.1/',
        'https://１２７.０.０.１/',
        'https://localhost/',
        'https://LOCALHOST./',
        'https://a.localhost/',
        'https://[::1]/',
        'https://[0:0:0:0:0:0:0:1]/',
        'https://[::ffff:127.0.0.1]/',
        'https://[::ffff:7f00:1]/',
        'https://[64:ff9b::7f00:1]/',
        'https://[2002:7f00:1::]/',
        'https://0/',
        'https://0.0.0.0/',
        'https://[::]/',
      ],
    ],
    [
      'an address of a private or reserved network',
      [
        'https://10.0.0.1/',
        'https://172.16.0.1/',
        'https://192.168.1.1/',
        'https://192.168.257/',
        'https://169.254.169.254/latest/meta-data',
        'https://0xa9fea9fe/',
        'https://100.64.0.1/',
        'https://[fc00::1]/',
        'https://[fe80::1]/',
        'https://[fec0::1]/',
        'https://224.0.0.1/',
        'https://255.255.255.255/',
      ],
    ],
    ['credentials in the URL', ['https://user:password@example.com/a.png', 'https://user@example.com/']],
  ])('publicUrl is rejected with %s', async (_, urls) => {
    await allInvalidAt(
      account,
      urls.map(publicUrl => ({ ...chat, attachment: { type: 'image', publicUrl } })),
      'attachment.publicUrl',
    )
  })

  test('a malformed mimetype and a file name with a path are rejected', async () => {
    await allInvalidAt(
      account,
      ['png', 'image/', '/png', 'image/png\r\nX: y', 'image/png;\r\n\r\nx=y', 'image png'].map(mimetype => ({
        ...chat,
        attachment: { type: 'image', base64: 'QUJD', mimetype },
      })),
      'attachment.mimetype',
    )
    await allInvalidAt(
      account,
      ['../a.png', 'a/b.png', 'a\\b.png', 'a\nb.png'].map(fileName => ({
        ...chat,
        attachment: { type: 'image', base64: 'QUJD', fileName },
      })),
      'attachment.fileName',
    )
  })
})

test('a template is rejected without an id or a key', async () => {
  await invalidAt(account, { to: PHONE, template: {} }, 'template')
  await invalidAt(account, { to: PHONE, template: { language: 'en' } }, 'template')
})

describe('an idempotency key', () => {
  test.each([
    ['idempotencyKey', { idempotencyKey: 'k'.repeat(201) }],
    ['idempotencyKey', { idempotencyKey: '' }],
    ['options.idempotencyKey', { options: { idempotencyKey: 'k'.repeat(201) } }],
  ])('in the body is limited to 1 to 200 characters: %s', async (path, field) => {
    const answer = await account.send({ to: PHONE, text: 'Hello', ...field })
    expect([answer.status, answer.body['details']]).toMatchObject([400, [{ path }]])
  })

  test('in the header is limited to 1 to 200 characters', async () => {
    for (const idempotencyKey of ['k'.repeat(201), '']) {
      const before = await account.footprint()
      const answer = await account.send({ to: PHONE, text: 'Hello' }, { idempotencyKey, live: true })
      expect([answer.status, answer.body['details']]).toMatchObject([400, [{ path: 'Idempotency-Key' }]])
      expect(await account.footprint()).toEqual(before)
    }
    const answer = await account.send({ to: PHONE, text: 'Hello' }, { idempotencyKey: 'k'.repeat(200) })
    expect(answer.status).toBe(200)
  })

  test('in the header is measured in characters of UTF-8, not in bytes', async () => {
    for (const [letters, status] of [
      [200, 200],
      [201, 400],
    ] as const) {
      const idempotencyKey = Buffer.from('é'.repeat(letters)).toString('latin1')
      const answer = await account.send({ to: PHONE, text: 'Hello' }, { idempotencyKey })
      expect(answer.status).toBe(status)
    }
  })
})
