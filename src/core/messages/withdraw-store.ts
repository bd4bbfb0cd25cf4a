import type { MessageError } from '../../contract/message.ts'
import type { Database, Db } from '../../infra/db.ts'
import { boolArray, textArray, uuidArray } from '../../infra/pg-array.ts'
import { toIso } from '../../lib/clock.ts'
import { type AccountId, fromUuid, type MessageId, withPrefix } from '../../lib/ids.ts'
import { byAccountAndId } from '../../lib/lock-order.ts'
import { WAITED } from '../outbox/store.ts'
import { type AcceptRow, type SettleRow, settleAttempts, takenUp } from './hot-store.ts'
import { settleNotMade } from './transitions.ts'

/** Cancels a message; false if its attempt has begun, or it has ended. */
export async function cancelMessage(
  db: Db,
  nowMs: number,
  accountId: AccountId,
  id: MessageId,
): Promise<boolean> {
  return (await withdraw(db, nowMs, [{ accountId, id }], CANCELLED)).length === 1
}

/** The same for many at once; begun ones are not affected. */
export async function cancelMessages(
  db: Db,
  nowMs: number,
  items: readonly { accountId: AccountId; id: MessageId }[],
): Promise<void> {
  await withdraw(db, nowMs, items, CANCELLED)
}

/**
 * Ends messages whose connection was removed while they waited, be they for next year, at most `limit`; how many. Those
 * of a web session that is still known and unlinked end when they are due: it may be linked again by then. A connection
 * that is merely disabled keeps its messages waiting.
 */
export async function failStranded(db: Db, nowMs: number, limit: number): Promise<number> {
  const { rows } = await db.query<{ account_id: string; message_id: string }>({
    name: 'find_stranded',
    text: `with recursive ${WAITED}, gone as materialized (
        select g.id, exists (select from web_sessions w where w.id = g.id) as is_session from waited g
         where g.id is not null
           and not exists (select from connections c where c.id = g.id)
           and not exists (select from web_sessions w where w.id = g.id and not w.removing and w.state <> 'logged_out')
      )
      select o.account_id, o.message_id
        from gone g
       cross join lateral (
         select x.account_id, x.message_id from outbox x
          where x.connection_id = g.id and x.owner is null and not x.begun
            and x.due_at <= case when g.is_session then $1::timestamptz else 'infinity' end
          order by x.due_at limit $2) o
       order by o.account_id, o.message_id limit $2`,
    values: [toIso(nowMs), limit],
  })
  if (rows.length === 0) return 0
  const items = rows.map(row => ({
    accountId: fromUuid('acc', row.account_id),
    id: fromUuid('msg', row.message_id),
  }))
  return (await withdraw(db, nowMs, items, STRANDED)).length
}

/** Why a waiting message must not be sent any more. */
export type EndReason = 'unreadable' | 'suppressed' | 'expired' | 'superseded' | 'cancelled'

/** Ends messages that must not be sent any more, each by its reason; those that have begun meanwhile are not affected. */
export async function endMessages(
  db: Db,
  nowMs: number,
  items: ReadonlyMap<{ accountId: AccountId; id: MessageId }, EndReason>,
): Promise<void> {
  for (const [reason, such] of Map.groupBy(items.keys(), item => items.get(item)!)) {
    await withdraw(db, nowMs, such.sort(byAccountAndId), ENDING_OF[reason])
  }
}

/**
 * Withdraws messages whose senders got an error: they are not sent, their money is released, and their
 * keys are free again. Returns those that were withdrawn. A message that another node has begun meanwhile
 * is not affected, and one that a repeat got its answer for (confirm-store.ts) stays, and is due. Nor is one affected
 * that a repeat of its batch has accepted under the same id.
 */
export async function withdrawUnconfirmed(
  db: Database,
  nowMs: number,
  rows: readonly AcceptRow[],
  /** Called in the same transaction, to withdraw what was stored with them. */
  also?: (tx: Db, withdrawn: ReadonlySet<MessageId>) => Promise<void>,
): Promise<Set<MessageId>> {
  return db.transaction(async tx => {
    const sorted = [...rows].sort(byAccountAndId)
    // In one call, because wallets are locked after all messages.
    const gone = new Set(
      await withdraw(tx, nowMs, sorted, UNCONFIRMED, {
        begun: sorted.map(row => row.begun),
        takenUp: takenUp(sorted),
      }),
    )
    await freeKeys(
      tx,
      sorted.filter(row => gone.has(row.id)),
    )
    await requeueUnmade(
      tx,
      nowMs,
      sorted.filter(row => row.begun && !gone.has(row.id)),
    )
    if (gone.size > 0) await also?.(tx, gone)
    return gone
  })
}

/**
 * All writing transactions with an id below `oldestXid` have ended. `ownXid` is above the ids of all that have
 * begun to write; null unless `own` asks for it, since it uses up an id.
 */
