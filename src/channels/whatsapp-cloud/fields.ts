/** Reading what WhatsApp says, where anything may be missing or of another type. */
export type Fields = Readonly<Record<string, unknown>>

export function asFields(value: unknown): Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {}
}

export function objectsIn(value: unknown): Fields[] {
  return Array.isArray(value) ? value.filter(each => typeof each === 'object' && each !== null) : []
}

export function textOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null
}

/** A text, or a number as one; '' for what is neither, of which not everything could be written as one. */
export function wordOf(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : ''
}

/** E.164 of a number as it is shown: with spaces, hyphens and perhaps a plus. */
export function withPlus(shown: unknown): string {
  return `+${wordOf(shown).replace(/\D/g, '')}`
}

/** In ms since the epoch: WhatsApp counts its seconds, and writes them as text. */
export function timeOf(value: unknown): number | null {
  const seconds = Number(wordOf(value))
  return Number.isSafeInteger(seconds) && seconds > 0 ? seconds * 1_000 : null
}
