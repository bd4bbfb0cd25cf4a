import type { Db } from '../../infra/db.ts'
import {
  boolArray,
  byteaArray,
  int2Array,
  jsonArray,
  textArray,
  timeArray,
  uuidArray,
} from '../../infra/pg-array.ts'
import { toIso } from '../../lib/clock.ts'
import { DAY_MS, MINUTE_MS } from '../../lib/durations.ts'
import { type AccountId, firstUuidAt, type MessageId, toUuid } from '../../lib/ids.ts'
import { byAccountAndId } from '../../lib/lock-order.ts'
import type { Turn } from '../fraud/guard.ts'
import { personOf } from '../fraud/scopes.ts'
import type { AcceptStore } from '../messages/accept.ts'
import {
  ACCEPT_PARAMETERS,
  type AcceptRow,
  type AcceptVerdict,
  acceptValues,
  HOT_TIMEOUT_MS,
  placeholders,
  readVerdicts,
  type VerdictRow,
} from '../messages/hot-store.ts'
import { withdrawUnconfirmed } from '../messages/withdraw-store.ts'
import type { VerificationId } from './codes.ts'
import { FIRST_RESEND_AFTER_MS } from './rules.ts'

/** Scopes the idempotency keys of verification/send. */
export const VERIFICATION_OPERATION = 2

/** Makes the keyed hash of a code (codes.ts) when the row is stored. */
type CodeToStore = { codeDigest: () => Buffer }

/** A verification that begins with its first message. */
export type Start = CodeToStore & {
  /** The same as its first message's, in digits. */
  verificationId: VerificationId
  recipientKey: string
  validityMinutes: number
  /** In ms since the epoch. */
  startedAt: number
  /** JSON text. */
  request: string | null
  /** All that are to carry the code, the accepted one first. */
  messages: readonly MessageId[]
  /** The place that it needs in the recipient's limit, as of when it started. */
  turn: Turn | null
}
export type StartRow = AcceptRow & { start: Start }
/** `late`: the recipient's limit is reached until `freeAtMs`, in ms since the epoch; `watched`: reached too, but only monitored. */
export type StartVerdict =
  | AcceptVerdict
  | { kind: 'accepted'; watched: true }
  | { kind: 'late'; freeAtMs: number }

/** A new code for a verification; `resends` is how many there were when it was read. */
export type Resend = CodeToStore & {
  verificationId: VerificationId
  resends: number
  messages: readonly MessageId[]
  /** In ms since the epoch, all three. */
  sentAt: number
  expiresAt: number
  resendAt: number
  /** As of when it was sent. */
  turn: Turn | null
}
export type ResendRow = AcceptRow & { resend: Resend }
/** `stale`: another resend, a check or a start has changed the verification. */
export type ResendVerdict = StartVerdict | { kind: 'stale' }

const START_TEXT = `select * from accept_verifications(${placeholders(ACCEPT_PARAMETERS + 14)})`
const RESEND_TEXT = `select * from accept_resend(${placeholders(ACCEPT_PARAMETERS + 13)})`

/** The recipient of a start: starts of one recipient take their turns one after the other. */
export function turnKeyOf({ accountId, start: { turn } }: StartRow): string | undefined {
  return turn ? `${accountId} ${turn.person}` : undefined
}

/** New verifications, many in one transaction, each with its first message and superseding what was before. */
export const STARTS: Required<AcceptStore<StartRow, StartVerdict>> = {
  async accept(db, node, nowMs, rows, repeated) {
    const starts = rows.map(row => row.start)
    const { rows: exceptions } = await db.query<GuardedRow>({
      name: 'accept_verifications',
      text: START_TEXT,
      timeoutMs: HOT_TIMEOUT_MS,
      values: [
        ...acceptValues(node, nowMs, VERIFICATION_OPERATION, rows, repeated),
        textArray(starts, start => start.recipientKey),
        byteaArray(starts, start => start.codeDigest()),
        int2Array(starts, start => start.validityMinutes),
        timeArray(starts, start => start.startedAt),
        `${FIRST_RESEND_AFTER_MS} milliseconds`,
        jsonArray(starts, start => start.request),
        furtherMessages(starts),
        textArray(starts, start => mailboxOf(start.recipientKey)),
        ...turnValues(starts.map(start => start.turn)),
        ...idRangeOf(starts),
      ],
    })
    return readGuarded(rows, exceptions)
  },
  async withdraw(db, nowMs, rows) {
    return withdrawUnconfirmed(db, nowMs, rows, (tx, gone) =>
      endVerifications(
        tx,
        nowMs,
        rows
          .filter(row => gone.has(row.id))
          .map(({ accountId, start }) => ({ accountId, id: start.verificationId })),
      ),
    )
  },
}

/** Resends, one in a transaction: they are few, and each locks the verification that it renews. */
export const RESENDS: Required<AcceptStore<ResendRow, ResendVerdict>> = {
  async accept(db, node, nowMs, rows, repeated) {
    const [row] = rows
    const { resend } = row!
    const { rows: exceptions } = await db.query<GuardedRow | { verdict: 'stale' }>({
      name: 'accept_resend',
      text: RESEND_TEXT,
      timeoutMs: HOT_TIMEOUT_MS,
      values: [
        ...acceptValues(node, nowMs, VERIFICATION_OPERATION, rows, repeated),
        toUuid(resend.verificationId),
        resend.resends,
        resend.codeDigest(),
        toIso(resend.expiresAt),
        toIso(resend.resendAt),
        uuidArray(resend.messages, id => id),
        toIso(resend.sentAt),
        resend.turn?.person ?? null,
        resend.turn?.sends ?? null,
        resend.turn?.windowMinutes ?? null,
        resend.turn?.strict ?? null,
        ...idRangeOf([{ startedAt: resend.sentAt, turn: resend.turn }]),
      ],
    })
    if (exceptions.some(each => each.verdict === 'stale')) return [{ kind: 'stale' }]
    return readGuarded(rows, exceptions as GuardedRow[])
  },
  async withdraw(db, nowMs, rows) {
    return withdrawUnconfirmed(db, nowMs, rows, async (tx, gone) => {
      const ofGone = rows.filter(row => gone.has(row.id))
      for (const row of ofGone.sort(byVerification)) await withdrawResend(tx, nowMs, row)
    })
  },
}

