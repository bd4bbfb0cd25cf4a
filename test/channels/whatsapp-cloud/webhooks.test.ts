import { normalizeWebhook, verifySignature } from '@kapso/whatsapp-cloud-api/server'
import { describe, expect, test } from 'vitest'
import type { Inbound } from '../../../src/channels/provider.ts'
import { readCall } from '../../../src/channels/whatsapp-cloud/webhooks.ts'
import { APP_SECRET, BUSINESS_ACCOUNT_ID, PHONE_NUMBER_ID, VERIFY_TOKEN } from '../whatsapp-cloud.exchange.ts'
import {
  categoryChange,
  contacts,
  event,
  failed,
  handshake,
  METADATA,
  messagesChange,
  posted,
  preferenceChange,
  signatureOf,
  signed,
  status,
  templateChange,
  wrote,
} from './calls.ts'

const CONFIG = {
  phoneNumberId: PHONE_NUMBER_ID,
  businessAccountId: BUSINESS_ACCOUNT_ID,
  appSecret: APP_SECRET,
  verifyToken: VERIFY_TOKEN,
}

const answerTo = (...args: Parameters<typeof signed>) => readCall(signed(...args), CONFIG)
function inboundOf(payload: unknown): readonly Inbound[] {
  const answer = answerTo(payload)
  if (answer.kind !== 'taken') throw new Error(`not taken: ${answer.kind}`)
  return answer.inbound
}

describe('the handshake', () => {
  const ASKED = { 'hub.mode': 'subscribe', 'hub.challenge': '1158201444', 'hub.verify_token': VERIFY_TOKEN }

  test('returns the challenge', () => {
    expect(readCall(handshake(ASKED), CONFIG)).toEqual({
      kind: 'taken',
      inbound: [],
      reply: { status: 200, body: '1158201444', contentType: 'text/plain; charset=utf-8' },
    })
  })

  test.each([
    ['another token', { ...ASKED, 'hub.verify_token': `${VERIFY_TOKEN}x` }],
    ['no token', { 'hub.mode': 'subscribe', 'hub.challenge': '1' }],
    ['another mode', { ...ASKED, 'hub.mode': 'unsubscribe' }],
    ['a challenge that contains HTML', { ...ASKED, 'hub.challenge': '<script>alert(1)</script>' }],
    ['an empty query', {}],
  ])('is forbidden for %s', (_, query) => {
    expect(readCall(handshake(query as Record<string, string>), CONFIG)).toEqual({ kind: 'forbidden' })
  })
})

describe('the signature', () => {
  const BODY = JSON.stringify(event(messagesChange({ statuses: [status('sent')] })))

  test('is accepted when an independent implementation accepts it', () => {
    expect(
      verifySignature({ appSecret: APP_SECRET, rawBody: BODY, signatureHeader: signatureOf(BODY) }),
    ).toBe(true)
    expect(readCall(posted(BODY, { 'x-hub-signature-256': signatureOf(BODY) }), CONFIG)).toMatchObject({
      kind: 'taken',
      inbound: [{ status: 'sent' }],
    })
  })

  const reordered = JSON.stringify(Object.fromEntries(Object.entries(JSON.parse(BODY)).reverse()))
  test.each([
    ['other spaces', `${BODY.replace('{', '{ ')}\n`],
    ['escaped characters', BODY.replace('whatsapp', '\\u0077hatsapp').replace('"entry"', '"\\u0065ntry"')],
    ['another order of the fields', reordered],
  ])('covers the exact bytes of the body: %s', (_, body) => {
    // The same value in other bytes.
    expect(JSON.parse(body)).toEqual(JSON.parse(BODY))
    expect(body).not.toBe(BODY)
    const resultOf = (signature: string) =>
      readCall(posted(body, { 'x-hub-signature-256': signature }), CONFIG)
    expect(resultOf(signatureOf(body))).toMatchObject({ kind: 'taken', inbound: [{ status: 'sent' }] })
    expect(resultOf(signatureOf(BODY))).toEqual({ kind: 'unauthorized' })
  })

  test.each([
    ['made with another secret', { 'x-hub-signature-256': signatureOf(BODY, 'another') }],
    ['made for another body', { 'x-hub-signature-256': signatureOf(`${BODY} `) }],
    [
      'without the name of its algorithm',
      { 'x-hub-signature-256': signatureOf(BODY).slice('sha256='.length) },
    ],
    ['truncated', { 'x-hub-signature-256': signatureOf(BODY).slice(0, -2) }],
    ['only the older SHA-1 signature', { 'x-hub-signature': 'sha1=0000' }],
    ['missing', {}],
  ])('is unauthorized: %s', (_, headers) => {
    expect(readCall(posted(BODY, headers as Record<string, string>), CONFIG)).toEqual({
      kind: 'unauthorized',
    })
  })

  test('of a body that is not a JSON object is valid, but the call is malformed', () => {
    for (const body of ['', 'null', '[]', '{"entry":']) {
      const call = posted(body, { 'x-hub-signature-256': signatureOf(body) })
      expect(readCall(call, CONFIG).kind).toBe('malformed')
    }
  })
})

