import type { Channel, KeyMode } from '../../contract/enums.ts'
import { invalid } from '../../contract/errors.ts'
import { SANDBOX } from '../../contract/sandbox.ts'
import { PLATFORM_SENDER } from '../../contract/template.ts'
import type { AccountId, ConnectionId } from '../../lib/ids.ts'
import { PLATFORM } from '../accounts/platform.ts'
import type { ConnectionSnapshot } from '../connections/snapshot.ts'

/** The channel whose senders are connections. */
export const OFFICIAL_CHANNEL: Channel = 'official_chatapp'

/** The default that an account chose: null for the platform's number, undefined for no choice. */
export type OfficialChoice = ConnectionId | null | undefined

/** The official sender that a request names, and in which field; null if it names none. */
export type NamedOfficialSender = { id: string; path: string } | null

export type OfficialOrder = {
  accountId: AccountId
  mode: KeyMode
  choice: OfficialChoice
  named: NamedOfficialSender
}

/**
 * The connections that may be the official sender, in the order in which they are tried: only the named one if there
 * is one; else the account's default, then its own, then the platform's. Which of them can carry a message is
 * for the caller (connections/carrier.ts). Pure; throws a 400 that names the field for a sender that is
 * unknown, of another account, or disabled.
 */
export function orderOfficial(
  connections: readonly ConnectionSnapshot[],
  { accountId, mode, choice, named }: OfficialOrder,
): ConnectionSnapshot[] {
  const official = connections.filter(each => each.channels.includes(OFFICIAL_CHANNEL))
  const allowed = named ? allowedFor(findNamed(named, accountId, official), mode, official) : official
  return allowed.toSorted((a, b) => rank(a, choice) - rank(b, choice))
}

/** Whether the connection is the platform's, which accounts name `platform` instead of by its id. */
export function isPlatforms({ accountId }: Pick<ConnectionSnapshot, 'accountId'>): boolean {
  return accountId === PLATFORM
}

/** The account's connection of this name; null for the platform's. */
function findNamed(
  { id, path }: NonNullable<NamedOfficialSender>,
  accountId: AccountId,
  official: readonly ConnectionSnapshot[],
): ConnectionSnapshot | null {
  if (id === PLATFORM_SENDER) return null
  const found = official.find(each => each.id === id && each.accountId === accountId && !isPlatforms(each))
  if (!found) throw invalid(path, 'there is no such official sender')
  if (!found.enabled) throw invalid(path, 'this official sender is disabled')
  return found
}

/**
 * With a test key, only the sandbox, whichever sender is named: for `platform` the platform's. With a live key,
 * the sandbox counts as the platform's number only if the channel has no real connection.
 */
function allowedFor(
  named: ConnectionSnapshot | null,
  mode: KeyMode,
  official: readonly ConnectionSnapshot[],
): readonly ConnectionSnapshot[] {
  if (named !== null && (mode === 'live' || isSandbox(named))) return [named]
  const platforms = official.filter(isPlatforms)
  if (mode === 'test') return (named === null ? platforms : official).filter(isSandbox)
  return official.every(isSandbox) ? platforms : platforms.filter(each => !isSandbox(each))
}

function rank(connection: ConnectionSnapshot, choice: OfficialChoice): number {
  const own = !isPlatforms(connection)
  if (choice !== undefined && (choice === null ? !own : connection.id === choice)) return 0
  return own ? 1 : 2
}

function isSandbox({ provider }: ConnectionSnapshot): boolean {
  return provider === SANDBOX
}
