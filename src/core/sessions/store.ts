import type { SessionState } from '../../contract/web-session.ts'
import type { Database, Db } from '../../infra/db.ts'
import { isoOrNull, toIso } from '../../lib/clock.ts'
import { type AccountId, type ConnectionId, fromUuid, toUuid } from '../../lib/ids.ts'
import { deleteAllChats } from './chat-store.ts'
import { deleteAllKeys } from './key-store.ts'

export type SessionRow = {
  accountId: AccountId
  /** Also the connection id of its messages. */
  id: ConnectionId
  name: string
  /** Made with a live key. */
  live: boolean
  /** It has no phone, and no node holds it: messages are simulated. */
  sandbox: boolean
  state: SessionState
  detail: string | null
  /** Sealed: the QR or pairing code, and when it expires; null without one. */
  pairing: Buffer | null
  askedPhone: string | null
  phone: string | null
  pushName: string | null
  pairedAtMs: number | null
  openedAtMs: number | null
  changedAtMs: number
  wanted: boolean
  removing: boolean
  /** Increases with each restart. */
  turn: number
  node: number | null
  fence: number
}

/** A node's claim of a session, with fence and turn: writes of an earlier claim are refused. */
export type SessionClaim = {
  accountId: AccountId
  id: ConnectionId
  node: number
  fence: number
  turn: number
}

type Raw = Omit<SessionRow, 'accountId' | 'id' | 'pairedAtMs' | 'openedAtMs' | 'changedAtMs'> & {
  accountUuid: string
  uuid: string
  pairedAt: Date | null
  openedAt: Date | null
  changedAt: Date
}

const COLUMNS = `account_id as "accountUuid", id as uuid, name, live, sandbox, state, detail, pairing, asked_phone as "askedPhone", phone,
  push_name as "pushName", paired_at as "pairedAt", opened_at as "openedAt", changed_at as "changedAt", wanted, removing, turn,
  node, fence`

/** Sessions of an account that are not being removed, the newest first; `before` is the last id of the previous page. */
export async function listSessions(
  db: Db,
  accountId: AccountId,
  live: boolean,
  before: ConnectionId | null,
  limit: number,
): Promise<SessionRow[]> {
  const { rows } = await db.query<Raw>({
    name: 'web_sessions_list',
    text: `select ${COLUMNS} from web_sessions
            where account_id = $1 and live = $2 and not removing and ($3::uuid is null or id < $3)
            order by id desc limit $4`,
    values: [toUuid(accountId), live, before && toUuid(before), limit],
  })
  return rows.map(toRow)
}

export async function selectSession(
  db: Db,
  accountId: AccountId,
  live: boolean,
  name: string,
): Promise<SessionRow | null> {
  const { rows } = await db.query<Raw>({
    name: 'web_session_by_name',
    text: `select ${COLUMNS} from web_sessions where account_id = $1 and live = $2 and name = $3 and not removing`,
    values: [toUuid(accountId), live, name],
  })
  return rows[0] ? toRow(rows[0]) : null
}

/** False if the name is taken. */
export async function insertSession(db: Db, row: SessionRow): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'web_session_insert',
    text: `insert into web_sessions (account_id, id, name, live, sandbox, state, asked_phone, phone, paired_at, opened_at, changed_at, wanted)
           values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $9, $10, $11) on conflict do nothing`,
    values: [
      toUuid(row.accountId),
      toUuid(row.id),
      row.name,
      row.live,
      row.sandbox,
      row.state,
      row.askedPhone,
      row.phone,
      isoOrNull(row.openedAtMs),
      toIso(row.changedAtMs),
      row.wanted,
    ],
  })
  return rowCount === 1
}

/**
 * Makes the node that holds the session, or claims it next, reconnect it, and sends events again. With `links`, one of
 * the sandbox becomes a real one, which is to be linked. Null if there is none.
 */
export async function restartSession(
  db: Db,
  accountId: AccountId,
  live: boolean,
  name: string,
  links: boolean,
  nowMs: number,
): Promise<SessionRow | null> {
  const { rows } = await db.query<Raw>({
    name: 'web_session_restart',
    text: `update web_sessions set turn = turn + 1, detail = null, pairing = null, told = null, changed_at = $4,
                  sandbox = sandbox and not $5, wanted = $5 or not sandbox,
                  state = case when $5 or not sandbox then 'connecting' else state end,
                  phone = case when sandbox and $5 then null else phone end,
                  paired_at = case when sandbox and $5 then null else paired_at end,
                  opened_at = case when sandbox and $5 then null else opened_at end
            where account_id = $1 and live = $2 and name = $3 and not removing returning ${COLUMNS}`,
    values: [toUuid(accountId), live, name, toIso(nowMs), links],
  })
  return rows[0] ? toRow(rows[0]) : null
}

/**
 * Hides a session and frees its name; the node that holds it logs it out and deletes it. One of the sandbox, which no
 * node ever holds, is deleted at once. False if there is none.
 */
export async function removeSession(
  db: Db,
  accountId: AccountId,
  live: boolean,
  name: string,
): Promise<boolean> {
  const { rows } = await db.query({
    name: 'web_session_remove',
    text: `with deleted as (
             delete from web_sessions where account_id = $1 and live = $2 and name = $3 and not removing and sandbox
             returning 1),
           hidden as (
             update web_sessions set removing = true, pairing = null
              where account_id = $1 and live = $2 and name = $3 and not removing and not sandbox returning 1)
           select from deleted union all select from hidden`,
    values: [toUuid(accountId), live, name],
  })
  return rows.length > 0
}

