import type { Channel, KeyMode } from '../../contract/enums.ts'
import { invalid } from '../../contract/errors.ts'
import type { SenderSource, SingleSendBody } from '../../contract/send.ts'
import type { AccountId } from '../../lib/ids.ts'
import type { ConnectionSnapshot } from '../connections/snapshot.ts'
import {
  isPlatforms,
  type NamedOfficialSender,
  OFFICIAL_CHANNEL,
  type OfficialChoice,
  orderOfficial,
} from './official-order.ts'

/** The fields of a body that may name an official sender. */
export type OfficialBody = Pick<SingleSendBody, 'sender' | 'officialSenderId' | 'conversationContext'>

export type OfficialRequest = {
  body: OfficialBody
  accountId: AccountId
  mode: KeyMode
  choice: OfficialChoice
  /** As requested. */
  channel: Channel | 'auto'
}

/**
 * The connections, with those of the official channel in the order in which it may use them (official-order.ts).
 * Other channels are unchanged. Pure; throws a 400 that names the field for a sender that is unknown, of another
 * account, or disabled.
 */
export function officialConnections(
  { body, channel, ...request }: OfficialRequest,
  connections: readonly ConnectionSnapshot[],
): readonly ConnectionSnapshot[] {
  const named = requestedOfficialSender(body)
  if (!named && channel !== 'auto' && channel !== OFFICIAL_CHANNEL) return connections
  const ranked = orderOfficial(connections, { ...request, named })
  if (!named && ranked.length < 2) return connections
  return [...ranked.map(each => withChannels(each, [OFFICIAL_CHANNEL])), ...connections.map(withoutOfficial)]
}

/**
 * The official sender that a body names, and in which field; null if it names none. A conversation
 * belongs to its sender: throws a 400 if the body also names another one.
 */
export function requestedOfficialSender({
  sender,
  officialSenderId,
  conversationContext,
}: OfficialBody): NamedOfficialSender {
  const named = sender?.officialId ?? officialSenderId
  const path = sender?.officialId === undefined ? 'officialSenderId' : 'sender.officialId'
  if (officialSenderId !== undefined && officialSenderId !== named) {
    throw invalid('officialSenderId', 'must be the same as sender.officialId')
  }
  if (conversationContext?.moduleType !== 'chatapp_official')
    return named === undefined ? null : { id: named, path }
  const { accountId: id } = conversationContext
  if (named !== undefined && named !== id) {
    throw invalid('conversationContext.accountId', `must be the same as ${path}`)
  }
  return { id, path: 'conversationContext.accountId' }
}

function withChannels(connection: ConnectionSnapshot, channels: readonly Channel[]): ConnectionSnapshot {
  return { ...connection, channels }
}

function withoutOfficial(connection: ConnectionSnapshot): ConnectionSnapshot {
  const { channels } = connection
  return channels.includes(OFFICIAL_CHANNEL)
    ? withChannels(
        connection,
        channels.filter(each => each !== OFFICIAL_CHANNEL),
      )
    : connection
}

/** Why the sender of a message on the official channel was chosen. */
export function officialSource(
  body: OfficialBody,
  connection: Pick<ConnectionSnapshot, 'accountId'>,
  choice: OfficialChoice,
): SenderSource {
  if (requestedOfficialSender(body)) return 'request'
  return isPlatforms(connection) && choice !== null ? 'platform' : 'official_default'
}