describe('statuses', () => {
  test.each([
    ['sent', 'sent'],
    ['delivered', 'delivered'],
    ['read', 'read'],
    ['played', 'read'],
    ['failed', 'undelivered'],
  ])('the status %s is reported as %s', (reported, as) => {
    expect(inboundOf(event(messagesChange({ statuses: [status(reported)] })))).toEqual([
      {
        kind: 'receipt',
        providerId: status('').id,
        status: as,
        atMs: 1_750_263_773_000,
        providerCode: null,
        detail: null,
      },
    ])
  })

  test.each([
    [131026, 'CHATAPP_NOT_REGISTERED'],
    [131049, 'RECIPIENT_REJECTED'],
    [131047, 'MESSAGE_REJECTED'],
    [132015, 'MESSAGE_REJECTED'],
    [131042, 'PROVIDER_UNAVAILABLE'],
    [131056, 'PROVIDER_UNAVAILABLE'],
  ])('failed with the error %i is reported as undelivered with the reject code %s', (code, reject) => {
    expect(inboundOf(event(messagesChange({ statuses: [failed(code)] })))).toMatchObject([
      { status: 'undelivered', reject, providerCode: String(code) },
    ])
  })

  test('failed with an unspecific error is reported as undelivered without a reject code', () => {
    for (const code of [131000, 199_999]) {
      const [receipt] = inboundOf(event(messagesChange({ statuses: [failed(code)] })))
      expect(receipt).toMatchObject({ status: 'undelivered', providerCode: String(code) })
      expect(receipt).not.toHaveProperty('reject')
    }
  })

  test('an unknown or invalid status is ignored', () => {
    const statuses = [status('warning'), status('toString'), { status: 'sent' }, null, 7]
    expect(inboundOf(event(messagesChange({ statuses })))).toEqual([])
  })

  test('carry the attempt id that WhatsApp returns', () => {
    const attemptId = 'msg_00000000000000000000000001.2'
    const statuses = [status('sent', { biz_opaque_callback_data: attemptId }), status('read')]
    const inbound = inboundOf(event(messagesChange({ statuses })))
    expect(inbound.map(each => ('attemptId' in each ? each.attemptId : null))).toEqual([attemptId, null])
  })
})

