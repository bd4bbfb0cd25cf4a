import type { InboundCard } from '../../contract/inbound-message.ts'

/** Most characters of a vCard that are read: enough for any card without a picture. */
const MAX_VCARD_LENGTH = 100_000

/**
 * One property of a vCard: an optional group, the name, and parameters, whose values may be quoted.
 * Each character can match in one way only, so that no input makes the expression slow.
 */
const PROPERTY = /^(?:[\w-]+\.)?(FN|TEL|EMAIL)((?:;(?:"[^"]*"|[^":;])*)*):(.*)$/i

/**
 * Reads a vCard of any version; properties in another encoding (such as quoted-printable) are left out.
 * `name`: the name that the sender's app shows, which is used instead of the card's own.
 * Source: https://www.rfc-editor.org/rfc/rfc6350; `waid` is WhatsApp's own.
 */
export function readVcard(vcard: string, name: string | null): InboundCard {
  const card: InboundCard = { id: null, name, phones: [], emails: [] }
  // A line that begins with a blank continues the line before.
  const lines = vcard.slice(0, MAX_VCARD_LENGTH).replace(/\r?\n[ \t]/g, '')
  for (const line of lines.split(/\r\n|\r|\n/)) {
    const [, property = '', parameters = '', written = ''] = PROPERTY.exec(line) ?? []
    const value = /encoding=/i.test(parameters) ? '' : unescaped(written)
    if (value === '') continue
    if (/^tel$/i.test(property)) card.phones.push(numberOf(withoutScheme(value), waidOf(parameters)))
    else if (/^email$/i.test(property)) card.emails.push(withoutScheme(value))
    else card.name ??= value
  }
  return card
}

/** The number as written if it has a country code; else WhatsApp's id of it, which is its E.164 digits. */
export function numberOf(written: string, waId: string | null): string {
  const plain = written.replace(/\p{Cf}/gu, '').trim()
  return plain.startsWith('+') || waId === null || !/^[1-9]\d{4,14}$/.test(waId) ? plain : `+${waId}`
}

function waidOf(parameters: string): string | null {
  return /;waid=(\d+)/i.exec(parameters)?.[1] ?? null
}

/** vCard 4 writes numbers and addresses as URIs. */
function withoutScheme(value: string): string {
  return value.replace(/^(?:tel|mailto):/i, '')
}

function unescaped(value: string): string {
  return value.replace(/\\(.)/gs, (_, escaped: string) => (/n/i.test(escaped) ? ' ' : escaped)).trim()
}
