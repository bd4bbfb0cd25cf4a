import { readRetryAfter } from '../../lib/retry-after.ts'
import type { Outcome, Outgoing, RejectCode } from '../provider.ts'
import type { Answer, Exchange } from './client.ts'
import { quotes } from './quotes.ts'

/** An outcome; `down` says why the link does not work, which the operator must fix. */
export type Verdict = { outcome: Outcome; down?: string }

/** What one of the provider's codes means for the message. */
export type Meaning = {
  /**
   * `recipient`, `sender`, `message`: at fault, refused for good. `opted_out`: the recipient has opted out of
   * this sender. `operator`: our account or settings are at fault; tried again, and the link is down.
   * `later`: refused for now, and tried again. `throttled`: too fast.
   */
  means: 'recipient' | 'opted_out' | 'sender' | 'message' | 'operator' | 'later' | 'throttled'
  /** A sentence for people. */
  text: string
  /** Delay of the next try, in ms. */
  afterMs?: number
  /** For `later`: whose fault it is, where that is not the connection's. */
  fault?: 'sender'
}

export type Meanings = Readonly<Record<string, Meaning>>

/** How long the lane pauses where the provider does not say. */
export const THROTTLE_MS = 1_000
/** Bounds of the pauses that providers ask for. */
const SHORTEST_REST_MS = 100
const MAX_REST_MS = 3_600_000
/** Characters of a provider's text that are kept. */
const MAX_QUOTE_LENGTH = 300

const REJECT_CODE_BY_FAULT = {
  recipient: 'RECIPIENT_REJECTED',
  sender: 'SENDER_REJECTED',
  message: 'MESSAGE_REJECTED',
} as const

/** The verdict on a request without an answer. */
export function verdictOfFailure(exchange: Exclude<Exchange, { kind: 'answer' }>): Verdict {
  const { kind, code } = exchange
  if (kind === 'lost') {
    return {
      outcome: { kind: 'unknown', detail: `The request was sent, but no complete answer came (${code}).` },
    }
  }
  const outcome = { kind: 'retry', detail: `The provider was not reached (${code}).` } as const
  return code === 'ABORTED' ? { outcome } : { outcome, down: `not reached: ${code}` }
}

/** The verdict that follows from one of the provider's codes. */
export function verdictOfMeaning(
  meaning: Meaning,
  providerCode: string,
  answer: Answer,
  nowMs: number,
): Verdict {
  const { means, text: detail, afterMs, fault } = meaning
  switch (means) {
    case 'throttled': {
      const rest = retryAfterMs(answer, nowMs) ?? afterMs ?? THROTTLE_MS
      return { outcome: { kind: 'throttled', afterMs: rest, detail, providerCode } }
    }
    case 'operator':
      return { outcome: { kind: 'retry', detail, providerCode }, down: `${detail} (${providerCode})` }
    case 'later':
      return {
        outcome: {
          kind: 'retry',
          detail,
          providerCode,
          ...(afterMs !== undefined && { afterMs }),
          ...(fault && { fault }),
          ...askedWait(answer, nowMs),
        },
      }
    case 'opted_out':
      return {
        outcome: {
          kind: 'rejected',
          code: REJECT_CODE_BY_FAULT.recipient,
          detail,
          providerCode,
          optedOut: true,
        },
      }
    default:
      return { outcome: { kind: 'rejected', code: REJECT_CODE_BY_FAULT[means], detail, providerCode } }
  }
}

/** Why a message failed that had been taken, where one of these codes came in its receipt. */
export function rejectCodeOf({ means }: Meaning): RejectCode {
  switch (means) {
    case 'operator':
    case 'later':
    case 'throttled':
      return 'PROVIDER_UNAVAILABLE'
    case 'opted_out':
      return REJECT_CODE_BY_FAULT.recipient
    default:
      return REJECT_CODE_BY_FAULT[means]
  }
}

/**
 * The verdict that follows from the HTTP status, where the body says nothing. A 4xx is an explicit
 * refusal of the request; a 5xx, and a success that cannot be read, leave the outcome unknown (RFC 9110, 15).
 */
