import type {
  ClaimedReceipt,
  PlannedReceipt,
  ReceiptClaim,
  ReceivedMessage,
  SandboxInbox,
  ThrottleRequest,
} from '../../contract/sandbox-inbox.ts'
import { createBatcher } from '../../infra/batch.ts'
import type { Db } from '../../infra/db.ts'
import { int2Array, int8Array, jsonArray, textArray, timeArray, uuidArray } from '../../infra/pg-array.ts'
import { toIso } from '../../lib/clock.ts'
import { type ConnectionId, toUuid } from '../../lib/ids.ts'
import { createTemplateStore } from './templates-store.ts'

/** The state of the sandbox provider, in the database. */
export function createSandboxInbox(options: { db: Db }): SandboxInbox {
  const { db } = options
  const inserts = createBatcher<ReceivedMessage, undefined>({
    flush: messages => insertMessages(db, messages),
    // One statement cannot upsert the same row twice.
    conflictKey: message => message.messageId,
  })

  return {
    store: message => inserts.add(message),
    throttledUntil: wish => restUntil(db, wish),
    nextReceiptAt: (connectionId, nowMs) => nextReceiptAt(db, connectionId, nowMs),
    claimReceipts: claim => claimReceipts(db, claim),
    finishReceipts: reported => finishReceipts(db, reported),
    ...createTemplateStore(db),
  }
}

/**
 * Stores messages and their receipts in one statement, so all or none. Ordered, so
 * that two nodes that repeat the same messages cannot deadlock.
 */
async function insertMessages(db: Db, messages: readonly ReceivedMessage[]): Promise<undefined[]> {
  const receipts = messages.flatMap(({ connectionId, receipts }) =>
    receipts.map(receipt => ({ ...receipt, connectionId })),
  )
  await db.query({
    name: 'sandbox_take',
    text: `
      with taken as (
        insert into sandbox_messages (account_id, message_id, channel, recipient, attempts, received_at, content)
        select * from unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::smallint[], $6::timestamptz[], $7::json[])
          as m (account_id, message_id, channel, recipient, attempts, received_at, content)
        order by m.message_id
        on conflict (account_id, message_id) do update
          set attempts = greatest(sandbox_messages.attempts, excluded.attempts)
      )
      insert into sandbox_receipts (connection_id, provider_id, status, due_at)
      select * from unnest($8::uuid[], $9::text[], $10::text[], $11::timestamptz[])`,
    values: [
      uuidArray(messages, message => message.accountId),
      uuidArray(messages, message => message.messageId),
      textArray(messages, message => message.content.channel),
      textArray(messages, message => message.content.to),
      int2Array(messages, message => message.content.attempts),
      timeArray(messages, message => message.receivedAtMs),
      jsonArray(messages, contentOf),
      uuidArray(receipts, receipt => receipt.connectionId),
      textArray(receipts, receipt => receipt.providerId),
      textArray(receipts, receipt => receipt.status),
      timeArray(receipts, receipt => receipt.dueAtMs),
    ],
  })
  return messages.map(() => undefined)
}

/** The fields without a column of their own. */
function contentOf({ content }: ReceivedMessage): string {
  const { sender, subject, text, html, media, template } = content
  return JSON.stringify({ sender, subject, text, html, media, template })
}

/**
 * One conditional write, so that of many concurrent messages the first begins the pause. Returns its end. After a clock that
 * was far ahead was set right, neither the pause nor the accept is in the future.
 */
async function restUntil(db: Db, wish: ThrottleRequest): Promise<number> {
  const { acceptedAtMs, nowMs, throttleMs } = wish
  const { rows } = await db.query<{ until: Date }>({
    name: 'sandbox_rest',
    text: `
      insert into sandbox_rests as rest (account_id, recipient, until) values ($1, $2, $3)
      on conflict (account_id, recipient) do update
        set until = case when rest.until > $4 and rest.until < excluded.until + interval '1 minute'
                         then rest.until else excluded.until end
      returning until`,
    values: [
      toUuid(wish.accountId),
      wish.recipient,
      toIso(nowMs + throttleMs),
      toIso(acceptedAtMs <= nowMs ? acceptedAtMs : nowMs - throttleMs),
    ],
  })
  return rows[0]!.until.getTime()
}

async function nextReceiptAt(db: Db, connectionId: ConnectionId, nowMs: number): Promise<number | null> {
  const { rows } = await db.query<{ due_at: Date }>({
    name: 'sandbox_next_receipt',
    text: `
      select due_at from sandbox_receipts
      where connection_id = $1 and (claimed_until is null or claimed_until <= $2)
      order by due_at limit 1`,
    values: [toUuid(connectionId), toIso(nowMs)],
  })
  return rows[0]?.due_at.getTime() ?? null
}

/** Skips rows that another node has locked, so that nodes share the work rather than wait. */
async function claimReceipts(db: Db, claim: ReceiptClaim): Promise<ClaimedReceipt[]> {
  const { rows } = await db.query<ReceiptRow>({
    name: 'sandbox_claim_receipts',
    text: `
      update sandbox_receipts as receipt set claimed_until = $3
      from (
        select id from sandbox_receipts
        where connection_id = $1 and due_at <= $2 and (claimed_until is null or claimed_until <= $2)
        order by due_at limit $4
        for update skip locked
      ) as due
      where receipt.id = due.id
      returning receipt.id, receipt.provider_id, receipt.status, receipt.due_at`,
    values: [toUuid(claim.connectionId), toIso(claim.nowMs), toIso(claim.claimedUntilMs), claim.limit],
  })
  return rows.map(row => claimedOf(row, claim.claimedUntilMs)).sort(oldestFirst)
}

type ReceiptRow = { id: number; provider_id: string; status: PlannedReceipt['status']; due_at: Date }

function claimedOf(row: ReceiptRow, claimedUntilMs: number): ClaimedReceipt {
  return {
    id: row.id,
    providerId: row.provider_id,
    status: row.status,
    dueAtMs: row.due_at.getTime(),
    claimedUntilMs,
  }
}

/** Ties by id: receipts that were planned together keep their order. */
function oldestFirst(a: ClaimedReceipt, b: ClaimedReceipt): number {
  return a.dueAtMs - b.dueAtMs || a.id - b.id
}

async function finishReceipts(db: Db, reported: readonly ClaimedReceipt[]): Promise<void> {
  await db.query({
    name: 'sandbox_finish_receipts',
    text: `
      delete from sandbox_receipts as receipt
      using unnest($1::bigint[], $2::timestamptz[]) as told (id, claimed_until)
      where receipt.id = told.id and receipt.claimed_until = told.claimed_until`,
    values: [
      int8Array(reported, ({ id }) => id),
      timeArray(reported, ({ claimedUntilMs }) => claimedUntilMs),
    ],
  })
}
