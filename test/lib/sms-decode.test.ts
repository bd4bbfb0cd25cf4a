import fc from 'fast-check'
import { expect, test } from 'vitest'
import { alphabetOf, decodeSms } from '../../src/lib/sms-decode.ts'
import { encodeSms } from '../../src/lib/sms-parts.ts'
import { shiftTables } from '../../src/lib/sms-shift.ts'

const LETTERS = '@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !"#¤%&\'()*+,-./0123456789:;<=>?¡AZÄÖÑÜ§¿azäöñüà^{}\\[~]|€'

test('text encoded as SMS is decoded back, in both alphabets and any number of parts', () => {
  const latin = fc.string({ unit: fc.constantFrom(...LETTERS), maxLength: 500 })
  const any = fc.string({ unit: 'grapheme', maxLength: 200 })
  fc.assert(
    fc.property(fc.oneof(latin, any), fc.integer({ min: 0, max: 255 }), (text, reference) => {
      const { dataCoding, parts } = encodeSms(text, reference)
      const alphabet = alphabetOf(dataCoding, 'gsm7')!
      expect(parts.map(({ body }) => decodeSms(body, alphabet)).join('')).toBe(text.replaceAll('\0', ''))
    }),
  )
})

test.each([
  [0, 'gsm7'],
  [1, 'latin1'],
  [3, 'latin1'],
  [8, 'ucs2'],
  [6, 'cyrillic'],
  [7, 'hebrew'],
  [2, null],
  [4, null],
  // Messages for immediate display, for deletion, or indicating waiting messages, as phones encode them.
  [0x10, 'gsm7'],
  [0x11, 'gsm7'],
  [0x14, null],
  [0x18, 'ucs2'],
  [0x19, 'ucs2'],
  [0x30, null],
  [0x40, 'gsm7'],
  [0x58, 'ucs2'],
  [0x90, null],
  [0xc8, 'gsm7'],
  [0xd0, 'gsm7'],
  [0xe8, 'ucs2'],
  [0xf0, 'gsm7'],
  [0xf1, 'gsm7'],
  [0xf5, null],
])('data_coding %i is %s', (coding, alphabet) => {
  expect(alphabetOf(coding, 'gsm7')).toBe(alphabet)
})

test('malformed input is decoded as far as possible', () => {
  expect(alphabetOf(0, 'latin1')).toBe('latin1')
  expect(decodeSms(Buffer.from([0x41, 0x1b]), 'gsm7')).toBe('A')
  expect(decodeSms(Buffer.from([0x1b, 0x41, 0x42]), 'gsm7')).toBe('AB')
  expect(decodeSms(Buffer.from([0x00, 0x41, 0x00]), 'ucs2')).toBe('A')
  expect(decodeSms(Buffer.from([0xe9]), 'latin1')).toBe('é')
  expect(decodeSms(Buffer.from([0xbf, 0xe0]), 'cyrillic')).toBe('Пр')
  expect(decodeSms(Buffer.from([0xf9, 0xec]), 'hebrew')).toBe('של')
})

test.each([0, 1, 2, 3, 6, 255])('the alphabet of language %i has a character for every code', language => {
  const { basic } = shiftTables(language, language)
  expect([basic.length, basic.charCodeAt(0x1b), basic.slice(0x30, 0x3a), basic.slice(0x61, 0x7b)]).toEqual([
    128,
    0,
    '0123456789',
    'abcdefghijklmnopqrstuvwxyz',
  ])
})
