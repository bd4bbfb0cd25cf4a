import { GSM_BASIC, GSM_EXTENSION } from './sms-parts.ts'

const ESCAPE = 0x1b
const EXTENDED: ReadonlyMap<number, string> = new Map(
  GSM_EXTENSION.map(([character, code]) => [code, character]),
)

/** How the octets of a message are to be read. */
export type Alphabet = 'gsm7' | 'latin1' | 'ucs2'

/**
 * The alphabet that an SMPP data_coding names (3.4, 5.2.19, and the message
 * classes of 3GPP TS 23.038); null for what is no text. `byDefault` is what the
 * centre calls its default alphabet.
 */
export function alphabetOf(dataCoding: number, byDefault: 'gsm7' | 'latin1'): Alphabet | null {
  if (dataCoding >= 0xf0) return dataCoding & 0x04 ? null : byDefault
  switch (dataCoding) {
    case 0:
      return byDefault
    case 1:
    case 3:
      return 'latin1'
    case 8:
      return 'ucs2'
    default:
      return null
  }
}

/** The text in the octets of a message or a part of one. */
export function decodeSms(octets: Buffer, alphabet: Alphabet): string {
  switch (alphabet) {
    case 'gsm7':
      return decodeGsm7(octets)
    case 'latin1':
      return octets.toString('latin1')
    case 'ucs2':
      return Buffer.from(octets.subarray(0, octets.length & ~1))
        .swap16()
        .toString('utf16le')
  }
}

/** One code to an octet. An unknown extension is read as the character that its code has without the escape (23.038). */
function decodeGsm7(octets: Buffer): string {
  let text = ''
  for (let at = 0; at < octets.length; at++) {
    const code = octets[at]! & 0x7f
    if (code !== ESCAPE) text += GSM_BASIC[code]!
    else if (++at < octets.length) text += EXTENDED.get(octets[at]!) ?? GSM_BASIC[octets[at]! & 0x7f]!
  }
  return text.replaceAll('\0', '')
}
