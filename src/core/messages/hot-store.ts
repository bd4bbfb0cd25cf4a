import type { ErrorCode } from '../../contract/errors.ts'
import type { Db } from '../../infra/db.ts'
import { bareArray, bytesArray, textArray, timeArray } from '../../infra/pg-array.ts'
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
 * The hot path's calls: one statement each, a whole batch as parallel arrays.
 * The functions are in migrations/functions/.
 */

/** An idempotency key as a request gave it, scoped to account and operation. */
export type KeyClaim = { operation: number; key: string; bodyHash: Buffer }

export const SEND_OPERATION = 1

/** A call that takes longer is repeated: each of them recognises what it did before. */
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
  /** This node holds it; else it is due to whoever comes. */
  owned: boolean
  /** Its first attempt is recorded with it. */
  begun: boolean
  /** Seals what must not be read at rest; asked when the row is written, if it is (`secretToStore`). */
  secret: (() => Buffer | null) | null
  answer: 'scheduled' | 'queued' | null
  /** The bulk job whose row it is. */
  bulkJobId?: Id<'job'>
}

/**
 * A key that was there before. Without a status the message answers for it;
 * with one it was refused: in the words of `body`, or, where there is none,
 * because nothing covered the message.
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

/** The database refuses a value of this item; its neighbours went on. */
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

/** `$1,$2,…`: as many places as a function has parameters. */
export function places(count: number): string {
  return Array.from({ length: count }, (_, at) => `$${at + 1}`).join(',')
}

/** How many parameters `accept_sends` takes; what accepts more than a message has its own behind them. */
export const ACCEPT_PLACES = 32
const ACCEPT_TEXT = `select * from accept_sends(${places(ACCEPT_PLACES)})`

/**
 * Accepts a batch; `repeated` says that a flush with these ids may have been
 * committed before. Verdicts in the order of the rows. The rows must be sorted
 * by account and id, and must share one operation.
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
    values: acceptValues(node, nowMs, SEND_OPERATION, rows, repeated),
  })
  return readVerdicts(rows, exceptions)
}

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
    uuids(rows, row => row.accountId),
    uuids(rows, row => row.id),
    textArray(rows.map(row => row.claim?.key ?? null)),
    bytesArray(rows.map(row => row.claim?.bodyHash ?? null)),
    bareArray(rows.map(row => row.live)),
    bareArray(rows.map(row => row.status)),
    bareArray(rows.map(row => row.channel)),
    bareArray(rows.map(row => row.messageType)),
    textArray(rows.map(row => row.recipient)),
    bareArray(rows.map(row => row.country)),
    textArray(rows.map(row => row.provider)),
    uuids(rows, row => row.connectionId),
    textArray(rows.map(row => row.sender)),
    bareArray(rows.map(row => row.senderSource)),
    textArray(rows.map(row => row.candidates)),
    textArray(rows.map(row => row.content)),
    textArray(rows.map(row => row.metadata)),
    bareArray(rows.map(row => row.templateId && toUuid(row.templateId))),
    bareArray(rows.map(row => (row.bulkJobId ? toUuid(row.bulkJobId) : null))),
    bareArray(rows.map(row => row.amount)),
    bareArray(rows.map(row => row.parts)),
    bareArray(rows.map(row => row.pooled)),
    timeArray(rows.map(row => row.dueAt)),
    timeArray(rows.map(row => row.scheduledAt)),
    bareArray(rows.map(row => row.owned)),
    bareArray(rows.map(row => row.begun)),
    bytesArray(rows.map(secretToStore)),
    bareArray(rows.map(row => row.answer)),
  ]
}

/**
 * What has begun is in the hands of this node alone, words included: they are written when it is to
 * be sent again (`SettleRow.secret`). But a bulk row's attempt may turn out never to have been made.
 */
function secretToStore({ secret, begun, bulkJobId }: AcceptRow): Buffer | null {
  return secret === null || (begun && !bulkJobId) ? null : secret()
}

