import type { InboundRequest } from '../../contract/inbound.ts'
import { hasToken, malformed, parseJsonObject, parseTime, UNAUTHORIZED } from '../http/inbound.ts'
import { rejectCodeOf } from '../http/verdict.ts'
import type { InboundResult, Receipt } from '../provider.ts'
import { DUPLICATE, GROUP, REFUSED, STATUS_CODES } from './codes.ts'
import { readMessage } from './inbound.ts'

export type Status = { groupId: number; id: number }

/** Delivered to the operator, not to the handset: a final status follows. */
const DELIVERED_TO_OPERATOR = 2
/** The operator sent no report. */
const EXPIRED_DLR_UNKNOWN = 29
/** Most reports read from one call; Infobip sends at most 100 unless configured otherwise. */
const MAX_REPORTS = 1_000

/**
 * Delivery reports and inbound messages. Infobip does not sign its calls: the token in the
 * URL, which a submit gives or the operator configures, proves where they come from.
 */
export function readCallback(request: InboundRequest, token: string): InboundResult {
  if (!hasToken(request, token)) return UNAUTHORIZED
  const results = parseJsonObject(request.body)?.['results']
  if (!Array.isArray(results)) return malformed('there is no list of results')
  if (results.length > MAX_REPORTS) return malformed(`there are more than ${MAX_REPORTS} results`)
  const inbound = results.map(result => readMessage(result) ?? readReport(result))
  return { kind: 'taken', inbound: inbound.filter(each => each !== null) }
}

/**
 * Null for an unreadable report: it is skipped, so that the others of the same call are not lost. So is the report of a repeat
 * that was refused because of its id, which is that of the message itself.
 */
function readReport(report: unknown): Receipt | null {
  const { messageId, status, error, doneAt } = (report ?? {}) as Record<string, unknown>
  const known = statusOf(status)
  const said = known && receiptStatus(known)
  if (typeof messageId !== 'string' || messageId === '' || !said || known.id === DUPLICATE) return null
  // Refused by Infobip itself, which answers a submit before it has checked everything.
  const refused = known.groupId === GROUP.rejected
  const { name } = (error ?? {}) as Record<string, unknown>
  const failed = typeof name === 'string' && name !== 'NO_ERROR' ? name.slice(0, 60) : null
  return {
    kind: 'receipt',
    providerId: messageId,
    // This is the id that we gave at the submit.
    attemptId: messageId,
    status: said,
    atMs: parseTime(doneAt),
    providerCode: refused ? String(known.id) : failed,
    detail: null,
    ...(refused && { reject: rejectCodeOf(STATUS_CODES[String(known.id)] ?? REFUSED) }),
  }
}

/** Null where it is missing or of another form. */
export function statusOf(value: unknown): Status | null {
  const { groupId, id } = (value ?? {}) as Record<string, unknown>
  return typeof groupId === 'number' && typeof id === 'number' ? { groupId, id } : null
}

function receiptStatus({ groupId, id }: Status): Receipt['status'] | null {
  switch (groupId) {
    case GROUP.accepted:
    case GROUP.pending:
      return 'sent'
    case GROUP.delivered:
      return id === DELIVERED_TO_OPERATOR ? 'sent' : 'delivered'
    case GROUP.undeliverable:
    case GROUP.rejected:
      return 'undelivered'
    case GROUP.expired:
      return id === EXPIRED_DLR_UNKNOWN ? null : 'undelivered'
    default:
      return null
  }
}
