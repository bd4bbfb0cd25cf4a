import { readRetryAfter } from '../../lib/retry-after.ts'
import type { Outcome, Outgoing } from '../provider.ts'
import type { Answer, Exchange } from './client.ts'

/** An outcome, and what it tells of the link: `down` is the operator's to mend. */
export type Verdict = { outcome: Outcome; down?: string }

/** Whose fault a provider's code is, and so what becomes of the message. */
export type Meaning = {
  /**
   * `recipient`, `sender`, `message`: refused for good. `opted_out`: the recipient wants nothing from
   * this sender. `operator`: our account there or our settings; tried again, the link is down.
   * `later`: explicitly not now. `throttled`: too fast.
   */
  means: 'recipient' | 'opted_out' | 'sender' | 'message' | 'operator' | 'later' | 'throttled'
  /** A sentence for people. */
  text: string
  /** When to come back, in ms. */
  afterMs?: number
}

export type Meanings = Readonly<Record<string, Meaning>>

/** A rest where the provider does not say how long. */
export const THROTTLE_MS = 1_000
/** No provider's word makes us rest for less, or for longer. */
const SHORTEST_REST_MS = 100
const LONGEST_REST_MS = 3_600_000
/** Nothing of a provider's own words beyond this is kept. */
const LONGEST_QUOTE = 300

const REJECTS = {
  recipient: 'RECIPIENT_REJECTED',
  sender: 'SENDER_REJECTED',
  message: 'MESSAGE_REJECTED',
} as const

/** What is known of an exchange that brought no answer. */
export function verdictOfFailure(exchange: Exclude<Exchange, { kind: 'answer' }>): Verdict {
  const { kind, code } = exchange
  if (kind === 'lost') {
    return { outcome: { kind: 'unknown', detail: `The request left, and no whole answer came (${code}).` } }
  }
  const outcome = { kind: 'retry', detail: `The provider was not reached (${code}).` } as const
  return code === 'ABORTED' ? { outcome } : { outcome, down: `not reached: ${code}` }
}

/** What one of the provider's own codes makes of a message. */
export function verdictOfMeaning(
  meaning: Meaning,
  providerCode: string,
  answer: Answer,
  nowMs: number,
): Verdict {
  const { means, text: detail, afterMs } = meaning
  switch (means) {
    case 'throttled': {
      const rest = restOf(answer, nowMs) ?? afterMs ?? THROTTLE_MS
      return { outcome: { kind: 'throttled', afterMs: rest, detail, providerCode } }
    }
    case 'operator':
      return { outcome: { kind: 'retry', detail, providerCode }, down: `${detail} (${providerCode})` }
    case 'later':
      return { outcome: { kind: 'retry', detail, providerCode, ...(afterMs !== undefined && { afterMs }) } }
    case 'opted_out':
      return { outcome: { kind: 'rejected', code: REJECTS.recipient, detail, providerCode, optedOut: true } }
    default:
      return { outcome: { kind: 'rejected', code: REJECTS[means], detail, providerCode } }
  }
}

/**
 * What HTTP's own status proves where the provider's words say nothing. A 4xx is an explicit
 * refusal of the request; a 5xx, and a success that cannot be read, prove nothing (RFC 9110, 15).
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
    const afterMs = restOf(answer, nowMs) ?? THROTTLE_MS
    return { outcome: { kind: 'throttled', afterMs, detail: 'Too many requests.', providerCode: code } }
  }
  const ours = OPERATORS[status]
  if (ours) return operatorFault(`${ours} (HTTP ${status})`, code)
  const notRead = NOT_READ[status]
  if (notRead)
    return { outcome: { kind: 'retry', detail: `${notRead} (HTTP ${status}).`, providerCode: code } }
  if (status >= 400 && status < 500) {
    const detail = `The provider refuses the request with HTTP ${status}${said}`
    return { outcome: { kind: 'rejected', code: 'MESSAGE_REJECTED', detail, providerCode: code } }
  }
  const detail =
    status < 300
      ? 'The provider answered with something that is no answer.'
      : `The provider answered HTTP ${status}, which does not say whether it took the message${said}`
  return { outcome: { kind: 'unknown', detail, providerCode: code } }
}

/** Statuses that prove that nothing was taken, and that the settings are wrong rather than the message. */
const OPERATORS: Readonly<Record<number, string>> = {
  301: 'The base URL leads elsewhere; redirects are not followed',
  307: 'The base URL leads elsewhere; redirects are not followed',
  308: 'The base URL leads elsewhere; redirects are not followed',
  401: 'The provider refuses our credentials',
  402: 'The provider asks for payment',
  403: 'The provider refuses our credentials',
  404: 'There is nothing at this address of the provider',
  405: 'There is nothing at this address of the provider',
  407: 'A proxy asks for credentials',
}

/**
 * Statuses that prove that nobody looked at the request (RFC 9110, 15.5.9 and 15.5.20; RFC 8470): a proxy that ends an idle
 * connection says the first of them to a request that has just set out on it.
 */
const NOT_READ: Readonly<Record<number, string>> = {
  408: 'The provider did not get the request whole in time',
  421: 'The request came to a server that does not answer for this address',
  425: 'The provider does not take the request this early on the connection',
}

/** What one of the codes means that `verdictOfStatus` gives; null for another. */
export function explainStatus(code: string): string | null {
  const status = Number(/^HTTP (\d{3})$/.exec(code)?.[1])
  const ours = OPERATORS[status]
  const known = ours ?? NOT_READ[status]
  if (known) return `${known}.`
  if (status === 429) return 'Too many requests.'
  if (status >= 500) return 'The provider failed, and does not say whether it took the message.'
  return status >= 400 ? 'The provider refuses the request.' : null
}

function operatorFault(text: string, providerCode: string): Verdict {
  return { outcome: { kind: 'retry', detail: `${text}.`, providerCode }, down: text }
}

/** What Retry-After asks for, in ms and within bounds; null where there is none that makes sense. */
function restOf({ headers }: Pick<Answer, 'headers'>, nowMs: number): number | null {
  const text = headers['retry-after']
  const askedMs = text === undefined ? null : readRetryAfter(text, nowMs)
  return askedMs === null ? null : Math.min(Math.max(askedMs, SHORTEST_REST_MS), LONGEST_REST_MS)
}

/**
 * A provider's own words, cut short, without control characters. Providers quote texts and
 * credentials in them: those that do, and all about a message that carries a code, are left out.
 */
export function quotable(words: unknown, message: Outgoing, secrets: readonly string[]): string {
  if (typeof words !== 'string' || message.messageType === 'otp') return ''
  const unwanted = [message.text, ...secrets].filter(each => each !== '')
  if (unwanted.some(each => words.includes(each))) return ''
  return words.replace(/[^\x20-\x7e\u00a0-\uffff]+/g, ' ').slice(0, LONGEST_QUOTE)
}
