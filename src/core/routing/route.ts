import type { Channel, KeyMode, MessageType } from '../../contract/enums.ts'
import { invalid } from '../../contract/errors.ts'
import { SANDBOX } from '../../contract/sandbox.ts'
import type { ConnectionId } from '../../lib/ids.ts'
import { carrying } from '../connections/carrier.ts'
import type { ConnectionSnapshot } from '../connections/snapshot.ts'
import { checkReach, type Recipient, smsChannelOf } from './recipient.ts'

export type RouteRequest = {
  /** As requested; `auto` if the body has none. */
  channel: Channel | 'auto'
  recipient: Recipient
  messageType: MessageType
  /** The channel of the conversation context; null without one. */
  contextChannel: Channel | null
  homeCountry: string
  mode: KeyMode
  /** The account's and the platform's, in the order in which they are tried. */
  connections: readonly ConnectionSnapshot[]
  /** Whether live keys may fall back on the sandbox where there is no real connection. */
  sandboxForLive: boolean
  /** Channels that are known not to reach the recipient. */
  excluded: readonly Channel[]
  /** Whether a connection takes messages now; others come last. */
  ready(id: ConnectionId): boolean
  /** Reorders the channels that are ready; called only if there are several. */
  reorder?(channels: readonly Channel[]): readonly Channel[]
}

/** A channel, and a connection to send over. */
export type Carrier = { channel: Channel; connection: ConnectionSnapshot }

export type Route = Carrier & {
  /** The channels that could carry the message, the chosen one first. */
  candidates: readonly Channel[]
}

/**
 * Chooses channel and connection (docs/sending.md, `channel: auto`). Pure: the same
 * for a send, an estimate and a bulk row. Throws a 400 that names the field.
 */
export function chooseRoute(request: RouteRequest): Route {
  const wanted = request.channel === 'auto' ? channelsForAuto(request) : [request.channel]
  for (const channel of wanted) checkReach(channel, request.recipient, request.homeCountry)
  const carriers = carriersOf(
    wanted.filter(channel => !request.excluded.includes(channel)),
    request,
  )
  if (carriers.length === 0) throw noRoute(request, wanted)
  const ordered = request.reorder ? reordered(carriers, request, request.reorder) : carriers
  return { ...ordered[0]!, candidates: [...new Set(ordered.map(each => each.channel))] }
}

/** Applies `reorder` to connections that are ready, and like the first one real or simulated; the others follow. */
function reordered(
  carriers: Carrier[],
  { ready }: RouteRequest,
  reorder: NonNullable<RouteRequest['reorder']>,
): Carrier[] {
  const simulated = isSimulated(carriers[0]!)
  const moves = (each: Carrier) => ready(each.connection.id) && isSimulated(each) === simulated
  const channels = [...new Set(carriers.filter(moves).map(each => each.channel))]
  if (channels.length < 2) return carriers
  const order = reorder(channels)
  const rank = (each: Carrier) => (moves(each) ? order.indexOf(each.channel) : order.length)
  return carriers.toSorted((one, other) => rank(one) - rank(other))
}

/** The channels for `auto`, by the recipient's kind. */
function channelsForAuto(request: RouteRequest): Channel[] {
  if (request.contextChannel) return [request.contextChannel]
  const { recipient } = request
  switch (recipient.kind) {
    case 'group':
    case 'hidden':
      return ['user_chatapp_session']
    case 'email':
      return ['email_user']
    case 'chat':
      // Most often a phone number without its plus rather than a chat id.
      throw invalid('to', 'must begin with + for a phone number; a chat id needs a conversationContext')
    case 'phone':
      return [smsChannelOf(recipient.country, request.homeCountry), 'official_chatapp']
  }
}

/** What decides which connections can send a message. */
export type CarrierRequest = Pick<
  RouteRequest,
  'mode' | 'messageType' | 'connections' | 'sandboxForLive' | 'ready'
>

/**
 * All connections of the wanted channels: sorted by the priority of each channel's first
 * connection, ties in the wanted order; connections that are ready come before others.
 */
export function carriersOf(wanted: readonly Channel[], request: CarrierRequest): Carrier[] {
  const all = wanted.flatMap(channel =>
    connectionsOf(channel, request).map(connection => ({ channel, connection })),
  )
  const ordered = byChannel(all)
  if (ordered.every(each => request.ready(each.connection.id))) return ordered
  // Sorted separately, so that the sandbox never takes the place of a real connection that is not ready.
  const simulated = readyFirst(ordered.filter(isSimulated), request)
  const real = readyFirst(
    ordered.filter(each => !isSimulated(each)),
    request,
  )
  return ordered.map(each => (isSimulated(each) ? simulated : real).shift()!)
}

/** Whether the sandbox would carry it. */
export function isSimulated({ connection }: Carrier): boolean {
  return connection.provider === SANDBOX
}

function readyFirst(carriers: Carrier[], { ready }: CarrierRequest): Carrier[] {
  const isReady = ({ connection }: Carrier) => ready(connection.id)
  return [...byChannel(carriers.filter(isReady)), ...byChannel(carriers.filter(each => !isReady(each)))]
}

function byChannel(carriers: Carrier[]): Carrier[] {
  const rank = new Map<Channel, number>()
  for (const { channel, connection } of carriers)
    if (!rank.has(channel)) rank.set(channel, connection.priorityOrder)
  return carriers.sort((a, b) => rank.get(a.channel)! - rank.get(b.channel)!)
}

/** With a test key, the sandbox takes all types. */
function connectionsOf(channel: Channel, request: CarrierRequest): ConnectionSnapshot[] {
  const { mode, messageType } = request
  return carrying(channel, request).filter(each => mode === 'test' || each.allowedTypes.includes(messageType))
}

function noRoute({ connections, messageType, mode }: RouteRequest, wanted: readonly Channel[]) {
  const channels = wanted.join(' or ')
  if (mode === 'test') {
    return invalid(
      'channel',
      `no route: the sandbox, which test keys send through, does not carry ${channels}`,
    )
  }
  const choosy = connections.some(
    each =>
      each.provider !== SANDBOX &&
      each.enabled &&
      !each.allowedTypes.includes(messageType) &&
      each.channels.some(channel => wanted.includes(channel)),
  )
  return choosy
    ? invalid('messageType', `no route: no connection carries ${messageType} over ${channels}`)
    : invalid('channel', `no route: no connection carries ${channels}`)
}
