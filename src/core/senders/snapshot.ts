import type { SenderStatus } from '../../contract/sender.ts'
import type { Db } from '../../infra/db.ts'
import type { AccountId, Id } from '../../lib/ids.ts'
import { type AccountCacheDeps, createAccountCache } from '../accounts/account-cache.ts'
import { PLATFORM } from '../accounts/platform.ts'
import type { OfficialChoice } from './official-order.ts'
import { selectOfficialDefault } from './official-store.ts'
import { type SenderRow, selectSendersFor } from './store.ts'

export type SenderSnapshot = {
  id: Id<'snd'>
  /** The owner, or `PLATFORM`. */
  accountId: AccountId
  name: string
  /** Only approved senders may be used; others are here so that a refusal can name the reason. */
  status: SenderStatus
}

/** The senders that an account may name: its own and the platform's. */
export type AccountSendersSnapshot = {
  byId: ReadonlyMap<string, SenderSnapshot>
  /** For the same name, an approved sender wins; then the account's own before the platform's. */
  byName: ReadonlyMap<string, SenderSnapshot>
  /** The account's approved default, else the platform's; null if there is neither. */
  default: SenderSnapshot | null
  /** The account's default sender on the official chat app. */
  officialChoice: OfficialChoice
}

export type SenderSnapshots = {
  /** Synchronous when cached. */
  forAccount(accountId: AccountId): AccountSendersSnapshot | Promise<AccountSendersSnapshot>
}

const TABLES = ['sms_senders', 'official_defaults']

export function createSenderSnapshots({ db, ...deps }: AccountCacheDeps & { db: Db }): SenderSnapshots {
  return {
    forAccount: createAccountCache(deps, TABLES, async accountId => {
      const [rows, officialChoice] = await Promise.all([
        selectSendersFor(db, accountId),
        selectOfficialDefault(db, accountId),
      ])
      return assemble(rows, officialChoice)
    }),
  }
}

/** The last row for a name wins, so the best ones are sorted to the end. */
function assemble(rows: readonly SenderRow[], officialChoice: OfficialChoice): AccountSendersSnapshot {
  const bestLast = rows.toSorted((a, b) => rank(a) - rank(b))
  const usable = bestLast.filter(row => row.isDefault && row.status === 'approved')
  const first = usable.at(-1)
  return {
    byId: new Map(bestLast.map(row => [row.id, snapshotOf(row)])),
    byName: new Map(bestLast.map(row => [row.name, snapshotOf(row)])),
    default: first ? snapshotOf(first) : null,
    officialChoice,
  }
}

function rank({ status, accountId }: SenderRow): number {
  return (status === 'approved' ? 2 : 0) + (accountId === PLATFORM ? 0 : 1)
}

function snapshotOf({ id, accountId, name, status }: SenderRow): SenderSnapshot {
  return { id, accountId, name, status }
}
