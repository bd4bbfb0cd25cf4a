import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readCallback as readReports } from '../../src/channels/infobip/reports.ts'
import { readUpdate } from '../../src/channels/telegram/updates.ts'
import { readCallback as readStatus } from '../../src/channels/twilio/receipts.ts'
import { readCallback as readReceipt } from '../../src/channels/vonage/receipts.ts'
import { readCall } from '../../src/channels/whatsapp-cloud/webhooks.ts'
import { event, messagesChange, posted, signed } from './whatsapp-cloud/calls.ts'
import { APP_SECRET, BUSINESS_ACCOUNT_ID, PHONE_NUMBER_ID, VERIFY_TOKEN } from './whatsapp-cloud.exchange.ts'

/** A webhook call may contain anything. An unreadable one must not make its reader throw, least of all before it is authenticated. */

/** Names of fields that are read, and of members that affect the conversion of an object to a string. */
const NAME = fc.constantFrom(
  ...[
    'id',
    'type',
    'status',
    'from',
    'to',
    'text',
    'timestamp',
    'messageId',
    'results',
    'errors',
    'code',
    'error',
  ],
  ...['message', 'chat', 'date', 'contacts', 'wa_id', 'interactive', 'message_template_id', 'event', 'photo'],
  ...['location', 'contact', 'venue', 'latitude', 'vcard', 'phones', 'emails', 'name'],
  ...['toString', 'valueOf', 'constructor', '__proto__'],
)
const LEAF = fc.constantFrom(
  null,
  true,
  -1,
  0.5,
  '',
  'x',
  'constructor',
  'delivered',
  '9'.repeat(30),
  '1750263773',
)
const { said } = fc.letrec(tie => ({
  said: fc.oneof({ maxDepth: 5 }, LEAF, tie('list'), tie('object')),
  list: fc.array(tie('said'), { maxLength: 3 }),
  // From JSON, in which `__proto__` is an ordinary member.
  object: fc
    .array(fc.tuple(NAME, tie('said')), { maxLength: 6 })
    .map(members =>
      JSON.parse(`{${members.map(each => each.map(part => JSON.stringify(part)).join(':')).join(',')}}`),
    ),
}))
const object = said.filter(each => typeof each === 'object' && each !== null && !Array.isArray(each))
const RUNS = { seed: 20_260, numRuns: 3_000 }

const WHATSAPP = {
  phoneNumberId: PHONE_NUMBER_ID,
  businessAccountId: BUSINESS_ACCOUNT_ID,
  appSecret: APP_SECRET,
  verifyToken: VERIFY_TOKEN,
}
/** As many distinct fields as `bytes` hold; some are names of array elements, which objects keep apart. */
function fields(bytes: number, sign: string): string {
  const names = Array.from({ length: Math.floor(bytes / 6) }, (_, at) => at.toString(36))
  return `${names.map(name => `${name}=`).join('&')}&${sign}=x`.slice(-bytes)
}
const formCall = (body: string) => ({
  ...posted(body),
  url: 'https://msg.example.com/webhooks/twilio/cnn_1',
  headers: { 'content-type': 'application/x-www-form-urlencoded', 'x-twilio-signature': 'x' },
})
const token = (body: unknown) => ({ ...posted(JSON.stringify(body)), query: 't=token' })

describe('a webhook call with arbitrary content does not make its reader throw', () => {
  test('of Vonage', () => {
    fc.assert(
      fc.property(object, body => {
        readReceipt(posted(JSON.stringify(body)), { secret: 'secret', method: 'sha256' })
        readReceipt(token(body), { token: 'token' })
      }),
      RUNS,
    )
  })

  test('of Infobip', () => {
    fc.assert(
      fc.property(fc.array(said, { maxLength: 3 }), results => {
        readReports(token({ results }), 'token')
      }),
      RUNS,
    )
  })

  test('of WhatsApp', () => {
    const lists = fc.record({ statuses: fc.array(said), messages: fc.array(said), contacts: said })
    const field = fc.constantFrom('message_template_status_update', 'template_category_update')
    const template = fc.record({ field, value: object })
    fc.assert(
      fc.property(fc.oneof(lists.map(messagesChange), template, object as fc.Arbitrary<object>), change => {
        readCall(signed(event(change)), WHATSAPP)
      }),
      RUNS,
    )
  })

  test('of Telegram', () => {
    fc.assert(
      fc.property(said, said, said, (message, pressed, member) => {
        readUpdate({ update_id: 1, message, callback_query: pressed, my_chat_member: member })
      }),
      RUNS,
    )
  })
})

describe('a value that cannot be converted to a string', () => {
  const proof = { secret: 'secret', method: 'md5hash' } as const

  test.each([
    ['an object with its own toString and valueOf', '{"messageId":{"toString":1,"valueOf":1}}'],
    ['a list that is nested 100,000 deep', `{"messageId":${'['.repeat(100_000)}${']'.repeat(100_000)}}`],
  ])('is not read as a field of a call: %s', (_, body) => {
    expect(readReceipt(posted(body), proof).kind).toBe('unauthorized')
    expect(readReceipt({ ...posted(body), query: 't=token' }, { token: 'token' }).kind).toBe('malformed')
  })

  test('a Telegram membership is ignored when its status is the name of a member of every object', () => {
    const member = (status: unknown) => ({ chat: { id: 5, type: 'private' }, new_chat_member: { status } })
    expect(readUpdate({ update_id: 1, my_chat_member: member('constructor') })).toMatchObject({ what: null })
    expect(readUpdate({ update_id: 1, my_chat_member: member({ toString: 1 }) })).toMatchObject({
      what: null,
    })
    expect(readUpdate({ update_id: 1, my_chat_member: member('left') })).toMatchObject({
      what: { kind: 'blocked' },
    })
  })
})

describe('a webhook call that proves nothing takes no time, however many fields it has', () => {
  /** As much as the server reads of a call. */
  const MAX_BYTES = 3 * 1_048_576

  test.each([150_000, MAX_BYTES])('%d bytes', bytes => {
    const json = `{${fields(bytes - 100, 'sig').replaceAll(/([^&=]*)=&?/g, '"$1":1,')}"sig":"x"}`
    const calls = [formCall(fields(bytes, 'sig')), posted(json)]
    const proof = { secret: 'secret', method: 'sha256' } as const
    const startedMs = performance.now()
    expect(readStatus(calls[0]!, 'token').kind).toBe('unauthorized')
    expect(calls.map(each => readReceipt(each, proof).kind)).toEqual(['unauthorized', 'unauthorized'])
    // Many seconds where the fields are read, and far more where each is looked for among all.
    expect(performance.now() - startedMs).toBeLessThan(500)
  })
})
