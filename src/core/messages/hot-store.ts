import type { ErrorCode } from '../../contract/errors.ts'
import type { Db } from '../../infra/db.ts'
import {
  boolArray,
  byteaArray,
  int2Array,
  int8Array,
  jsonArray,
  textArray,
  timeArray,
  uuidArray,
} from '../../infra/pg-array.ts'
import { toIso } from '../../lib/clock.ts'
import {
  type AccountId,
  type ConnectionId,
  fromUuid,
  type Id,
  type MessageId,
  toUuid,
} from '../../lib/ids.ts'
import type { Settlement } from './transitions.ts'

/**
 * The calls of the hot path: one statement each, with a whole batch as parallel arrays.
 * The SQL functions are in migrations/functions/.
 */

/** An idempotency key as a request gave it, scoped to account and operation. */
export type KeyClaim = { operation: number; key: string; bodyHash: Buffer }

export const SEND_OPERATION = 1

/** A call that takes longer is repeated: each function recognises what an earlier call did. */
export const HOT_TIMEOUT_MS = 2_500

export type AcceptRow = {
  accountId: AccountId
  id: MessageId
  claim: KeyClaim | null
  live: boolean
  status: 'queued' | 'sending' | 'scheduled'
  channel: string
  messageType: string
  recipient: string
  country: string | null
  provider: string
  connectionId: ConnectionId
  sender: string | null
  senderSource: string
  templateId: Id<'tpl'> | null
  candidates: string
  /** JSON text. */
  content: string | null
  /** JSON text. */
  metadata: string | null
  amount: number
  parts: number | null
  pooled: boolean
  dueAt: number
  scheduledAt: number | null
  /** This node holds it; if false, any node may claim it when it is due. */
  owned: boolean
  /** Its first attempt is recorded in the same transaction. */
  begun: boolean
  /** Seals the secret part of an OTP; called only if the row needs it (`secretToStore`). */
  secret: (() => Buffer | null) | null
  answer: 'scheduled' | 'queued' | null
  /** When its batch was taken up, in ms, if a repeat of the batch's request accepts it; another request may have tried before. */
  takenUpAt?: number
  /** The bulk job, for a message from a row of one. */
  bulkJobId?: Id<'job'>
}

/**
 * An idempotency key that existed before. Without a status the answer follows from the message.
 * With a status the request was refused: `body` is the response; if it is null, the balance was
 * insufficient.
 */
export type ExistingKey = {
  bodyHash: Buffer
  messageId: MessageId | null
  status: number | null
  body: string | null
  createdAt: number
}

export type AcceptVerdict =
  | { kind: 'accepted' }
  | { kind: 'insufficient' }
  | ({ kind: 'exists' } & ExistingKey)
  | Faulty

/** The database refuses a value of this item; the others of its batch are not affected. */
export type Faulty = { kind: 'faulty'; cause: unknown }

const ACCEPTED: AcceptVerdict = { kind: 'accepted' }

export type VerdictRow = {
  item: number
  verdict: 'exists' | 'again' | 'insufficient'
  key_hash: Buffer | null
  key_message: string | null
  key_status: number | null
  key_body: string | null
  key_created: Date | null
}

/** SQL placeholders for `count` parameters: `$1,$2,…`. */
export function placeholders(count: number): string {
  return Array.from({ length: count }, (_, at) => `$${at + 1}`).join(',')
}

/** The number of parameters of `accept_sends`; the other accept functions have these and then their own. */
export const ACCEPT_PARAMETERS = 32
const ACCEPT_TEXT = `select * from accept_sends(${placeholders(ACCEPT_PARAMETERS)}, p_taken_up => $${ACCEPT_PARAMETERS + 1})`

/**
 * Accepts a batch; `repeated`: an earlier flush with these ids may have been committed.
 * Returns verdicts in the order of the rows, which must be sorted by account and id,
 * and must share one operation.
 */
