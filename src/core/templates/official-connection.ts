import type { KeyMode } from '../../contract/enums.ts'
import { invalid } from '../../contract/errors.ts'
import { SANDBOX } from '../../contract/sandbox.ts'
import { PLATFORM_SENDER, type TemplateSender } from '../../contract/template.ts'
import type { AccountId, ConnectionId } from '../../lib/ids.ts'
import { PLATFORM } from '../accounts/platform.ts'
import type { ConnectionSnapshot } from '../connections/snapshot.ts'

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
  chosen: ConnectionId | null | undefined
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
  chosen: ConnectionId | null | undefined
  sandboxForLive: boolean
}

const CHANNEL = 'official_chatapp'

/**
 * The sender for which a template is submitted, as for sends: the requested one, else the account's default
 * if it can be used, else its own first one, else the platform's. With a test key always a sandbox. Pure; throws
 * a 400 for an unknown or disabled sender.
 */
export function chooseOfficialConnection(request: ConnectionRequest): OfficialConnection {
  const { accountId, mode, requestedSender, chosen } = request
  const official = request.connections.filter(each => each.channels.includes(CHANNEL))
  const own = official.filter(each => each.accountId === accountId && accountId !== PLATFORM)
  const requested = requestedConnection(request, own)
  if (requested && (mode === 'live' || isSandbox(requested))) return toOfficialConnection(requested)
  const usable = usableConnections(official, request)
  const wanted = requestedSender ?? (chosen === null ? PLATFORM_SENDER : undefined)
  const usableOwn = wanted === PLATFORM_SENDER ? [] : usable.filter(each => own.includes(each))
  return toOfficialConnection(
    usableOwn.find(each => each.id === chosen) ??
      usableOwn[0] ??
      usable.find(each => each.accountId === PLATFORM) ??
      throwNoConnection(),
  )
}

/** The requested connection of the account; undefined if none is requested, or the platform's. */
function requestedConnection({ requestedSender }: ConnectionRequest, own: readonly ConnectionSnapshot[]) {
  if (requestedSender === undefined || requestedSender === PLATFORM_SENDER) return undefined
  const found = own.find(each => each.id === requestedSender)
  if (!found) throw invalid('officialSenderId', 'there is no such official sender')
  if (!found.enabled) throw invalid('officialSenderId', 'this official sender is disabled')
  return found
}

/** The connection with this id, which may be disabled; null if it was deleted. */
export function findOfficialConnection(
  connections: readonly ConnectionSnapshot[],
  id: ConnectionId,
): OfficialConnection | null {
  const found = connections.find(each => each.id === id)
  return found ? toOfficialConnection(found) : null
}

/** With a test key the sandboxes; with a live key also, but only if there is no real connection, as for sends. */
function usableConnections(
  official: readonly ConnectionSnapshot[],
  { mode, sandboxForLive }: ConnectionRequest,
): readonly ConnectionSnapshot[] {
  const sandboxes = official.filter(isSandbox)
  if (mode === 'test') return sandboxes
  const real = official.filter(each => !isSandbox(each))
  if (real.length > 0) return real.filter(each => each.enabled)
  return sandboxForLive ? sandboxes.filter(each => each.enabled) : []
}

function isSandbox({ provider }: ConnectionSnapshot): boolean {
  return provider === SANDBOX
}

function toOfficialConnection({ id, accountId, provider }: ConnectionSnapshot): OfficialConnection {
  return { connectionId: id, onPlatformNumber: accountId === PLATFORM, sandbox: provider === SANDBOX }
}

function throwNoConnection(): never {
  throw invalid('officialSenderId', 'there is no connection for official templates')
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
