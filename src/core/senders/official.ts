import type { Caller } from '../../contract/caller.ts'
import { type Page, readCursor, writeCursor } from '../../contract/cursor.ts'
import type { KeyMode } from '../../contract/enums.ts'
import { Problem } from '../../contract/errors.ts'
import type { OfficialSender, OfficialSenderQuery } from '../../contract/official.ts'
import { SANDBOX } from '../../contract/sandbox.ts'
import { PLATFORM_SENDER, type TemplateSender } from '../../contract/template.ts'
import type { Db } from '../../infra/db.ts'
import { toIso } from '../../lib/clock.ts'
import type { AccountId, ConnectionId } from '../../lib/ids.ts'
import { carrying } from '../connections/carrier.ts'
import type { ConnectionSnapshot, ConnectionSnapshots } from '../connections/snapshot.ts'
import { isPlatforms, OFFICIAL_CHANNEL, type OfficialChoice, orderOfficial } from './official-order.ts'
import {
  type StoredIdentity,
  selectIdentities,
  selectOfficialDefault,
  storeOfficialDefault,
} from './official-store.ts'

/** The senders of the official chat-app channel: each is a connection of the account or the platform. */
export type OfficialSenders = {
  /** The account's own in the order in which they are tried, then the platform's if the key can use it. */
  list(caller: Pick<Caller, 'account' | 'mode'>): Promise<OfficialSender[]>
  /** A page of `list`; without a `limit`, all after the cursor. */
  page(caller: Pick<Caller, 'account' | 'mode'>, query: OfficialSenderQuery): Promise<Page<OfficialSender>>
  /** NOT_FOUND for a sender that is not in the list, CONFLICT for a disabled one. Idempotent. */
  makeDefault(caller: Pick<Caller, 'account' | 'mode'>, id: string): Promise<OfficialSender>
  /** The same senders, for templates. */
  forAccount(accountId: AccountId): Promise<{
    own: ReadonlyMap<ConnectionId, TemplateSender>
    platform: TemplateSender
    chosen: OfficialChoice
  }>
  /**
   * The sender's name for messages that were sent over a connection: its number, or its name if the number is
   * unknown or the platform's; null for a deleted connection.
   */
  namesFor(accountId: AccountId): Promise<(connectionId: ConnectionId) => string | null>
}

export type OfficialSendersDeps = {
  db: Db
  connections: ConnectionSnapshots
  /** Whether live keys may fall back on the sandbox where there is no real connection. */
  sandboxForLive: boolean
  /** Called after a change, so that this node uses the new default at once. */
  applied(accountId: AccountId): void
}

