import type { KeyMode } from '../../contract/enums.ts'
import { invalid } from '../../contract/errors.ts'
import { SANDBOX } from '../../contract/sandbox.ts'
import { PLATFORM_SENDER, type TemplateSender } from '../../contract/template.ts'
import type { AccountId, ConnectionId } from '../../lib/ids.ts'
import { PLATFORM } from '../accounts/platform.ts'
import type { ConnectionSnapshot } from '../connections/snapshot.ts'

/** For whom a template is made: an account, or the platform for all of them. */
export type TemplateOwner = { accountId: AccountId; mode: KeyMode }

/** What templates need to know of official senders. */
export type OfficialSenders = {
  forAccount(accountId: AccountId): Promise<AccountSenders>
}
export type AccountSenders = {
  own: ReadonlyMap<ConnectionId, TemplateSender>
  platform: TemplateSender
  /** The default that the account chose; null is the platform's, undefined no choice. */
  chosen: ConnectionId | null | undefined
}

/** The connection of an official sender, as a template is bound to it. */
export type Line = {
  connectionId: ConnectionId
  onPlatformNumber: boolean
  /** A carrier that is nobody's: accounts do not get in each other's way there. */
  sandbox: boolean
}

export type LineRequest = {
  /** The owner of the template; `PLATFORM` for one of everybody's. */
  accountId: AccountId
  mode: KeyMode
  /** The official sender that was asked for. */
  asked: string | undefined
  /** The account's own and the platform's, in the order in which they are tried. */
  connections: readonly ConnectionSnapshot[]
  /** What the account chose as its default; null is the platform's number, undefined no choice. */
  chosen: ConnectionId | null | undefined
  sandboxForLive: boolean
}

const CHANNEL = 'official_chatapp'

/**
 * Whose number a template is put before: the sender that was asked for, else the
 * account's default where it works, else its own first one, else the platform's. A
 * test key knows the sandbox alone. Pure; throws a 400 for a sender that there is not.
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

/** The account's own connection of that id; undefined where none was asked for, or the platform's. */
function askedFor({ asked }: LineRequest, own: readonly ConnectionSnapshot[]) {
  if (asked === undefined || asked === PLATFORM_SENDER) return undefined
  const found = own.find(each => each.id === asked)
  if (!found) throw invalid('officialSenderId', 'there is no such official sender')
  if (!found.enabled) throw invalid('officialSenderId', 'this official sender is disabled')
  return found
}

/** The line of that connection, whether it is enabled or not; null for one that is gone. */
export function findLine(connections: readonly ConnectionSnapshot[], id: ConnectionId): Line | null {
  const found = connections.find(each => each.id === id)
  return found ? toLine(found) : null
}

/** The sandbox stands in only where there is nothing real, as for sends. */
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
  throw invalid('officialSenderId', 'no connection carries official templates')
}

/** Letters of an account's id: enough that no two accounts meet on one number. */
const MARK_LENGTH = 10

/**
 * What the provider is to call a template. On a number that accounts share, a
 * name of theirs carries their mark, or one account's words would go out for
 * another's.
 */
export function providerNameOf(name: string, accountId: AccountId, line: Line): string {
  const shared = line.onPlatformNumber && !line.sandbox && accountId !== PLATFORM
  return shared ? `${name}_${accountId.slice(-MARK_LENGTH)}` : name
}
