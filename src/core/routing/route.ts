import type { Channel, KeyMode, MessageType } from '../../contract/enums.ts'
import { invalid } from '../../contract/errors.ts'
import type { ConnectionSnapshot } from '../connections/snapshot.ts'
import { checkReach, type Recipient, smsChannelOf } from './recipient.ts'

export type RouteRequest = {
  /** As asked for; `auto` when the body does not say. */
  channel: Channel | 'auto'
  recipient: Recipient
  messageType: MessageType
  /** The context of a conversation names its channel. */
  contextChannel: Channel | null
  homeCountry: string
  mode: KeyMode
  /** The account's own and the platform's, in the order in which they are tried. */
  connections: readonly ConnectionSnapshot[]
  /** Whether live keys may fall back on the sandbox where there is no real connection. */
  sandboxForLive: boolean
}

export type Route = {
  channel: Channel
  connection: ConnectionSnapshot
  /** The channels that could carry the message, the chosen one first. */
  candidates: readonly Channel[]
}

export const SANDBOX = 'sandbox'

/**
 * Chooses channel and connection (decisions: "channel: auto"). Pure: the same
 * for a send, an estimate and a bulk row. Throws a 400 that names the field.
 */
export function chooseRoute(request: RouteRequest): Route {
  const wanted = request.channel === 'auto' ? automatic(request) : [request.channel]
  for (const channel of wanted) checkReach(channel, request.recipient, request.homeCountry)
  const carriers = carriersOf(wanted, request)
  const first = carriers[0]
  if (!first) throw noRoute(request, wanted)
  return { ...first, candidates: carriers.map(each => each.channel) }
}

/** The channels that fit when the caller leaves the choice to us. */
function automatic(request: RouteRequest): Channel[] {
  if (request.contextChannel) return [request.contextChannel]
  const { recipient } = request
  switch (recipient.kind) {
    case 'group':
      return ['user_chatapp_session']
    case 'email':
      return ['email_user']
    case 'chat':
      // Far more often a phone number without its plus than a chat.
      throw invalid('to', 'must begin with + for a phone number; a chat id needs a conversationContext')
    case 'phone':
      return [smsChannelOf(recipient.country, request.homeCountry), 'official_chatapp']
  }
}

type Carrier = { channel: Channel; connection: ConnectionSnapshot }

/** Wanted channels that something carries, by the order of its connection; ties keep the wanted order. */
function carriersOf(wanted: readonly Channel[], request: RouteRequest): Carrier[] {
  const carriers: Carrier[] = []
  for (const channel of wanted) {
    const connection = carrierOf(channel, request)
    if (connection) carriers.push({ channel, connection })
  }
  return carriers.sort((a, b) => a.connection.priorityOrder - b.connection.priorityOrder)
}

/**
 * A test key knows the sandbox alone. A live key uses it only on a channel that
 * has no real connection: one that rests, or that does not take this type, must
 * not turn messages that people wait for into simulated ones.
 */
function carrierOf(channel: Channel, request: RouteRequest): ConnectionSnapshot | undefined {
  let sandbox: ConnectionSnapshot | undefined
  let real: ConnectionSnapshot | undefined
  let hasReal = false
  for (const each of request.connections) {
    if (!each.channels.includes(channel)) continue
    if (each.provider === SANDBOX) sandbox ??= mayCarry(each, request) ? each : undefined
    else {
      hasReal = true
      real ??= mayCarry(each, request) ? each : undefined
    }
  }
  if (request.mode === 'test') return sandbox
  return hasReal || !request.sandboxForLive ? real : sandbox
}

/** A test key's sandbox takes everything, even where live keys may not use it. */
function mayCarry(connection: ConnectionSnapshot, { mode, messageType }: RouteRequest): boolean {
  return mode === 'test' || (connection.enabled && connection.allowedTypes.includes(messageType))
}

function noRoute({ connections, messageType }: RouteRequest, wanted: readonly Channel[]) {
  const choosy = connections.some(
    each =>
      each.provider !== SANDBOX &&
      each.enabled &&
      !each.allowedTypes.includes(messageType) &&
      each.channels.some(channel => wanted.includes(channel)),
  )
  const channels = wanted.join(' or ')
  return choosy
    ? invalid('messageType', `no route: no connection carries ${messageType} over ${channels}`)
    : invalid('channel', `no route: no connection carries ${channels}`)
}
