import type { RejectCode } from '../../channels/provider.ts'
import type { Channel } from '../../contract/enums.ts'
import type { SenderSource } from '../../contract/send.ts'
import type { Db } from '../../infra/db.ts'
import { toIso } from '../../lib/clock.ts'
import { type AccountId, type ConnectionId, type Id, type MessageId, toUuid } from '../../lib/ids.ts'
import type { StoredContent } from '../outbox/stored-content.ts'

/** The attempt that a message leaves behind. */
export type LeftAttempt = {
  accountId: AccountId
  id: MessageId
  attempt: number
  outcome: 'rejected' | 'retry'
  code: RejectCode | null
  providerCode: string | null
  detail: string
}

/** Where it goes instead, and what it costs there. */
export type Destination = {
  connectionId: ConnectionId
  provider: string
  channel: Channel
  sender: string | null
  senderSource: SenderSource
  /** Micros. */
  amount: number
  parts: number | null
  /** Null where it says there what it said here. */
  words: NewWords | null
  /** What must not be read at rest of what it says there, sealed; null leaves what is there. */
  secret: Buffer | null
}

/** What a code says over another channel. */
export type NewWords = {
  content: StoredContent
  /** As its row keeps it, JSON. */
  stored: string
  templateId: Id<'tpl'> | null
}

/** Whoever waits for the answer is short of time: a call that takes longer is repeated. */
const FAIL_OVER_TIMEOUT_MS = 2_500

/**
 * Moves a message, its money included; it is this node's afterwards, and not
 * begun. `uncovered` and `stale` changed nothing. A repeated call has the first one's time.
 */
export async function failOver(
  db: Db,
  node: number,
  nowMs: number,
  left: LeftAttempt,
  to: Destination,
  repeated: boolean,
): Promise<'moved' | 'uncovered' | 'stale'> {
  const { rows } = await db.query<{ verdict: 'moved' | 'uncovered' | 'stale' }>({
    name: 'fail_over',
    text: 'select fail_over($1,$2,$3,$4,$5,$6,$7,$8,$9,$10,$11,$12,$13,$14,$15,$16,$17,$18,$19,$20) as verdict',
    timeoutMs: FAIL_OVER_TIMEOUT_MS,
    values: [
      node,
      toIso(nowMs),
      repeated,
      toUuid(left.accountId),
      toUuid(left.id),
      left.attempt,
      left.outcome,
      left.code,
      left.providerCode,
      left.detail,
      toUuid(to.connectionId),
      to.provider,
      to.channel,
      to.sender,
      to.senderSource,
      to.amount,
      to.parts,
      to.words?.stored ?? null,
      to.secret,
      to.words?.templateId ? toUuid(to.words.templateId) : null,
    ],
  })
  return rows[0]!.verdict
}
