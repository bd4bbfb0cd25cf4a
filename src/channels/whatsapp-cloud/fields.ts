/** JSON from WhatsApp: any field may be missing, or of another type. */
export type Fields = Readonly<Record<string, unknown>>

/** Without fields if it is not an object. */
export function asFields(value: unknown): Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {}
}

/** The objects of a list; none if it is not a list. */
export function objectsIn(value: unknown): Fields[] {
  return Array.isArray(value) ? value.filter(each => typeof each === 'object' && each !== null) : []
}

/** Null for an empty text and for anything else. */
export function textOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null
}

/** A text, or a number as text; '' for anything else, since `String()` throws on some objects. */
export function stringOf(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : ''
}

/** E.164 of a number in display form: with spaces, hyphens and perhaps a plus. */
export function withPlus(shown: unknown): string {
  return `+${stringOf(shown).replace(/\D/g, '')}`
}

/** In ms since the epoch, from WhatsApp's seconds since the epoch, which it writes as text. */
export function timeOf(value: unknown): number | null {
  const seconds = Number(stringOf(value))
  return Number.isSafeInteger(seconds) && seconds > 0 ? seconds * 1_000 : null
}
