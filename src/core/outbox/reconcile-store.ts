import type { Db } from '../../infra/db.ts'
import { bareArray, textArray } from '../../infra/pg-array.ts'
import { toIso } from '../../lib/clock.ts'
import { type AccountId, type ConnectionId, fromUuid, type MessageId, toUuid } from '../../lib/ids.ts'
import { joinParkedParts } from './parts-store.ts'
import { SWEEP_TIMEOUT_MS } from './sweep-store.ts'

/** An unknown message whose provider is to be asked what became of it. */
export type Lookup = {
  accountId: AccountId
  id: MessageId
  connectionId: ConnectionId
  attempt: number
  /** Which question this is, from 1; 0 where its first one is only planned. */
  nth: number
}

/**
 * Takes unknown messages whose time to be asked about has come, of each connection at most as
 * many as it has room for, and plans the next time of each. `waitsMs` are the pauses before
 * each question; the last one repeats.
 */
export async function claimLookups(
  db: Db,
  nowMs: number,
  room: readonly { connectionId: ConnectionId; limit: number }[],
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
      bareArray(room.map(each => toUuid(each.connectionId))),
      bareArray(room.map(each => each.limit)),
      bareArray(waitsMs),
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

/** A receipt's word on which of our attempts the provider's id stands for, or, `ofPart`, is one part of. */
export type Echo = {
  connectionId: ConnectionId
  providerId: string
  id: MessageId
  attempt: number
  ofPart: boolean
}

/** Notes on parked receipts whose attempt they are of, so that one without an answer is found by them. */
export async function noteEchoes(db: Db, echoes: readonly Echo[]): Promise<void> {
  await db.query({
    name: 'note_echoes',
    text: `update parked_receipts p set message_id = i.message_id, attempt = i.attempt, of_part = i.of_part
             from unnest($1::uuid[], $2::text[], $3::uuid[], $4::smallint[], $5::boolean[])
               as i (connection_id, provider_id, message_id, attempt, of_part)
            where p.connection_id = i.connection_id and p.provider_id = i.provider_id`,
    values: [
      bareArray(echoes.map(echo => toUuid(echo.connectionId))),
      textArray(echoes.map(echo => echo.providerId)),
      bareArray(echoes.map(echo => toUuid(echo.id))),
      bareArray(echoes.map(echo => echo.attempt)),
      bareArray(echoes.map(echo => echo.ofPart)),
    ],
  })
}

/**
 * Gives parked receipts to messages that are known by now; how many. Those that came before
 * `sinceMs` alone where they say which attempt they are of: most of the others are for nobody.
 */
export async function applyParked(db: Db, nowMs: number, sinceMs = 0): Promise<number> {
  await db.query({
    name: 'adopt_echoes',
    // By its index, whatever the planner thinks: an `exists` reads all of them to find that none does.
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

/** Unknown messages whose deadline is over count as sent; how many were closed. */
export async function closeUnknown(db: Db, nowMs: number, limit: number): Promise<number> {
  const { rows } = await db.query<{ closed: number }>({
    name: 'close_unknown',
    text: 'select close_unknown($1,$2) as closed',
    values: [toIso(nowMs), limit],
  })
  return rows[0]!.closed
}
