import type { Channel } from '../../contract/enums.ts'
import { SANDBOX } from '../../contract/sandbox.ts'
import type { ConnectionId } from '../../lib/ids.ts'
import { type Carrier, type Carrying, carriersOf, isSimulated } from './route.ts'

export type OnwardRequest = Carrying & {
  /** Where the message was tried last. */
  channel: Channel
  provider: string
  /** The channels that routing considered; only they may take it. */
  candidates: readonly Channel[]
  /** Every connection that it was tried over, by channel, the last one included. */
  tried: readonly { channel: Channel; connectionId: ConnectionId }[]
  /** Channels on which the recipient cannot be reached at all. */
  deaf: readonly Channel[]
  /** Its words belong to the channel. */
  keepsChannel: boolean
}

/**
 * Where a message may go after a connection that did not take it, the best
 * first: over its own channel before another one, over what takes messages now
 * before what does not, and over nothing twice. Pure.
 */
export function onwardCarriers(request: OnwardRequest): Carrier[] {
  const channels = request.keepsChannel ? [request.channel] : request.candidates
  const simulated = request.provider === SANDBOX
  const fresh = carriersOf(
    channels.filter(channel => !request.deaf.includes(channel)),
    request,
  ).filter(each => isSimulated(each) === simulated && !wasTried(each, request))
  const rank = ({ channel, connection }: Carrier) =>
    (request.ready(connection.id) ? 0 : 2) + (channel === request.channel ? 0 : 1)
  return fresh.sort((a, b) => rank(a) - rank(b))
}

function wasTried({ channel, connection }: Carrier, { tried }: OnwardRequest): boolean {
  return tried.some(each => each.channel === channel && each.connectionId === connection.id)
}
