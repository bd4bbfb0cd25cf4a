/**
 * How a text is sent as SMS (3GPP TS 23.038 and 23.040): its alphabet, its parts, and their bytes. Counting
 * and encoding are separate because every send is priced by its parts, and only a few are encoded here.
 */

export type SmsEncoding = 'GSM-7' | 'UCS-2'

/**
 * The default alphabet of a message centre (SMPP's data_coding 0). Whatever it is, the text is in the 7-bit alphabet on
 * the air: the centre converts it.
 */
export type DefaultAlphabet = 'gsm7' | 'latin1' | 'ascii'

export type SmsCount = {
  encoding: SmsEncoding
  /** The units in which parts are measured: septets (an extension character takes two) or UTF-16 units. */
  characters: number
  parts: number
}

export type SmsPart = {
  /** The concatenation header with its length octet; null for a text of one part. */
  udh: Buffer | null
  /** The default alphabet, of GSM-7 one code per octet (unpacked), or UTF-16 big-endian. */
  body: Buffer
}

export type EncodedSms = {
  /** The SMPP data_coding of the bodies: 0 is the default alphabet, 8 is UCS-2. */
  dataCoding: 0 | 8
  parts: SmsPart[]
}

/** The concatenation header has one octet for the number of parts. */
export const MAX_SMS_PARTS = 255

const GSM_ALONE = 160
const GSM_JOINED = 153
const UCS2_ALONE = 70
const UCS2_JOINED = 67

const ESCAPE = 0x1b

/** The index is the GSM 03.38 code; the place of the escape is unused. */
export const GSM_BASIC =
  '@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞ\0ÆæßÉ !"#¤%&\'()*+,-./0123456789:;<=>?' +
  '¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà'

/** Characters that follow an escape, with their codes. */
export const GSM_EXTENSION: readonly (readonly [string, number])[] = [
  ['\f', 0x0a],
  ['^', 0x14],
  ['{', 0x28],
  ['}', 0x29],
  ['\\', 0x2f],
  ['[', 0x3c],
  ['~', 0x3d],
  [']', 0x3e],
  ['|', 0x40],
  ['€', 0x65],
]

/** The euro sign is the alphabet's highest character, so the tables stay small. */
const TABLE_SIZE = 0x20ad
const WIDTH = new Uint8Array(TABLE_SIZE)
const CODE = new Uint8Array(TABLE_SIZE)

/** The highest character of GSM-7 that a default alphabet can have. */
const HIGHEST: Readonly<Record<DefaultAlphabet, number>> = { gsm7: TABLE_SIZE, latin1: 0xff, ascii: 0x7f }

for (let code = 0; code < GSM_BASIC.length; code++) {
  if (code === ESCAPE) continue
  WIDTH[GSM_BASIC.charCodeAt(code)] = 1
  CODE[GSM_BASIC.charCodeAt(code)] = code
}
for (const [character, code] of GSM_EXTENSION) {
  WIDTH[character.charCodeAt(0)] = 2
  CODE[character.charCodeAt(0)] = code
}

/**
 * The encoding and the number of parts of a text; an empty text has one part. Some 0.1 µs for 85 characters. In another
 * alphabet than GSM-7, texts with characters that it does not have are counted in UCS-2.
 */
export function countSms(text: string, alphabet: DefaultAlphabet = 'gsm7'): SmsCount {
  const septets = countSeptets(text, alphabet)
  if (septets < 0) {
    const parts = text.length <= UCS2_ALONE ? 1 : cutUcs2(text, null)
    return { encoding: 'UCS-2', characters: text.length, parts }
  }
  const parts = septets <= GSM_ALONE ? 1 : cutGsm7(text, null)
  return { encoding: 'GSM-7', characters: septets, parts }
}

/**
 * Encodes a text. The parts of one message share `reference`, of which the low octet is used. Throws a
 * RangeError above 255 parts; check `countSms` first.
 *
 * In another alphabet than GSM-7, the parts are those of GSM-7, into which the centre converts them. A text that has no
 * GSM-7 form is in UCS-2 even if the alphabet has its characters, since the centre would replace them.
 */
