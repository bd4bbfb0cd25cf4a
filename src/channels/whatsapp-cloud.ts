import { MESSAGE_TYPES } from '../contract/enums.ts'
import { openHttpApi, testResultOf, warnOfNoReceipts } from './http/api.ts'
import { laneSettings } from './http/config.ts'
import type { InboundResult, Io, Link, Outcome, Outgoing, Provider } from './provider.ts'
import { explainCode } from './whatsapp-cloud/codes.ts'
import { Config, graphOf, type WhatsAppCloudConfig } from './whatsapp-cloud/config.ts'
import { openMedia } from './whatsapp-cloud/download.ts'
import { type Graph, graphRequest, readSubmit, type SendVerdict } from './whatsapp-cloud/graph.ts'
import { readIdentity } from './whatsapp-cloud/identity.ts'
import { prepareMedia } from './whatsapp-cloud/media.ts'
import { bodyOf, filesOf, rejectUnsendable } from './whatsapp-cloud/message.ts'
import { createPairLimit } from './whatsapp-cloud/pair-limit.ts'
import { createPausedTemplates } from './whatsapp-cloud/paused-templates.ts'
import { createTemplates } from './whatsapp-cloud/templates.ts'
import { readCall } from './whatsapp-cloud/webhooks.ts'

export type { WhatsAppCloudConfig } from './whatsapp-cloud/config.ts'

/**
 * The official chat-app channel by WhatsApp's Cloud API. It does not dedupe by our ids, but returns
 * our attempt's id in its statuses, which so settle an attempt whose answer was lost.
 */
export const whatsAppCloudProvider: Provider<WhatsAppCloudConfig> = {
  key: 'whatsapp-cloud',
  channels: ['official_chatapp'],
  policy: {
    allowedTypes: MESSAGE_TYPES,
    // Free text within 24 hours of the recipient's last message, a template at any time.
    sendModeByType: {
      otp: 'template_optional',
      utility: 'template_optional',
      marketing: 'template_optional',
      free_text: 'template_optional',
    },
    requiresApprovedTemplate: false,
    supportsUserSender: true,
    supportsSystemSenderFallback: true,
    retryPolicy: { maxAttempts: 12, backoffMs: 2_000 },
  },
  config: Config,
  secrets: ['accessToken', 'appSecret', 'verifyToken'],
  dedupes: false,
  usesWebhooks: true,
  explain: explainCode,
  open: async (config, io) => openLink(config, io),
}

function openLink(config: WhatsAppCloudConfig, io: Io): Link {
  const { concurrency } = laneSettings(config)
  const { origin, base } = graphOf(config)
  const graph: Graph = {
    api: openHttpApi({
      name: 'whatsapp-cloud',
      origin,
      connections: concurrency,
      mostAnswerBytes: MAX_ANSWER_BYTES,
      io,
    }),
    base,
    headers: { Authorization: `Bearer ${config.accessToken}`, Accept: 'application/json' },
    secrets: [config.accessToken, config.appSecret, config.verifyToken],
    clock: io.clock,
  }
  const pairLimit = createPairLimit(io.clock)
  const templates = createTemplates(graph, config.businessAccountId, config.appId ?? 'app')
  const pausedTemplates = createPausedTemplates(io)
  warnOfNoReceipts('whatsapp-cloud', io)

  async function send(message: Outgoing, signal: AbortSignal): Promise<Outcome> {
    const refused = rejectUnsendable(message)
    if (refused) return refused
    const waitMs = pairLimit.acquire(message.to)
    if (waitMs > 0) return pairThrottled(waitMs)
    pausedTemplates.remember(message)
    const outcome = await submit(message, signal)
    if (outcome.kind === 'accepted') pairLimit.recordAccepted(message.to)
    else if (outcome.kind !== 'unknown') pairLimit.release(message.to)
    return outcome
  }

  async function submit(message: Outgoing, signal: AbortSignal): Promise<Outcome> {
    const media = await prepareMedia(filesOf(message), config.phoneNumberId, graph, signal)
    if ('kind' in media) return media
    const body = bodyOf(message, media)
    const request = graphRequest(graph, `${config.phoneNumberId}/messages`, { body })
    return graph.api.submit(
      request,
      answer => recordFindings(readSubmit(answer, message, graph, io.clock.now()), message),
      signal,
    )
  }

  /** A refusal may also show that a recipient gets messages too often, or that a template was paused: records both. */
  function recordFindings(verdict: SendVerdict, message: Outgoing): SendVerdict {
    const { outcome } = verdict
    if (verdict.template && 'detail' in outcome)
      pausedTemplates.report(message.attemptId, outcome.detail ?? null)
    if (!verdict.pair || outcome.kind !== 'throttled') return verdict
    return { ...verdict, outcome: { ...outcome, afterMs: pairLimit.recordRefused(message.to) } }
  }

  /** Adds template updates: a status may also show that a template was paused or disabled. */
  function withTemplateUpdates(answer: InboundResult): InboundResult {
    if (answer.kind !== 'taken') return answer
    return {
      ...answer,
      inbound: answer.inbound.flatMap(each => [each, ...pausedTemplates.updatesFrom(each)]),
    }
  }

  return {
    concurrency,
    messagesPerSecond: config.messagesPerSecond ?? MESSAGES_PER_SECOND,
    send,
    receive: async request => withTemplateUpdates(readCall(request, config)),
    submitTemplate: templates.submit,
    readTemplate: templates.read,
    findTemplate: templates.find,
    deleteTemplate: templates.remove,
    openMedia: ({ reference }, signal) =>
      openMedia(graph, { origin, phoneNumberId: config.phoneNumberId, clock: io.clock }, reference, signal),
    identity: signal => readIdentity(graph, config.phoneNumberId, signal),
    test: async signal =>
      testResultOf(
        await graph.api.exchange(graphRequest(graph, `${config.phoneNumberId}?fields=id`), signal),
      ),
    close: graph.api.close,
  }
}

/** Enough for a page of a hundred templates with long texts and addresses, written as \uXXXX escapes. */
const MAX_ANSWER_BYTES = 4 * 1_048_576
/** The default rate of a number at WhatsApp. */
const MESSAGES_PER_SECOND = 80

function pairThrottled(afterMs: number): Outcome {
  const detail = 'Messages are sent to this recipient faster than WhatsApp allows; this one waits.'
  return { kind: 'throttled', scope: 'message', afterMs, detail, providerCode: '131056' }
}
