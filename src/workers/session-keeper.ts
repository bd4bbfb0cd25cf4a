import {
  claimSessions,
  deleteSession,
  listHeldSessions,
  releaseSessions,
  type SessionClaim,
  type SessionRow,
} from '../core/sessions/store.ts'
import type { Database } from '../infra/db.ts'
import type { ConnectionId } from '../lib/ids.ts'
import type { Log } from '../lib/log.ts'
import type { HeldSession } from './held-session.ts'

export type SessionKeeper = {
  /** Claims sessions that no node holds, and synchronises this node's with the database; called by the loop. */
  round(): Promise<void>
  /** Closes them all and releases them to other nodes, which go on with log-outs that have not ended. */
  stop(): Promise<void>
}

/** What a session is opened with; a new revision reopens it. */
type Settings = { revision: string }

export type SessionKeeperDeps<S extends Settings> = {
  db: Database
  log: Log
  node(): number
  /** Whether this node can hold sessions at all: one without the library leaves them to the others. */
  canHold(): boolean
  /** Null where its sessions may not be held. */
  settingsOf(row: SessionRow): Promise<S | null>
  /** Records that a session rests, since it may not be held. */
  markResting(hold: SessionClaim): Promise<unknown>
  open(row: SessionRow, hold: SessionClaim, settings: S): HeldSession
}

/** Sessions claimed by one statement. */
const CLAIMED_AT_ONCE = 50
/** How long a log-out may take: a phone that is off does not respond, and the chat app does not need it to. */
const LOG_OUT_MS = 8_000

/**
 * Holds web sessions: each is one node's at a time, by a claim with a fencing number.
 * A node whose lease has ended closes all of them. The next holder reads a session's
 * keys anew, and writes of the earlier holder are refused.
 */
export function createSessionKeeper<S extends Settings>(deps: SessionKeeperDeps<S>): SessionKeeper {
  const { db } = deps
  const held = new Map<ConnectionId, HeldSession>()
  /** Sessions that are being logged out and deleted, which takes seconds. */
  const removals = new Map<ConnectionId, Promise<void>>()
  let leaseNode = deps.node()
  let stopped = false
  const stopping = Promise.withResolvers<void>()

  async function round(): Promise<void> {
    if (stopped || !deps.canHold()) return
    await closeIfLeaseLost()
    await claimSessions(db, leaseNode, CLAIMED_AT_ONCE)
    const rows = await listHeldSessions(db, leaseNode)
    await closeGone(rows)
    await syncSessions(rows)
  }

  /** When the node's lease is lost, so are all its claims. */
  async function closeIfLeaseLost(): Promise<void> {
    if (deps.node() === leaseNode) return
    await closeAll()
    leaseNode = deps.node()
  }

  async function closeGone(rows: readonly SessionRow[]): Promise<void> {
    const wanted = new Set(rows.map(row => row.id))
    const gone = [...held].filter(([id, session]) => !wanted.has(id) || !session.isHeld())
    await Promise.all(gone.map(([id]) => close(id)))
  }

  /** All at once, since each waits until the chat app's server has closed the line that it replaces. */
  async function syncSessions(rows: readonly SessionRow[]): Promise<void> {
    const ended = await Promise.allSettled(rows.map(syncSession))
    const failed = ended.find(each => each.status === 'rejected')
    if (failed) throw failed.reason
  }

  async function syncSession(row: SessionRow): Promise<void> {
    if (removals.has(row.id)) return
    if (row.removing) return startRemoving(row)
    const settings = await deps.settingsOf(row)
    if (settings === null) return closeResting(row)
    const session = held.get(row.id)
    if (session && isSame(session, row, settings)) return
    await close(row.id)
    held.set(row.id, open(row, settings))
  }

  async function closeResting(row: SessionRow): Promise<void> {
    await close(row.id)
    if (row.state !== 'closed') await deps.markResting(holdOf(row))
  }

  function isSame({ hold, revision }: HeldSession, row: SessionRow, settings: S): boolean {
    return hold.fence === row.fence && hold.turn === row.turn && revision === settings.revision
  }

  function open(row: SessionRow, settings: S): HeldSession {
    return deps.open(row, holdOf(row), settings)
  }

  function startRemoving(row: SessionRow): void {
    const done = removeSession(row)
      .catch(error => deps.log.warn({ err: error, session: row.name }, 'a web session could not be removed'))
      .finally(() => removals.delete(row.id))
    removals.set(row.id, done)
  }

  /** A session that was never linked needs no log-out. */
  async function removeSession(row: SessionRow): Promise<void> {
    const linked = row.pairedAtMs !== null
    const settings = linked ? await deps.settingsOf(row) : null
    const session = held.get(row.id) ?? (settings && open(row, settings))
    held.delete(row.id)
    if (linked) await Promise.race([session?.logOut(LOG_OUT_MS), stopping.promise])
    await session?.close()
    if (!stopped) await deleteSession(db, holdOf(row))
  }

  function holdOf({ accountId, id, fence, turn }: SessionRow): SessionClaim {
    return { accountId, id, node: leaseNode, fence, turn }
  }

  async function close(id: ConnectionId): Promise<void> {
    const session = held.get(id)
    held.delete(id)
    await session?.close()
  }

  async function closeAll(): Promise<void> {
    await Promise.all([...[...held.keys()].map(close), ...removals.values()])
  }

  return {
    round,
    async stop() {
      stopped = true
      stopping.resolve()
      await closeAll()
      await releaseSessions(db, leaseNode).catch(() => {})
    },
  }
}
