import { MESSAGE_TYPES } from '../contract/enums.ts'
import { createLru } from '../lib/lru.ts'
import { laneOf } from './http/config.ts'
import { checkOf, openLine, warnOfNoReceipts } from './http/line.ts'
import type { Io, Link, Outcome, Outgoing, OutgoingTemplate, Provider } from './provider.ts'
import { explainCode } from './whatsapp-cloud/codes.ts'
import { Config, graphOf, type WhatsAppCloudConfig } from './whatsapp-cloud/config.ts'
import { type Graph, graphRequest, readSubmit, type SendVerdict } from './whatsapp-cloud/graph.ts'
import { readIdentity } from './whatsapp-cloud/identity.ts'
import { placeMedia } from './whatsapp-cloud/media.ts'
import { bodyOf, filesOf, unsendable } from './whatsapp-cloud/message.ts'
import { createPairs } from './whatsapp-cloud/pairs.ts'
import { createTemplates } from './whatsapp-cloud/templates.ts'
import { readCall } from './whatsapp-cloud/webhooks.ts'

export type { WhatsAppCloudConfig } from './whatsapp-cloud/config.ts'

/** A template that is paused refuses every message by it: told once in this time. */
const TELL_TEMPLATE_EVERY_MS = 60_000
const MOST_TEMPLATES = 1_000

/**
 * The official chat-app channel by WhatsApp's Cloud API. It dedupes by nothing of ours, but
 * carries our attempt's id along: the status of an attempt whose answer was lost settles it.
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
    retryPolicy: { maxAttempts: 4, backoffMs: 2_000 },
  },
  config: Config,
  secrets: ['accessToken', 'appSecret', 'verifyToken'],
  dedupes: false,
  explain: explainCode,
  open: async (config, io) => openLink(config, io),
}

function openLink(config: WhatsAppCloudConfig, io: Io): Link {
  const { concurrency } = laneOf(config)
  const { origin, base } = graphOf(config)
  const graph: Graph = {
    line: openLine({ name: 'whatsapp-cloud', origin, connections: concurrency, io }),
    base,
    headers: { Authorization: `Bearer ${config.accessToken}`, Accept: 'application/json' },
    secrets: [config.accessToken, config.appSecret, config.verifyToken],
  }
  const pairs = createPairs(io.clock)
  const templates = createTemplates(graph, config.businessAccountId, config.appId ?? 'app')
  const tellTemplate = createTemplateTeller(io)
  warnOfNoReceipts('whatsapp-cloud', io)

  async function send(message: Outgoing, signal: AbortSignal): Promise<Outcome> {
    const refused = unsendable(message)
    if (refused) return refused
    const waitMs = pairs.take(message.to)
    if (waitMs > 0) return tooSoon(waitMs)
    const outcome = await submit(message, signal)
    if (outcome.kind === 'accepted') pairs.taken(message.to)
    else if (outcome.kind !== 'unknown') pairs.giveBack(message.to)
    return outcome
  }

  async function submit(message: Outgoing, signal: AbortSignal): Promise<Outcome> {
    const media = await placeMedia(filesOf(message), config.phoneNumberId, graph, signal)
    if ('kind' in media) return media
    const body = bodyOf(message, media)
    const request = graphRequest(graph, `${config.phoneNumberId}/messages`, { body })
    return graph.line.submit(
      request,
      answer => heed(readSubmit(answer, message, graph, io.clock.now()), message),
      signal,
    )
  }

  /** What a refusal tells beside the message's own fate. */
  function heed(verdict: SendVerdict, message: Outgoing): SendVerdict {
    const { outcome } = verdict
    if (verdict.template && message.template) tellTemplate(message.template, message.attemptId, outcome)
    if (!verdict.pair || outcome.kind !== 'throttled') return verdict
    return { ...verdict, outcome: { ...outcome, afterMs: pairs.refused(message.to) } }
  }

  return {
    concurrency,
    messagesPerSecond: config.messagesPerSecond ?? MESSAGES_PER_SECOND,
    send,
    receive: async request => readCall(request, config),
    submitTemplate: templates.submit,
    readTemplate: templates.read,
    findTemplate: templates.find,
    deleteTemplate: templates.remove,
    identity: signal => readIdentity(graph, config.phoneNumberId, signal),
    test: async signal =>
      checkOf(await graph.line.ask(graphRequest(graph, `${config.phoneNumberId}?fields=id`), signal)),
    close: graph.line.close,
  }
}

/** What a number may send where nobody says otherwise. */
const MESSAGES_PER_SECOND = 80

function tooSoon(afterMs: number): Outcome {
  const detail = 'Messages to this recipient come faster than WhatsApp allows; this one waits.'
  return { kind: 'throttled', scope: 'message', afterMs, detail, providerCode: '131056' }
}

/** Tells that a template is of no use any more as soon as a refusal says so, rather than when it is next looked at. */
function createTemplateTeller(io: Io) {
  const told = createLru<string, number>(MOST_TEMPLATES)

  return ({ name, language, providerTemplateId }: OutgoingTemplate, attemptId: string, outcome: Outcome) => {
    const key = `${language} ${name}`
    const nowMs = io.clock.now()
    if (providerTemplateId === null || nowMs - (told.get(key) ?? 0) < TELL_TEMPLATE_EVERY_MS) return
    told.set(key, nowMs)
    const reason = 'detail' in outcome ? (outcome.detail ?? null) : null
    const state = { providerTemplateId, name, language, status: 'disabled', reason } as const
    io.emit([{ kind: 'template', eventId: `refused:${attemptId}`, state }]).catch(error =>
      io.log.warn({ err: error }, 'whatsapp-cloud: a paused template could not be told; it is polled'),
    )
  }
}
