import type { AdminAuditEntry, AdminAuditQuery, AuditEntry, AuditQuery } from '../../contract/audit.ts'
import type { Caller } from '../../contract/caller.ts'
import { type Page, pageById, readIdCursor } from '../../contract/cursor.ts'
import { readTime } from '../../contract/filters.ts'
import type { Db } from '../../infra/db.ts'
import { boundedScan } from '../../lib/bounded-scan.ts'
import { type Clock, toIso } from '../../lib/clock.ts'
import { type Ids, isId, timeOf } from '../../lib/ids.ts'
import type { Log } from '../../lib/log.ts'
import { readAccountId } from '../accounts/admin.ts'
import { PLATFORM } from '../accounts/platform.ts'
import type { NewAuditEntry } from './entry.ts'
import { type AuditFilter, type AuditRow, findAuditScanEnd, insertEntry, listEntries } from './store.ts'

/** The log of who changed what. Entries are never changed or deleted here. */
export type AuditLog = {
  /**
   * Stores an entry. The change was made already, so this never rejects: if the database fails, the entry
   * is kept in memory for `flush`, up to `MAX_WAITING`, and written to the program's log.
   */
  note(entry: NewAuditEntry): Promise<void>
  /** Stores the entries that `note` could not. Called by a chore and at shutdown. */
  flush(): Promise<void>
  /** Entries of the caller's account, the newest first. */
  list(caller: Caller, query: AuditQuery): Promise<Page<AuditEntry>>
  listAll(query: AdminAuditQuery): Promise<Page<AdminAuditEntry>>
}

export type AuditLogDeps = {
  db: Db
  clock: Pick<Clock, 'monotonic'>
  ids: Ids
  log: Pick<Log, 'warn'>
}

/** More changes than are made while the database is away. */
const MAX_WAITING = 10_000

export function createAuditLog({ db, clock, ids, log }: AuditLogDeps): AuditLog {
  let waiting: AuditRow[] = []

  async function note({ accountId, ...entry }: NewAuditEntry): Promise<void> {
    const row: AuditRow = { ...entry, id: ids.next('aud'), accountId: accountId ?? PLATFORM }
    try {
      await insertEntry(db, row)
    } catch (error) {
      log.warn({ err: error, entry: row }, 'a change could not be stored in the audit log; it is tried again')
      if (waiting.length < MAX_WAITING) waiting.push(row)
    }
  }

  async function flush(): Promise<void> {
    const rows = waiting
    waiting = []
    for (const [at, row] of rows.entries()) {
      try {
        await insertEntry(db, row)
      } catch (error) {
        waiting = [...rows.slice(at), ...waiting]
        throw error
      }
    }
  }

  async function read<View>(
    filter: AuditFilter | null,
    { cursor, limit }: { cursor?: string; limit: number },
    view: (row: AuditRow) => View,
  ): Promise<Page<View>> {
    const before = readIdCursor('aud', cursor)
    if (!filter) return { success: true, data: [], nextCursor: null }
    const { rows, stoppedAt } = await boundedScan(
      clock,
      { before, limit: limit + 1 },
      {
        isSelective: filter.action !== null || filter.actorId !== null,
        findEnd: below => findAuditScanEnd(db, filter, below),
        read: async stretch => ({ rows: await listEntries(db, filter, stretch) }),
      },
    )
    return pageById(rows, limit, view, stoppedAt)
  }

  return {
    note,
    flush,
    list: async ({ account }, query) => read(filterOf(account.id, query), query, view),
    async listAll(query) {
      const { accountId: of } = query
      const accountId = of === undefined ? null : of === 'platform' ? PLATFORM : readAccountId(of)
      return read(filterOf(accountId, query), query, viewForAdmin)
    },
  }
}

/** Null if the filter matches nothing: nobody has a malformed id. */
function filterOf(
  accountId: AuditFilter['accountId'],
  { action, actorId, from, to }: AuditQuery,
): AuditFilter | null {
  const times = {
    fromMs: from === undefined ? null : readTime(from, 'from'),
    toMs: to === undefined ? null : readTime(to, 'to'),
  }
  if (actorId !== undefined && !isActor(actorId)) return null
  return { accountId, action: action ?? null, actorId: actorId ?? null, ...times }
}

function isActor(id: string): id is NonNullable<AuditFilter['actorId']> {
  return isId('usr', id) || isId('key', id)
}

function view(row: AuditRow): AuditEntry {
  return {
    id: row.id,
    at: toIso(timeOf(row.id)),
    actor: row.actor,
    action: row.action,
    target: row.target,
    changes: row.changes,
    ip: row.ip,
    requestId: row.requestId,
  }
}

function viewForAdmin(row: AuditRow): AdminAuditEntry {
  return { ...view(row), accountId: row.accountId === PLATFORM ? null : row.accountId }
}