export async function acceptSends(
  db: Db,
  node: number,
  nowMs: number,
  rows: readonly AcceptRow[],
  repeated: boolean,
): Promise<AcceptVerdict[]> {
  const { rows: exceptions } = await db.query<VerdictRow>({
    name: 'accept_sends',
    text: ACCEPT_TEXT,
    timeoutMs: HOT_TIMEOUT_MS,
    values: [...acceptValues(node, nowMs, SEND_OPERATION, rows, repeated), takenUp(rows)],
  })
  return readVerdicts(rows, exceptions)
}

/** For the functions of the database; null if no row is of a repeated batch, as nearly always. */
export function takenUp(rows: readonly AcceptRow[]): Buffer | null {
  if (!rows.some(row => row.takenUpAt !== undefined)) return null
  return timeArray(rows, row => row.takenUpAt ?? null)
}

/** The values of the `ACCEPT_PARAMETERS` parameters, in the order of `accept_sends`. */
export function acceptValues(
  node: number,
  nowMs: number,
  operation: number,
  rows: readonly AcceptRow[],
  repeated: boolean,
): unknown[] {
  return [
    node,
    toIso(nowMs),
    operation,
    repeated,
    uuidArray(rows, row => row.accountId),
    uuidArray(rows, row => row.id),
    textArray(rows, row => row.claim?.key ?? null),
    byteaArray(rows, row => row.claim?.bodyHash ?? null),
    boolArray(rows, row => row.live),
    textArray(rows, row => row.status),
    textArray(rows, row => row.channel),
    textArray(rows, row => row.messageType),
    textArray(rows, row => row.recipient),
    textArray(rows, row => row.country),
    textArray(rows, row => row.provider),
    uuidArray(rows, row => row.connectionId),
    textArray(rows, row => row.sender),
    textArray(rows, row => row.senderSource),
    textArray(rows, row => row.candidates),
    jsonArray(rows, row => row.content),
    jsonArray(rows, row => row.metadata),
    uuidArray(rows, row => row.templateId),
    uuidArray(rows, row => row.bulkJobId ?? null),
    int8Array(rows, row => row.amount),
    int2Array(rows, row => row.parts),
    boolArray(rows, row => row.pooled),
    timeArray(rows, row => row.dueAt),
    timeArray(rows, row => row.scheduledAt),
    boolArray(rows, row => row.owned),
    boolArray(rows, row => row.begun),
    byteaArray(rows, secretToStore),
    textArray(rows, row => row.answer),
  ]
}

/**
 * The secret of a begun message stays in this node's memory, and is stored only if the message is to be sent
 * again (`SettleRow.secret`). But the recorded attempt of a bulk row may turn out not to have been made.
 */
function secretToStore({ secret, begun, bulkJobId }: AcceptRow): Buffer | null {
  return secret === null || (begun && !bulkJobId) ? null : secret()
}

/** Verdicts in the order of the rows: a row that is not among the exceptions was accepted. */
export function readVerdicts(rows: readonly AcceptRow[], exceptions: readonly VerdictRow[]): AcceptVerdict[] {
  const verdicts = rows.map(() => ACCEPTED)
  for (const row of exceptions) verdicts[row.item - 1] = readVerdict(row)
  return verdicts
}

function readVerdict(row: VerdictRow): AcceptVerdict {
  switch (row.verdict) {
    case 'again':
      return ACCEPTED
    case 'insufficient':
      return { kind: 'insufficient' }
    case 'exists':
      return {
        kind: 'exists',
        bodyHash: row.key_hash!,
        messageId: row.key_message === null ? null : fromUuid('msg', row.key_message),
        status: row.key_status,
        body: row.key_body,
        createdAt: row.key_created!.getTime(),
      }
  }
}

/**
 * Records attempts before the provider is called. Returns each attempt's number, or null if this node
 * may no longer send the message. A repeated call passes the time of the first one.
 */