export function createOfficialSenders(deps: OfficialSendersDeps): OfficialSenders {
  const { db, connections, sandboxForLive } = deps

  async function read(accountId: AccountId): Promise<Senders> {
    const [all, identities, chosen] = await Promise.all([
      connections.forAccount(accountId),
      selectIdentities(db, accountId),
      selectOfficialDefault(db, accountId),
    ])
    const official = all.filter(each => each.channels.includes(OFFICIAL_CHANNEL))
    const ordered = orderOfficial(all, { accountId, mode: 'live', choice: chosen, named: null })
    const [first] = carrying(OFFICIAL_CHANNEL, { mode: 'live', connections: ordered, sandboxForLive })
    return {
      official,
      own: official.filter(each => !isPlatforms(each)),
      identities: new Map(identities.map(each => [each.connectionId, each])),
      chosen,
      // The platform’s number stays the default of who chose it: with a test key it can be used even if no live key can.
      defaultId: chosen === null || !first || isPlatforms(first) ? null : first.id,
    }
  }

  async function list({ account, mode }: Pick<Caller, 'account' | 'mode'>): Promise<OfficialSender[]> {
    const senders = await read(account.id)
    const platform = platformOf(senders, mode, sandboxForLive)
    return [
      ...senders.own.map(each => ({
        ...viewOwn(each, senders),
        ...viewStatus(each, senders.identities.get(each.id)),
      })),
      ...(platform
        ? [
            {
              ...viewPlatform(platform, senders),
              ...viewStatus(platform, senders.identities.get(platform.id)),
            },
          ]
        : []),
    ]
  }

  return {
    list,
    async page(caller, { limit, cursor }) {
      const from = cursor === undefined ? 0 : Number(readCursor(cursor, isOffset)[0])
      const senders = await list(caller)
      const to = limit === undefined ? senders.length : from + limit
      return {
        success: true,
        data: senders.slice(from, to),
        nextCursor: to < senders.length ? writeCursor(String(to)) : null,
      }
    },
    async makeDefault(caller, id) {
      const sender = (await list(caller)).find(each => each.id === id)
      if (!sender) throw new Problem('NOT_FOUND', 'Official sender not found')
      if (sender.status === 'disabled') throw new Problem('CONFLICT', 'The official sender is disabled.')
      await storeOfficialDefault(db, caller.account.id, sender.isPlatform ? null : (id as ConnectionId))
      deps.applied(caller.account.id)
      return { ...sender, isDefault: true }
    },
    async namesFor(accountId) {
      const senders = await read(accountId)
      const byId = new Map(senders.official.map(each => [each.id, each]))
      return connectionId => {
        const connection = byId.get(connectionId)
        if (!connection) return null
        if (isPlatforms(connection)) return viewPlatform(connection, senders).displayName
        const { phoneNumber, displayName } = viewOwn(connection, senders)
        return phoneNumber ?? displayName
      }
    },
    async forAccount(accountId) {
      const senders = await read(accountId)
      const platform = platformOf(senders, 'live', true)
      return {
        own: new Map(senders.own.map(each => [each.id, viewOwn(each, senders)])),
        platform: viewPlatform(platform, senders),
        chosen: senders.chosen,
      }
    },
  }
}

/** A cursor is an offset, which is enough for a short list that only the operator changes. */
function isOffset(words: readonly string[]): boolean {
  return words.length === 1 && /^[1-9]\d{0,8}$/.test(words[0]!)
}

type Senders = {
  official: readonly ConnectionSnapshot[]
  own: readonly ConnectionSnapshot[]
  identities: ReadonlyMap<ConnectionId, StoredIdentity>
  chosen: OfficialChoice
  /** The connection of a live key's messages that name no sender, as for sends; null for the platform's. */
  defaultId: ConnectionId | null
}

/** The platform's number: the sandbox for test keys, and for live keys while the channel has no real connection. */
function platformOf({ official }: Senders, mode: KeyMode, sandboxForLive: boolean) {
  return carrying(OFFICIAL_CHANNEL, { mode, connections: official, sandboxForLive }).find(isPlatforms)
}

function viewOwn({ id, name }: ConnectionSnapshot, { identities, defaultId }: Senders): TemplateSender {
  const { phoneNumber = null, displayName = '' } = identities.get(id) ?? {}
  const shown = displayName === '' ? name : displayName
  return {
    id,
    scope: 'official_sender',
    isPlatform: false,
    isDefault: id === defaultId,
    label: phoneNumber === null ? shown : `${shown} (${phoneNumber})`,
    phoneNumber,
    displayName: shown,
  }
}

/** The platform's sender, without its number. */
function viewPlatform(
  platform: ConnectionSnapshot | undefined,
  { identities, defaultId }: Senders,
): TemplateSender {
  const displayName = platform && identities.get(platform.id)?.displayName
  return {
    id: PLATFORM_SENDER,
    scope: 'platform',
    isPlatform: true,
    isDefault: defaultId === null,
    label: null,
    phoneNumber: null,
    displayName: displayName || 'Platform',
  }
}

function viewStatus({ enabled, provider }: ConnectionSnapshot, known: StoredIdentity | undefined) {
  // A sandbox that is disabled for live keys still takes messages of test keys.
  const off = !enabled && provider !== SANDBOX
  return {
    status: off ? 'disabled' : (known?.status?.toLowerCase() ?? 'unknown'),
    qualityRating: known?.qualityRating ?? null,
    messagingLimit: known?.messagingLimit ?? null,
    lastCheckedAt: known ? toIso(known.checkedAtMs) : null,
  }
}
