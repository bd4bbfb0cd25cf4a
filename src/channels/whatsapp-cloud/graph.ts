import type { Clock } from '../../lib/clock.ts'
import type { HttpApi } from '../http/api.ts'
import type { Answer, HttpRequest } from '../http/client.ts'
import { parseJsonObject } from '../http/inbound.ts'
import {
  quotableText,
  type Verdict,
  verdictOfFailure,
  verdictOfMeaning,
  verdictOfStatus,
} from '../http/verdict.ts'
import type { Outgoing } from '../provider.ts'
import { type GraphMeaning, meaningOf } from './codes.ts'
import { stringOf } from './fields.ts'

/** The Graph API, as one connection uses it. */
export type Graph = {
  api: HttpApi
  /** The path before all of Graph's paths, with the version. */
  base: string
  headers: Readonly<Record<string, string>>
  /** Never quoted in details or logs. */
  secrets: readonly string[]
  clock: Pick<Clock, 'now'>
}

/** An error as Graph words it. */
export type GraphError = {
  code: string
  subcode: string
  /** The error's text for people, shortened, in one line. */
  text: string
}

/** Subcodes of error 100 about templates. */
export const SUBCODE_EXISTS = '2388024'
export const SUBCODE_NOT_FOUND = '2593002'

/**
 * Subcode of error 100: there is no such object, or the token may not use it. The object is the number or the business
 * account that we post to, so the configuration is at fault and not the message. Code 33 means the same.
 */
const SUBCODE_NO_OBJECT = '33'

/** A GET or DELETE at `path`, or a POST of `body` where there is one. */
export function graphRequest(
  graph: Graph,
  path: string,
  ask: { method?: 'GET' | 'DELETE'; body?: unknown } = {},
): HttpRequest {
  const at = `${graph.base}/${path}`
  if (ask.body === undefined) return { method: ask.method ?? 'GET', path: at, headers: graph.headers }
  return {
    method: 'POST',
    path: at,
    headers: { ...graph.headers, 'Content-Type': 'application/json' },
    body: JSON.stringify(ask.body),
  }
}

/** The result of a request that is safe to repeat: a read, or a change that can be made twice. */
export type GraphResult =
  | { kind: 'answer'; body: Record<string, unknown> }
  | { kind: 'refused'; error: GraphError; status: number }
  /**
   * Not reached, not answered, busy, or not permitted: the request's content is not at fault. `verdict`: what the same
   * would mean for a submit.
   */
  | { kind: 'unavailable'; detail: string; answered: boolean; verdict: Verdict }

/** Makes such a request. Never rejects; nothing in the result quotes one of our secrets. */
export async function callGraph(
  graph: Graph,
  request: HttpRequest,
  signal: AbortSignal,
): Promise<GraphResult> {
  const asked = await graph.api.exchange(request, signal)
  if (asked.kind !== 'answer') {
    const detail = `WhatsApp was not reached (${asked.code}).`
    return { kind: 'unavailable', detail, answered: false, verdict: verdictOfFailure(asked) }
  }
  const { answer } = asked
  const said = parseJsonObject(answer.body)
  if (answer.status < 200 || answer.status >= 300) return refusalOf(answer, said, graph, request.method)
  if (said) return { kind: 'answer', body: said }
  const verdict = verdictOfStatus(answer, graph.clock.now())
  return { kind: 'unavailable', detail: 'WhatsApp’s answer is not a JSON object.', answered: true, verdict }
}

function refusalOf(
  answer: Answer,
  said: Record<string, unknown> | null,
  { secrets, clock }: Graph,
  method: HttpRequest['method'],
): GraphResult {
  const { status } = answer
  const error = errorOf(said, secrets, method)
  const meaning = error && meaningOf(error.code)
  if (error && (meaning ? status < 500 && REQUEST_FAULTS.has(meaning.means) : provesFault(status, method))) {
    return { kind: 'refused', error, status }
  }
  const detail = `WhatsApp did not process the request: ${meaning?.text ?? `HTTP ${status}.`}`
  const verdict =
    error && meaning
      ? verdictOf(meaning, error.code, answer, clock.now())
      : verdictOfStatus(answer, clock.now(), error?.code)
  return { kind: 'unavailable', detail, answered: true, verdict }
}