export async function beginAttempts(
  db: Db,
  node: number,
  nowMs: number,
  items: readonly { accountId: AccountId; id: MessageId }[],
  repeated: boolean,
): Promise<(number | null)[]> {
  if (items.length === 0) return []
  // Ids sort like the store's uuids.
  const inOrder = items.map(item => item.id).sort()
  const { rows } = await db.query<{ item: number; attempt: number }>({
    name: 'begin_attempts',
    text: 'select * from begin_attempts($1,$2,$3,$4,$5,$6,$7)',
    timeoutMs: HOT_TIMEOUT_MS,
    values: [
      node,
      toIso(nowMs),
      repeated,
      uuidArray(items, item => item.accountId),
      uuidArray(items, item => item.id),
      toUuid(inOrder[0]!),
      toUuid(inOrder.at(-1)!),
    ],
  })
  const attempts: (number | null)[] = items.map(() => null)
  for (const row of rows) attempts[row.item - 1] = row.attempt
  return attempts
}

export type SettleRow = Settlement & {
  accountId: AccountId
  id: MessageId
  attempt: number
  connectionId: ConnectionId
  /** The sealed part of a message that is due again; null leaves the stored one. */
  secret: Buffer | null
  /** The key to free, because its answer is a 5xx, which is not replayed. */
  keyToFree: KeyClaim | null
  eventId: Id<'evt'>
}

/**
 * Applies settlements; returns the first answer of each message, or null if the settlement did not apply.
 * A repeated call passes the time of the first one: what that one settled is left alone,
 * even if the message is being sent again by now.
 */
export async function settleAttempts(
  db: Db,
  nowMs: number,
  rows: readonly SettleRow[],
  repeated: boolean,
): Promise<({ answer: string | null } | null)[]> {
  const { rows: exceptions } = await db.query<{ item: number; applied: boolean; answer: string | null }>({
    name: 'settle_attempts',
    text: 'select * from settle_attempts($1,$2,$3,$4,$5,$6,$7,$8,$9,$10,$11,$12,$13,$14,$15,$16,$17,$18)',
    timeoutMs: HOT_TIMEOUT_MS,
    values: [
      toIso(nowMs),
      repeated,
      uuidArray(rows, row => row.accountId),
      uuidArray(rows, row => row.id),
      int2Array(rows, row => row.attempt),
      textArray(rows, row => row.kind),
      uuidArray(rows, row => row.connectionId),
      textArray(rows, row => row.providerId),
      textArray(rows, row => row.providerCode),
      textArray(rows, row => row.errorCode),
      textArray(rows, row => row.errorDetail),
      timeArray(rows, row => row.dueAt),
      boolArray(rows, row => row.uncounted),
      textArray(rows, row => row.answer),
      byteaArray(rows, row => row.secret),
      int2Array(rows, row => row.keyToFree?.operation ?? null),
      textArray(rows, row => row.keyToFree?.key ?? null),
      uuidArray(rows, row => row.eventId),
    ],
  })
  const results: ({ answer: string | null } | null)[] = rows.map(({ answer }) => ({ answer }))
  for (const { item, applied, answer } of exceptions) results[item - 1] = applied ? { answer } : null
  return results
}

export type ReceiptRow = {
  connectionId: ConnectionId
  providerId: string
  status: 'sent' | 'delivered' | 'read' | 'undelivered' | 'failed'
  atMs: number | null
  providerCode: string | null
  /** For `failed` only: why the message was refused later. */
  errorCode: ErrorCode | null
  detail: string | null
  eventId: Id<'evt'>
}

/** Applies receipts, and parks those whose message is not known yet. Returns whether each changed a message. */
export async function applyReceipts(db: Db, nowMs: number, rows: readonly ReceiptRow[]): Promise<boolean[]> {
  const { rows: applied } = await db.query<{ item: number }>({
    name: 'apply_receipts',
    text: 'select * from apply_receipts($1,$2,$3,$4,$5,$6,$7,$8,$9)',
    timeoutMs: HOT_TIMEOUT_MS,
    values: [
      toIso(nowMs),
      uuidArray(rows, row => row.connectionId),
      textArray(rows, row => row.providerId),
      textArray(rows, row => row.status),
      timeArray(rows, row => row.atMs),
      textArray(rows, row => row.providerCode),
      textArray(rows, row => row.errorCode),
      textArray(rows, row => row.detail),
      uuidArray(rows, row => row.eventId),
    ],
  })
  const moved = rows.map(() => false)
  for (const row of applied) moved[row.item - 1] = true
  return moved
}