export function encodeSms(text: string, reference: number, alphabet: DefaultAlphabet = 'gsm7'): EncodedSms {
  const septets = countSeptets(text, alphabet)
  const ends: number[] = []
  if (septets < 0) {
    if (text.length > UCS2_ALONE) cutUcs2(text, ends)
    return { dataCoding: 8, parts: cut(text, ends, reference, encodeUcs2) }
  }
  if (septets > GSM_ALONE) cutGsm7(text, ends)
  return { dataCoding: 0, parts: cut(text, ends, reference, alphabet === 'gsm7' ? encodeGsm7 : encodeLatin1) }
}

/** The number of septets; -1 if a character is outside GSM-7 or the alphabet. */
function countSeptets(text: string, alphabet: DefaultAlphabet): number {
  const highest = HIGHEST[alphabet]
  let septets = 0
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at)
    // Beyond the table, the look-up gives undefined, which is falsy like the table's zeros.
    const width = WIDTH[unit]
    if (!width || unit > highest) return -1
    septets += width
  }
  return septets
}

/**
 * Counts the parts of 153 septets, without separating an escape from its character; adds the end of each
 * part, in UTF-16 units of the text, to `ends`.
 */
function cutGsm7(text: string, ends: number[] | null): number {
  let parts = 1
  let used = 0
  for (let at = 0; at < text.length; at++) {
    const width = WIDTH[text.charCodeAt(at)]!
    if (used + width > GSM_JOINED) {
      ends?.push(at)
      parts++
      used = 0
    }
    used += width
  }
  ends?.push(text.length)
  return parts
}

/**
 * Counts the parts of 67 units, without separating surrogate pairs; adds the end of each part, in units, to
 * `ends`.
 */
function cutUcs2(text: string, ends: number[] | null): number {
  let parts = 0
  let start = 0
  while (start < text.length) {
    let end = Math.min(start + UCS2_JOINED, text.length)
    if (end < text.length && isPairAt(text, end - 1)) end--
    ends?.push(end)
    parts++
    start = end
  }
  return parts
}

function isPairAt(text: string, at: number): boolean {
  return (text.charCodeAt(at) & 0xfc00) === 0xd800 && (text.charCodeAt(at + 1) & 0xfc00) === 0xdc00
}

function encodeGsm7(text: string): Buffer {
  const bytes = Buffer.allocUnsafe(text.length * 2)
  let out = 0
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at)
    if (WIDTH[unit] === 2) bytes[out++] = ESCAPE
    bytes[out++] = CODE[unit]!
  }
  return bytes.subarray(0, out)
}

/** ASCII too, which is its first half. */
function encodeLatin1(text: string): Buffer {
  return Buffer.from(text, 'latin1')
}

function encodeUcs2(text: string): Buffer {
  return Buffer.from(text, 'utf16le').swap16()
}

/** `ends` is empty for a text of one part. */
function cut(
  text: string,
  ends: readonly number[],
  reference: number,
  encode: (text: string) => Buffer,
): SmsPart[] {
  if (ends.length === 0) return [{ udh: null, body: encode(text) }]
  if (ends.length > MAX_SMS_PARTS) {
    throw new RangeError(`a text of ${ends.length} parts; ${MAX_SMS_PARTS} is the most`)
  }
  return ends.map((end, index) => ({
    udh: concatenationHeader(reference, ends.length, index + 1),
    body: encode(text.slice(index === 0 ? 0 : ends[index - 1]!, end)),
  }))
}

/**
 * 3GPP TS 23.040, 9.2.3.24.1: five octets follow; information element 0 with three octets: reference, total,
 * number.
 */
function concatenationHeader(reference: number, total: number, number: number): Buffer {
  return Buffer.from([5, 0, 3, reference & 0xff, total, number])
}