describe('messages', () => {
  const MESSAGE = {
    kind: 'message',
    eventId: wrote({}).id,
    channel: 'official_chatapp',
    from: '+16505551234',
    to: '+15550783881',
    contact: { id: '16505551234', name: 'Sheena Nelson' },
    atMs: 1_749_416_383_000,
  }
  const file = (more: object) => ({
    media: [{ fileName: null, sizeBytes: null, reference: '1479537139650973', ...more }],
  })
  const interactive = (type: string, reply: object) => ({
    type: 'interactive',
    interactive: { type, [type]: reply },
  })

  test.each([
    [
      'a text',
      { type: 'text', text: { body: 'Does it come in another color?' } },
      { text: 'Does it come in another color?', button: null },
    ],
    [
      'a text in a group',
      { type: 'text', text: { body: 'Hi all' }, group_id: 'Y2FwaV9ncm91cDox' },
      { text: 'Hi all', button: null, chatId: 'Y2FwaV9ncm91cDox' },
    ],
    [
      'a text from a number with a plus, as in some examples',
      { type: 'text', text: { body: 'Hi' }, from: '+16505551234' },
      { text: 'Hi', button: null },
    ],
    [
      'a text that replies to another message',
      { type: 'text', text: { body: 'Yes' }, context: { from: '15550783881', id: 'wamid.A' } },
      { text: 'Yes', button: null, replyTo: 'wamid.A' },
    ],
    [
      'a button of a template',
      {
        type: 'button',
        button: { payload: 'STOP-1', text: 'Stop' },
        context: { from: '15550783881', id: 'wamid.B' },
      },
      { text: 'Stop', button: 'STOP-1', buttonTitle: 'Stop', replyTo: 'wamid.B' },
    ],
    [
      'a reply button',
      interactive('button_reply', { id: 'yes-1', title: 'Yes' }),
      { text: 'Yes', button: 'yes-1', buttonTitle: 'Yes' },
    ],
    [
      'a row of a list',
      interactive('list_reply', { id: 'row-2', title: 'Priority Mail', description: '1–3 days' }),
      { text: 'Priority Mail', button: 'row-2', buttonTitle: 'Priority Mail' },
    ],
    [
      'a form that was filled in',
      interactive('nfm_reply', { name: 'flow', body: 'Sent', response_json: '{"size":"L"}' }),
      { text: 'Sent', button: '{"size":"L"}', buttonTitle: 'Sent' },
    ],
    [
      'a picture',
      { type: 'image', image: { id: '1479537139650973', caption: 'Look', mime_type: 'image/jpeg' } },
      { text: 'Look', button: null, ...file({ type: 'image', mimetype: 'image/jpeg' }) },
    ],
    [
      'a document',
      {
        type: 'document',
        document: { id: '1479537139650973', filename: 'Order.pdf', mime_type: 'application/pdf' },
      },
      {
        text: null,
        button: null,
        ...file({ type: 'document', mimetype: 'application/pdf', fileName: 'Order.pdf' }),
      },
    ],
    [
      'a voice message',
      {
        type: 'audio',
        audio: { id: '1479537139650973', mime_type: 'audio/ogg; codecs=opus', voice: true },
      },
      { text: null, button: null, ...file({ type: 'audio', mimetype: 'audio/ogg; codecs=opus' }) },
    ],
    [
      'a sticker',
      { type: 'sticker', sticker: { id: '1479537139650973', mime_type: 'image/webp', animated: false } },
      { text: null, button: null, ...file({ type: 'image', mimetype: 'image/webp' }) },
    ],
    [
      'a video without any property',
      { type: 'video', video: {} },
      { text: null, button: null, ...file({ type: 'video', mimetype: null, reference: null }) },
    ],
    [
      'a reaction',
      { type: 'reaction', reaction: { message_id: 'wamid.C', emoji: '👍' } },
      { text: '👍', button: null, replyTo: 'wamid.C' },
    ],
    [
      'a location',
      {
        type: 'location',
        location: {
          latitude: 37.44216251868683,
          longitude: -122.16153582049394,
          name: 'Philz Coffee',
          address: '101 Forest Ave, Palo Alto, CA 94301',
          url: 'https://example.com/philz',
        },
      },
      {
        text: null,
        button: null,
        location: {
          latitude: 37.44216251868683,
          longitude: -122.16153582049394,
          name: 'Philz Coffee',
          address: '101 Forest Ave, Palo Alto, CA 94301',
        },
      },
    ],
    [
      'a location without valid coordinates and name',
      { type: 'location', location: { latitude: '37.4', name: 7 } },
      {
        text: null,
        button: null,
        location: { latitude: Number.NaN, longitude: Number.NaN, name: null, address: null },
      },
    ],
    [
      'contact cards',
      {
        type: 'contacts',
        contacts: [
          {
            name: { first_name: 'Barbara', last_name: 'Johnson', formatted_name: 'Barbara J. Johnson' },
            org: { company: 'Social Tsunami' },
            phones: [
              { phone: '0171 5550100', type: 'HOME' },
              { phone: '+1 (415) 555-0829', wa_id: '14155550829', type: 'MOBILE' },
              { phone: '415 555 0830', wa_id: '14155550830' },
            ],
            emails: [{ email: 'barbara@example.com', type: 'WORK' }, { type: 'HOME' }],
            urls: [{ url: 'https://example.com' }],
          },
          { name: 'nobody', phones: 'none' },
          null,
        ],
      },
      {
        text: null,
        button: null,
        contacts: [
          {
            id: '14155550829',
            name: 'Barbara J. Johnson',
            phones: ['0171 5550100', '+1 (415) 555-0829', '+14155550830'],
            emails: ['barbara@example.com', ''],
          },
          { id: null, name: null, phones: [], emails: [] },
        ],
      },
    ],
    [
      'contact cards that are not a list',
      { type: 'contacts', contacts: 7 },
      { text: null, button: null, contacts: [] },
    ],
    [
      'an order',
      {
        type: 'order',
        order: { catalog_id: '1', text: 'By Friday, please', product_items: [{ quantity: 1 }] },
      },
      { text: 'By Friday, please', button: null },
    ],
    [
      'an edited message',
      {
        type: 'edit',
        edit: {
          original_message_id: 'wamid.D',
          message: { context: { id: 'wamid.E' }, type: 'text', text: { body: 'STOP' } },
        },
      },
      { text: 'STOP', button: null, replyTo: 'wamid.D' },
    ],
    [
      'a picture whose caption was edited',
      {
        type: 'edit',
        edit: {
          original_message_id: 'wamid.D',
          message: {
            type: 'image',
            image: { id: '1479537139650973', caption: 'Look here', mime_type: 'image/jpeg' },
          },
        },
      },
      {
        text: 'Look here',
        button: null,
        replyTo: 'wamid.D',
        ...file({ type: 'image', mimetype: 'image/jpeg' }),
      },
    ],
    ['an edit without content', { type: 'edit', edit: 7 }, { text: null, button: null }],
    [
      'a message that WhatsApp marks as unsupported',
      {
        type: 'unsupported',
        unsupported: { type: 'poll_creation' },
        errors: [{ code: 131_051, title: 'Message type unknown' }],
      },
      { text: null, button: null },
    ],
    [
      'a message of an unknown type',
      { type: 'hologram', hologram: 'x', context: 7 },
      { text: null, button: null },
    ],
  ])('are read: %s', (_, content, read) => {
    expect(inboundOf(event(messagesChange({ contacts, messages: [wrote(content)] })))).toEqual([
      { ...MESSAGE, ...read },
    ])
  })

  test('have a contact without a name when WhatsApp sends none for the sender', () => {
    const messages = [wrote({ type: 'text', text: { body: 'Hi' } })]
    const others = [null, 7, { wa_id: '1', profile: { name: 'No' } }, { wa_id: '16505551234' }]
    for (const some of [undefined, 'x', others]) {
      expect(inboundOf(event(messagesChange({ contacts: some, messages })))).toMatchObject([
        { contact: { id: '16505551234', name: null } },
      ])
    }
  })

  test('have the displayed number of the recipient in E.164', () => {
    const value = {
      ...messagesChange({ messages: [wrote({ type: 'text', text: { body: 'Hi' } })] }).value,
      metadata: { ...METADATA, display_phone_number: '+1 555-078-3881' },
    }
    expect(inboundOf(event({ field: 'messages', value }))).toMatchObject([{ to: '+15550783881' }])
  })

  test('from a user without a visible number have the user id instead', () => {
    const userId = 'US.13491208655302741918'
    const message = wrote({ type: 'text', text: { body: 'Hi' }, from: undefined, from_user_id: userId })
    const who = [{ profile: { name: 'Sheena' }, user_id: userId }]
    expect(inboundOf(event(messagesChange({ contacts: who, messages: [message] })))).toMatchObject([
      { from: userId, contact: { id: userId, name: 'Sheena' }, text: 'Hi' },
    ])
  })

  test('of the type system or revoke, and those without a valid sender, are ignored', () => {
    const messages = [
      wrote({ type: 'revoke', revoke: { original_message_id: 'wamid.D' } }),
      wrote({ type: 'system', system: { body: 'User A changed from 1 to 2', type: 'user_changed_number' } }),
      ...[undefined, 7, '', '1', 'x'.repeat(200)].map(from => ({
        ...wrote({ type: 'text' }),
        from,
        from_user_id: from,
      })),
    ]
    expect(inboundOf(event(messagesChange({ messages })))).toEqual([])
  })
})

