import { expect, test } from 'vitest'
import { numberOf, readVcard } from '../../src/channels/shared/contact-card.ts'

const vcard = (...lines: string[]) => ['BEGIN:VCARD', ...lines, 'END:VCARD'].join('\r\n')

test.each([
  [
    'as WhatsApp writes it',
    vcard(
      'VERSION:3.0',
      'N:Lovelace;Ada;;;',
      'FN:Ada Lovelace',
      'item1.TEL;waid=447700900123:+44 7700 900123',
      'item1.X-ABLabel:Mobile',
      'TEL;type=CELL;waid=447700900124:07700 900124',
      'item2.EMAIL;type=INTERNET:ada@example.com',
      'X-WA-BIZ-NAME:Analytical Engines',
    ),
    {
      name: 'Ada Lovelace',
      phones: ['+44 7700 900123', '+447700900124'],
      emails: ['ada@example.com'],
    },
  ],
  [
    'of version 4, with URIs as values and a colon inside quotes',
    vcard(
      'VERSION:4.0',
      String.raw`FN;LABEL="a:b;c":Ada\, Countess\; of\nLovelace`,
      'TEL;VALUE=uri;TYPE="voice,home":tel:+44-20-7946-0000',
      'EMAIL:mailto:ada@example.com',
    ),
    { name: 'Ada, Countess; of Lovelace', phones: ['+44-20-7946-0000'], emails: ['ada@example.com'] },
  ],
  [
    'with folded lines, property names in lower case and bare line feeds',
    'fn:Ada\n  Lovelace\ntel;cell:+44 20\n\t 7946 0001\n',
    { name: 'Ada Lovelace', phones: ['+44 20 7946 0001'], emails: [] },
  ],
  [
    'without the properties that have an encoding',
    vcard('FN;ENCODING=QUOTED-PRINTABLE:=41', 'TEL;HOME:123', 'PHOTO;ENCODING=b:VEVMOjE='),
    { name: null, phones: ['123'], emails: [] },
  ],
  [
    'with invisible direction marks around a number',
    vcard('TEL:\u202a+44 20 7946 0002\u202c'),
    { name: null, phones: ['+44 20 7946 0002'], emails: [] },
  ],
  [
    'without any valid property as an empty one',
    'FN\nTEL;x="y:1\n:\nTELEX:1\nFN:',
    { name: null, phones: [], emails: [] },
  ],
])('reads a vCard %s', (_, text, read) => {
  expect(readVcard(text, null)).toEqual({ id: null, ...read })
})

test('a name from elsewhere takes precedence over the name in the vCard', () => {
  expect(readVcard(vcard('FN:Somebody'), 'Ada').name).toBe('Ada')
})

test('a very long vCard is read', () => {
  const long = `TEL${';a="b"'.repeat(20_000)}\n${'\n '.repeat(200_000)}`
  expect(readVcard(long, null)).toEqual({ id: null, name: null, phones: [], emails: [] })
})

test.each([
  ['07700 900123', '447700900123', '+447700900123'],
  // In some countries the WhatsApp id differs from the phone number.
  ['+55 11 91234-5678', '551112345678', '+55 11 91234-5678'],
  ['07700 900123', 'US.1349', '07700 900123'],
  ['07700 900123', null, '07700 900123'],
])('the written number %s with the WhatsApp id %s becomes %s', (written, waId, number) => {
  expect(numberOf(written, waId)).toBe(number)
})
