import fc from 'fast-check'
import { SegmentedMessage } from 'sms-segments-calculator'
import { describe, expect, it } from 'vitest'
import { countSms, encodeSms, MAX_SMS_PARTS, type SmsPart } from '../../src/lib/sms-parts.ts'

const BASIC =
  '@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞ ÆæßÉ !"#¤%&\'()*+,-./0123456789:;<=>?' +
  '¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà'
const EXTENSION = '^{}\\[~]|€'
/** Taken from the tables of 3GPP TS 23.038, independently of the source code. */
const EXTENSION_CODES: Record<number, string> = {
  10: '\f',
  20: '^',
  40: '{',
  41: '}',
  47: '\\',
  60: '[',
  61: '~',
  62: ']',
  64: '|',
  101: '€',
}

const gsmText = fc
  .array(fc.constantFrom(...BASIC, ...EXTENSION), { maxLength: 500 })
  .map(letters => letters.join(''))
/**
 * Only characters that stand alone: the reference library keeps combining ones together, which SMS does not
 * require.
 */
const anyText = fc
  .array(fc.constantFrom(...'abc {€', 'ж', '中', 'ç', '`', '😀', '🚀'), { maxLength: 300 })
  .map(letters => letters.join(''))

describe('countSms', () => {
  it.each([
    ['', 'GSM-7', 0, 1],
    ['a'.repeat(160), 'GSM-7', 160, 1],
    ['a'.repeat(161), 'GSM-7', 161, 2],
    ['a'.repeat(306), 'GSM-7', 306, 2],
    ['a'.repeat(307), 'GSM-7', 307, 3],
    ['€'.repeat(80), 'GSM-7', 160, 1],
    ['€'.repeat(81), 'GSM-7', 162, 2],
    ['ж'.repeat(70), 'UCS-2', 70, 1],
    ['ж'.repeat(71), 'UCS-2', 71, 2],
    ['ж'.repeat(134), 'UCS-2', 134, 2],
    ['ж'.repeat(135), 'UCS-2', 135, 3],
    ['😀'.repeat(35), 'UCS-2', 70, 1],
    ['😀'.repeat(36), 'UCS-2', 72, 2],
    ['ç', 'UCS-2', 1, 1],
    ['\0', 'UCS-2', 1, 1],
  ] as const)('%j is %s, %i units, %i parts', (text, encoding, characters, parts) => {
    expect(countSms(text)).toEqual({ encoding, characters, parts })
  })

  it('keeps an escape and its character together: 152 + € does not fit in 153', () => {
    expect(countSms(`${'a'.repeat(152)}€${'a'.repeat(151)}`).parts).toBe(2)
    expect(countSms(`${'a'.repeat(152)}€${'a'.repeat(152)}`).parts).toBe(3)
  })

  it('keeps a surrogate pair together: 66 + 😀 does not fit in 67', () => {
    expect(countSms(`${'ж'.repeat(66)}😀${'ж'.repeat(65)}`).parts).toBe(2)
    expect(countSms(`${'ж'.repeat(66)}😀${'ж'.repeat(66)}`).parts).toBe(3)
  })

  it('agrees with an independent calculator', () => {
    fc.assert(
      fc.property(fc.oneof(gsmText, anyText), text => {
        const oracle = new SegmentedMessage(text)
        const ours = countSms(text)
        expect([ours.encoding, ours.parts]).toEqual([oracle.encodingName, oracle.segmentsCount])
        if (ours.encoding === 'GSM-7') expect(ours.characters).toBe(oracle.numberOfCharacters)
      }),
      { numRuns: 150 },
    )
  })
})

