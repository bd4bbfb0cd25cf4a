import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { InboundMessageView } from '../../../src/contract/inbound-message.ts'
import type { InboundMessage } from '../../../src/contract/reported-message.ts'
import { addressKeyOf } from '../../../src/core/consent/address.ts'
import { createFindSuppressedChannels } from '../../../src/core/consent/lookup.ts'
import { createOptOuts } from '../../../src/core/consent/opt-outs.ts'
import { listSuppressions } from '../../../src/core/consent/store.ts'
import { createInbox } from '../../../src/core/inbound/inbox.ts'
import { listInbound } from '../../../src/core/inbound/store.ts'
import { createStoreInbound } from '../../../src/core/inbound/store-inbound.ts'
import { viewInbound } from '../../../src/core/inbound/view.ts'
import { type AccountId, type ConnectionId, createIds, toUuid } from '../../../src/lib/ids.ts'
import { createPhones } from '../../../src/lib/phone.ts'
import { createRandom } from '../../../src/lib/random.ts'
import { createTestDatabase, type TestDatabase } from '../../support/database.ts'
import { createFakeClock } from '../../support/fake-clock.ts'

/** Messages as bots and web sessions report them: over a connection for all accounts, with the account of each. */
const clock = createFakeClock(Date.now())
const phones = createPhones({ cacheSize: 10 })
const ids = createIds(clock, createRandom())
const ADA = '+447700900123'
const GROUP = '120363020000000099@g.us'
const BOT = 'bot_1'

let database: TestDatabase
let accountId: AccountId
let connection: { id: ConnectionId; provider: string }
let woken: number

beforeAll(async () => {
  database = await createTestDatabase()
})
afterAll(() => database.drop())
beforeEach(() => {
  woken = 0
  accountId = ids.next('acc')
  connection = { id: ids.next('cnn'), provider: 'telegram' }
})

function openNode() {
  const { db } = database
  const keep = createStoreInbound({ clock, ids, phones, optOuts: createOptOuts({ db, clock, ids }) })
  return createInbox({ db, clock, keep, wake: () => void woken++ })
}

function toBot(more: Partial<InboundMessage> = {}): InboundMessage {
  return {
    kind: 'message',
    eventId: ids.next('evt'),
    accountId,
    channel: 'botapp_bot',
    from: '7000000004',
    to: BOT,
    text: 'Hello',
    button: null,
    atMs: null,
    ...more,
  }
}

const toSession = (more: Partial<InboundMessage> = {}) =>
  toBot({ channel: 'user_chatapp_session', from: ADA, to: 'main', ...more })

const take = (...messages: InboundMessage[]) => openNode().receive(connection, messages)

async function kept(of = accountId): Promise<InboundMessageView[]> {
  return (await listInbound(database.db, of, {}, { before: null, stoppedAt: null, limit: 100 })).rows.map(
    viewInbound,
  )
}

/** The suppressed recipients of the account, each with its channel. */
async function suppressed(): Promise<string[]> {
  const rows = await listSuppressions(database.db, accountId, {}, null, 100)
  return rows.map(({ recipient, channel }) => `${recipient} ${channel}`)
}

