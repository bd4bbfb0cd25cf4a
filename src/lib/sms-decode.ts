import type { DefaultAlphabet } from './sms-parts.ts'
import { escaped, NO_SHIFT, type ShiftTables } from './sms-shift.ts'

const ESCAPE = 0x1b

/** How the octets of a message are decoded. */
export type Alphabet = 'gsm7' | 'latin1' | 'cyrillic' | 'hebrew' | 'ucs2'

/**
 * The alphabet of an SMPP data_coding (3.4, 5.2.19); null if it is not text, or not supported. `defaultAlphabet`
 * is the SMSC's. Octets above 127 are not ASCII, and read as Latin-1.
 */
export function alphabetOf(dataCoding: number, defaultAlphabet: DefaultAlphabet): Alphabet | null {
  const byDefault = defaultAlphabet === 'gsm7' ? 'gsm7' : 'latin1'
  if (dataCoding >= 0x10) return alphabetOfScheme(dataCoding, byDefault)
  switch (dataCoding) {
    case 0:
      return byDefault
    case 1:
    case 3:
      return 'latin1'
    case 6:
      return 'cyrillic'
    case 7:
      return 'hebrew'
    case 8:
      return 'ucs2'
    default:
      return null
  }
}

/** Above SMPP's own values, SMSCs pass on the data coding scheme that the phone set (3GPP TS 23.038, 4). */
function alphabetOfScheme(scheme: number, byDefault: 'gsm7' | 'latin1'): Alphabet | null {
  const group = scheme >> 4
  if (group === 0xf) return scheme & 0x04 ? null : byDefault
  // Message waiting indication groups: only group 1110 is in UCS-2.
  if (group >= 0xc) return group === 0xe ? 'ucs2' : byDefault
  const isReserved = group >= 0x8
  const isCompressed = (scheme & 0x20) !== 0
  if (isReserved || isCompressed) return null
  switch (scheme & 0x0c) {
    case 0x00:
      return byDefault
    case 0x08:
      return 'ucs2'
    default:
      return null
  }
}

const CYRILLIC = new TextDecoder('iso-8859-5')
const HEBREW = new TextDecoder('iso-8859-8')

/** The text of a message or of one part; `tables` are its national language tables, if any. */
export function decodeSms(octets: Buffer, alphabet: Alphabet, tables: ShiftTables = NO_SHIFT): string {
  switch (alphabet) {
    case 'gsm7':
      return decodeGsm7(octets, tables)
    case 'latin1':
      return octets.toString('latin1')
    case 'cyrillic':
      return CYRILLIC.decode(octets)
    case 'hebrew':
      return HEBREW.decode(octets)
    case 'ucs2':
      return Buffer.from(octets.subarray(0, octets.length & ~1))
        .swap16()
        .toString('utf16le')
  }
}

/** Unpacked: one code per octet. */
function decodeGsm7(octets: Buffer, tables: ShiftTables): string {
  let text = ''
  for (let at = 0; at < octets.length; at++) {
    const code = octets[at]! & 0x7f
    if (code !== ESCAPE) text += tables.basic[code]!
    else if (++at < octets.length) text += escaped(tables, octets[at]! & 0x7f)
  }
  return text.replaceAll('\0', '')
}
