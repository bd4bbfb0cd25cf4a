import { type Static, Type } from 'typebox'
import { openHttpApi, testResultOf, warnOfNoReceipts } from './http/api.ts'
import type { Answer, HttpRequest } from './http/client.ts'
import { BaseUrl, HTTP_FIELDS, laneSettings, pathOf, Secret, Sender } from './http/config.ts'
import { parseJsonObject, withToken } from './http/inbound.ts'
import { quotableText, type Verdict, verdictOfMeaning, verdictOfStatus } from './http/verdict.ts'
import { DUPLICATE, explainCode, GROUP, REFUSED, STATUS_CODES } from './infobip/codes.ts'
import { readCallback, statusOf } from './infobip/reports.ts'
import type { Io, Link, Outcome, Outgoing, Provider } from './provider.ts'
import { rejectUnsendable, SMS_POLICY, withoutPlus } from './shared/sms.ts'

const Config = Type.Object(
  {
    baseUrl: BaseUrl('none, every account has its own, such as https://abc123.api.infobip.com'),
    apiKey: Secret('An API key with the scopes sms:message:send and sms:logs:read.', 200),
    from: Type.Optional(Sender),
    ...HTTP_FIELDS,
  },
  { additionalProperties: false },
)

export type InfobipConfig = Static<typeof Config>

/**
 * SMS by Infobip's `/sms/3/messages`. The attempt's id is sent as `messageId`, so that an
 * attempt without an answer can be looked up. Infobip refuses an id that it has, but does not
 * say for how long it remembers ids: too weak a promise to send an unknown attempt again.
 */
export const infobipProvider: Provider<InfobipConfig> = {
  key: 'infobip',
  channels: ['local_sms', 'int_sms'],
  policy: SMS_POLICY,
  config: Config,
  secrets: ['apiKey'],
  dedupes: false,
  usesWebhooks: true,
  explain: explainCode,
  open: async (config, io) => openLink(config, io),
}

function openLink(config: InfobipConfig, io: Io): Link {
  const { concurrency, ...rate } = laneSettings(config)
  const origin = new URL(config.baseUrl)
  const base = pathOf(origin)
  const headers = { Authorization: `App ${config.apiKey}`, Accept: 'application/json' }
  const reportUrl = io.receiptUrl === null ? null : withToken(io.receiptUrl, io.receiptToken)
  const api = openHttpApi({ name: 'infobip', origin, connections: concurrency, io })
  warnOfNoReceipts('infobip', io)

  async function send(message: Outgoing, signal: AbortSignal): Promise<Outcome> {
    const refused = rejectUnsendable(message)
    if (refused) return refused
    const request: HttpRequest = {
      method: 'POST',
      path: `${base}/sms/3/messages`,
      headers: { ...headers, 'Content-Type': 'application/json' },
      body: JSON.stringify(bodyOf(message, config, reportUrl)),
    }
    return api.submit(request, answer => readAnswer(answer, message, config, io.clock.now()), signal)
  }

  /** Looks in Infobip's log of the last 48 hours. A message that is not in it may still be on its way. */
  async function find(attemptId: string, signal: AbortSignal): Promise<Outcome> {
    const asked = await api.exchange(logRequest(attemptId), signal)
    if (asked.kind !== 'answer') {
      return { kind: 'unknown', detail: `Infobip’s log was not reached (${asked.code}).` }
    }
    const { status, body } = asked.answer
    const results = status === 200 ? parseJsonObject(body)?.['results'] : null
    const found = Array.isArray(results) ? results.find(isEntryOf(attemptId)) : undefined
    return found === undefined ? NOT_FOUND : outcomeOfLog(found.status, attemptId)
  }

  function logRequest(attemptId: string): HttpRequest {
    return {
      method: 'GET',
      path: `${base}/sms/3/logs?messageId=${encodeURIComponent(attemptId)}&limit=1`,
      headers,
    }
  }

  return {
    concurrency,
    ...rate,
    send,
    find,
    receive: async request => readCallback(request, io.receiptToken),
    // Asks for a message that does not exist: changes nothing, and proves the key.
    test: async signal => testResultOf(await api.exchange(logRequest('posthorn-test'), signal)),
    close: api.close,
  }
}

