import type { InboundRequest } from '../contract/inbound.ts'
import { openHttpApi, testResultOf, warnOfNoReceipts } from './http/api.ts'
import { laneSettings } from './http/config.ts'
import { UNAUTHORIZED, withToken } from './http/inbound.ts'
import { explainStatus } from './http/verdict.ts'
import { createAnswerReader } from './http-sms/answer.ts'
import { type HttpSmsConfig, httpSmsConfig } from './http-sms/config.ts'
import { isInboundCall, readMessages } from './http-sms/inbound.ts'
import { readReceipts } from './http-sms/receipts.ts'
import { createRequestBuilder } from './http-sms/request.ts'
import type { InboundResult, Io, Link, Outcome, Outgoing, Provider } from './provider.ts'
import { rejected } from './shared/outcome.ts'
import { randomEventId, rejectUnsendable, SMS_POLICY } from './shared/sms.ts'

/**
 * SMS over any gateway that takes one message per HTTP request. The connection's configuration says how to write the request,
 * and how to read the answer and the receipts (`docs/providers-http-sms.md`).
 */
export const httpSmsProvider: Provider<HttpSmsConfig> = {
  key: 'http-sms',
  channels: ['local_sms', 'int_sms'],
  policy: SMS_POLICY,
  config: httpSmsConfig,
  secrets: ['secrets'],
  dedupes: false,
  usesWebhooks: true,
  // The gateway's codes are explained in the connection's configuration, and their meaning is in the outcome already.
  explain: explainStatus,
  open: async (config, io) => openLink(config, io),
}

function openLink(config: HttpSmsConfig, io: Io): Link {
  const { concurrency, ...rate } = laneSettings(config)
  const { receipts, inbound, secrets = {} } = config
  const requests = createRequestBuilder(config)
  const readAnswer = createAnswerReader(config.answer, Object.values(secrets))
  const receiptUrl = receiptUrlOf(config, io)
  const origin = new URL(new URL(config.request.url.replaceAll(/\{\{.*?\}\}/g, 'x')).origin)
  const api = openHttpApi({ name: 'http-sms', origin, connections: concurrency, tlsCa: config.tlsCa, io })
  if (receipts) warnOfNoReceipts('http-sms', io)

  async function send(message: Outgoing, signal: AbortSignal): Promise<Outcome> {
    const refused = rejectUnsendable(message)
    if (refused) return refused
    const request = requests.forMessage(message, receiptUrl)
    if (request === null) return INVALID_REQUEST
    return api.submit(request, answer => readAnswer(answer, message, io.clock.now()), signal)
  }

  /** Receipts and inbound messages come to the same URL. */
  async function receive(request: InboundRequest): Promise<InboundResult> {
    if (inbound && (!receipts || isInboundCall(request))) {
      return readMessages(request, inbound, secrets, io.receiptToken, () => randomEventId(io.random))
    }
    return receipts ? readReceipts(request, receipts, secrets, io.receiptToken) : UNAUTHORIZED
  }

  const { probe } = requests
  return {
    concurrency,
    ...rate,
    send,
    ...((receipts || inbound) && { receive }),
    ...(probe && { test: async signal => testResultOf(await api.exchange(probe, signal)) }),
    close: api.close,
  }
}

const INVALID_REQUEST = rejected(
  'MESSAGE_REJECTED',
  'The request cannot be built: the URL needs a value that the message does not have, or a value is not allowed in a header, the URL or XML.',
)

/** Receipts are asked for only where the configuration says how to read them. */
function receiptUrlOf({ receipts }: HttpSmsConfig, io: Io): string | null {
  if (receipts === undefined || io.receiptUrl === null) return null
  return receipts.proof.by === 'token' ? withToken(io.receiptUrl, io.receiptToken) : io.receiptUrl
}
