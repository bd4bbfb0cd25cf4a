import { createHmac } from 'node:crypto'
import type { InboundRequest } from '../../contract/inbound.ts'
import { constantTimeEqual } from '../../lib/constant-time-equal.ts'
import { hasToken, malformed, parseTime, UNAUTHORIZED } from '../http/inbound.ts'
import type { Inbound, InboundResult } from '../provider.ts'
import type { MessageForm, ReceiptForm } from './config.ts'
import { readFields, textIn } from './fields.ts'
import { parseJson } from './json.ts'
import { textAt, valueAt } from './path.ts'

type Form = ReceiptForm | MessageForm

/** Most receipts or messages read from one call. */
const MAX_ITEMS = 1_000

/** A field of an item, by the path or name in the configuration; null where it is missing. */
export type Field = (name: string | undefined) => string | null

/** Reads the items of a webhook call with `read`, if the call proves to be from the gateway. */
export function readItems(
  request: InboundRequest,
  form: Form,
  secrets: Readonly<Record<string, string>>,
  token: string,
  read: (field: Field) => Inbound | null,
): InboundResult {
  if (!isAuthentic(request, form.proof, secrets, token)) return UNAUTHORIZED
  const items = fieldsOf(request, form)
  if (items === null) return malformed('the body is not what the connection expects')
  if (items.length > MAX_ITEMS) return malformed(`there are more than ${MAX_ITEMS} items`)
  const inbound = items.map(read).filter(each => each !== null)
  return { kind: 'taken', inbound, ...(form.reply && { reply: form.reply }) }
}

function isAuthentic(
  request: InboundRequest,
  proof: Form['proof'],
  secrets: Readonly<Record<string, string>>,
  token: string,
): boolean {
  if (proof.by === 'token') return hasToken(request, token)
  const secret = secrets[proof.secret]!
  if (proof.by === 'basic') {
    const pair = Buffer.from(`${proof.user}:${secret}`).toString('base64')
    // The scheme is case-insensitive (RFC 7617).
    const given = /^basic +(.*)$/i.exec(request.headers['authorization'] ?? '')?.[1] ?? ''
    return constantTimeEqual(given, pair)
  }
  const signature = createHmac(proof.algorithm, secret).update(request.body).digest(proof.encoding)
  const given = request.headers[proof.header.toLowerCase()] ?? ''
  return constantTimeEqual(given, (proof.prefix ?? '') + signature)
}

function fieldsOf(request: InboundRequest, form: Form): Field[] | null {
  if (form.format !== 'json') {
    const field = readFields(
      form.format === 'query' ? Buffer.from(request.query, 'latin1') : request.body,
      request,
    )
    return [name => (name === undefined ? null : field(name))]
  }
  const json = parseJson(Buffer.from(textIn(request.body, request)))
  if (typeof json !== 'object' || json === null) return null
  const items = form.items === undefined ? [json].flat() : valueAt(json, form.items)
  if (!Array.isArray(items)) return null
  return items.map(item => (path: string | undefined) => (path === undefined ? null : textAt(item, path)))
}

/** In ms since the epoch; null for a text that is not a time of this format. `iso` without a zone is UTC. */
export function parseTimestamp(
  text: string | null,
  format: 'iso' | 'seconds' | 'milliseconds',
): number | null {
  if (format === 'iso' || text === null) return parseTime(text)
  const ms = Number(text) * (format === 'seconds' ? 1_000 : 1)
  return text !== '' && Number.isFinite(ms) && ms > 0 && ms < 8.64e15 ? Math.floor(ms) : null
}