const REQUEST_FAULTS = new Set<GraphMeaning['means']>([
  'message',
  'recipient',
  'template',
  'unregistered',
  'opted out',
])

/**
 * Whether an HTTP status proves that the request is at fault, for undocumented codes, by the rule of submits. But what is read
 * or deleted may not exist, while a POST goes to an object of the configuration.
 */
function provesFault(status: number, method: HttpRequest['method']): boolean {
  if (status === 404) return method !== 'POST'
  return verdictOfStatus({ status, headers: {} }, 0).outcome.kind === 'rejected'
}

/** Null where the answer is not one of Graph's. */
function errorOf(
  said: Record<string, unknown> | null,
  secrets: readonly string[],
  method: HttpRequest['method'],
): GraphError | null {
  const error = said?.['error'] as Record<string, unknown> | undefined
  if (typeof error !== 'object' || error === null || typeof error['code'] !== 'number') return null
  const data = (error['error_data'] ?? {}) as Record<string, unknown>
  const words = [error['error_user_msg'], data['details'], error['message']].find(
    each => typeof each === 'string',
  )
  const code = String(error['code'])
  const subcode = stringOf(error['error_subcode'])
  const isOurs = method === 'POST' && code === '100' && subcode === SUBCODE_NO_OBJECT
  return {
    code: isOurs ? '33' : code,
    subcode,
    text: withoutSecrets(typeof words === 'string' ? words : '', secrets),
  }
}

function withoutSecrets(words: string, secrets: readonly string[]): string {
  if (secrets.some(each => words.includes(each))) return ''
  // The cut may leave half of a character.
  return words
    .replace(/[^\x20-\x7e\u00a0-\uffff]+/g, ' ')
    .slice(0, 300)
    .toWellFormed()
}

/** `pair`: the recipient gets messages too often; `template`: it was stopped. The caller records both. */
export type SendVerdict = Verdict & { pair?: true; template?: true }

/** What the answer to a submit means. */
export function readSubmit(answer: Answer, message: Outgoing, graph: Graph, nowMs: number): SendVerdict {
  const said = parseJsonObject(answer.body)
  if (answer.status >= 200 && answer.status < 300) return readAccepted(answer, said, nowMs)
  const error = errorOf(said, graph.secrets, 'POST')
  const meaning = error && meaningOf(error.code)
  if (error && meaning) return verdictOf(meaning, error.code, answer, nowMs)
  const quote = quotableText(error?.text, message, graph.secrets)
  return verdictOfStatus(answer, nowMs, error?.code, quote)
}

function verdictOf(meaning: GraphMeaning, providerCode: string, answer: Answer, nowMs: number): SendVerdict {
  const { means, text: detail } = meaning
  switch (means) {
    case 'unregistered':
      return { outcome: { kind: 'rejected', code: 'CHATAPP_NOT_REGISTERED', detail, providerCode } }
    case 'opted out':
      return {
        outcome: { kind: 'rejected', code: 'RECIPIENT_REJECTED', detail, providerCode, optedOut: true },
      }
    case 'template':
      return { outcome: { kind: 'rejected', code: 'MESSAGE_REJECTED', detail, providerCode }, template: true }
    case 'pair':
      // How long is decided in pair-limit.ts.
      return {
        outcome: { kind: 'throttled', scope: 'message', afterMs: 1, detail, providerCode },
        pair: true,
      }
    case 'unclear':
      return { outcome: { kind: 'unknown', detail, providerCode } }
    default:
      return verdictOfMeaning(meaning, providerCode, answer, nowMs)
  }
}

function readAccepted(answer: Answer, said: Record<string, unknown> | null, nowMs: number): SendVerdict {
  const [first] = Array.isArray(said?.['messages']) ? said['messages'] : []
  const id = (first as Record<string, unknown> | undefined)?.['id']
  if (typeof id !== 'string' || id === '' || id.length > 200) return verdictOfStatus(answer, nowMs)
  return { outcome: { kind: 'accepted', providerId: id } }
}