describe('a conversation', () => {
  test('with a bot is identified by the bot and the chat, and names the contact', async () => {
    await take(toBot({ contact: { id: '7000000004', name: 'Ada L.' } }))
    expect(await kept()).toMatchObject([
      {
        channel: 'botapp_bot',
        from: '7000000004',
        to: BOT,
        contact: { id: '7000000004', name: 'Ada L.' },
        conversationContext: {
          moduleType: 'botapp_bot',
          accountId: BOT,
          chatId: '7000000004',
          contactId: '7000000004',
          conversationKey: 'botapp_bot:bot_1:7000000004',
        },
      },
    ])
  })

  test('with a session is identified by the session and the number, whatever the format of the number', async () => {
    await take(
      toSession(),
      toSession({
        chatId: '447700900123@s.whatsapp.net',
        contact: { id: '447700900123@s.whatsapp.net', name: null },
      }),
    )
    const contexts = (await kept()).map(each => each.conversationContext)
    expect(contexts.map(each => each?.conversationKey)).toEqual([
      `chatapp_web:main:${ADA}`,
      `chatapp_web:main:${ADA}`,
    ])
    expect(contexts).toMatchObject([
      { moduleType: 'chatapp_web', accountId: 'main', contactId: '447700900123@s.whatsapp.net' },
      { chatId: ADA, contactId: null },
    ])
  })

  test('in a group is the same for all senders', async () => {
    await take(toSession({ chatId: GROUP }), toSession({ chatId: GROUP, from: '+447700900124' }))
    const all = await kept()
    expect(all.map(({ from }) => from).sort()).toEqual([ADA, '+447700900124'])
    for (const { conversationContext } of all) {
      expect(conversationContext).toEqual({
        moduleType: 'chatapp_web',
        accountId: 'main',
        chatId: GROUP,
        contactId: null,
        conversationKey: `chatapp_web:main:${GROUP}`,
      })
    }
  })
})

describe('the content of a message', () => {
  test('includes files, buttons and the message replied to, and never shows file references', async () => {
    const reference = JSON.stringify({ key: 'c2VjcmV0LW1lZGlhLWtleQ==', path: '/v/t62' })
    await take(
      toSession({
        text: 'Look',
        media: [
          { type: 'image', mimetype: 'image/jpeg', fileName: null, sizeBytes: 4_711, reference },
          { type: 'document', mimetype: null, fileName: 'a.pdf', sizeBytes: null, reference: null },
        ],
        replyTo: '3EB0',
      }),
      toBot({ text: 'Yes', button: 'confirm:1', buttonTitle: 'Yes' }),
    )
    const [pressed, look] = (await kept()).toSorted((a, b) => (a.channel < b.channel ? -1 : 1))
    expect(look).toMatchObject({
      text: 'Look',
      replyTo: '3EB0',
      media: [
        {
          type: 'image',
          mimetype: 'image/jpeg',
          fileName: null,
          sizeBytes: 4_711,
          path: `/api/v2/inbound/${look!.id}/media/0`,
        },
        { type: 'document', mimetype: null, fileName: 'a.pdf', sizeBytes: null, path: null },
      ],
    })
    expect(JSON.stringify(look)).not.toContain('c2VjcmV0')
    expect(pressed).toMatchObject({ text: 'Yes', button: 'confirm:1', buttonTitle: 'Yes', media: [] })
  })

  test('includes locations and contact cards, with numbers in E.164 if they have a country code', async () => {
    const location = { latitude: -90, longitude: 179.99999999999997, name: 'Pole', address: null }
    const phones = ['+44 7700 900123', '+447700900123', '07700 900123']
    const ada = { id: '7000000009', name: 'Ada', phones, emails: ['ada@example.com'] }
    const nobody = { id: '1', name: null, phones: [''], emails: [] }
    await take(toBot({ text: null, location }))
    await take(toBot({ text: null, contacts: [nobody, ada] }))
    const [cards, place] = await kept()
    expect(place).toMatchObject({ text: null, location, contacts: [] })
    expect(cards).toMatchObject({
      text: null,
      location: null,
      contacts: [{ ...ada, phones: ['+447700900123', '07700 900123'] }],
    })
  })

  test.each([
    ['a latitude above 90', 90.000001, 0],
    ['a longitude below -180', 0, -180.5],
    ['a latitude that is not a number', Number.NaN, 0],
    ['an infinite longitude', 0, Number.POSITIVE_INFINITY],
  ])('is stored without its location if that has %s', async (_, latitude, longitude) => {
    await take(toBot({ text: 'Here', location: { latitude, longitude, name: 'X', address: null } }))
    expect(await kept()).toMatchObject([{ text: 'Here', location: null }])
  })

  test('has its locations and contact cards truncated to their limits', async () => {
    const long = `\0${'x'.repeat(1_000)}`
    const many = Array.from({ length: 15 }, (_, at) => `${at}`)
    const card = { id: long, name: long, phones: [long, ...many], emails: [long, '\ud800', ...many] }
    const location = { latitude: 0, longitude: 0, name: long, address: long }
    await take(toBot({ location, contacts: Array.from({ length: 25 }, () => card) }))
    const [row] = await kept()
    expect([row!.location!.name!.length, row!.location!.address!.length]).toEqual([255, 500])
    expect(row!.contacts).toHaveLength(20)
    expect(row!.contacts[0]).toEqual({
      id: 'x'.repeat(100),
      name: 'x'.repeat(255),
      phones: many.slice(0, 10),
      emails: ['\ufffd', ...many.slice(0, 9)],
    })
  })

  test('has no text where the provider reports an empty one, as for an MMS of files alone', async () => {
    const files = [
      { type: 'image' as const, mimetype: 'image/jpeg', fileName: null, sizeBytes: null, reference: null },
    ]
    await take(toBot({ text: '', media: files }), toBot({ text: '\0' }))
    expect(await kept()).toMatchObject([{ text: null }, { text: null, media: [{ type: 'image' }] }])
  })

  test('is truncated to its limits and cleaned of what the database cannot store', async () => {
    const long = 'x'.repeat(60_000)
    const media = {
      type: 'image',
      mimetype: long,
      fileName: 'a\0\ud800',
      sizeBytes: -1,
      reference: long,
    } as const
    await take(
      toBot({
        text: `\0${long}`,
        button: long,
        buttonTitle: long,
        replyTo: long,
        contact: { id: long, name: '\0' },
        media: Array.from({ length: 12 }, () => media),
      }),
    )
    const [row] = await kept()
    expect([row!.text!.length, row!.button!.length, row!.buttonTitle!.length]).toEqual([39_999, 40_000, 255])
    expect([row!.replyTo!.length, row!.contact!.id!.length, row!.contact!.name]).toEqual([200, 100, null])
    expect(row!.media).toHaveLength(10)
    expect(row!.media[0]).toEqual({
      type: 'image',
      mimetype: 'x'.repeat(255),
      fileName: 'a\ufffd',
      sizeBytes: null,
      path: null,
    })
  })
})

