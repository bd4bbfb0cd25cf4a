import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseAddress } from '../../../src/channels/smtp/address.ts'
import { CHANNELS, type Channel } from '../../../src/contract/enums.ts'
import { Problem } from '../../../src/contract/errors.ts'
import {
  checkReach,
  type Recipient,
  reaches,
  readRecipient,
  smsChannelOf,
} from '../../../src/core/routing/recipient.ts'
import { createPhones } from '../../../src/lib/phone.ts'

const phones = createPhones({ cacheSize: 100 })

describe('readRecipient', () => {
  test.each<[string, Recipient | null]>([
    ['+12025550123', { kind: 'phone', address: '+12025550123', country: 'US' }],
    ['+1 (202) 555-0123', { kind: 'phone', address: '+12025550123', country: 'US' }],
    // Several countries share +1 and +44: the number decides, not the calling code.
    ['+14165550123', { kind: 'phone', address: '+14165550123', country: 'CA' }],
    ['+447400123456', { kind: 'phone', address: '+447400123456', country: 'GB' }],
    ['+447781123456', { kind: 'phone', address: '+447781123456', country: 'GG' }],
    ['+77011234567', { kind: 'phone', address: '+77011234567', country: 'KZ' }],
    ['+79161234567', { kind: 'phone', address: '+79161234567', country: 'RU' }],
    ['someone@example.com', { kind: 'email', address: 'someone@example.com' }],
    ['jürgen@bücher.example', { kind: 'email', address: 'jürgen@bücher.example' }],
    // Many scripts write vowels as combining marks, and some keyboards accents.
    ['संपर्क@हिन्दी.भारत', { kind: 'email', address: 'संपर्क@हिन्दी.भारत' }],
    ['a@bu\u0308cher.example', { kind: 'email', address: 'a@bu\u0308cher.example' }],
    ["o'brien+tag@sub.example.co.uk", { kind: 'email', address: "o'brien+tag@sub.example.co.uk" }],
    ['120363041234567890@g.us', { kind: 'group', address: '120363041234567890@g.us' }],
    ['4915112345678-1623456789@g.us', { kind: 'group', address: '4915112345678-1623456789@g.us' }],
    ['99887766554433@lid', { kind: 'hidden', address: '99887766554433@lid' }],
    ['123456789', { kind: 'chat', address: '123456789' }],
    ['-1001234567890', { kind: 'chat', address: '-1001234567890' }],
    ['@some_channel', { kind: 'chat', address: '@some_channel' }],
    ['', null],
    ['+', null],
    ['+1', null],
    ['+1202555012345678', null],
    ['hello', null],
    ['@', null],
    ['a@', null],
    ['@b.example', null],
    ['a@b', null],
    ['a b@example.com', null],
    // Invisible characters come from copied text and are in no mailbox name; some scripts have joiners within words.
    ['a\u200b@example.com', null],
    ['a\u00ad@example.com', null],
    ['\u202ea@example.com', null],
    ['\u2066a\u2069@example.com', null],
    ['a\u200d@example.com', null],
    ['a\u200cb@example.com', null],
    ['ф\u200db@example.com', null],
    ['نامه\u200c@example.com', null],
    ['a\u034f@example.com', null],
    ['a\ufe0f@example.com', null],
    ['a\u3164@example.com', null],
    ['a\u115fb@example.com', null],
    ['a\u{e0101}@example.com', null],
    ['a\u2800@example.com', null],
    ['❤\ufe0f\u200d🔥@example.com', { kind: 'email', address: '❤\ufe0f\u200d🔥@example.com' }],
    ['क्\u200dष@example.com', { kind: 'email', address: 'क्\u200dष@example.com' }],
    ['نامه\u200cها@example.com', { kind: 'email', address: 'نامه\u200cها@example.com' }],
    ['a@example.com, b@example.com', null],
    ['a@example.com\r\nBcc: b@example.com', null],
    ['<a@example.com>', null],
    ['a@-example.com', null],
    // No mail server has such a name: numbers that are parsed as an IP address, and invalid labels.
    ['a@127.0.0.1', null],
    ['a@127.1', null],
    ['a@example.123', null],
    [`a@${'b'.repeat(64)}.example`, null],
    [`${'a'.repeat(64)}@${'b'.repeat(63)}.${'c'.repeat(63)}.${'d'.repeat(58)}.com`, null],
    [`${'a'.repeat(65)}@example.com`, null],
    ['abc@g.us', null],
    ['@g.us', null],
    ['1234@lid', null],
    ['me@lid', null],
    // Ids of the chat app, not mailboxes.
    ['120363041234567890@G.US', null],
    ['12025550123@s.whatsapp.net', null],
    ['12025550123@c.us', null],
    ['12025550123@S.WhatsApp.Net', null],
    ['12025550123@us', null],
    ['someone@abc.us', { kind: 'email', address: 'someone@abc.us' }],
  ])('reads %j', (to, recipient) => {
    expect(readRecipient(to, phones)).toEqual(recipient)
  })
})

