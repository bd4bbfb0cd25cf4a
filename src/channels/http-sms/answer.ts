import { toStorableText } from '../../lib/storable.ts'
import type { Answer } from '../http/client.ts'
import { textOf } from '../http/inbound.ts'
import { quotes } from '../http/quotes.ts'
import { askedWait, quotableText, type Verdict, verdictOfMeaning, verdictOfStatus } from '../http/verdict.ts'
import type { Outgoing } from '../provider.ts'
import { entryOf } from '../shared/table.ts'
import { codeWithout } from './code-without.ts'
import type { AnswerForm } from './config.ts'
import { parseJson } from './json.ts'
import { textAt } from './path.ts'

/** Regular expressions see only so many characters of an answer. */
const MAX_SEARCHED = 10_000
const MAX_ID_LENGTH = 200

type Reader = (answer: Answer) => (rule: string | undefined) => string | null

export function createAnswerReader(form: AnswerForm, secrets: readonly string[]) {
  const reader = form.format === 'json' ? readJson : createTextReader(form)
  const errors = form.errors ?? {}

  function read(answer: Answer, message: Outgoing, nowMs: number): Verdict {
    const at = reader(answer)
    const [id, status, error] = [at(form.id), at(form.status), at(form.error)]
    const code = [error, status].find(each => each !== null && entryOf(errors, each) !== undefined)
    if (code != null && answer.status < 500) return verdictOfCode(answer, code, nowMs)
    const success = answer.status >= 200 && answer.status < 300
    // A gateway that gives no id of its own knows the message by our attempt id, if at all.
    const providerId = form.id === undefined ? message.attemptId : id
    if (success && providerId && isAccepted(status, error)) {
      const known = isQuote(providerId, message, secrets) ? message.attemptId : providerId
      return { outcome: { kind: 'accepted', providerId: toStorableText(known, MAX_ID_LENGTH) } }
    }
    const said = quotableText(at(form.errorText), message, secrets)
    const named = nameOf(error ?? (isRefusal(status) ? status : null), message, secrets)
    if (success && named !== undefined) return refusal(named, said)
    if (form.notTakenHttpStatuses?.includes(answer.status)) return notAccepted(answer, named, nowMs)
    return verdictOfStatus(answer, nowMs, named, said)
  }

  function verdictOfCode(answer: Answer, code: string, nowMs: number): Verdict {
    const { means, text = `The gateway answered ${code}.` } = errors[code]!
    return verdictOfMeaning({ means, text }, code, answer, nowMs)
  }

  /** Without configured statuses, an id and no error mean that the message was taken. */
  function isAccepted(status: string | null, error: string | null): boolean {
    if (form.takenStatuses === undefined) return error === null || error === ''
    return status !== null && form.takenStatuses.includes(status)
  }

  function isRefusal(status: string | null): boolean {
    return status !== null && form.takenStatuses !== undefined && !form.takenStatuses.includes(status)
  }

  return read
}

/** An error code that is not configured is still an explicit refusal. */
function refusal(providerCode: string, said: string): Verdict {
  const detail = `The gateway refuses the message${said ? `: ${said}` : '.'}`
  return { outcome: { kind: 'rejected', code: 'MESSAGE_REJECTED', detail, providerCode } }
}

function notAccepted(answer: Answer, named: string | undefined, nowMs: number): Verdict {
  const detail = `The gateway did not take the message (HTTP ${answer.status}).`
  const providerCode = named ?? `HTTP ${answer.status}`
  return { outcome: { kind: 'retry', detail, providerCode, ...askedWait(answer, nowMs) } }
}

const readJson: Reader = ({ body }) => {
  const value = parseJson(body)
  return rule => (rule === undefined ? null : textAt(value, rule))
}

function createTextReader(form: AnswerForm): Reader {
  const rules = [form.id, form.status, form.error, form.errorText].filter(rule => rule !== undefined)
  const expressions = new Map(rules.map(rule => [rule, new RegExp(rule, 'u')]))
  return ({ body }) => {
    const text = textOf(body).slice(0, MAX_SEARCHED)
    return rule => {
      const match = rule === undefined ? null : expressions.get(rule)!.exec(text)
      return match === null ? null : (match[1] ?? match[0])
    }
  }
}

/** Words of a text that may be a one-time code. */
const LIKE_CODES = /[\p{L}\p{N}-]*\p{N}[\p{L}\p{N}-]*/gu
/** Ids are long and contain many a short text by chance. */
const SHORTEST_IN_ID = 10

/**
 * An error that is not configured, shortened. A gateway may say whole sentences in that place: as in its error text,
 * what quotes the message, a secret or a one-time code is not kept.
 */
function nameOf(error: string | null, message: Outgoing, secrets: readonly string[]): string | undefined {
  if (error === null || error === '') return undefined
  return codeWithout([message.text, ...secrets, ...codesIn(message)], error)
}

/**
 * Whether the place of the id holds the message instead, as where the configuration names the wrong field. Ids are shown
 * in lists. A code counts only where it is the whole id.
 */
function isQuote(id: string, message: Outgoing, secrets: readonly string[]): boolean {
  const texts = [message.text, ...secrets].filter(
    each => each.length >= SHORTEST_IN_ID && each.length <= id.length,
  )
  return texts.some(each => quotes(id, each)) || codesIn(message).includes(id)
}

function codesIn({ messageType, text }: Outgoing): readonly string[] {
  return messageType === 'otp' ? (text.match(LIKE_CODES) ?? []) : []
}