describe('a message', () => {
  test('that several nodes receive at once and repeatedly is stored once', async () => {
    const nodes = [openNode(), openNode(), openNode()]
    for (let turn = 0; turn < 10; turn++) {
      const told = toBot({ eventId: `${BOT}:${turn}` })
      await Promise.all(
        nodes.flatMap(node => [node.receive(connection, [told, told]), node.receive(connection, [told])]),
      )
      await openNode().receive(connection, [told])
    }
    expect(await kept()).toHaveLength(10)
  })

  test('with an account named by the provider is stored for that account only', async () => {
    const other = ids.next('acc')
    await take(toBot({ text: 'mine' }), toBot({ text: 'theirs', accountId: other }))
    expect([await kept(), await kept(other)]).toMatchObject([[{ text: 'mine' }], [{ text: 'theirs' }]])
  })

  test('wakes webhook delivery once, and only if the account subscribes to inbound messages', async () => {
    await take(toBot())
    expect(woken).toBe(0)
    await database.db.query({
      name: 't_account',
      text: `insert into accounts (id, name, home_country, currency, plan_name, plan_status, allows_scheduling,
               bulk_ceiling_per_second, rate_limit_per_second, verification_rate_limit_per_second, event_types)
             values ($1, 'Acme', 'US', 'USD', '', 'active', true, 10, 50, 10, '{inbound.message}')`,
      values: [toUuid(accountId)],
    })
    const told = toBot()
    await take(told)
    await take(told)
    expect(woken).toBe(1)
  })
})

