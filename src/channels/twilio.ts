import { type Static, Type } from 'typebox'
import { withPattern } from '../contract/pattern.ts'
import { openHttpApi, testResultOf, warnOfNoReceipts } from './http/api.ts'
import type { Answer, HttpRequest } from './http/client.ts'
import { BaseUrl, HTTP_FIELDS, laneSettings, pathOf, Secret, Sender } from './http/config.ts'
import { parseJsonObject } from './http/inbound.ts'
import { quotableText, type Verdict, verdictOfMeaning, verdictOfStatus } from './http/verdict.ts'
import type { Io, Link, Outcome, Outgoing, Provider } from './provider.ts'
import { NO_SENDER, rejectUnsendable, SMS_POLICY, withPlus } from './shared/sms.ts'
import { explainCode, SUBMIT_CODES } from './twilio/codes.ts'
import { readCallback, withAttempt } from './twilio/receipts.ts'

const BASE_URL = 'https://api.twilio.com'

const Sid = (kind: string) =>
  withPattern(`^${kind}[0-9a-fA-F]{32}$`, `must be ${kind} and 32 digits of base 16 (0 to 9, a to f)`)

const Config = Type.Object(
  {
    accountSid: Type.String({
      ...Sid('AC'),
      description: 'The account, from the console.',
    }),
    authToken: Secret('The account’s primary auth token; it also proves that receipts are Twilio’s.', 100),
    apiKeySid: Type.Optional(
      Type.String({
        ...Sid('SK'),
        description: 'An API key to send with instead of the token.',
      }),
    ),
    apiKeySecret: Type.Optional(Secret('The API key’s secret.', 100)),
    messagingServiceSid: Type.Optional(
      Type.String({
        ...Sid('MG'),
        description: 'The Messaging Service that chooses the sender of messages that name none.',
      }),
    ),
    from: Type.Optional(Sender),
    baseUrl: Type.Optional(BaseUrl(BASE_URL)),
    ...HTTP_FIELDS,
  },
  { additionalProperties: false },
)

export type TwilioConfig = Static<typeof Config>

/**
 * SMS by Twilio's Messages resource (API 2010-04-01). It takes no id of ours to dedupe by or to
 * look up, so the URL for its status callbacks names the attempt. After a 5xx the message may have
 * been taken: "it is possible for a customer to receive multiple messages"
 * (https://www.twilio.com/docs/api/errors/20500).
 */
export const twilioProvider: Provider<TwilioConfig> = {
  key: 'twilio',
  channels: ['local_sms', 'int_sms'],
  policy: SMS_POLICY,
  config: Config,
  secrets: ['authToken', 'apiKeySecret'],
  dedupes: false,
  usesWebhooks: true,
  explain: explainCode,
  open: async (config, io) => openLink(config, io),
}

function openLink(config: TwilioConfig, io: Io): Link {
  const { concurrency, ...rate } = laneSettings(config)
  const origin = new URL(config.baseUrl ?? BASE_URL)
  const account = `${pathOf(origin)}/2010-04-01/Accounts/${config.accountSid}`
  const headers = { Authorization: authorizationOf(config), Accept: 'application/json' }
  const secrets = [config.authToken, config.apiKeySecret ?? '']
  const api = openHttpApi({ name: 'twilio', origin, connections: concurrency, io })
  warnOfNoReceipts('twilio', io)

  async function send(message: Outgoing, signal: AbortSignal): Promise<Outcome> {
    const refused = rejectUnsendable(message)
    if (refused) return refused
    const sender = senderOf(message, config)
    if (sender === null) return NO_SENDER
    const body = new URLSearchParams({ To: message.to, ...sender, Body: message.text })
    if (io.receiptUrl !== null) body.set('StatusCallback', withAttempt(io.receiptUrl, message.attemptId))
    const request: HttpRequest = {
      method: 'POST',
      path: `${account}/Messages.json`,
      headers: { ...headers, 'Content-Type': 'application/x-www-form-urlencoded' },
      body: body.toString(),
    }
    return api.submit(request, answer => readAnswer(answer, message, secrets, io.clock.now()), signal)
  }

  return {
    concurrency,
    ...rate,
    send,
    receive: async request => readCallback(request, config.authToken),
    test: async signal =>
      testResultOf(await api.exchange({ method: 'GET', path: `${account}.json`, headers }, signal)),
    close: api.close,
  }
}

function authorizationOf({ accountSid, authToken, apiKeySid, apiKeySecret }: TwilioConfig): string {
  const keyed = apiKeySid !== undefined && apiKeySecret !== undefined
  const pair = keyed ? `${apiKeySid}:${apiKeySecret}` : `${accountSid}:${authToken}`
  return `Basic ${Buffer.from(pair).toString('base64')}`
}

/** The message's own sender, else the Messaging Service, which chooses one, else the connection's. */
function senderOf(message: Outgoing, config: TwilioConfig): Record<string, string> | null {
  if (message.from !== null) return { From: withPlus(message.from) }
  if (config.messagingServiceSid !== undefined) return { MessagingServiceSid: config.messagingServiceSid }
  return config.from === undefined ? null : { From: withPlus(config.from) }
}

function readAnswer(answer: Answer, message: Outgoing, secrets: readonly string[], nowMs: number): Verdict {
  const said = parseJsonObject(answer.body)
  if (answer.status >= 200 && answer.status < 300) return readCreated(answer, said, nowMs)
  const code = typeof said?.['code'] === 'number' ? String(said['code']) : undefined
  const meaning = code === undefined ? undefined : SUBMIT_CODES[code]
  // A 5xx stays unknown, whatever code its body has.
  if (meaning && code && answer.status < 500) return verdictOfMeaning(meaning, code, answer, nowMs)
  return verdictOfStatus(answer, nowMs, code, quotableText(said?.['message'], message, secrets))
}

function readCreated(answer: Answer, said: Record<string, unknown> | null, nowMs: number): Verdict {
  const { sid, num_segments: segments } = said ?? {}
  if (typeof sid !== 'string' || !/^[A-Za-z0-9]{1,64}$/.test(sid)) return verdictOfStatus(answer, nowMs)
  // 0 until the Messaging Service has chosen a sender.
  const parts = Number(segments)
  return { outcome: { kind: 'accepted', providerId: sid, ...(parts > 0 && { parts }) } }
}
