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
  const usable = usableConnections(request)
  const candidates = inPolicyOrder(wanted, usable)
  const channel = candidates[0]
  if (!channel) throw noRoute(request, wanted)
  const connection = usable.find(each => each.channels.includes(channel))!
  return { channel, connection, candidates }
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

/**
 * A test key knows the sandbox alone. A live key uses it only on a channel that
 * has no real connection: one that rests, or that does not take this type, must
 * not turn messages that people wait for into simulated ones.
 */
function usableConnections(request: RouteRequest): ConnectionSnapshot[] {
  if (request.mode === 'test') return request.connections.filter(each => each.provider === SANDBOX)
  const isOpen = (each: ConnectionSnapshot) => each.enabled && each.allowedTypes.includes(request.messageType)
  const real = request.connections.filter(each => each.provider !== SANDBOX)
  const sandbox = request.sandboxForLive ? request.connections.filter(each => each.provider === SANDBOX) : []
  const carried = new Set(real.flatMap(each => each.channels))
  return [
    ...real.filter(isOpen),
    ...sandbox
      .filter(isOpen)
      .map(each => ({ ...each, channels: each.channels.filter(channel => !carried.has(channel)) })),
  ]
}

/** Wanted channels by the order of the first connection that carries each; ties keep the wanted order. */
function inPolicyOrder(wanted: readonly Channel[], usable: readonly ConnectionSnapshot[]): Channel[] {
  const rank = (channel: Channel) => usable.find(each => each.channels.includes(channel))?.priorityOrder
  return wanted.filter(channel => rank(channel) !== undefined).sort((a, b) => rank(a)! - rank(b)!)
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
