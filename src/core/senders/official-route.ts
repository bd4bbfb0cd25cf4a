import type { Channel, KeyMode } from '../../contract/enums.ts'
import { invalid } from '../../contract/errors.ts'
import { SANDBOX } from '../../contract/sandbox.ts'
import type { SenderSource, SingleSendBody } from '../../contract/send.ts'
import { PLATFORM_SENDER } from '../../contract/template.ts'
import type { AccountId, ConnectionId } from '../../lib/ids.ts'
import { PLATFORM } from '../accounts/platform.ts'
import type { ConnectionSnapshot } from '../connections/snapshot.ts'

/** The channel whose senders are connections. */
export const OFFICIAL_CHANNEL: Channel = 'official_chatapp'

/** The default that an account chose: null for the platform's number, undefined for no choice. */
export type OfficialChoice = ConnectionId | null | undefined

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
 * The connections in the order in which the official channel may use them: only the
 * named sender if there is one; else the account's default, then its own, then
 * the platform's. Other channels are unchanged. Pure; throws a 400 that
 * names the field for a sender that is unknown, of another account, or disabled.
 */
export function officialConnections(
  request: OfficialRequest,
  connections: readonly ConnectionSnapshot[],
): readonly ConnectionSnapshot[] {
  const requested = requestedConnection(request, connections)
  if (requested === undefined && request.channel !== 'auto' && request.channel !== OFFICIAL_CHANNEL)
    return connections
  const official = connections.filter(each => each.channels.includes(OFFICIAL_CHANNEL))
  if (requested === undefined && official.length < 2) return connections
  const allowed = requested === undefined ? official : allowedConnections(requested, request, official)
  const ranked = allowed.toSorted((a, b) => rank(a, request) - rank(b, request))
  return [...ranked.map(each => withChannels(each, [OFFICIAL_CHANNEL])), ...connections.map(withoutOfficial)]
}

/** The connection that the body names; null for the platform's, undefined if it names none. */
function requestedConnection(
  { body, accountId }: OfficialRequest,
  connections: readonly ConnectionSnapshot[],
): ConnectionSnapshot | null | undefined {
  const asked = requestedOfficialSender(body)
  if (!asked) return undefined
  const { id, path } = asked
  if (id === PLATFORM_SENDER) return null
  const found = connections.find(
    each => each.id === id && each.accountId === accountId && each.channels.includes(OFFICIAL_CHANNEL),
  )
  if (!found) throw invalid(path, 'there is no such official sender')
  if (!found.enabled) throw invalid(path, 'this official sender is disabled')
  return found
}

/**
 * The official sender that a body names, and in which field; null if it names none. A conversation
 * belongs to its sender: throws a 400 if the body also names another one.
 */
export function requestedOfficialSender({
  sender,
  officialSenderId,
  conversationContext,
}: OfficialBody): { id: string; path: string } | null {
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

/**
 * With a test key, only the sandbox, whichever sender is named: for `platform` the platform's. With a live key, the sandbox counts
 * as the platform's number only if the channel has no real connection.
 */
function allowedConnections(
  asked: ConnectionSnapshot | null,
  { mode }: OfficialRequest,
  official: readonly ConnectionSnapshot[],
): readonly ConnectionSnapshot[] {
  if (mode === 'test') {
    const sandboxes = official.filter(({ provider }) => provider === SANDBOX)
    if (asked === null) return sandboxes.filter(each => each.accountId === PLATFORM)
    return asked.provider === SANDBOX ? [asked] : sandboxes
  }
  if (asked !== null) return [asked]
  const hasReal = official.some(({ provider }) => provider !== SANDBOX)
  return official.filter(each => each.accountId === PLATFORM && (!hasReal || each.provider !== SANDBOX))
}

function rank({ id, accountId }: ConnectionSnapshot, { choice }: OfficialRequest): number {
  const own = accountId !== PLATFORM
  if (choice !== undefined && (choice === null ? !own : id === choice)) return 0
  return own ? 1 : 2
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
  return connection.accountId === PLATFORM && choice !== null ? 'platform' : 'official_default'
}
