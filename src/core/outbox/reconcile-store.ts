import type { Db } from '../../infra/db.ts'
import { boolArray, int2Array, int4Array, textArray, uuidArray } from '../../infra/pg-array.ts'
import { toIso } from '../../lib/clock.ts'
import { type AccountId, type ConnectionId, fromUuid, type MessageId } from '../../lib/ids.ts'
import { joinParkedParts } from './parts-store.ts'
import { SWEEP_TIMEOUT_MS } from './sweep-store.ts'

/** An unknown message, to be looked up at its provider. */
export type Lookup = {
  accountId: AccountId
  id: MessageId
  connectionId: ConnectionId
  attempt: number
  /** The number of the look-up, from 1; 0 if the first one is only scheduled now. */
  nth: number
}

/**
 * Claims unknown messages whose look-up is due, at most `limit` for each connection,
 * and schedules the next look-up of each. `waitsMs` are the pauses before
 * each look-up; the last one repeats.
 */
export async function claimLookups(
  db: Db,
  nowMs: number,
  capacity: readonly { connectionId: ConnectionId; limit: number }[],
  waitsMs: readonly number[],
): Promise<Lookup[]> {
  const { rows } = await db.query<{
    account_id: string
    id: string
    connection_id: string
    attempt: number
    asks: number
  }>({
    name: 'claim_lookups',
    text: 'select * from claim_lookups($1,$2,$3,$4)',
    values: [
      toIso(nowMs),
      uuidArray(capacity, each => each.connectionId),
      int4Array(capacity, each => each.limit),
      int4Array(waitsMs, ms => ms),
    ],
  })
  return rows.map(row => ({
    accountId: fromUuid('acc', row.account_id),
    id: fromUuid('msg', row.id),
    connectionId: fromUuid('cnn', row.connection_id),
    attempt: row.attempt,
    nth: row.asks,
  }))
}

/** A receipt that names our attempt beside the provider's id; `ofPart`: the provider's id is of one part of it. */
export type ReceiptAttempt = {
  connectionId: ConnectionId
  providerId: string
  id: MessageId
  attempt: number
  ofPart: boolean
}

/** Stores on parked receipts which attempt they name, so that they can be applied although the submit had no answer. */
export async function storeReceiptAttempts(db: Db, echoes: readonly ReceiptAttempt[]): Promise<void> {
  await db.query({
    name: 'store_receipt_attempts',
    text: `update parked_receipts p set message_id = i.message_id, attempt = i.attempt, of_part = i.of_part
             from unnest($1::uuid[], $2::text[], $3::uuid[], $4::smallint[], $5::boolean[])
               as i (connection_id, provider_id, message_id, attempt, of_part)
            where p.connection_id = any (array[i.connection_id]) and p.provider_id = i.provider_id`,
    values: [
      uuidArray(echoes, echo => echo.connectionId),
      textArray(echoes, echo => echo.providerId),
      uuidArray(echoes, echo => echo.id),
      int2Array(echoes, echo => echo.attempt),
      boolArray(echoes, echo => echo.ofPart),
    ],
  })
}

/**
 * Applies parked receipts to messages whose provider id is known by now; returns how many. Of receipts from before
 * `sinceMs` only those that name their attempt: most of the others belong to no message.
 */
export async function applyParked(db: Db, nowMs: number, sinceMs = 0): Promise<number> {
  await db.query({
    name: 'adopt_echoes',
    // `order by` makes the plan use the index: an `exists` could read all parked receipts to find none.
    text: `select case when (select message_id from parked_receipts where message_id is not null order by message_id limit 1)
             is not null then adopt_echoes($1) end`,
    values: [toIso(nowMs)],
  })
  await joinParkedParts(db, nowMs, sinceMs)
  const { rows } = await db.query<{ n: number }>({
    name: 'apply_parked',
    timeoutMs: SWEEP_TIMEOUT_MS,
    text: 'select apply_parked($1, $2) as n',
    values: [toIso(nowMs), toIso(sinceMs)],
  })
  return rows[0]!.n
}

/** Marks unknown messages as sent after their deadline, at most `limit`; returns how many. */
export async function closeUnknown(db: Db, nowMs: number, limit: number): Promise<number> {
  const { rows } = await db.query<{ closed: number }>({
    name: 'close_unknown',
    text: 'select close_unknown($1,$2) as closed',
    values: [toIso(nowMs), limit],
  })
  return rows[0]!.closed
}

/**
 * Brings back what a clock that was far ahead has put off: messages that wait for an attempt, and unknown ones.
 * `longestWaitMs` is the longest time between two attempts. Returns how many.
 */
export async function recallWaiting(
  db: Db,
  nowMs: number,
  longestWaitMs: number,
  unknownDeadlineMs: number,
): Promise<number> {
  const { rows } = await db.query<{ recalled: number }>({
    name: 'recall_waiting',
    timeoutMs: SWEEP_TIMEOUT_MS,
    text: `select recall_waiting($1, $2::double precision * interval '1 ms', $3::double precision * interval '1 ms') as recalled`,
    values: [toIso(nowMs), longestWaitMs, unknownDeadlineMs],
  })
  return rows[0]!.recalled
}
