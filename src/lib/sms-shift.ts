import { GSM_BASIC, GSM_EXTENSION } from './sms-parts.ts'

/**
 * National language tables of the 7-bit alphabet (3GPP TS 23.038, 6.2.1.2.4 and annex A): a locking shift
 * replaces the default alphabet, a single shift replaces the characters after an escape. Turkish, Spanish and
 * Portuguese are supported; of other languages, only the characters that are the same in all tables are read.
 */
export type ShiftTables = {
  /** The index is the code; the place of the escape is unused. */
  basic: string
  /** By the code after the escape; null for a language that is not supported. */
  extension: ReadonlyMap<number, string> | null
}

/** Replaces characters of unsupported tables. */
const UNREADABLE = '\ufffd'

const TURKISH = 1
const SPANISH = 2
const PORTUGUESE = 3

const TURKISH_BASIC =
  '@£$¥€éùıòÇ\nĞğ\rÅåΔ_ΦΓΛΩΠΨΣΘΞ\0ŞşßÉ !"#¤%&\'()*+,-./0123456789:;<=>?' +
  'İABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§çabcdefghijklmnopqrstuvwxyzäöñüà'
const PORTUGUESE_BASIC =
  '@£$¥êéúíóç\nÔô\rÁáΔ_ªÇÀ∞^\\€Ó|\0ÂâÊÉ !"#º%&\'()*+,-./0123456789:;<=>?' +
  'ÍABCDEFGHIJKLMNOPQRSTUVWXYZÃÕÚÜ§~abcdefghijklmnopqrstuvwxyzãõ`üà'

/** Spanish has no locking shift table of its own (A.3.2). */
const BASIC: ReadonlyMap<number, string> = new Map([
  [0, GSM_BASIC],
  [TURKISH, TURKISH_BASIC],
  [SPANISH, GSM_BASIC],
  [PORTUGUESE, PORTUGUESE_BASIC],
])

const EXTENSIONS: ReadonlyMap<number, ReadonlyMap<number, string>> = new Map([
  [0, withExtension('', [])],
  [TURKISH, withExtension('ĞİŞçğış', [0x47, 0x49, 0x53, 0x63, 0x67, 0x69, 0x73])],
  [SPANISH, withExtension('çÁÍÓÚáíóú', [0x09, 0x41, 0x49, 0x4f, 0x55, 0x61, 0x69, 0x6f, 0x75])],
  [
    PORTUGUESE,
    withExtension(
      'êçÔôÁáΦΓΩΠΨΣΘÊÀÍÓÚÃÕÂíóúãõâ',
      [
        0x05, 0x09, 0x0b, 0x0c, 0x0e, 0x0f, 0x12, 0x13, 0x15, 0x16, 0x17, 0x18, 0x19, 0x1f, 0x41, 0x49, 0x4f,
        0x55, 0x5b, 0x5c, 0x61, 0x69, 0x6f, 0x75, 0x7b, 0x7c, 0x7f,
      ],
    ),
  ],
])

/** Extension tables; each one contains the default extension table too. */
function withExtension(characters: string, codes: readonly number[]): ReadonlyMap<number, string> {
  const own = [...characters].map((character, at) => [codes[at]!, character] as const)
  return new Map([...GSM_EXTENSION.map(([character, code]) => [code, character] as const), ...own])
}

/** Locking shift table for unsupported languages: only the characters that have the same code in all of them. */
const ALIKE = [...GSM_BASIC]
  .map(character => (/[\n\r !.:;?0-9a-z\0]/.test(character) ? character : UNREADABLE))
  .join('')

/** The tables for a message's language numbers, 0 where it names none. */
export function shiftTables(locking: number, single: number): ShiftTables {
  return { basic: BASIC.get(locking) ?? ALIKE, extension: EXTENSIONS.get(single) ?? null }
}

export const NO_SHIFT: ShiftTables = shiftTables(0, 0)

/**
 * The character after an escape. A code that the table does not have is read as if there were no escape
 * (6.2.1.1).
 */
export function escaped({ basic, extension }: ShiftTables, code: number): string {
  return extension === null ? UNREADABLE : (extension.get(code) ?? basic[code]!)
}
