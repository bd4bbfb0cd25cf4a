import { createHash, createHmac } from 'node:crypto'
import type { InboundRequest } from '../../contract/inbound.ts'
import { constantTimeEqual } from '../../lib/constant-time-equal.ts'
import {
  hasToken,
  isForm,
  isOversized,
  malformed,
  parseForm,
  parseJsonObject,
  parseTime,
  TOKEN_FIELD,
  UNAUTHORIZED,
} from '../http/inbound.ts'
import type { InboundResult, Receipt } from '../provider.ts'
import { entryOf } from '../shared/table.ts'
import { receiptCode } from './codes.ts'
import { isBinary, readMessage } from './inbound.ts'

export const SIGNATURE_METHODS = ['md5hash', 'md5', 'sha1', 'sha256', 'sha512'] as const
export type SignatureMethod = (typeof SIGNATURE_METHODS)[number]

/** How a receipt proves where it comes from. */
export type Proof = { secret: string; method: SignatureMethod } | { token: string }

/** Without `unknown`, which only says that Vonage has no report from the operator. */
const STATUSES: Readonly<Record<string, Receipt['status']>> = {
  accepted: 'sent',
  buffered: 'sent',
  delivered: 'delivered',
  expired: 'undelivered',
  failed: 'undelivered',
  rejected: 'undelivered',
  deleted: 'undelivered',
  undeliverable: 'undelivered',
}

/** A delivery receipt or an inbound message, if it is from Vonage: by GET, as a form or as JSON, as the account's settings say. */
export function readCallback(request: InboundRequest, proof: Proof): InboundResult {
  if ('token' in proof && !hasToken(request, proof.token)) return UNAUTHORIZED
  const fields = fieldsOf(request)
  if (fields === null)
    return 'token' in proof ? malformed('the body is no JSON object, or too long') : UNAUTHORIZED
  if ('secret' in proof && !isSigned(fields, proof)) return UNAUTHORIZED
  const message = readMessage(fields)
  if (message) return { kind: 'taken', inbound: [message] }
  if (isBinary(fields)) return { kind: 'taken', inbound: [] }
  const providerId = fields['messageId'] ?? fields['message-id']
  const said = fields['status']
  if (!providerId || !said) return malformed('neither a message nor a status is named')
  const status = entryOf(STATUSES, said)
  if (!status) return { kind: 'taken', inbound: [] }
  const code = fields['err-code']
  const reference = fields['client-ref']
  const receipt: Receipt = {
    kind: 'receipt',
    providerId,
    ...(reference !== undefined && { attemptId: reference }),
    ofPart: true,
    status,
    atMs: parseTime(fields['message-timestamp']),
    providerCode: code === undefined || code === '0' ? null : receiptCode(code),
    detail: null,
  }
  return { kind: 'taken', inbound: [receipt] }
}

function fieldsOf(request: InboundRequest): Record<string, string> | null {
  if (isOversized(request)) return null
  if (request.method === 'GET') return Object.fromEntries(new URLSearchParams(request.query))
  if (isForm(request)) return Object.fromEntries(parseForm(request))
  const json = parseJsonObject(request.body)
  return (
    json &&
    Object.fromEntries(
      Object.entries(json)
        .filter(isScalar)
        .map(([name, value]) => [name, String(value)]),
    )
  )
}

/** Only texts and numbers are fields. Anybody may call, and `String()` throws on some objects. */
function isScalar([, value]: [string, unknown]): boolean {
  return typeof value !== 'object' || value === null
}

/**
 * The age of a signature is not checked: Vonage repeats receipts for a day, and a repeated receipt
 * changes nothing. With GET, our URL's token is among the fields, and Vonage does not document whether it is
 * signed too: signatures with and without it are accepted.
 */
function isSigned(
  fields: Record<string, string>,
  proof: { secret: string; method: SignatureMethod },
): boolean {
  const { sig, ...rest } = fields
  if (sig === undefined) return false
  const { [TOKEN_FIELD]: _, ...written } = rest
  return [written, rest].some(each =>
    constantTimeEqual(sig.toLowerCase(), signatureOf(signedText(each), proof)),
  )
}

/**
 * All fields but `sig`, by name, as `&name=value`, with `&` and `=` in values replaced by `_`.
 * Source: https://developer.vonage.com/en/getting-started/concepts/signing-messages.
 */
function signedText(fields: Readonly<Record<string, string>>): string {
  const names = Object.keys(fields).sort()
  return names.map(name => `&${name}=${fields[name]!.replace(/[&=]/g, '_')}`).join('')
}

function signatureOf(text: string, { secret, method }: { secret: string; method: SignatureMethod }): string {
  return method === 'md5hash'
    ? createHash('md5')
        .update(text + secret)
        .digest('hex')
    : createHmac(method, secret).update(text).digest('hex')
}
