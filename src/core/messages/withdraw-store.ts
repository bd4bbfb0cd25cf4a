import type { MessageError } from '../../contract/message.ts'
import type { Database, Db } from '../../infra/db.ts'
import { bareArray, textArray } from '../../infra/pg-array.ts'
import { toIso } from '../../lib/clock.ts'
import { type AccountId, fromUuid, type MessageId, sameAs, toUuid } from '../../lib/ids.ts'
import { byAccountAndId } from '../../lib/lock-order.ts'
import { type AcceptRow, type SettleRow, settleAttempts } from './hot-store.ts'
import { notMade } from './transitions.ts'

/** Cancels a message that has not begun to leave; false when it has, or has ended. */
export async function cancelMessage(
  db: Db,
  nowMs: number,
  accountId: AccountId,
  id: MessageId,
): Promise<boolean> {
  return (await withdraw(db, nowMs, [{ accountId, id }], CANCELLED)).length === 1
}

/** The same for many at once; those that have begun go their way. */
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
    // From connection to connection, of which there are few, and not over all that waits.
    text: `with recursive carrying as (
        (select connection_id from outbox where owner is null and not begun order by connection_id limit 1)
        union all
        select (select o.connection_id from outbox o
                 where o.owner is null and not o.begun and o.connection_id > c.connection_id
                 order by o.connection_id limit 1)
          from carrying c where c.connection_id is not null
      ), gone as materialized (
        select g.connection_id, exists (select from web_sessions w where w.id = g.connection_id) as is_session from carrying g
         where g.connection_id is not null
           and not exists (select from connections c where c.id = g.connection_id)
           and not exists (select from web_sessions w
                 where w.id = g.connection_id and not w.removing and w.state <> 'logged_out')
      )
      select o.account_id, o.message_id
        from gone g
       cross join lateral (
         select x.account_id, x.message_id from outbox x
          where x.connection_id = g.connection_id and x.owner is null and not x.begun
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

/** Why a message that waited must not leave any more. */
export type Unwanted = 'unreadable' | 'suppressed' | 'expired' | 'superseded'

/** Ends messages that must not leave any more, each as its reason says; those that have left meanwhile go their way. */
export async function endUnwanted(
  db: Db,
  nowMs: number,
  items: ReadonlyMap<{ accountId: AccountId; id: MessageId }, Unwanted>,
): Promise<void> {
  for (const [reason, such] of Map.groupBy(items.keys(), item => items.get(item)!)) {
    await withdraw(db, nowMs, such, UNWANTED[reason])
  }
}

/**
 * Takes back messages whose sender was told that they were not accepted: they
 * never left, their money goes back, and their keys are free again. Which of
 * them were stored; one that another node has begun meanwhile goes its way, and
 * one that a repeat was answered for meanwhile (vouch-store.ts) stays, and is due.
 */
export async function withdrawUnconfirmed(
  db: Database,
  nowMs: number,
  rows: readonly AcceptRow[],
  /** Called in the same transaction, to take back what was stored with them. */
  also?: (tx: Db, gone: ReadonlySet<MessageId>) => Promise<void>,
): Promise<Set<MessageId>> {
  return db.transaction(async tx => {
    const sorted = [...rows].sort(byAccountAndId)
    // In one call, since wallets come behind all messages.
    const begun = sorted.map(row => row.begun)
    const gone = new Set(await withdraw(tx, nowMs, sorted, UNCONFIRMED, begun, true))
    await freeKeys(
      tx,
      sorted.filter(row => gone.has(row.id)),
    )
    await putOff(
      tx,
      nowMs,
      sorted.filter(row => row.begun && !gone.has(row.id)),
    )
    if (gone.size > 0) await also?.(tx, gone)
    return gone
  })
}

/**
 * Below `oldestXid` no transaction is under way any more that writes. `ownXid` is above those of all
 * that have begun to write; null where it is not asked for, since each takes a number.
 */
export async function readTransactions(
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
 * Makes messages due whose first attempt was recorded with them and is made by nobody. It still is
 * the first one where no other is past: so a repeat never takes away what somebody has begun since.
 */
async function putOff(db: Db, nowMs: number, rows: readonly AcceptRow[]): Promise<void> {
  if (rows.length === 0) return
  const { rows: unmade } = await db.query<{ id: string }>({
    name: 'find_unmade',
    text: 'select find_unmade as id from find_unmade($1,$2)',
    values: [bareArray(rows.map(row => toUuid(row.accountId))), bareArray(rows.map(row => toUuid(row.id)))],
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
    ...notMade(nowMs),
    // Gone where it was found to be unknown meanwhile.
    secret: row.secret?.() ?? null,
    forget: null,
    // Nobody hears of it.
    eventId: sameAs('evt', row.id),
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
      bareArray(claimed.map(row => toUuid(row.accountId))),
      bareArray(claimed.map(row => toUuid(row.id))),
      textArray(claimed.map(row => row.claim!.key)),
      // Those of one accept share it.
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
/** Tells what was taken back from what its account cancelled. */
export const TAKEN_BACK = 'the database went away before the sender could be told; not sent'
const UNCONFIRMED: Ending = { ...CANCELLED, detail: TAKEN_BACK }
const STRANDED: Ending = {
  end: 'failed',
  errorCode: 'PROVIDER_UNAVAILABLE',
  detail: 'its connection was removed, or its web session unlinked',
}
const UNWANTED: Readonly<Record<Unwanted, Ending>> = {
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
  superseded: { ...CANCELLED, detail: 'its code was superseded or used up before the message could be sent' },
}

async function withdraw(
  db: Db,
  nowMs: number,
  items: readonly { accountId: AccountId; id: MessageId }[],
  ending: Ending,
  /** Per item, whether its attempt was recorded with the accept: then nobody else makes it, and it may go all the same. */
  begun: readonly boolean[] = items.map(() => false),
  /** Spares those that a repeat of their request was answered for. */
  unvouched = false,
): Promise<MessageId[]> {
  if (items.length === 0) return []
  const { rows } = await db.query<{ id: string }>({
    name: 'withdraw_messages',
    text: 'select id from withdraw_messages($1,$2,$3,$4,$5,$6,$7,$8)',
    values: [
      toIso(nowMs),
      bareArray(items.map(item => toUuid(item.accountId))),
      bareArray(items.map(item => toUuid(item.id))),
      bareArray(begun),
      ending.end,
      ending.errorCode,
      ending.detail,
      unvouched,
    ],
  })
  return rows.map(row => fromUuid('msg', row.id))
}