describe('encodeSms', () => {
  it('decodes back to the text, in the counted number of parts, each within 140 octets', () => {
    fc.assert(
      fc.property(fc.oneof(gsmText, anyText, fc.string({ unit: 'binary', maxLength: 300 })), text => {
        const { dataCoding, parts } = encodeSms(text, 7)
        const decode = dataCoding === 0 ? decodeGsm7 : decodeUcs2
        // Each part is decoded alone, so no character may be cut in two.
        expect(parts.map(part => decode(part.body)).join('')).toBe(text)
        expect(parts.length).toBe(countSms(text).parts)
        for (const part of parts) expect(octetsOnAir(part, dataCoding)).toBeLessThanOrEqual(140)
      }),
      { numRuns: 1000 },
    )
  })

  it('never ends a part inside an escape or a surrogate pair', () => {
    fc.assert(
      fc.property(fc.oneof(gsmText, anyText), text => {
        const { dataCoding, parts } = encodeSms(text, 7)
        for (const { body } of parts) {
          if (dataCoding === 0) expect(body.at(-1)).not.toBe(0x1b)
          else expect((body.at(-2) ?? 0) & 0xfc).not.toBe(0xd8)
        }
      }),
      { numRuns: 500 },
    )
  })

  it('numbers the parts in the concatenation header, and omits it for a single part', () => {
    const { parts } = encodeSms('a'.repeat(400), 0x1a5)
    expect(parts.map(part => [...part.udh!])).toEqual([
      [5, 0, 3, 0xa5, 3, 1],
      [5, 0, 3, 0xa5, 3, 2],
      [5, 0, 3, 0xa5, 3, 3],
    ])
    expect(encodeSms('a', 1).parts).toEqual([{ udh: null, body: Buffer.from('a') }])
  })

  it('encodes every code of the alphabet', () => {
    expect([...encodeSms('@£$¥èéùìòÇ\nØø\rÅå', 1).parts[0]!.body]).toEqual([...Array(16).keys()])
    const extension = Object.entries(EXTENSION_CODES)
    const text = extension.map(([, letter]) => letter).join('')
    expect([...encodeSms(text, 1).parts[0]!.body]).toEqual(
      extension.flatMap(([code]) => [0x1b, Number(code)]),
    )
  })

  it('in Latin-1 and ASCII has the parts of GSM-7, and is in UCS-2 where a character has no place in both', () => {
    const text = fc.oneof(
      gsmText,
      fc.string({ unit: fc.constantFrom(...'ab @£ßé{^~\n'), maxLength: 400 }),
      fc.string({ unit: fc.constantFrom(...'ab$_{^~\n'), maxLength: 400 }),
    )
    fc.assert(
      fc.property(text, fc.constantFrom('latin1', 'ascii'), (text, alphabet) => {
        const { dataCoding, parts } = encodeSms(text, 7, alphabet)
        const gsm = encodeSms(text, 7).parts
        const hasAll = [...text].every(letter => letter.charCodeAt(0) <= (alphabet === 'ascii' ? 0x7f : 0xff))
        expect(dataCoding).toBe(hasAll ? 0 : 8)
        const decode = hasAll ? (bytes: Buffer) => bytes.toString('latin1') : decodeUcs2
        expect(parts.map(part => decode(part.body)).join('')).toBe(text)
        expect(parts.length).toBe(countSms(text, alphabet).parts)
        // The centre converts each part to GSM-7: there it must fit.
        if (hasAll)
          expect(parts.map(part => decode(part.body))).toEqual(gsm.map(part => decodeGsm7(part.body)))
      }),
      { numRuns: 500 },
    )
  })

  it.each([
    ['a'.repeat(160), 'latin1', 'GSM-7', 1],
    ['é'.repeat(160), 'latin1', 'GSM-7', 1],
    ['é'.repeat(160), 'ascii', 'UCS-2', 3],
    ['{'.repeat(80), 'ascii', 'GSM-7', 1],
    ['{'.repeat(81), 'ascii', 'GSM-7', 2],
    [`€${'a'.repeat(69)}`, 'latin1', 'UCS-2', 1],
    [`€${'a'.repeat(70)}`, 'latin1', 'UCS-2', 2],
    ['Ω', 'latin1', 'UCS-2', 1],
    // In Latin-1, but not in GSM-7: a centre would replace it on its way to the phone.
    ['ç', 'latin1', 'UCS-2', 1],
    ['`', 'ascii', 'UCS-2', 1],
  ] as const)('%j in %s is %s, %i parts', (text, alphabet, encoding, parts) => {
    expect(countSms(text, alphabet)).toMatchObject({ encoding, parts })
    expect(encodeSms(text, 7, alphabet).parts).toHaveLength(parts)
  })

  it('rejects text that does not fit in 255 parts', () => {
    expect(encodeSms('a'.repeat(153 * MAX_SMS_PARTS), 1).parts).toHaveLength(255)
    expect(() => encodeSms('a'.repeat(153 * MAX_SMS_PARTS + 1), 1)).toThrow(RangeError)
  })
})

function octetsOnAir({ udh, body }: SmsPart, dataCoding: 0 | 8): number {
  if (dataCoding === 8) return (udh?.length ?? 0) + body.length
  // The header takes whole septets: 6 octets take 7 of them.
  return Math.ceil((((udh ? 7 : 0) + body.length) * 7) / 8)
}

function decodeGsm7(bytes: Buffer): string {
  let text = ''
  for (let at = 0; at < bytes.length; at++) {
    text += bytes[at] === 0x1b ? EXTENSION_CODES[bytes[++at]!] : BASIC[bytes[at]!]
  }
  return text
}

function decodeUcs2(bytes: Buffer): string {
  return Buffer.from(bytes).swap16().toString('utf16le')
}
