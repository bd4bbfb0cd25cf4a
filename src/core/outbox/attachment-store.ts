import type { Db } from '../../infra/db.ts'
import { toIso } from '../../lib/clock.ts'
import { type AccountId, type Id, type MessageId, toUuid } from '../../lib/ids.ts'
import { SWEEP_TIMEOUT_MS } from './sweep-store.ts'
import { MIN_COUNTED_BYTES } from './waiting-files.ts'

/** Stores a file that was sent along with a request, until its message has left the outbox. */
export async function storeAttachment(
  db: Db,
  accountId: AccountId,
  id: Id<'att'>,
  messageId: MessageId,
  bytes: Buffer,
): Promise<void> {
  await db.query({
    name: 'store_attachment',
    text: 'insert into attachments (account_id, id, message_id, bytes) values ($1,$2,$3,$4)',
    values: [toUuid(accountId), toUuid(id), toUuid(messageId), bytes],
  })
}

/** The bytes of an account's files whose messages wait, each counted with at least `MIN_COUNTED_BYTES`. */
export async function measureAttachments(db: Db, accountId: AccountId): Promise<number> {
  const { rows } = await db.query<{ bytes: number }>({
    name: 'measure_attachments',
    timeoutMs: SWEEP_TIMEOUT_MS,
    text: `select coalesce(sum(greatest(octet_length(a.bytes), ${MIN_COUNTED_BYTES})), 0)::bigint as bytes
             from attachments a
            cross join lateral (
              select 1 from outbox o where o.account_id = a.account_id and o.message_id = a.message_id limit 1) o
            where a.account_id = $1`,
    values: [toUuid(accountId)],
  })
  return rows[0]!.bytes
}

/** Deletes a file, because its message was not accepted. */
export async function dropAttachment(db: Db, accountId: AccountId, id: Id<'att'>): Promise<void> {
  await db.query({
    name: 'drop_attachment',
    text: 'delete from attachments where account_id = $1 and id = $2',
    values: [toUuid(accountId), toUuid(id)],
  })
}

/** The bytes of a stored file; null if it was deleted. */
export async function readAttachment(db: Db, accountId: AccountId, id: Id<'att'>): Promise<Buffer | null> {
  const { rows } = await db.query<{ bytes: Buffer }>({
    name: 'read_attachment',
    text: 'select bytes from attachments where account_id = $1 and id = $2',
    values: [toUuid(accountId), toUuid(id)],
  })
  return rows[0]?.bytes ?? null
}

/** Deletes files older than a time whose message is no longer in the outbox, at most `limit`; returns how many. */
export async function sweepAttachments(db: Db, createdBeforeMs: number, limit: number): Promise<number> {
  const { rowCount } = await db.query({
    name: 'sweep_attachments',
    timeoutMs: SWEEP_TIMEOUT_MS,
    text: `delete from attachments where ctid = any (array(
             select a.ctid from attachments a where a.id < first_uuid_at($1)
               and not exists (select 1 from outbox o where o.account_id = a.account_id and o.message_id = a.message_id)
              limit $2 for update of a skip locked))`,
    values: [toIso(createdBeforeMs), limit],
  })
  return rowCount ?? 0
}
