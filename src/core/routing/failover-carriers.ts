import type { Channel } from '../../contract/enums.ts'
import { SANDBOX } from '../../contract/sandbox.ts'
import type { ConnectionId } from '../../lib/ids.ts'
import { type Carrier, type CarrierRequest, carriersOf, isSimulated } from './route.ts'

export type FailoverRequest = CarrierRequest & {
  /** The channel and provider of the last attempt. */
  channel: Channel
  provider: string
  /** The channels that routing considered when the message was accepted; others are not used. */
  candidates: readonly Channel[]
  /** All connections that were tried, including the last, with their channels. */
  tried: readonly { channel: Channel; connectionId: ConnectionId }[]
  /** Channels on which the recipient cannot be reached. */
  unreachableChannels: readonly Channel[]
  /** The content fits only its channel, so the message may not change it. */
  isBoundToChannel: boolean
}

/**
 * Where a message may fail over to, the best first: connections that are ready
 * before others, and among those its own channel before other channels.
 * Never a connection that was tried on the same channel before. Pure.
 */
export function failoverCarriers(request: FailoverRequest): Carrier[] {
  const channels = request.isBoundToChannel ? [request.channel] : request.candidates
  const simulated = request.provider === SANDBOX
  const fresh = carriersOf(
    channels.filter(channel => !request.unreachableChannels.includes(channel)),
    request,
  ).filter(each => isSimulated(each) === simulated && !wasTried(each, request))
  const rank = ({ channel, connection }: Carrier) =>
    (request.ready(connection.id) ? 0 : 2) + (channel === request.channel ? 0 : 1)
  return fresh.sort((a, b) => rank(a) - rank(b))
}

function wasTried({ channel, connection }: Carrier, { tried }: FailoverRequest): boolean {
  return tried.some(each => each.channel === channel && each.connectionId === connection.id)
}
