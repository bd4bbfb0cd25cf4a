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
export type Line = {
  connectionId: ConnectionId
  onPlatformNumber: boolean
  /** The sandbox, where accounts may use the same template names. */
  sandbox: boolean
}

export type LineRequest = {
  /** The owner of the template; `PLATFORM` for a template of all accounts. */
  accountId: AccountId
  mode: KeyMode
  /** The requested official sender. */
  asked: string | undefined
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
export function chooseLine(request: LineRequest): Line {
  const official = request.connections.filter(each => each.channels.includes(CHANNEL))
  const own = official.filter(each => each.accountId === request.accountId && each.accountId !== PLATFORM)
  const asked = askedFor(request, own)
  if (request.mode === 'test') return toLine(sandboxOf(official) ?? noLine())
  if (asked) return toLine(asked)
  const byChoice = own.find(each => each.enabled && each.id === request.chosen)
  const byItself = request.chosen === null ? undefined : own.find(isReal)
  const wantsPlatform = request.asked === PLATFORM_SENDER
  const chosen = wantsPlatform ? undefined : (byChoice ?? byItself)
  return toLine(chosen ?? platformOf(official, request.sandboxForLive) ?? noLine())
}

/** The requested connection of the account; undefined if none is requested, or the platform's. */
function askedFor({ asked }: LineRequest, own: readonly ConnectionSnapshot[]) {
  if (asked === undefined || asked === PLATFORM_SENDER) return undefined
  const found = own.find(each => each.id === asked)
  if (!found) throw invalid('officialSenderId', 'there is no such official sender')
  if (!found.enabled) throw invalid('officialSenderId', 'this official sender is disabled')
  return found
}

/** The line of a connection, which may be disabled; null if the connection was deleted. */
export function findLine(connections: readonly ConnectionSnapshot[], id: ConnectionId): Line | null {
  const found = connections.find(each => each.id === id)
  return found ? toLine(found) : null
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

function toLine({ id, accountId, provider }: ConnectionSnapshot): Line {
  return { connectionId: id, onPlatformNumber: accountId === PLATFORM, sandbox: provider === SANDBOX }
}

function noLine(): never {
  throw invalid('officialSenderId', 'there is no connection for official templates')
}

/** Letters of an account's id: enough to tell accounts on one number apart. */
const MARK_LENGTH = 10

/**
 * The name of a template at its provider. On a shared number it gets a suffix
 * from the account's id, since accounts may use the same name for different
 * texts.
 */
export function providerNameOf(name: string, accountId: AccountId, line: Line): string {
  const shared = line.onPlatformNumber && !line.sandbox && accountId !== PLATFORM
  return shared ? `${name}_${accountId.slice(-MARK_LENGTH)}` : name
}
