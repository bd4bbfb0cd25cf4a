import type { AccountSnapshot, Caller } from '../../contract/caller.ts'
import type { Channel, KeyMode, MessageType } from '../../contract/enums.ts'
import { invalid } from '../../contract/errors.ts'
import { SANDBOX } from '../../contract/sandbox.ts'
import type { SenderSource, SingleSendBody } from '../../contract/send.ts'
import type { AccountId, ConnectionId } from '../../lib/ids.ts'
import type { Phones } from '../../lib/phone.ts'
import type { PriceTable } from '../billing/price-table.ts'
import { type BotRoute, routeBot } from '../bots/conversation.ts'
import type { BotConversation } from '../bots/subscriber-store.ts'
import { carriedBy } from '../connections/carrier.ts'
import type { ConnectionSnapshot } from '../connections/snapshot.ts'
import type { MayLeaveAt, QuietHoursMessage } from '../consent/quiet-hours.ts'
import { type RequestedSender, requestedSenderOf, type StoredTemplate } from '../outbox/stored-content.ts'
import { type Recipient, readRecipient } from '../routing/recipient.ts'
import { type Carrier, chooseRoute, type Route } from '../routing/route.ts'
import { checkNamedSender, chooseSender } from '../senders/choose.ts'
import { officialConnections } from '../senders/official-route.ts'
import type { AccountSendersSnapshot } from '../senders/snapshot.ts'
import { chooseSession } from '../sessions/choose.ts'
import type { SessionSnapshot } from '../sessions/snapshot.ts'
import type { AccountTemplatesSnapshot } from '../templates/snapshot.ts'
import type { NamedAssets } from './assets.ts'
import { type AttachmentPlan, type CheckUrl, planAttachment } from './attachment.ts'
import { checkContent, readMessageType } from './content.ts'
import { type Context, readContext } from './context.ts'
import { type RenderedMessage, renderMessage } from './render-message.ts'
import { readSchedule } from './schedule.ts'
import {
  channelByTemplate,
  connectionsByTemplate,
  findTemplate,
  type NamedTemplate,
  typeByTemplate,
} from './template-find.ts'

/** The data for planning a send of an account; from caches, so that planning needs no query. */
export type World = {
  connections: readonly ConnectionSnapshot[]
  senders: AccountSendersSnapshot
  prices: PriceTable
  templates: AccountTemplatesSnapshot
  /** The web sessions of the account's live keys, the oldest first. */
  sessions: readonly SessionSnapshot[]
  /** The uploaded files that the body names, if they exist. */
  assets?: NamedAssets
  /** The bot that the body names, and the chat with it; null if the account has no such bot. */
  conversation?: BotConversation | null
}

export type PrepareDeps = {
  phones: Phones
  checkUrl: CheckUrl
  sandboxForLive: boolean
  /** The earliest time at which a message may be sent, after quiet hours. */
  mayLeaveAt: MayLeaveAt
  /** Whether a connection takes messages now; others are chosen last. */
  ready(id: ConnectionId): boolean
  /** Reorders the channels that may carry it, for sends with `channel: auto`. */
  reorder?(channels: readonly Channel[]): readonly Channel[]
}

/** A send that is routed and rendered. */
export type Planned = RenderedMessage & {
  accountId: AccountId
  mode: KeyMode
  channel: Channel
  candidates: readonly Channel[]
  connectionId: ConnectionId
  provider: string
  messageType: MessageType
  recipient: string
  country: string | null
  sender: string | null
  senderSource: SenderSource
  /** The sender that the body names, which a failover to another channel uses again. */
  requestedSender: RequestedSender | null
  attachment: AttachmentPlan | null
  context: Context | null
  metadata: unknown
  currency: string
  /** Free text that is allowed only within 24 hours of a message from the recipient. */
  needsWindow: boolean
  /** For SMS only. */
  parts: number | null
  /** Whether a pool of the plan includes the channel. */
  pooled: boolean
  /** In ms since the epoch; null for now. */
  scheduledAt: number | null
}

/** A send that is ready to be accepted. */
export type Prepared = Planned & {
  /** Micros; what the message costs, or would cost a live key. */
  amount: number
}

/** The longest `options.metadata`, as JSON. */
const MAX_METADATA_CHARACTERS = 16_384

/**
 * Plans a send, without its price, from a valid body. Throws a Problem that names the field.
 * Pure except for look-ups in memory; sends, estimates and bulk rows share it. `excluded`:
 * channels that turned out not to reach the recipient.
 */
