import type { TimePosition } from '../../contract/cursor.ts'
import type { SandboxMessage } from '../../contract/sandbox.ts'
import type { Db } from '../../infra/db.ts'
import { toIso } from '../../lib/clock.ts'
import { type AccountId, fromUuid, LAST_UUID, toUuid } from '../../lib/ids.ts'

export type InboxQuery = {
  accountId: AccountId
  /** Exact recipient; null for all. */
  to: string | null
  /** The last row of the previous page; null for the first page. */
  before: TimePosition | null
  limit: number
}

/** Bytes of content per page: a mail may have half a million characters. */
const PAGE_BYTES = 4_000_000

/**
 * The newest first. After the first message, a page ends at `PAGE_BYTES` of content (`cut`: more rows were found). Two
 * statements rather than one with an OR, so that each uses its own index.
 */
export async function readInbox(
  db: Db,
  page: InboxQuery,
): Promise<{ rows: SandboxMessage[]; truncated: boolean }> {
  const { rows } = await db.query<MessageRow>({
    name: page.to === null ? 'sandbox_messages' : 'sandbox_messages_to',
    text: `
      select * from (
        select p.*, sum(p.bytes) over newest - p.bytes as before, count(*) over () as found from (
          select message_id, channel, recipient, attempts, received_at, content, octet_length(content::text) as bytes
          from sandbox_messages
          where account_id = $1 and (received_at, message_id) < ($2, $3)
            ${page.to === null ? '' : 'and recipient = $6'}
          order by received_at desc, message_id desc
          limit $4) p
        window newest as (order by p.received_at desc, p.message_id desc)
      ) s where before < $5 order by received_at desc, message_id desc`,
    values: [
      toUuid(page.accountId),
      page.before ? toIso(page.before.atMs) : 'infinity',
      page.before ? toUuid(page.before.messageId) : LAST_UUID,
      page.limit,
      PAGE_BYTES,
      ...(page.to === null ? [] : [page.to]),
    ],
  })
  return { rows: rows.map(messageOf), truncated: (rows[0]?.found ?? 0) > rows.length }
}

type MessageRow = {
  message_id: string
  channel: SandboxMessage['channel']
  recipient: string
  attempts: number
  received_at: Date
  /** Rows of the page before the limit of bytes. */
  found: number
  content: Pick<SandboxMessage, 'sender' | 'subject' | 'text' | 'html' | 'media' | 'template'>
}

function messageOf(row: MessageRow): SandboxMessage {
  return {
    messageId: fromUuid('msg', row.message_id),
    channel: row.channel,
    to: row.recipient,
    ...row.content,
    attempts: row.attempts,
    receivedAt: toIso(row.received_at.getTime()),
  }
}

/**
 * Deletes messages older than `oldestMs`, and those beyond the newest `keep` of their
 * account, at most `limit`; returns how many. Finds the accounts by
 * jumping through the index, so that the cost grows with accounts, not with rows.
 */
export async function sweepMessages(
  db: Db,
  options: { oldestMs: number; keep: number; limit: number },
): Promise<number> {
  const { rowCount } = await db.query({
    name: 'sandbox_sweep_messages',
    text: `
      with recursive account as (
        (select account_id as id from sandbox_messages order by account_id limit 1)
        union all
        select (select account_id from sandbox_messages where account_id > account.id order by account_id limit 1)
        from account where account.id is not null
      ),
      surplus as (
        select old.account_id, old.message_id
        from account
        left join lateral (
          select received_at, message_id from sandbox_messages
          where account_id = account.id
          order by received_at desc, message_id desc
          offset $2 limit 1
        ) as beyond on true
        cross join lateral (
          select account_id, message_id from sandbox_messages
          where account_id = account.id
            and (received_at, message_id) <= (
              greatest($1::timestamptz, beyond.received_at),
              case when beyond.received_at >= $1::timestamptz then beyond.message_id else '00000000-0000-0000-0000-000000000000' end
            )
          limit $3
        ) as old
        where account.id is not null
        limit $3
      )
      delete from sandbox_messages as message using surplus
      where message.account_id = surplus.account_id and message.message_id = surplus.message_id`,
    values: [toIso(options.oldestMs), options.keep, options.limit],
  })
  return rowCount ?? 0
}

/** Deletes receipts that are long overdue, as those of deleted connections, and pauses that ended long ago. */
export async function sweepLeftovers(db: Db, oldestMs: number): Promise<void> {
  await db.query({
    name: 'sandbox_sweep_receipts',
    text: 'delete from sandbox_receipts where due_at < $1',
    values: [toIso(oldestMs)],
  })
  await db.query({
    name: 'sandbox_sweep_rests',
    text: 'delete from sandbox_rests where until < $1',
    values: [toIso(oldestMs)],
  })
}
