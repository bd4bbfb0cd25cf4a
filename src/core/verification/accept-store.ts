import type { Db } from '../../infra/db.ts'
import { bareArray, bytesArray, textArray, timeArray } from '../../infra/pg-array.ts'
import { toIso } from '../../lib/clock.ts'
import { type AccountId, type MessageId, toUuid } from '../../lib/ids.ts'
import type { AcceptStore } from '../messages/accept.ts'
import {
  ACCEPT_PLACES,
  type AcceptRow,
  type AcceptVerdict,
  acceptValues,
  HOT_TIMEOUT_MS,
  places,
  readVerdicts,
  type VerdictRow,
} from '../messages/hot-store.ts'
import { withdrawUnconfirmed } from '../messages/withdraw-store.ts'
import type { VerificationId } from './codes.ts'
import { FIRST_RESEND_AFTER_MS } from './rules.ts'

/** Scopes the idempotency keys of verification/send. */
export const VERIFICATION_OPERATION = 2

/** Makes what stands for a code (codes.ts), when the row is written. */
type KeptCode = { codeMark: () => Buffer }

/** A verification that begins with its first message. */
export type Start = KeptCode & {
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
}
export type StartRow = AcceptRow & { start: Start }

/** A new code for a verification; `resends` is how many there were when it was read. */
export type Resend = KeptCode & {
  verificationId: VerificationId
  resends: number
  messages: readonly MessageId[]
  /** In ms since the epoch, both. */
  expiresAt: number
  resendAt: number
}
export type ResendRow = AcceptRow & { resend: Resend }
/** `stale`: another resend, a check or a start was faster. */
export type ResendVerdict = AcceptVerdict | { kind: 'stale' }

const START_TEXT = `select * from accept_verifications(${places(ACCEPT_PLACES + 7)})`
const RESEND_TEXT = `select * from accept_resend(${places(ACCEPT_PLACES + 6)})`

/** New verifications, many in one transaction, each with its first message and superseding what was before. */
export const STARTS: AcceptStore<StartRow, AcceptVerdict> = {
  async accept(db, node, nowMs, rows, repeated) {
    const starts = rows.map(row => row.start)
    const { rows: exceptions } = await db.query<VerdictRow>({
      name: 'accept_verifications',
      text: START_TEXT,
      timeoutMs: HOT_TIMEOUT_MS,
      values: [
        ...acceptValues(node, nowMs, VERIFICATION_OPERATION, rows, repeated),
        textArray(starts.map(start => start.recipientKey)),
        bytesArray(starts.map(start => start.codeMark())),
        bareArray(starts.map(start => start.validityMinutes)),
        timeArray(starts.map(start => start.startedAt)),
        `${FIRST_RESEND_AFTER_MS} milliseconds`,
        textArray(starts.map(start => start.request)),
        furtherMessages(starts),
      ],
    })
    return readVerdicts(rows, exceptions)
  },
  withdraw: (db, nowMs, rows) =>
    withdrawUnconfirmed(db, nowMs, rows, (tx, gone) =>
      endVerifications(
        tx,
        nowMs,
        rows
          .filter(row => gone.has(row.id))
          .map(({ accountId, start }) => ({ accountId, id: start.verificationId })),
      ),
    ),
}

/** Resends, one in a transaction: they are few, and each locks the verification that it renews. */
export const RESENDS: AcceptStore<ResendRow, ResendVerdict> = {
  async accept(db, node, nowMs, rows, repeated) {
    const [row] = rows
    const { resend } = row!
    const { rows: exceptions } = await db.query<VerdictRow | { verdict: 'stale' }>({
      name: 'accept_resend',
      text: RESEND_TEXT,
      timeoutMs: HOT_TIMEOUT_MS,
      values: [
        ...acceptValues(node, nowMs, VERIFICATION_OPERATION, rows, repeated),
        toUuid(resend.verificationId),
        resend.resends,
        resend.codeMark(),
        toIso(resend.expiresAt),
        toIso(resend.resendAt),
        bareArray(resend.messages.map(toUuid)),
      ],
    })
    if (exceptions.some(each => each.verdict === 'stale')) return [{ kind: 'stale' }]
    return readVerdicts(rows, exceptions as VerdictRow[])
  },
  withdraw: (db, nowMs, rows) =>
    withdrawUnconfirmed(db, nowMs, rows, async (tx, gone) => {
      for (const row of rows) if (gone.has(row.id)) await takeBackResend(tx, nowMs, row)
    }),
}

/** All messages of each that has more than one; null where none has. */
function furtherMessages(starts: readonly Start[]): string | null {
  if (starts.every(({ messages }) => messages.length === 1)) return null
  return textArray(
    starts.map(({ messages }) => (messages.length === 1 ? null : messages.map(toUuid).join(','))),
  )
}

/** Ends verifications of which nothing was sent; what they superseded counts again. */
export async function endVerifications(
  db: Db,
  nowMs: number,
  items: readonly { accountId: AccountId; id: VerificationId }[],
): Promise<void> {
  await db.query({
    name: 'end_verifications',
    text: 'select end_verifications($1,$2,$3)',
    values: [
      toIso(nowMs),
      bareArray(items.map(item => toUuid(item.accountId))),
      bareArray(items.map(item => toUuid(item.id))),
    ],
  })
}

/** Its sender was told that there was none: it does not count, and the next may come at once. Its code is lost. */
async function takeBackResend(db: Db, nowMs: number, { accountId, id, resend }: ResendRow): Promise<void> {
  await db.query({
    name: 'take_back_resend',
    text: `update verifications set resends = resends - 1, resend_at = $4
            where account_id = $1 and id = $2 and message_id = $3 and resends > $5`,
    values: [toUuid(accountId), toUuid(resend.verificationId), toUuid(id), toIso(nowMs), resend.resends],
  })
}
