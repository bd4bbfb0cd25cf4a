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
 * The sender for which a template is submitted: the requested one, else the
 * account's default if it is enabled, else its own first one, else the platform's. With a
 * test key always the sandbox. Pure; throws a 400 for an unknown or disabled sender.
 */
export function chooseOfficialConnection(request: ConnectionRequest): OfficialConnection {
  const official = request.connections.filter(each => each.channels.includes(CHANNEL))
  const own = official.filter(each => each.accountId === request.accountId && each.accountId !== PLATFORM)
  const requested = requestedConnection(request, own)
  if (request.mode === 'test') return toOfficialConnection(sandboxOf(official) ?? throwNoConnection())
  if (requested) return toOfficialConnection(requested)
  const ownDefault = own.find(each => each.enabled && each.id === request.chosen)
  const firstOwn = request.chosen === null ? undefined : own.find(isReal)
  const wantsPlatform = request.requestedSender === PLATFORM_SENDER
  const chosen = wantsPlatform ? undefined : (ownDefault ?? firstOwn)
  return toOfficialConnection(chosen ?? platformOf(official, request.sandboxForLive) ?? throwNoConnection())
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

/** The platform's connection; the sandbox only if there is no real connection, as for sends. */
function platformOf(official: readonly ConnectionSnapshot[], sandboxForLive: boolean) {
  const real = official.filter(each => each.provider !== SANDBOX)
  if (real.length === 0 && sandboxForLive) return official.find(({ enabled }) => enabled)
  return real.find(each => each.accountId === PLATFORM && each.enabled)
}

function sandboxOf(official: readonly ConnectionSnapshot[]): ConnectionSnapshot | undefined {
  return official.find(each => each.provider === SANDBOX)
}

function isReal({ enabled, provider }: ConnectionSnapshot): boolean {
  return enabled && provider !== SANDBOX
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