export function verdictOfStatus(
  answer: Pick<Answer, 'status' | 'headers'>,
  nowMs: number,
  providerCode?: string,
  quote?: string,
): Verdict {
  const { status } = answer
  const code = providerCode ?? `HTTP ${status}`
  const said = quote ? `: ${quote}` : '.'
  if (status === 429) {
    const afterMs = retryAfterMs(answer, nowMs) ?? THROTTLE_MS
    return { outcome: { kind: 'throttled', afterMs, detail: 'Too many requests.', providerCode: code } }
  }
  const ours = OPERATOR_FAULTS[status]
  if (ours) return operatorFault(`${ours} (HTTP ${status})`, code)
  const notRead = NOT_PROCESSED[status]
  if (notRead)
    return {
      outcome: {
        kind: 'retry',
        detail: `${notRead} (HTTP ${status}).`,
        providerCode: code,
        ...askedWait(answer, nowMs),
      },
    }
  if (status >= 400 && status < 500) {
    const detail = `The provider refuses the request with HTTP ${status}${said}`
    return { outcome: { kind: 'rejected', code: 'MESSAGE_REJECTED', detail, providerCode: code } }
  }
  const detail =
    status < 300
      ? 'The provider’s answer could not be understood.'
      : `The provider answered HTTP ${status}, which does not say whether it accepted the message${said}`
  return { outcome: { kind: 'unknown', detail, providerCode: code } }
}

/** Statuses that prove that the message was not taken because the settings are wrong. */
const OPERATOR_FAULTS: Readonly<Record<number, string>> = {
  301: 'The base URL answers with a redirect, which is not followed',
  307: 'The base URL answers with a redirect, which is not followed',
  308: 'The base URL answers with a redirect, which is not followed',
  401: 'The provider refuses our credentials',
  402: 'The provider asks for payment',
  403: 'The provider refuses our credentials',
  404: 'The provider does not know this URL or method',
  405: 'The provider does not know this URL or method',
  407: 'A proxy asks for credentials',
}

/**
 * Statuses that prove that the request was not processed (RFC 9110, 15.5.9 and 15.5.20; RFC 8470). A proxy that closes an
 * idle connection answers the first of them to a request that was just sent on it.
 */
const NOT_PROCESSED: Readonly<Record<number, string>> = {
  408: 'The provider did not receive the whole request in time',
  421: 'The request reached a server that does not serve this host',
  425: 'The provider refused the request as sent too early on the connection',
}

/** What a code means that `verdictOfStatus` gives; null for another code. */
export function explainStatus(code: string): string | null {
  const status = Number(/^HTTP (\d{3})$/.exec(code)?.[1])
  const ours = OPERATOR_FAULTS[status]
  const known = ours ?? NOT_PROCESSED[status]
  if (known) return `${known}.`
  if (status === 429) return 'Too many requests.'
  if (status >= 500) return 'The provider failed, and does not say whether it accepted the message.'
  return status >= 400 ? 'The provider refuses the request.' : null
}

function operatorFault(text: string, providerCode: string): Verdict {
  return { outcome: { kind: 'retry', detail: `${text}.`, providerCode }, down: text }
}

/** The wait before the next try that the answer asks for, as a `retry` has it; empty where it asks for none. */
export function askedWait(answer: Pick<Answer, 'headers'>, nowMs: number): { atLeastMs?: number } {
  const atLeastMs = retryAfterMs(answer, nowMs)
  return atLeastMs === null ? {} : { atLeastMs }
}

/** Retry-After in ms, within bounds; null where it is missing or invalid. */
function retryAfterMs({ headers }: Pick<Answer, 'headers'>, nowMs: number): number | null {
  const text = headers['retry-after']
  const askedMs = text === undefined ? null : readRetryAfter(text, nowMs)
  return askedMs === null ? null : Math.min(Math.max(askedMs, SHORTEST_REST_MS), MAX_REST_MS)
}

/**
 * A provider's error text, shortened, without control characters. Providers may quote message texts and
 * credentials in it: such texts, and all texts about a message that carries a one-time code, are left out.
 */
export function quotableText(words: unknown, message: Outgoing, secrets: readonly string[]): string {
  if (typeof words !== 'string' || message.messageType === 'otp') return ''
  const unwanted = [message.text, ...secrets].filter(each => each !== '')
  if (unwanted.some(each => quotes(words, each))) return ''
  return words.replace(/[^\x20-\x7e\u00a0-\uffff]+/g, ' ').slice(0, MAX_QUOTE_LENGTH)
}
