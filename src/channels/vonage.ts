import { type Static, Type } from 'typebox'
import { withPattern } from '../contract/pattern.ts'
import { countSms } from '../lib/sms-parts.ts'
import { openHttpApi, testResultOf, warnOfNoReceipts } from './http/api.ts'
import type { Answer, HttpRequest } from './http/client.ts'
import { BaseUrl, HTTP_FIELDS, laneSettings, pathOf, Secret, Sender } from './http/config.ts'
import { parseJsonObject, withToken } from './http/inbound.ts'
import { quotableText, type Verdict, verdictOfMeaning, verdictOfStatus } from './http/verdict.ts'
import type { Io, Link, Outcome, Outgoing, Provider } from './provider.ts'
import { incompletePartIds, joinPartIds } from './shared/part-ids.ts'
import { NO_SENDER, rejectUnsendable, SMS_POLICY, withoutPlus } from './shared/sms.ts'
import { explainCode, SUBMIT_CODES } from './vonage/codes.ts'
import { type Proof, readCallback, SIGNATURE_METHODS } from './vonage/receipts.ts'

const BASE_URL = 'https://rest.nexmo.com'
/** Vonage accepts no longer callback URLs. */
const MAX_CALLBACK_LENGTH = 100

const Config = Type.Object(
  {
    apiKey: Type.String({
      ...withPattern('^[A-Za-z0-9]{1,32}$', 'must be letters and digits alone, at most 32'),
      description: 'The account’s API key.',
    }),
    apiSecret: Secret('The account’s API secret.', 100),
    signatureSecret: Type.Optional(
      Secret('Set it if the account signs its webhooks; unsigned receipts are then refused.', 100),
    ),
    signatureMethod: Type.Optional(
      Type.Enum([...SIGNATURE_METHODS], {
        default: 'md5hash',
        description: 'As in the account’s settings: a hash, or an HMAC by its algorithm.',
      }),
    ),
    from: Type.Optional(Sender),
    baseUrl: Type.Optional(BaseUrl(BASE_URL)),
    ...HTTP_FIELDS,
  },
  { additionalProperties: false },
)

export type VonageConfig = Static<typeof Config>

/**
 * SMS by Vonage's SMS API. Vonage returns our `client-ref` in receipts, but does not dedupe by it. A long message
 * has an id, and receipts, for each part.
 */
export const vonageProvider: Provider<VonageConfig> = {
  key: 'vonage',
  channels: ['local_sms', 'int_sms'],
  policy: SMS_POLICY,
  config: Config,
  secrets: ['apiSecret', 'signatureSecret'],
  dedupes: false,
  usesWebhooks: true,
  explain: explainCode,
  open: async (config, io) => openLink(config, io),
}

function openLink(config: VonageConfig, io: Io): Link {
  const { concurrency, ...rate } = laneSettings(config)
  const origin = new URL(config.baseUrl ?? BASE_URL)
  const base = pathOf(origin)
  const proof = proofOf(config, io)
  const callback = callbackOf(proof, io)
  const api = openHttpApi({ name: 'vonage', origin, connections: concurrency, io })
  warnOfNoReceipts('vonage', io)

  async function send(message: Outgoing, signal: AbortSignal): Promise<Outcome> {
    const refused = rejectUnsendable(message)
    if (refused) return refused
    const from = message.from ?? config.from
    if (from === undefined) return NO_SENDER
    const request: HttpRequest = {
      method: 'POST',
      path: `${base}/sms/json`,
      headers: { 'Content-Type': 'application/x-www-form-urlencoded', Accept: 'application/json' },
      body: bodyOf(message, from, config, callback),
    }
    return api.submit(request, answer => readAnswer(answer, message, config, io.clock.now()), signal)
  }

  const account = Buffer.from(`${config.apiKey}:${config.apiSecret}`).toString('base64')
  const balance: HttpRequest = {
    method: 'GET',
    path: `${base}/account/get-balance`,
    headers: { Authorization: `Basic ${account}` },
  }

  return {
    concurrency,
    ...rate,
    send,
    receive: async request => readCallback(request, proof),
    test: async signal => testResultOf(await api.exchange(balance, signal)),
    close: api.close,
  }
}