/** The order in which checks lock them. */
function byVerification(a: ResendRow, b: ResendRow): number {
  const keyOf = ({ accountId, resend }: ResendRow) => ({ accountId, id: resend.verificationId })
  return byAccountAndId(keyOf(a), keyOf(b))
}

type GuardedRow =
  | VerdictRow
  | { item: number; verdict: 'late'; free_at: Date }
  | { item: number; verdict: 'watched' }

const WATCHED: StartVerdict = { kind: 'accepted', watched: true }

function readGuarded(rows: readonly AcceptRow[], exceptions: readonly GuardedRow[]): StartVerdict[] {
  const verdicts: StartVerdict[] = readVerdicts(rows, exceptions.filter(isPlain))
  for (const row of exceptions) {
    if (row.verdict === 'late') verdicts[row.item - 1] = { kind: 'late', freeAtMs: row.free_at.getTime() }
    else if (row.verdict === 'watched') verdicts[row.item - 1] = WATCHED
  }
  return verdicts
}

function isPlain(row: GuardedRow): row is VerdictRow {
  return row.verdict !== 'late' && row.verdict !== 'watched'
}

/** The turns of a batch: `p_person` and what follows it. */
function turnValues(turns: readonly (Turn | null)[]): unknown[] {
  if (turns.every(turn => turn === null)) return [null, null, null, null]
  return [
    textArray(turns, turn => turn?.person ?? null),
    int2Array(turns, turn => turn?.sends ?? null),
    int2Array(turns, turn => turn?.windowMinutes ?? null),
    boolArray(turns, turn => turn?.strict ?? null),
  ]
}

/**
 * The range of ids of the verifications that count towards the limits: `p_oldest` and `p_newest`. A day wider at both ends: a
 * verification may be a day old when its last code is sent, and nodes' clocks differ.
 */
function idRangeOf(starts: readonly Pick<Start, 'startedAt' | 'turn'>[]): [string, string] {
  let [fromMs, toMs] = [Number.POSITIVE_INFINITY, 0]
  for (const { startedAt, turn } of starts) {
    fromMs = Math.min(fromMs, startedAt - (turn?.windowMinutes ?? 0) * MINUTE_MS)
    toMs = Math.max(toMs, startedAt)
  }
  return [firstUuidAt(fromMs - DAY_MS), firstUuidAt(toMs + DAY_MS)]
}

/** The key by which the recipient is counted, where that is not the recipient itself. */
function mailboxOf(recipientKey: string): string | null {
  if (recipientKey.startsWith('+')) return null
  const person = personOf(recipientKey)
  return person === recipientKey ? null : person
}

/** All messages of each that has more than one; null where none has. */
function furtherMessages(starts: readonly Start[]): Buffer | null {
  if (starts.every(({ messages }) => messages.length === 1)) return null
  return textArray(starts, ({ messages }) => (messages.length === 1 ? null : messages.map(toUuid).join(',')))
}

/** Ends verifications of which nothing was sent; those that they superseded are valid again. */
export async function endVerifications(
  db: Db,
  nowMs: number,
  items: readonly { accountId: AccountId; id: VerificationId }[],
): Promise<void> {
  await db.query({
    name: 'end_verifications',
    text: 'select end_verifications($1,$2,$3)',
    values: [toIso(nowMs), uuidArray(items, item => item.accountId), uuidArray(items, item => item.id)],
  })
}

/** Withdraws a resend whose sender was told that it failed: it does not count, and the next is allowed at once. Its code is lost. */
async function withdrawResend(db: Db, nowMs: number, { accountId, id, resend }: ResendRow): Promise<void> {
  await db.query({
    name: 'take_back_resend',
    text: `update verifications set resends = resends - 1, resend_at = $4, codes_at = array_remove(codes_at, $6)
            where account_id = $1 and id = $2 and message_id = $3 and resends > $5`,
    values: [
      toUuid(accountId),
      toUuid(resend.verificationId),
      toUuid(id),
      toIso(nowMs),
      resend.resends,
      toIso(resend.sentAt),
    ],
  })
}

/** Removes a message that was not accepted from those that were to carry a code; it is not the first of them. */
export async function dropMessage(
  db: Db,
  accountId: AccountId,
  id: VerificationId,
  message: MessageId,
): Promise<void> {
  await db.query({
    name: 'verification_drop_message',
    text: `update verifications set messages = array_remove(messages, $3),
                  started_with = started_with - case when array_position(messages, $3) <= started_with then 1 else 0 end
            where account_id = $1 and id = $2`,
    values: [toUuid(accountId), toUuid(id), toUuid(message)],
  })
}

/** Removes a code that no channel took, identified by its time in ms since the epoch, from the recipient's limit. */
export async function forgetCode(
  db: Db,
  accountId: AccountId,
  id: VerificationId,
  sentAtMs: number,
): Promise<void> {
  await db.query({
    name: 'forget_code',
    text: 'update verifications set codes_at = array_remove(codes_at, $3) where account_id = $1 and id = $2',
    values: [toUuid(accountId), toUuid(id), toIso(sentAtMs)],
  })
}
