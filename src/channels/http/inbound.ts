import type { InboundRequest } from '../../contract/inbound.ts'
import { constantTimeEqual } from '../../lib/constant-time-equal.ts'
import type { InboundResult } from '../provider.ts'

/** The query parameter with the token, for providers that do not sign. Short: some limit the URL's length. */
export const TOKEN_FIELD = 't'

export const UNAUTHORIZED: InboundResult = { kind: 'unauthorized' }

/** For a call that is authenticated, but not understood: a 400, which shows `detail`. */
export function malformed(detail: string): InboundResult {
  return { kind: 'malformed', detail }
}

/** The webhook URL for a provider that does not sign: its token proves that a call is the provider's. */
export function withToken(receiptUrl: string, token: string): string {
  return `${receiptUrl}?${TOKEN_FIELD}=${token}`
}

/** Compared in constant time. */
export function hasToken(request: InboundRequest, token: string): boolean {
  return constantTimeEqual(new URLSearchParams(request.query).get(TOKEN_FIELD) ?? '', token)
}

/** Far more than a call about one message has: its longest text, in percent-encoding, and ten files take some 30 kB. */
const MAX_CALL_BYTES = 65_536
const MAX_FIELDS = 1_000
const AMPERSAND = 0x26

/**
 * Whether a call is too long for one about a single message. For providers whose signature covers the fields, which
 * must be read before it can be checked: anyone may call, and that must not take long.
 */
export function isOversized(request: InboundRequest): boolean {
  const { body, query } = request
  if (body.length > MAX_CALL_BYTES) return true
  let fields = query.split('&').length
  if (isForm(request)) for (const byte of body) if (byte === AMPERSAND) fields++
  return fields > MAX_FIELDS
}

export function isForm(request: InboundRequest): boolean {
  return /^application\/x-www-form-urlencoded\b/i.test(request.headers['content-type'] ?? '')
}

export function parseForm(request: InboundRequest): URLSearchParams {
  return new URLSearchParams(request.body.toString('utf8'))
}

const BYTE_ORDER_MARK = 0xfeff

/** The text of a body in UTF-8. Some gateways begin it with a byte order mark, which is not part of it (RFC 8259, 8.1). */
export function textOf(body: Buffer): string {
  const text = body.toString('utf8')
  return text.charCodeAt(0) === BYTE_ORDER_MARK ? text.slice(1) : text
}

/** Parses a JSON object; null for anything else. */
export function parseJsonObject(bytes: Buffer): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(textOf(bytes))
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : null
  } catch {
    return null
  }
}

/** Parses a provider's time, as UTC where it names no zone; null where it is invalid. */
export function parseTime(text: unknown): number | null {
  if (typeof text !== 'string' || !/^\d{4}-\d\d-\d\d[ T]\d\d:\d\d/.test(text)) return null
  const iso = text.replace(' ', 'T').replace(/([+-]\d\d)(\d\d)$/, '$1:$2')
  const ms = Date.parse(/(?:Z|[+-]\d\d:\d\d)$/i.test(iso) ? iso : `${iso}Z`)
  return Number.isFinite(ms) ? ms : null
}