/** Claims real sessions that should be held, or removed, and that no running node holds; at most `limit`. */
export async function claimSessions(db: Db, node: number, limit: number): Promise<SessionRow[]> {
  const { rows } = await db.query<Raw>({
    name: 'web_sessions_claim',
    text: `update web_sessions set node = $1, fence = fence + 1
            where (account_id, id) in (
              select w.account_id, w.id from web_sessions w
               where (w.wanted or w.removing) and not w.sandbox
                 and (w.node is null or not exists (select 1 from nodes n where n.id = w.node))
               order by w.account_id, w.id limit $2 for update skip locked)
          returning ${COLUMNS}`,
    values: [node, limit],
  })
  return rows.map(toRow)
}

/** The sessions that a node holds. */
export async function listHeldSessions(db: Db, node: number): Promise<SessionRow[]> {
  const { rows } = await db.query<Raw>({
    name: 'web_sessions_held',
    text: `select ${COLUMNS} from web_sessions where node = $1 and (wanted or removing)`,
    values: [node],
  })
  return rows.map(toRow)
}

/** Releases all sessions of a node. */
export async function releaseSessions(db: Db, node: number): Promise<void> {
  await db.query({
    name: 'web_sessions_release',
    text: 'update web_sessions set node = null where node = $1',
    values: [node],
  })
}

export type StateChange = {
  state: SessionState
  detail: string | null
  pairing: Buffer | null
  /** As reported by the open session; null keeps the stored value. */
  phone: string | null
  pushName: string | null
  /** Whether a node should go on holding it. */
  wanted: boolean
  /** The session was unlinked: phone, name and keys are no longer valid. */
  unlinked: boolean
  atMs: number
}

/** Stores a session's state. `told`: its last event. Null if the claim is invalid, or it was restarted or removed. */
export async function writeState(
  db: Db,
  claim: SessionClaim,
  change: StateChange,
): Promise<{ name: string; phone: string | null; told: string | null } | null> {
  const { rows } = await db.query<{ name: string; phone: string | null; told: string | null }>({
    name: 'web_session_state',
    text: `update web_sessions set state = $5, detail = $6, pairing = $7, wanted = $10, changed_at = $12,
                  phone = case when $11 then null else coalesce($8, phone) end,
                  push_name = case when $11 then null else coalesce($9, push_name) end,
                  paired_at = case when $11 then null when $5 = 'open' then coalesce(paired_at, $12) else paired_at end,
                  opened_at = case when $5 = 'open' then $12 else opened_at end
            where account_id = $1 and id = $2 and node = $3 and fence = $4 and turn = $13 and not removing
          returning name, phone, told`,
    values: [
      toUuid(claim.accountId),
      toUuid(claim.id),
      claim.node,
      claim.fence,
      change.state,
      change.detail,
      change.pairing,
      change.phone,
      change.pushName,
      change.wanted,
      change.unlinked,
      toIso(change.atMs),
      claim.turn,
    ],
  })
  return rows[0] ?? null
}

/** Whether the session is being removed by this claim: its holder is to log it out. */
export async function isRemovedBy(db: Db, claim: SessionClaim): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'web_session_removed_by',
    text: `select 1 from web_sessions
            where account_id = $1 and id = $2 and node = $3 and fence = $4 and turn = $5 and removing`,
    values: [toUuid(claim.accountId), toUuid(claim.id), claim.node, claim.fence, claim.turn],
  })
  return rowCount === 1
}

/** Stores the type of the last event. */
export async function storeLastEvent(db: Db, { accountId, id }: SessionClaim, told: string): Promise<void> {
  await db.query({
    name: 'web_session_store_last_event',
    text: 'update web_sessions set told = $3 where account_id = $1 and id = $2',
    values: [toUuid(accountId), toUuid(id), told],
  })
}

/** Keeps other nodes from claiming the session until the transaction ends; false if this claim is no longer valid. */
export async function lockClaim(db: Db, { accountId, id, node, fence }: SessionClaim): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'web_session_lock_hold',
    text: `select 1 from web_sessions where account_id = $1 and id = $2 and node = $3 and fence = $4 for share`,
    values: [toUuid(accountId), toUuid(id), node, fence],
  })
  return rowCount === 1
}

/**
 * Deletes a session, its keys and its chats; false if the claim is no longer valid. The row is deleted first: that
 * waits for transactions that still write keys, and only a statement that begins after them sees those keys.
 */
export function deleteSession(db: Database, claim: SessionClaim): Promise<boolean> {
  return db.transaction(async tx => {
    if (!(await deleteRow(tx, claim))) return false
    await deleteAllKeys(tx, claim)
    await deleteAllChats(tx, claim)
    return true
  })
}

async function deleteRow(db: Db, { accountId, id, node, fence }: SessionClaim): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'web_session_delete',
    text: 'delete from web_sessions where account_id = $1 and id = $2 and node = $3 and fence = $4',
    values: [toUuid(accountId), toUuid(id), node, fence],
  })
  return rowCount === 1
}

export async function countSessions(db: Db, accountId: AccountId, live: boolean): Promise<number> {
  const { rows } = await db.query<{ n: number }>({
    name: 'web_sessions_count',
    text: 'select count(*)::integer as n from web_sessions where account_id = $1 and live = $2 and not removing',
    values: [toUuid(accountId), live],
  })
  return rows[0]!.n
}

function toRow({ accountUuid, uuid, pairedAt, openedAt, changedAt, ...rest }: Raw): SessionRow {
  return {
    ...rest,
    accountId: fromUuid('acc', accountUuid),
    id: fromUuid('cnn', uuid),
    pairedAtMs: pairedAt?.getTime() ?? null,
    openedAtMs: openedAt?.getTime() ?? null,
    changedAtMs: changedAt.getTime(),
  }
}
