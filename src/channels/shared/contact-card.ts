import type { InboundCard } from '../../contract/inbound-message.ts'

/** More than any that a person fills in, a picture apart. */
const LONGEST_VCARD = 100_000

/**
 * One property of a vCard: perhaps a group before its name, parameters behind it, whose values may stand in quotes.
 * Each character fits in one way alone, so that no text takes long to read.
 */
const PROPERTY = /^(?:[\w-]+\.)?(FN|TEL|EMAIL)((?:;(?:"[^"]*"|[^":;])*)*):(.*)$/i

/**
 * What stands in a vCard of any version, as far as it is plain: what is written in another encoding is left out.
 * `name`: what its sender's app calls it, which is then better known than what stands in it.
 * Source: https://www.rfc-editor.org/rfc/rfc6350; `waid` is WhatsApp's own.
 */
export function readVcard(vcard: string, name: string | null): InboundCard {
  const card: InboundCard = { id: null, name, phones: [], emails: [] }
  // A line that begins with a blank goes on with the one before.
  const lines = vcard.slice(0, LONGEST_VCARD).replace(/\r?\n[ \t]/g, '')
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

/** As it is written, where that says its country; else as WhatsApp knows it, by the digits of E.164. */
export function numberOf(written: string, waId: string | null): string {
  const plain = written.replace(/\p{Cf}/gu, '').trim()
  return plain.startsWith('+') || waId === null || !/^[1-9]\d{4,14}$/.test(waId) ? plain : `+${waId}`
}

function waidOf(parameters: string): string | null {
  return /;waid=(\d+)/i.exec(parameters)?.[1] ?? null
}

/** Newer vCards write addresses as links. */
function withoutScheme(value: string): string {
  return value.replace(/^(?:tel|mailto):/i, '')
}

function unescaped(value: string): string {
  return value.replace(/\\(.)/gs, (_, escaped: string) => (/n/i.test(escaped) ? ' ' : escaped)).trim()
}