describe('templates', () => {
  const STATE = {
    providerTemplateId: '1689556908129832',
    name: 'order_confirmation',
    language: 'en_US',
  }

  test.each([
    ['APPROVED', {}, 'approved', null],
    ['REINSTATED', {}, 'approved', null],
    ['ARCHIVED', {}, 'disabled', null],
    ['UNARCHIVED', {}, 'approved', null],
    ['PENDING', {}, 'pending', null],
    ['REJECTED', { reason: 'ABUSIVE_CONTENT' }, 'rejected', 'ABUSIVE_CONTENT'],
    [
      'REJECTED',
      {
        reason: 'INVALID_FORMAT',
        rejection_info: { reason: 'Variables stand at the end.', recommendation: 'Move them.' },
      },
      'rejected',
      'Variables stand at the end.',
    ],
    [
      'PAUSED',
      { other_info: { title: 'FIRST_PAUSE', description: 'Paused for 3 hours.' } },
      'disabled',
      'Paused for 3 hours.',
    ],
    ['DISABLED', { disable_info: { disable_date: 1_751_234_563 } }, 'disabled', null],
  ])('are reported after the event %s with %o', (reported, more, status, reason) => {
    expect(inboundOf(event(templateChange({ event: reported, ...more })))).toEqual([
      {
        kind: 'template',
        eventId: `1689556908129832:${reported}:1739321024:en_US:order_confirmation`,
        state: { ...STATE, status, reason, subType: 'utility' },
      },
    ])
  })

  test('have no event id without a time, by which repeats would be recognised', () => {
    const payload = event(templateChange({}))
    const { time: _, ...entry } = payload.entry[0]!
    expect(inboundOf({ ...payload, entry: [entry] })).toMatchObject([{ kind: 'template', eventId: null }])
  })

  test('have no id when it exceeds the precision of a JSON number', () => {
    const [told] = inboundOf(event(templateChange({ message_template_id: 2 ** 54 })))
    expect(told).toMatchObject({ kind: 'template', state: { ...STATE, providerTemplateId: '' } })
  })

  test('are not reported for an event that does not affect sends', () => {
    for (const reported of ['LOCKED', 'constructor', 7])
      expect(inboundOf(event(templateChange({ event: reported })))).toEqual([])
  })

  test('of another business account are ignored', () => {
    for (const change of [templateChange({}), categoryChange({ previous_category: 'UTILITY' })]) {
      const payload = event(change)
      payload.entry[0]!.id = '1'
      expect(inboundOf(payload)).toEqual([])
    }
  })

  test('are reported with their new category, however the language is spelled', () => {
    expect(inboundOf(event(categoryChange({ previous_category: 'UTILITY' })))).toEqual([
      {
        kind: 'template',
        eventId: '1689556908129832:MARKETING:1739321024:en-US:order_confirmation',
        state: { ...STATE, status: null, reason: null, subType: 'marketing' },
      },
    ])
  })

  test('whose change of category is only announced keep their category', () => {
    const announced = { new_category: 'UTILITY', correct_category: 'MARKETING' }
    expect(inboundOf(event(categoryChange(announced)))).toMatchObject([{ state: { subType: 'utility' } }])
  })

  test('with an unsupported category are ignored', () => {
    for (const reported of ['AUTHENTICATION', 'ALERT_UPDATE', 'constructor', 7])
      expect(inboundOf(event(categoryChange({ new_category: reported })))).toEqual([])
  })
})