/** The entry of the message itself, not of a repeat that was refused because of its id. */
function isEntryOf(attemptId: string) {
  return (each: { messageId?: unknown; status?: unknown } | null) =>
    each?.messageId === attemptId && statusOf(each.status)?.id !== DUPLICATE
}

/** Refused messages are in the log too. What happened after Infobip took a message comes by receipts. */
function outcomeOfLog(status: unknown, attemptId: string): Outcome {
  const known = statusOf(status)
  if (known?.groupId !== GROUP.rejected) return { kind: 'accepted', providerId: attemptId }
  const meaning = STATUS_CODES[String(known.id)] ?? REFUSED
  return verdictOfMeaning(meaning, String(known.id), EMPTY_ANSWER, 0).outcome
}

/** Stands in for the answer's head: the log has no Retry-After. */
const EMPTY_ANSWER: Answer = { status: 200, headers: {}, body: Buffer.alloc(0) }

const NOT_FOUND: Outcome = { kind: 'unknown', detail: 'The message is not in Infobip’s log.' }

function bodyOf(message: Outgoing, config: InfobipConfig, reportUrl: string | null) {
  const from = message.from ?? config.from
  return {
    messages: [
      {
        // Without a sender, Infobip uses the account's default.
        ...(from !== undefined && { sender: withoutPlus(from) }),
        destinations: [{ to: withoutPlus(message.to), messageId: message.attemptId }],
        content: { text: message.text },
        ...(reportUrl !== null && {
          webhooks: { delivery: { url: reportUrl }, contentType: 'application/json' },
        }),
      },
    ],
  }
}

function readAnswer(answer: Answer, message: Outgoing, { apiKey }: InfobipConfig, nowMs: number): Verdict {
  const said = parseJsonObject(answer.body)
  if (answer.status < 200 || answer.status >= 300) {
    return verdictOfStatus(answer, nowMs, undefined, quotableText(errorTextOf(said), message, [apiKey]))
  }
  const [first] = Array.isArray(said?.['messages']) ? said['messages'] : []
  const { messageId, status } = (first ?? {}) as Record<string, unknown>
  const known = statusOf(status)
  if (!known) return verdictOfStatus(answer, nowMs)
  const { groupId, id } = known
  if (ACCEPTED_GROUPS.has(groupId)) {
    const named = typeof messageId === 'string' && messageId !== ''
    return { outcome: { kind: 'accepted', providerId: named ? messageId.slice(0, 200) : message.attemptId } }
  }
  if (id === DUPLICATE) return { outcome: DUPLICATE_ID }
  if (!REFUSED_GROUPS.has(groupId)) return verdictOfStatus(answer, nowMs)
  return verdictOfMeaning(STATUS_CODES[String(id)] ?? REFUSED, String(id), answer, nowMs)
}

/** Infobip has a message by our attempt's id, so an earlier copy of this request reached it; the log tells its outcome. */
const DUPLICATE_ID: Outcome = {
  kind: 'unknown',
  detail: STATUS_CODES[DUPLICATE]!.text,
  providerCode: String(DUPLICATE),
}

const ACCEPTED_GROUPS = new Set<number>([GROUP.accepted, GROUP.pending, GROUP.delivered])
const REFUSED_GROUPS = new Set<number>([GROUP.undeliverable, GROUP.expired, GROUP.rejected])

/** The text of an error of version 3, or of the older form that Infobip's gateways still use. */
function errorTextOf(said: Record<string, unknown> | null): unknown {
  if (typeof said?.['description'] === 'string') return said['description']
  const { serviceException } = (said?.['requestError'] ?? {}) as Record<string, unknown>
  return ((serviceException ?? {}) as Record<string, unknown>)['text']
}
