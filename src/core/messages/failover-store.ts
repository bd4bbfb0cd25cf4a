import type { RejectCode } from '../../channels/provider.ts'
import type { Channel } from '../../contract/enums.ts'
import type { SenderSource } from '../../contract/send.ts'
import type { Db } from '../../infra/db.ts'
import { toIso } from '../../lib/clock.ts'
import { type AccountId, type ConnectionId, type Id, type MessageId, toUuid } from '../../lib/ids.ts'
import type { StoredContent } from '../outbox/stored-content.ts'

/** The attempt after which a message fails over. */
export type PreviousAttempt = {
  accountId: AccountId
  id: MessageId
  attempt: number
  outcome: 'rejected' | 'retry'
  code: RejectCode | null
  providerCode: string | null
  detail: string
}

/** The connection to which a message fails over, and its price there. */
export type Destination = {
  connectionId: ConnectionId
  provider: string
  channel: Channel
  sender: string | null
  senderSource: SenderSource
  /** Micros. */
  amount: number
  parts: number | null
  /** The content for the new channel; null if it does not change. */
  newContent: NewContent | null
  /** The sealed part of the new content; null leaves the stored one. */
  secret: Buffer | null
}

/** The content of a code, rendered for another channel. */
export type NewContent = {
  content: StoredContent
  /** As the message's row has it, JSON. */
  stored: string
  templateId: Id<'tpl'> | null
}

/** A request may be waiting for the outcome, so a call that takes longer is repeated. */
const FAIL_OVER_TIMEOUT_MS = 2_500

/**
 * Moves a message to another connection, and adjusts its money; this node holds it then, not begun.
 * `uncovered` (too little money) and `stale` (the message has changed) change nothing. A repeated call
 * passes the time of the first one.
 */
export async function failOver(
  db: Db,
  node: number,
  nowMs: number,
  previous: PreviousAttempt,
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
      toUuid(previous.accountId),
      toUuid(previous.id),
      previous.attempt,
      previous.outcome,
      previous.code,
      previous.providerCode,
      previous.detail,
      toUuid(to.connectionId),
      to.provider,
      to.channel,
      to.sender,
      to.senderSource,
      to.amount,
      to.parts,
      to.newContent?.stored ?? null,
      to.secret,
      to.newContent?.templateId ? toUuid(to.newContent.templateId) : null,
    ],
  })
  return rows[0]!.verdict
}
