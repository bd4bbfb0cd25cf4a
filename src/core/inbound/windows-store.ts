import type { Db } from '../../infra/db.ts'
import { textArray, timeArray, uuidArray } from '../../infra/pg-array.ts'
import { toIso } from '../../lib/clock.ts'
import type { ConnectionId } from '../../lib/ids.ts'

export type WindowEnd = WindowKey & { untilMs: number }

/** Opens windows until the given times, unless they are open for longer. No recipient may occur twice. */
export async function openWindows(db: Db, ends: readonly WindowEnd[]): Promise<void> {
  await db.query({
    name: 'windows_open',
    // In one order, so that two nodes cannot deadlock.
    text: `insert into conversation_windows as w (connection_id, recipient, open_until)
      select connection_id, recipient, until
        from unnest($1::uuid[], $2::text[], $3::timestamptz[]) as i (connection_id, recipient, until)
       order by connection_id, recipient
      on conflict (connection_id, recipient) do update set open_until = excluded.open_until
       where w.open_until < excluded.open_until`,
    values: [
      uuidArray(ends, ({ connectionId }) => connectionId),
      textArray(ends, ({ recipient }) => recipient),
      timeArray(ends, ({ untilMs }) => untilMs),
    ],
  })
}

export type WindowKey = { connectionId: ConnectionId; recipient: string }

/** Until when each window is open, in ms since the epoch; null if there is none. */
export async function findWindows(db: Db, keys: readonly WindowKey[]): Promise<(number | null)[]> {
  const { rows } = await db.query<{ item: number; open_until: Date }>({
    name: 'windows_find',
    text: `select i.n::integer as item, w.open_until
      from unnest($1::uuid[], $2::text[]) with ordinality as i (connection_id, recipient, n)
      cross join lateral (
        select open_until from conversation_windows c
         where c.connection_id = i.connection_id and c.recipient = i.recipient limit 1
      ) w`,
    values: [
      uuidArray(keys, ({ connectionId }) => connectionId),
      textArray(keys, ({ recipient }) => recipient),
    ],
  })
  const ends: (number | null)[] = keys.map(() => null)
  for (const { item, open_until } of rows) ends[item - 1] = open_until.getTime()
  return ends
}

/** Deletes windows that closed before a time, at most `limit`; skips rows that are locked. Returns how many. */
export async function sweepWindows(db: Db, beforeMs: number, limit: number): Promise<number> {
  const { rowCount } = await db.query({
    name: 'windows_sweep',
    text: `delete from conversation_windows where (connection_id, recipient) in (
        select connection_id, recipient from conversation_windows where open_until < $1
         order by open_until limit $2 for update skip locked)`,
    values: [toIso(beforeMs), limit],
  })
  return rowCount ?? 0
}
