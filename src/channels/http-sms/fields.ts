import { isUtf8 } from 'node:buffer'
import type { InboundRequest } from '../../contract/inbound.ts'

/** What gateways write that do not write UTF-8, where they do not say: Latin-1, of which this is a superset. */
const USUAL_CHARSET = 'windows-1252'

/**
 * The text of a gateway's octets: UTF-8, or where they are not that, the charset that the call names. A charset that is
 * named does not count against octets that are UTF-8: some HTTP libraries name Latin-1 whatever they send.
 */
export function textIn(octets: Buffer, { headers }: Pick<InboundRequest, 'headers'>): string {
  if (isUtf8(octets)) return octets.toString('utf8')
  const named = /;\s*charset="?([\w.:-]{1,40})/i.exec(headers['content-type'] ?? '')?.[1]
  return decoded(octets, named ?? USUAL_CHARSET) ?? decoded(octets, USUAL_CHARSET)!
}

/** Null for a charset that is not known. */
function decoded(octets: Buffer, charset: string): string | null {
  try {
    return new TextDecoder(charset).decode(octets)
  } catch {
    return null
  }
}

/** The fields of a query or a form, as `URLSearchParams` reads them, in the charset of each: of repeated ones the first counts. */
export function readFields(
  encoded: Buffer,
  call: Pick<InboundRequest, 'headers'>,
): (name: string) => string | null {
  const fields = new Map<string, string>()
  for (const pair of encoded.toString('latin1').split('&')) {
    const [, name = '', value = ''] = /^([^=]*)=?(.*)$/s.exec(pair)!
    const key = textIn(octetsOf(name), call)
    if (!fields.has(key)) fields.set(key, textIn(octetsOf(value), call))
  }
  return name => fields.get(name) ?? null
}

/** Undoes the encoding of a form, up to octets: each character here is one. */
function octetsOf(encoded: string): Buffer {
  const plain = encoded
    .replaceAll('+', ' ')
    .replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
  return Buffer.from(plain, 'latin1')
}