export async function readTransactionIds(
  db: Db,
  own: boolean,
): Promise<{ oldestXid: number; ownXid: number | null }> {
  const { rows } = await db.query<{ oldestXid: number; ownXid: number | null }>({
    name: 'read_transactions',
    text: `select pg_snapshot_xmin(pg_current_snapshot())::text::bigint as "oldestXid",
                  case when $1 then pg_current_xact_id()::text::bigint end as "ownXid"`,
    values: [own],
  })
  return rows[0]!
}

/**
 * Makes messages due whose first attempt was recorded with them but will not be made. Only if it still is the
 * first attempt, so that a repeat never reverts one that was begun since.
 */
async function requeueUnmade(db: Db, nowMs: number, rows: readonly AcceptRow[]): Promise<void> {
  if (rows.length === 0) return
  const { rows: unmade } = await db.query<{ id: string }>({
    name: 'find_unmade',
    text: 'select find_unmade as id from find_unmade($1,$2,$3)',
    values: [uuidArray(rows, row => row.accountId), uuidArray(rows, row => row.id), takenUp(rows)],
  })
  if (unmade.length === 0) return
  const ids = new Set(unmade.map(({ id }) => fromUuid('msg', id)))
  await settleAttempts(
    db,
    nowMs,
    rows.filter(row => ids.has(row.id)).map(row => unmadeAttempt(row, nowMs)),
    false,
  )
}

function unmadeAttempt(row: AcceptRow, nowMs: number): SettleRow {
  return {
    accountId: row.accountId,
    id: row.id,
    attempt: 1,
    connectionId: row.connectionId,
    ...settleNotMade(nowMs),
    // Null if the message was found to be unknown meanwhile.
    secret: row.secret?.() ?? null,
    keyToFree: null,
    // It causes no event.
    eventId: withPrefix('evt', row.id),
  }
}

async function freeKeys(db: Db, rows: readonly AcceptRow[]): Promise<void> {
  const claimed = rows.filter(row => row.claim !== null)
  if (claimed.length === 0) return
  await db.query({
    name: 'free_unconfirmed_keys',
    text: `delete from idempotency k using unnest($1::uuid[], $2::uuid[], $3::text[]) as i (account_id, id, key)
            where k.account_id = i.account_id and k.operation = $4 and k.key = i.key and k.message_id = i.id`,
    values: [
      uuidArray(claimed, row => row.accountId),
      uuidArray(claimed, row => row.id),
      textArray(claimed, row => row.claim!.key),
      // All rows of one accept have the same operation.
      claimed[0]!.claim!.operation,
    ],
  })
}

type Ending = {
  end: 'cancelled' | 'failed' | 'expired'
  errorCode: MessageError | null
  detail: string | null
}

const CANCELLED: Ending = { end: 'cancelled', errorCode: null, detail: null }
/** By this detail a withdrawn message differs from one that its account cancelled. */
export const WITHDRAWN_DETAIL = 'the database went away before the sender could be told; not sent'
const UNCONFIRMED: Ending = { ...CANCELLED, detail: WITHDRAWN_DETAIL }
const STRANDED: Ending = {
  end: 'failed',
  errorCode: 'PROVIDER_UNAVAILABLE',
  detail: 'its connection was removed, or its web session unlinked',
}
const ENDING_OF: Readonly<Record<EndReason, Ending>> = {
  unreadable: {
    end: 'failed',
    errorCode: 'INTERNAL_ERROR',
    detail: 'its encrypted text is missing, or was encrypted under another master key',
  },
  suppressed: {
    end: 'failed',
    errorCode: 'RECIPIENT_SUPPRESSED',
    detail: 'the recipient opted out of marketing while the message waited',
  },
  expired: {
    end: 'expired',
    errorCode: 'VERIFICATION_EXPIRED',
    detail: 'its code expired before the message could be sent',
  },
  cancelled: CANCELLED,
  superseded: { ...CANCELLED, detail: 'its code was superseded or used up before the message could be sent' },
}

/** Of messages whose accept was not confirmed: those that a repeat of their request got the answer for, or accepted itself, stay. */
type Unconfirmed = {
  /** Per item, whether its attempt was recorded with the accept: then no other node makes it, and it may be withdrawn. */
  begun: readonly boolean[]
  takenUp: Buffer | null
}

async function withdraw(
  db: Db,
  nowMs: number,
  items: readonly { accountId: AccountId; id: MessageId }[],
  ending: Ending,
  unconfirmed: Unconfirmed | null = null,
): Promise<MessageId[]> {
  if (items.length === 0) return []
  const { rows } = await db.query<{ id: string }>({
    name: 'withdraw_messages',
    text: 'select id from withdraw_messages($1,$2,$3,$4,$5,$6,$7,$8,$9)',
    values: [
      toIso(nowMs),
      uuidArray(items, item => item.accountId),
      uuidArray(items, item => item.id),
      boolArray(unconfirmed?.begun ?? items.map(() => false), is => is),
      ending.end,
      ending.errorCode,
      ending.detail,
      unconfirmed !== null,
      unconfirmed?.takenUp ?? null,
    ],
  })
  return rows.map(row => fromUuid('msg', row.id))
}
