import type { KeyMode } from '../../contract/enums.ts'
import { invalid } from '../../contract/errors.ts'
import { SANDBOX } from '../../contract/sandbox.ts'
import type { TemplateSender } from '../../contract/template.ts'
import type { AccountId, ConnectionId } from '../../lib/ids.ts'
import { PLATFORM } from '../accounts/platform.ts'
import { carrying } from '../connections/carrier.ts'
import type { ConnectionSnapshot } from '../connections/snapshot.ts'
import { OFFICIAL_CHANNEL, type OfficialChoice, orderOfficial } from '../senders/official-order.ts'

/** The owner of a template: an account, or the platform for all accounts. */
export type TemplateOwner = { accountId: AccountId; mode: KeyMode }

/** Official senders, for templates. */
export type OfficialSenders = {
  forAccount(accountId: AccountId): Promise<AccountSenders>
}
export type AccountSenders = {
  own: ReadonlyMap<ConnectionId, TemplateSender>
  platform: TemplateSender
  /** The default that the account chose; null for the platform's, undefined for no choice. */
  chosen: OfficialChoice
}

/** The connection of an official sender, for its templates. */
export type OfficialConnection = {
  connectionId: ConnectionId
  onPlatformNumber: boolean
  /** The sandbox, where accounts may use the same template names. */
  sandbox: boolean
}

export type ConnectionRequest = {
  /** The owner of the template; `PLATFORM` for a template of all accounts. */
  accountId: AccountId
  mode: KeyMode
  /** The requested official sender. */
  requestedSender: string | undefined
  /** The account's and the platform's, in the order in which they are tried. */
  connections: readonly ConnectionSnapshot[]
  /** The account's default; null for the platform's number, undefined for no choice. */
  chosen: OfficialChoice
  sandboxForLive: boolean
}

/**
 * The sender for which a template is submitted: the one that a message which names the same sender would
 * use. With a test key always a sandbox. Pure; throws a 400 for an unknown or disabled sender.
 */
export function chooseOfficialConnection(request: ConnectionRequest): OfficialConnection {
  const { accountId, mode, requestedSender, chosen, sandboxForLive } = request
  const named = requestedSender === undefined ? null : { id: requestedSender, path: 'officialSenderId' }
  const connections = orderOfficial(request.connections, { accountId, mode, choice: chosen, named })
  const [first] = carrying(OFFICIAL_CHANNEL, { mode, connections, sandboxForLive })
  if (!first) throw invalid('officialSenderId', 'there is no connection for official templates')
  return toOfficialConnection(first)
}

/** The connection with this id, which may be disabled; null if it was deleted. */
export function findOfficialConnection(
  connections: readonly ConnectionSnapshot[],
  id: ConnectionId,
): OfficialConnection | null {
  const found = connections.find(each => each.id === id)
  return found ? toOfficialConnection(found) : null
}

function toOfficialConnection({ id, accountId, provider }: ConnectionSnapshot): OfficialConnection {
  return { connectionId: id, onPlatformNumber: accountId === PLATFORM, sandbox: provider === SANDBOX }
}

/** Letters of an account's id: enough to tell accounts on one number apart. */
const SUFFIX_LENGTH = 10

/**
 * The name of a template at its provider. On a shared number it gets a suffix
 * from the account's id, since accounts may use the same name for different
 * texts.
 */
export function providerNameOf(name: string, accountId: AccountId, connection: OfficialConnection): string {
  const shared = connection.onPlatformNumber && !connection.sandbox && accountId !== PLATFORM
  return shared ? `${name}_${accountId.slice(-SUFFIX_LENGTH)}` : name
}
