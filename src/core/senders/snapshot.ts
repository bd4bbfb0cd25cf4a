import type { SenderStatus } from '../../contract/sender.ts'
import type { Changes } from '../../infra/changes.ts'
import type { Db } from '../../infra/db.ts'
import { createFreshCache } from '../../infra/fresh-cache.ts'
import type { Clock } from '../../lib/clock.ts'
import type { AccountId, Id } from '../../lib/ids.ts'
import { PLATFORM } from '../accounts/platform.ts'
import type { OfficialChoice } from './official-route.ts'
import { selectOfficialDefault } from './official-store.ts'
import { type SenderRow, selectSendersFor } from './store.ts'

export type SenderSnapshot = {
  id: Id<'snd'>
  /** The account's own, or `PLATFORM`. */
  accountId: AccountId
  name: string
  /** Only approved ones may be used; the others are known so that a refusal can say why. */
  status: SenderStatus
}

/** The senders that an account may name: its own and the platform's. */
export type SendersSnapshot = {
  byId: ReadonlyMap<string, SenderSnapshot>
  /** Of two of the same name an approved one before one that is not, then its own before the platform's. */
  byName: ReadonlyMap<string, SenderSnapshot>
  /** The account's approved default, else the platform's; null where there is neither. */
  default: SenderSnapshot | null
  /** The default that the account chose on the official chat app. */
  officialChoice: OfficialChoice
}

export type SenderSnapshots = {
  /** At once when warm. */
  forAccount(accountId: AccountId): SendersSnapshot | Promise<SendersSnapshot>
}

const MAX_ACCOUNTS = 10_000
const TABLES = new Set(['sms_senders', 'official_defaults'])

export function createSenderSnapshots(deps: {
  db: Db
  clock: Clock
  changes: Pick<Changes, 'fresh' | 'subscribe'>
}): SenderSnapshots {
  const cache = createFreshCache<AccountId, SendersSnapshot>({
    clock: deps.clock,
    fresh: deps.changes.fresh,
    maxEntries: MAX_ACCOUNTS,
    ownerOf: accountId => accountId,
    async load(accountId) {
      const [rows, officialChoice] = await Promise.all([
        selectSendersFor(deps.db, accountId),
        selectOfficialDefault(deps.db, accountId),
      ])
      return assemble(rows, officialChoice)
    },
  })
  deps.changes.subscribe({
    changed(table, accountId) {
      if (!TABLES.has(table) || !accountId) return
      if (accountId === PLATFORM) cache.clear()
      else cache.forget(accountId)
    },
    reset: cache.clear,
  })
  // A snapshot is never null: an account without senders has an empty one.
  return { forAccount: id => cache.get(id) as SendersSnapshot | Promise<SendersSnapshot> }
}

/** What comes last wins. */
function assemble(rows: readonly SenderRow[], officialChoice: OfficialChoice): SendersSnapshot {
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