describe('a webhook call', () => {
  const MANY = {
    object: 'whatsapp_business_account',
    entry: [
      {
        ...event().entry[0],
        changes: [
          messagesChange({ statuses: [status('sent'), status('delivered')] }),
          { field: 'phone_number_quality_update', value: { event: 'FLAGGED', current_limit: 'TIER_10K' } },
          messagesChange({ contacts, messages: [wrote({ type: 'text', text: { body: 'Hi' } })] }),
        ],
      },
      {
        ...event().entry[0],
        changes: [templateChange({}), { field: 'history', value: null }, { value: 7 }, null],
      },
    ],
  }

  test('with several entries and changes is read completely and in order', () => {
    expect(inboundOf(MANY).map(each => each.kind)).toEqual(['receipt', 'receipt', 'message', 'template'])
  })

  test('yields the statuses and messages that an independent implementation reads', () => {
    const theirs = normalizeWebhook(MANY)
    const ours = inboundOf(MANY)
    const receipts = ours.filter(each => each.kind === 'receipt')
    expect(receipts.map(({ providerId, status }) => ({ id: providerId, status }))).toEqual(
      theirs.statuses.map(({ id, status }) => ({ id, status })),
    )
    expect(
      ours.filter(each => each.kind === 'message').map(({ eventId, text }) => ({ eventId, text })),
    ).toEqual(theirs.messages.map(({ id, text }) => ({ eventId: id, text: (text as { body: string }).body })))
  })

  test('for another number of the same app is ignored', () => {
    const value = {
      ...messagesChange({ statuses: [status('sent')] }).value,
      metadata: { ...METADATA, phone_number_id: '1' },
    }
    expect(inboundOf(event({ field: 'messages', value }))).toEqual([])
  })

  test('without content is accepted', () => {
    for (const payload of [
      {},
      { entry: 7 },
      { entry: [{}] },
      { entry: [{ changes: [{ field: 'messages' }] }] },
    ])
      expect(inboundOf(payload)).toEqual([])
  })
})

describe('a preference on marketing', () => {
  const STOP = {
    kind: 'preference',
    eventId: 'preference:16505551234:stop:1731705721',
    channel: 'official_chatapp',
    from: '+16505551234',
    to: '+15550783881',
    decision: 'stop',
    atMs: 1_731_705_721_000,
  }

  test.each([
    ['stop', {}, STOP],
    [
      'resume',
      { value: 'resume' },
      { ...STOP, eventId: 'preference:16505551234:resume:1731705721', decision: 'start' },
    ],
  ])('is read: %s', (_, said, preference) => {
    expect(inboundOf(event(preferenceChange(said)))).toEqual([preference])
  })

  test.each([
    ['of another category', { category: 'utility_messages' }],
    ['of an unknown value', { value: 'pause' }],
    ['of a person without a number', { wa_id: 'US.13491208655302741918' }],
  ])('%s is ignored', (_, said) => {
    expect(inboundOf(event(preferenceChange(said)))).toEqual([])
  })

  test('for another number is ignored', () => {
    const { field, value } = preferenceChange()
    const metadata = { ...METADATA, phone_number_id: '1' }
    expect(inboundOf(event({ field, value: { ...value, metadata } }))).toEqual([])
  })
})
