import { createHmac } from 'node:crypto'
import type { InboundRequest } from '../../contract/inbound.ts'
import { constantTimeEqual } from '../../lib/constant-time-equal.ts'
import { isForm, isOversized, malformed, parseForm, UNAUTHORIZED } from '../http/inbound.ts'
import { rejectCodeOf } from '../http/verdict.ts'
import type { InboundResult, Receipt } from '../provider.ts'
import { entryOf } from '../shared/table.ts'
import { SUBMIT_CODES } from './codes.ts'
import { readMessage } from './inbound.ts'

/** Without queued, accepted and sending, which say no more than the submit's answer did. */
const STATUSES: Readonly<Record<string, Receipt['status']>> = {
  sent: 'sent',
  delivered: 'delivered',
  read: 'read',
  undelivered: 'undelivered',
  failed: 'undelivered',
  canceled: 'undelivered',
}

/** The query parameter that holds the attempt's id. */
const ATTEMPT_FIELD = 'attempt'

/** The status callback URL of one attempt. Twilio signs the whole URL. */
export function withAttempt(receiptUrl: string, attemptId: string): string {
  return `${receiptUrl}?${ATTEMPT_FIELD}=${attemptId}`
}

/** A status callback or an inbound message, if its signature fits. Its time has neither seconds nor zone, so it is not used. */
export function readCallback(request: InboundRequest, authToken: string): InboundResult {
  if (isOversized(request) || !isSigned(request, authToken)) return UNAUTHORIZED
  const form = request.method === 'POST' ? parseForm(request) : new URLSearchParams(request.query)
  const message = readMessage(form)
  if (message) return message
  const providerId = form.get('MessageSid') || form.get('SmsSid')
  const said = form.get('MessageStatus') || form.get('SmsStatus')
  if (!providerId || !said) return malformed('neither a message nor a status is named')
  const status = entryOf(STATUSES, said)
  if (!status) return { kind: 'taken', inbound: [] }
  const code = form.get('ErrorCode') || null
  const attemptId = new URLSearchParams(request.query).get(ATTEMPT_FIELD)
  const receipt: Receipt = {
    kind: 'receipt',
    providerId,
    ...(attemptId !== null && { attemptId }),
    status,
    atMs: null,
    providerCode: code,
    detail: null,
    ...(status === 'undelivered' && refusalOf(code)),
  }
  return { kind: 'taken', inbound: [receipt] }
}

/**
 * A Messaging Service takes a message first, and checks sender and recipient later: "certain errors which would otherwise
 * fail straight away with a 400 Bad Request response will instead be accepted initially and then assigned to a Failed
 * message record later" (Twilio's article on troubleshooting undelivered messages).
 */
function refusalOf(code: string | null): Pick<Receipt, 'reject' | 'optedOut'> {
  const meaning = entryOf(SUBMIT_CODES, code ?? '')
  if (!meaning) return {}
  return { reject: rejectCodeOf(meaning), ...(meaning.means === 'opted_out' && { optedOut: true }) }
}

/**
 * HMAC-SHA1 over the URL and, for a form, its fields sorted by name, each name with its value.
 * Source: https://www.twilio.com/docs/usage/security. Twilio signs a standard port with and
 * without its number, depending on the product, so both are taken.
 */
function isSigned(request: InboundRequest, authToken: string): boolean {
  const given = request.headers['x-twilio-signature']
  if (given === undefined || request.url === null) return false
  // Twilio signs no body of another type.
  if (request.method === 'POST' && !isForm(request)) return false
  const fields = request.method === 'POST' ? fieldsOf(request) : ''
  // Not `some`: all spellings are compared, so that the time taken does not tell which one matches.
  return urlVariants(request.url)
    .map(spelling => constantTimeEqual(given, signatureOf(spelling + fields, authToken)))
    .includes(true)
}

function fieldsOf(request: InboundRequest): string {
  const form = parseForm(request)
  const names = [...new Set(form.keys())].sort()
  // A repeated field counts once for each different value.
  return names.flatMap(name => [...new Set(form.getAll(name))].sort().map(value => name + value)).join('')
}

function urlVariants(url: string): string[] {
  const [, scheme, host, port, rest] = /^(https?):\/\/(\[[^\]]*\]|[^/:?]*)(?::(\d+))?(.*)$/s.exec(url) ?? []
  if (scheme === undefined) return [url]
  const standard = scheme === 'https' ? '443' : '80'
  return port === undefined
    ? [url, `${scheme}://${host}:${standard}${rest}`]
    : [url, `${scheme}://${host}${rest}`]
}

function signatureOf(text: string, authToken: string): string {
  return createHmac('sha1', authToken).update(text).digest('base64')
}