describe('STOP', () => {
  test.each<[string, InboundMessage['text'], string | null, string | null]>([
    ['a keyword as text', 'Stop!', null, 'stop'],
    ['a keyword as a command', '/stop', null, 'stop'],
    ['a keyword as a command addressed to the bot', '/STOP@a_bot', null, 'stop'],
    ['a keyword as the title of a button', 'Unsubscribe', 'x-1', 'stop'],
    ['a keyword as the payload of a button', 'No more of this', 'STOP', 'stop'],
    ['the command /start and a payload', '/start ref42', null, 'start'],
    ['the command /cancel', '/cancel', null, null],
    ['the text “Yes”', 'Yes', null, null],
    ['a keyword within a longer text', 'please stop', null, null],
    ['no text', null, null, null],
  ])('or START is recognised, or not, in a message with %s', async (_, text, button, keyword) => {
    await take(toBot({ text, button }))
    expect(await kept()).toMatchObject([{ keyword }])
    expect(await suppressed()).toEqual(keyword === 'stop' ? ['7000000004 botapp_bot'] : [])
  })

  test('suppresses only the channel it arrived on, and START lifts the suppression', async () => {
    await take(toSession({ text: 'STOP' }))
    await take(toBot({ text: '/stop' }))
    expect((await suppressed()).sort()).toEqual(
      [`${ADA} user_chatapp_session`, '7000000004 botapp_bot'].sort(),
    )
    await take(toSession({ text: 'Start' }))
    expect(await suppressed()).toEqual(['7000000004 botapp_bot'])
  })

  test('from a sender without a number suppresses their id', async () => {
    await take(toSession({ text: 'STOP', from: '99887766@lid' }))
    expect(await suppressed()).toEqual(['99887766@lid user_chatapp_session'])
    expect(await kept()).toMatchObject([{ conversationContext: { chatId: '99887766@lid' } }])
  })

  test.each([
    ['Mexico', '+5215512345678', '+525512345678'],
    ['Brazil', '+553187654321', '+5531987654321'],
    ['Argentina', '+5491123456789', '+541123456789'],
  ])('from one form of a mobile in %s counts for the other form too', async (_, from, other) => {
    await take(toSession({ text: 'STOP', from }))
    expect(await suppressed()).toEqual([`${from} user_chatapp_session`])
    const findChannels = createFindSuppressedChannels({ db: database.db })
    const key = addressKeyOf(other)
    expect(await findChannels({ accountId, key, connectionId: connection.id, sender: null })).toEqual([
      'user_chatapp_session',
    ])
    await take(toSession({ text: 'START', from: other }))
    expect(await suppressed()).toEqual([])
    await take(toSession({ text: 'START', from: other }), toSession({ text: 'STOP', from }))
    expect(await suppressed()).toEqual([`${from} user_chatapp_session`])
  })

  test('and START in one batch: the last one counts', async () => {
    const said = (...words: string[]) => words.map(text => toSession({ text }))
    await take(...said('START', 'STOP'))
    expect(await suppressed()).toEqual([`${ADA} user_chatapp_session`])
    await take(...said('STOP', 'Hello', 'STOP', 'START', 'Thanks'))
    expect(await suppressed()).toEqual([])
  })

  test.each([
    ['in a group of a web session', null, () => toSession({ text: 'STOP', chatId: GROUP })],
    ['in a group of a bot', null, () => toBot({ text: '/stop', from: '7000000004', chatId: '-1001234' })],
    ['in a group of a bot without a known sender', null, () => toBot({ text: '/stop', from: '-1001234' })],
    [
      'from a sender that cannot be replied to',
      'stop',
      () => toSession({ text: 'STOP', from: 'status@broadcast' }),
    ],
  ])('%s suppresses nothing', async (_, keyword, told) => {
    await take(told())
    expect(await suppressed()).toEqual([])
    expect(await kept()).toMatchObject([{ keyword }])
  })
})