export function planSend(
  body: SingleSendBody,
  caller: Caller,
  world: World,
  nowMs: number,
  deps: PrepareDeps,
  excluded: readonly Channel[] = [],
): Planned {
  checkContent(body)
  const context = readContext(body)
  const recipient = readRecipient(body.to, deps.phones)
  if (!recipient)
    throw invalid('to', 'must be a phone number in E.164, an e-mail address, a group id or a chat id')
  const bot = botOf(context, caller.mode, world, deps)
  const named = findTemplate(body, recipient, world.templates, context?.channel ?? null)
  const messageType = named ? typeByTemplate(body, named) : readMessageType(body)
  const known = {
    context,
    recipient,
    named,
    messageType,
    connections: bot?.connections ?? world.connections,
    excluded,
  }
  const route = routeOf(body, caller, known, world, deps)
  // Before the text, so that a file on a channel without files is not reported as a missing text.
  const attachment = planAttachment(body.attachment, route.channel, {
    checkUrl: deps.checkUrl,
    assets: world.assets,
  })
  const { rendered, template, code } = renderMessage(body, route, named?.template ?? null, {
    checkUrl: deps.checkUrl,
    assets: world.assets,
    templates: world.templates,
    mode: caller.mode,
  })
  const session = isOverSession(route)
    ? chooseSession(body.conversationContext?.accountId, world.sessions)
    : null
  checkNamedSender(body, world.senders)
  const sender = chooseSender(body, route.channel, caller.account.id, world.senders, route.connection)
  const country = recipient.kind === 'phone' ? recipient.country : null
  const parts = rendered.sms?.parts ?? null

  return {
    accountId: caller.account.id,
    mode: caller.mode,
    channel: route.channel,
    candidates: route.candidates,
    // A session is a separate connection, with a lane on the node that holds it.
    connectionId: session?.id ?? route.connection.id,
    provider: route.connection.provider,
    messageType,
    // A bot's group may have moved to another chat id.
    recipient: bot?.chatId ?? recipient.address,
    country,
    sender: session?.name ?? sender.from,
    senderSource: sender.source,
    requestedSender: requestedSenderOf(body),
    rendered,
    template,
    code,
    attachment,
    context,
    metadata: readMetadata(body),
    needsWindow: needsWindow(route, messageType, template?.stored ?? null),
    currency: caller.account.currency,
    parts,
    pooled: isPooled(caller.account, route.channel),
    scheduledAt: dueTimeOf(
      { messageType, country, account: caller.account },
      readSchedule(body.options?.scheduleAt, caller.account.plan, nowMs),
      nowMs,
      deps,
    ),
  }
}

/** The parts of a send that routing needs. */
type Routable = {
  context: Context | null
  recipient: Recipient
  named: NamedTemplate | null
  messageType: MessageType
  connections: readonly ConnectionSnapshot[]
  excluded: readonly Channel[]
}

/** Chooses channel and connection, among those that the template and the official sender allow. */
function routeOf(
  body: SingleSendBody,
  { account, mode }: Caller,
  { context, recipient, named, messageType, connections, excluded }: Routable,
  { senders }: World,
  { sandboxForLive, ready, reorder }: PrepareDeps,
): Route {
  const contextChannel = context?.channel ?? null
  const { homeCountry } = account
  const channel = named
    ? channelByTemplate(body, named, recipient, contextChannel, homeCountry)
    : (body.channel ?? 'auto')
  const fitting = named ? connectionsByTemplate(body, named, mode, connections) : connections
  const choice = senders.officialChoice
  return chooseRoute({
    channel,
    recipient,
    messageType,
    contextChannel,
    homeCountry,
    mode,
    connections: officialConnections({ body, accountId: account.id, mode, choice, channel }, fitting),
    sandboxForLive,
    excluded,
    ready,
    ...(reorder && { reorder }),
  })
}

/** Whether a pool of the plan includes the channel. */
export function isPooled({ plan }: AccountSnapshot, channel: Channel): boolean {
  return plan.pools.some(pool => pool.channels.includes(channel))
}

/** The bot of the conversation, with its connections; null for messages that do not go to a bot. */
function botOf(
  context: Context | null,
  mode: KeyMode,
  { conversation, connections }: World,
  { sandboxForLive }: PrepareDeps,
): BotRoute | null {
  if (context?.channel !== 'botapp_bot') return null
  const simulated = carriedBy('botapp_bot', { mode, connections, sandboxForLive }) !== 'real'
  return routeBot(context, conversation ?? null, { mode, connections, simulated })
}

function isOverSession({ channel, connection }: Carrier): boolean {
  return channel === 'user_chatapp_session' && connection.provider !== SANDBOX
}

/** For the official chat app only, and not for templates, which may be sent at any time. */
export function needsWindow(
  { channel, connection }: Carrier,
  messageType: MessageType,
  stored: StoredTemplate | null,
): boolean {
  return (
    channel === 'official_chatapp' &&
    stored === null &&
    connection.sendModeByType[messageType] === 'template_optional'
  )
}

/** When the message is due; null for at once. The end of quiet hours does not need a plan that allows scheduling. */
function dueTimeOf(
  message: Omit<QuietHoursMessage, 'atMs'>,
  scheduledMs: number | null,
  nowMs: number,
  { mayLeaveAt }: PrepareDeps,
): number | null {
  const atMs = scheduledMs ?? nowMs
  const mayMs = mayLeaveAt({ ...message, atMs })
  return mayMs > atMs ? mayMs : scheduledMs
}

function readMetadata(body: SingleSendBody): unknown {
  const metadata = body.options?.metadata
  if (metadata === undefined) return null
  if (JSON.stringify(metadata).length > MAX_METADATA_CHARACTERS) {
    throw invalid('options.metadata', `must be at most ${MAX_METADATA_CHARACTERS} characters as JSON`)
  }
  return metadata
}

/** Prices a planned send, an SMS per part. Throws a 400 (no route) for a destination without a price. */
export function priceSend(planned: Planned, world: World): Prepared {
  const { channel, country, recipient, messageType, currency } = planned
  const perPart = world.prices.find({
    channel,
    country,
    e164: recipient.startsWith('+') ? recipient : null,
    messageType,
    currency,
  })
  if (perPart === null) {
    const where = country === null ? '' : ` to ${country}`
    throw invalid(
      'to',
      `no route: there is no price for ${messageType} over ${channel}${where} in ${currency}`,
    )
  }
  return { ...planned, amount: perPart * (planned.parts ?? 1) }
}
