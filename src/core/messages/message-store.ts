import type { RejectCode } from '../../channels/provider.ts'
import type { Channel, MessageStatus, MessageType } from '../../contract/enums.ts'
import type { ErrorCode } from '../../contract/errors.ts'
import type { SenderSource } from '../../contract/send.ts'
import type { Db } from '../../infra/db.ts'
import {
  type AccountId,
  type ConnectionId,
  fromUuid,
  type Id,
  type MessageId,
  toUuid,
} from '../../lib/ids.ts'
import type { StoredContent } from '../outbox/stored-content.ts'
import type { AnswerFacts, FailureFacts } from './answers.ts'

/** A message as its row has it; times in ms since the epoch. */
export type MessageRow = {
  id: MessageId
  accountId: AccountId
  live: boolean
  status: MessageStatus
  channel: Channel
  candidates: Channel[]
  messageType: MessageType
  recipient: string
  country: string | null
  provider: string
  connectionId: ConnectionId
  sender: string | null
  senderSource: SenderSource
  content: StoredContent | null
  metadata: unknown
  templateId: Id<'tpl'> | null
  bulkJobId: Id<'job'> | null
  amount: number
  parts: number | null
  funding: 'wallet' | 'pool' | 'none'
  money: 'held' | 'captured' | 'released' | 'none'
  attempt: number
  pastAttempts: PastAttempt[]
  /** What the first answer said; null while the row itself has the same values. */
  firstAnswer: FirstAnswerValues | null
  providerId: string | null
  providerCode: string | null
  errorCode: ErrorCode | null
  errorDetail: string | null
  attemptAt: number | null
  settledAt: number | null
  scheduledAt: number | null
  unknownAt: number | null
  sentAt: number | null
  deliveredAt: number | null
  readAt: number | null
  endedAt: number | null
}

export type PastAttempt = {
  attempt: number
  at: string
  settledAt: string
  connectionId: ConnectionId
  counted: boolean
  providerCode: string | null
  detail: string | null
  /** The message failed over after this attempt: why, and from which provider and channel. */
  left?: {
    outcome: 'rejected' | 'retry'
    code: RejectCode | null
    provider: string
    channel: Channel
  }
}

/** The values in the first answer of a message that failed over afterwards. */
type FirstAnswerValues = Pick<AnswerFacts, 'channel' | 'provider' | 'senderSource' | 'amount' | 'parts'>

export type RawMessage = {
  id: string
  account_id: string
  live: boolean
  status: MessageStatus
  channel: Channel
  candidates: string
  message_type: MessageType
  recipient: string
  country: string | null
  provider: string
  connection_id: string
  sender: string | null
  sender_source: SenderSource
  content: StoredContent | null
  metadata: unknown
  template_id: string | null
  bulk_job_id: string | null
  amount: number
  parts: number | null
  funding: MessageRow['funding']
  money: MessageRow['money']
  attempt: number
  past_attempts: (Omit<PastAttempt, 'connectionId'> & { connection: string })[] | null
  told: FirstAnswerValues | null
  provider_id: string | null
  provider_code: string | null
  error_code: ErrorCode | null
  error_detail: string | null
  attempt_at: Date | null
  settled_at: Date | null
  scheduled_at: Date | null
  unknown_at: Date | null
  sent_at: Date | null
  delivered_at: Date | null
  read_at: Date | null
  ended_at: Date | null
}

export async function readMessage(db: Db, accountId: AccountId, id: MessageId): Promise<MessageRow | null> {
  const { rows } = await db.query<RawMessage>({
    name: 'read_message',
    text: 'select * from messages where account_id = $1 and id = $2',
    values: [toUuid(accountId), toUuid(id)],
  })
  return rows[0] ? toRow(rows[0]) : null
}

/** The values of the first answer to a send; the message must exist. */
export async function readAnswerFacts(
  db: Db,
  accountId: AccountId,
  id: MessageId,
): Promise<{ facts: Omit<AnswerFacts, 'currency'>; failure: FailureFacts | null }> {
  const row = await readMessage(db, accountId, id)
  if (!row) throw new Error(`message ${id} has an idempotency key but no row`)
  return {
    facts: {
      id,
      scheduledAt: row.scheduledAt,
      candidates: row.candidates,
      ...(row.firstAnswer ?? {
        channel: row.channel,
        provider: row.provider,
        senderSource: row.senderSource,
        amount: row.amount,
        parts: row.parts,
      }),
    },
    failure: row.errorCode && { errorCode: row.errorCode, errorDetail: row.errorDetail },
  }
}

/** Converts a row of `select * from messages`. */
export function toRow(raw: RawMessage): MessageRow {
  return {
    id: fromUuid('msg', raw.id),
    accountId: fromUuid('acc', raw.account_id),
    live: raw.live,
    status: raw.status,
    channel: raw.channel,
    candidates: raw.candidates.split(',') as Channel[],
    messageType: raw.message_type,
    recipient: raw.recipient,
    country: raw.country,
    provider: raw.provider,
    connectionId: fromUuid('cnn', raw.connection_id),
    sender: raw.sender,
    senderSource: raw.sender_source,
    content: raw.content,
    metadata: raw.metadata,
    templateId: raw.template_id === null ? null : fromUuid('tpl', raw.template_id),
    bulkJobId: raw.bulk_job_id === null ? null : fromUuid('job', raw.bulk_job_id),
    amount: raw.amount,
    parts: raw.parts,
    funding: raw.funding,
    money: raw.money,
    attempt: raw.attempt,
    pastAttempts: (raw.past_attempts ?? []).map(({ connection, ...past }) => ({
      ...past,
      connectionId: fromUuid('cnn', connection),
    })),
    firstAnswer: raw.told,
    providerId: raw.provider_id,
    providerCode: raw.provider_code,
    errorCode: raw.error_code,
    errorDetail: raw.error_detail,
    attemptAt: ms(raw.attempt_at),
    settledAt: ms(raw.settled_at),
    scheduledAt: ms(raw.scheduled_at),
    unknownAt: ms(raw.unknown_at),
    sentAt: ms(raw.sent_at),
    deliveredAt: ms(raw.delivered_at),
    readAt: ms(raw.read_at),
    endedAt: ms(raw.ended_at),
  }
}

function ms(at: Date | null): number | null {
  return at === null ? null : at.getTime()
}