/** Of the rows, in their order: what is not among the exceptions was accepted. */
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
 * Records attempts before the provider is called: the attempt's number, or null
 * where the message is no longer ours to send. A repeated call has the first one's time.
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
      uuids(items, item => item.accountId),
      uuids(items, item => item.id),
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
  /** Of what is due again: what must not be read at rest, sealed; null leaves what is there. */
  secret: Buffer | null
  /** The key whose answer must not be replayed, since it is a 5xx. */
  forget: KeyClaim | null
  eventId: Id<'evt'>
}

/**
 * What an applied settlement told the sender first; null where it did not apply.
 * A repeated call has the first one's time: what that one settled is left alone,
 * even if the message is on its way again by now.
 */
export async function settleAttempts(
  db: Db,
  nowMs: number,
  rows: readonly SettleRow[],
  repeated: boolean,
): Promise<({ answer: string | null } | null)[]> {
  const { rows: applied } = await db.query<{ item: number; answer: string | null }>({
    name: 'settle_attempts',
    text: 'select * from settle_attempts($1,$2,$3,$4,$5,$6,$7,$8,$9,$10,$11,$12,$13,$14,$15,$16,$17,$18)',
    timeoutMs: HOT_TIMEOUT_MS,
    values: [
      toIso(nowMs),
      repeated,
      uuids(rows, row => row.accountId),
      uuids(rows, row => row.id),
      bareArray(rows.map(row => row.attempt)),
      bareArray(rows.map(row => row.kind)),
      uuids(rows, row => row.connectionId),
      textArray(rows.map(row => row.providerId)),
      textArray(rows.map(row => row.providerCode)),
      bareArray(rows.map(row => row.errorCode)),
      textArray(rows.map(row => row.errorDetail)),
      timeArray(rows.map(row => row.dueAt)),
      bareArray(rows.map(row => row.uncounted)),
      bareArray(rows.map(row => row.answer)),
      bytesArray(rows.map(row => row.secret)),
      bareArray(rows.map(row => row.forget?.operation ?? null)),
      textArray(rows.map(row => row.forget?.key ?? null)),
      uuids(rows, row => row.eventId),
    ],
  })
  const results: ({ answer: string | null } | null)[] = rows.map(() => null)
  for (const row of applied) results[row.item - 1] = { answer: row.answer }
  return results
}

export type ReceiptRow = {
  connectionId: ConnectionId
  providerId: string
  status: 'sent' | 'delivered' | 'read' | 'undelivered' | 'failed'
  atMs: number | null
  providerCode: string | null
  /** Of `failed` alone: why the message was refused after all. */
  errorCode: ErrorCode | null
  detail: string | null
  eventId: Id<'evt'>
}

/** Applies receipts, or parks those whose message nobody knows yet. Whether each moved a message. */
export async function applyReceipts(db: Db, nowMs: number, rows: readonly ReceiptRow[]): Promise<boolean[]> {
  const { rows: applied } = await db.query<{ item: number }>({
    name: 'apply_receipts',
    text: 'select * from apply_receipts($1,$2,$3,$4,$5,$6,$7,$8,$9)',
    timeoutMs: HOT_TIMEOUT_MS,
    values: [
      toIso(nowMs),
      uuids(rows, row => row.connectionId),
      textArray(rows.map(row => row.providerId)),
      bareArray(rows.map(row => row.status)),
      timeArray(rows.map(row => row.atMs)),
      textArray(rows.map(row => row.providerCode)),
      textArray(rows.map(row => row.errorCode)),
      textArray(rows.map(row => row.detail)),
      uuids(rows, row => row.eventId),
    ],
  })
  const moved = rows.map(() => false)
  for (const row of applied) moved[row.item - 1] = true
  return moved
}

/** Neighbours mostly share account and connection: what repeats is converted once. */
export function uuids<T>(rows: readonly T[], idOf: (row: T) => Id): string {
  let last: Id | null = null
  let uuid = ''
  return bareArray(
    rows.map(row => {
      const id = idOf(row)
      if (id !== last) {
        last = id
        uuid = toUuid(id)
      }
      return uuid
    }),
  )
}