function proofOf({ signatureSecret, signatureMethod }: VonageConfig, io: Io): Proof {
  if (signatureSecret === undefined) return { token: io.receiptToken }
  return { secret: signatureSecret, method: signatureMethod ?? 'md5hash' }
}

function callbackOf(proof: Proof, io: Io): string | null {
  if (io.receiptUrl === null) return null
  const url = 'token' in proof ? withToken(io.receiptUrl, proof.token) : io.receiptUrl
  if (url.length <= MAX_CALLBACK_LENGTH) return url
  const text = `vonage: no delivery receipts are requested, since the callback URL is longer than ${MAX_CALLBACK_LENGTH} characters`
  io.log.warn({ length: url.length }, text)
  return null
}

function bodyOf(message: Outgoing, from: string, config: VonageConfig, callback: string | null): string {
  const form = new URLSearchParams({
    api_key: config.apiKey,
    api_secret: config.apiSecret,
    to: withoutPlus(message.to),
    from: withoutPlus(from),
    text: message.text,
    'client-ref': message.attemptId,
  })
  if (countSms(message.text).encoding === 'UCS-2') form.set('type', 'unicode')
  if (callback !== null) form.set('callback', callback)
  return form.toString()
}

type Part = { status: string; id: string; errorText: unknown }

function readAnswer(answer: Answer, message: Outgoing, config: VonageConfig, nowMs: number): Verdict {
  const parts = answer.status === 200 ? partsOf(answer) : null
  if (parts === null) return verdictOfStatus(answer, nowMs)
  const taken = parts.filter(part => part.status === '0').map(part => part.id)
  const failed = parts.find(part => part.status !== '0')
  if (!failed) return { outcome: { kind: 'accepted', ...joinPartIds(taken), parts: parts.length } }
  if (taken.length > 0) return partlyAccepted(taken, parts.length, failed)
  return refusal(answer, failed, message, config, nowMs)
}

/** The parts in an answer; null where it is not an answer of this API. */
function partsOf({ body }: Answer): Part[] | null {
  const messages = parseJsonObject(body)?.['messages']
  if (!Array.isArray(messages) || messages.length === 0) return null
  const parts = messages.map((each: Record<string, unknown> | null) => ({
    status: wordOf(each?.['status']),
    id: wordOf(each?.['message-id']).slice(0, 100),
    errorText: each?.['error-text'],
  }))
  return parts.some(part => !/^\d{1,3}$/.test(part.status) || (part.status === '0' && part.id === ''))
    ? null
    : parts
}

/** A text, or a number as text; '' for anything else, since `String()` throws on some objects. */
function wordOf(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : ''
}

/** Unknown: "accepted" would hide the missing parts, and "rejected" would release the money for those that were taken. */
function partlyAccepted(taken: readonly string[], total: number, failed: Part): Verdict {
  const why = SUBMIT_CODES[failed.status]?.text ?? `status ${failed.status}`
  const detail = `${taken.length} of ${total} parts were taken, then: ${why}`
  const pieces = incompletePartIds(taken, total)
  return { outcome: { kind: 'unknown', detail, providerCode: failed.status, pieces } }
}

function refusal(
  answer: Answer,
  { status, errorText }: Part,
  message: Outgoing,
  { apiSecret }: VonageConfig,
  nowMs: number,
): Verdict {
  const meaning = SUBMIT_CODES[status]
  if (meaning) return verdictOfMeaning(meaning, status, answer, nowMs)
  const said = quotableText(errorText, message, [apiSecret])
  const detail = `Vonage refuses the message with status ${status}${said ? `: ${said}` : '.'}`
  return { outcome: { kind: 'rejected', code: 'MESSAGE_REJECTED', detail, providerCode: status } }
}