test('every e-mail address that is a valid recipient can be parsed by the e-mail channel', () => {
  const label = fc.constantFrom(
    'a',
    'b-c',
    'ü',
    'faß',
    '1',
    '0x7f',
    '١',
    '𝟏',
    'xn--',
    'xn--a',
    'xn--mnchen-3ya',
    'x'.repeat(63),
  )
  const domain = fc.array(label, { minLength: 2, maxLength: 5 }).map(labels => labels.join('.'))
  const local = fc.constantFrom('a', 'a..b', "o'n+x", 'é'.repeat(64), 'x'.repeat(64), '😀')
  fc.assert(
    fc.property(local, domain, (name, host) => {
      const to = `${name}@${host}`
      return readRecipient(to, phones) === null || parseAddress(to) !== null
    }),
    { seed: 7, numRuns: 2_000 },
  )
})

describe('the recipients that a channel reaches', () => {
  const kinds: Record<Recipient['kind'], Recipient> = {
    phone: { kind: 'phone', address: '+12025550123', country: 'US' },
    email: { kind: 'email', address: 'a@example.com' },
    group: { kind: 'group', address: '12345@g.us' },
    hidden: { kind: 'hidden', address: '12345@lid' },
    chat: { kind: 'chat', address: '12345' },
  }
  const table: Record<Channel, Recipient['kind'][]> = {
    local_sms: ['phone'],
    int_sms: ['phone'],
    official_chatapp: ['phone'],
    user_chatapp_session: ['phone', 'group', 'hidden'],
    botapp_bot: ['chat'],
    email_user: ['email'],
  }

  test.each(CHANNELS)('for %s are of certain kinds, and others are refused', channel => {
    for (const recipient of Object.values(kinds)) {
      const fits = table[channel].includes(recipient.kind)
      expect(reaches(channel, recipient)).toBe(fits)
      if (!fits) expect(() => checkReach(channel, recipient, 'US')).toThrow(/^to: must be/)
    }
  })

  test.each<[string, string | null, Channel]>([
    ['US', 'US', 'local_sms'],
    ['US', 'CA', 'int_sms'],
    ['GB', 'GG', 'int_sms'],
    ['RU', 'KZ', 'int_sms'],
    ['US', null, 'int_sms'],
  ])(
    'from %s to %s SMS goes over %s, and the other SMS channel is refused with a hint',
    (home, country, right) => {
      expect(smsChannelOf(country, home)).toBe(right)
      const recipient: Recipient = { kind: 'phone', address: '+1', country }
      expect(() => checkReach(right, recipient, home)).not.toThrow()
      const wrong = right === 'local_sms' ? 'int_sms' : 'local_sms'
      let refused: unknown
      try {
        checkReach(wrong, recipient, home)
      } catch (error) {
        refused = error
      }
      expect(refused).toBeInstanceOf(Problem)
      expect((refused as Problem).details![0]).toMatchObject({
        path: 'channel',
        message: expect.stringContaining(`use ${right}`),
      })
    },
  )
})
