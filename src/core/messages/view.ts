import type { MessageStatus } from '../../contract/enums.ts'
import { MASKED, type Message, type MessageWithTimeline, type TimelineEntry } from '../../contract/message.ts'
import { isoOrNull, toIso } from '../../lib/clock.ts'
import { timeOf, withPrefix } from '../../lib/ids.ts'
import { fromMicros } from '../../lib/money.ts'
import type { MessageRow, PastAttempt } from './message-store.ts'

/** The meaning of a provider's code as text; null if it is not known. */
export type ExplainCode = (provider: string, code: string) => string | null

/** A message as the API shows it. The text of an OTP is masked. */
export function viewMessage(row: MessageRow, currency: string): Message {
  const content = row.content
  const secret = row.messageType === 'otp'
  const times = forwardTimes(row)
  return {
    id: row.id,
    messageId: row.id,
    requestId: withPrefix('req', row.id),
    usageId: withPrefix('usg', row.id),
    mode: row.live ? 'live' : 'test',
    status: row.status,
    channel: row.channel,
    channels: row.candidates,
    messageType: row.messageType,
    to: row.recipient,
    country: row.country,
    sender: row.sender,
    senderSource: row.senderSource,
    provider: row.provider,
    connectionId: row.connectionId,
    providerMessageId: row.providerId,
    text: secret ? MASKED : (content?.text ?? null),
    subject:
      secret && content?.subject !== undefined && row.channel === 'email_user'
        ? MASKED
        : (content?.subject ?? null),
    html: content?.html ?? false,
    attachment: content?.attachment
      ? {
          type: content.attachment.type,
          mimetype: content.attachment.mimetype,
          fileName: content.attachment.fileName,
          publicUrl: content.attachment.publicUrl,
          sizeBytes: content.attachment.sizeBytes,
        }
      : null,
    conversationContext: content?.context ?? null,
    templateId: row.templateId,
    bulkJobId: row.bulkJobId,
    metadata: row.metadata ?? null,
    billing: {
      cost: fromMicros(row.amount),
      currency,
      parts: row.parts,
      source: row.funding,
      state: row.money,
    },
    attempts: row.attempt,
    errorCode: row.errorCode,
    // After an unknown attempt, a delivered message still has its detail in the row; the timeline shows it.
    errorMessage: row.deliveredAt === null ? row.errorDetail : null,
    createdAt: toIso(timeOf(row.id)),
    scheduledAt: isoOrNull(row.scheduledAt),
    sentAt: isoOrNull(times.sentAt),
    deliveredAt: isoOrNull(times.deliveredAt),
    readAt: isoOrNull(times.readAt),
    endedAt: isoOrNull(times.endedAt),
  }
}

/**
 * The same with its timeline: every attempt with the provider's outcome, and every status with its time. Statuses
 * only go forward in it: an attempt that will be retried adds no status.
 */
export function viewWithTimeline(
  row: MessageRow,
  currency: string,
  explain: ExplainCode,
): MessageWithTimeline {
  const timeline = [
    statusEntry(row.scheduledAt === null ? 'queued' : 'scheduled', timeOf(row.id)),
    ...row.pastAttempts.flatMap((past, at) => pastEntries(row, past, at === 0, explain)),
    ...(hasCurrentAttempt(row) ? lastEntries(row, explain) : []),
    ...laterEntries(row),
  ]
  return { ...viewMessage(row, currency), timeline }
}

function statusEntry(status: MessageStatus, at: number): TimelineEntry {
  return { at: toIso(at), event: 'status', status }
}

/** An attempt after which the message waited again; a scheduled message becomes `queued` after the first one. */
function pastEntries(
  row: MessageRow,
  past: PastAttempt,
  isFirst: boolean,
  explain: ExplainCode,
): TimelineEntry[] {
  const settledAt = Date.parse(past.settledAt)
  const provider = providerOf(row, past)
  const attempt: TimelineEntry = {
    at: toIso(Date.parse(past.at)),
    event: 'attempt',
    attempt: past.attempt,
    outcome: past.left?.outcome ?? (past.counted ? 'retry' : 'throttled'),
    ...(row.unknownAt !== null && past === lateAttempt(row) && { unknownAt: toIso(row.unknownAt) }),
    settledAt: toIso(settledAt),
    provider,
    connectionId: past.connectionId,
    providerCode: past.providerCode,
    explanation: past.providerCode === null ? null : explain(provider, past.providerCode),
    detail: past.detail,
  }
  return isFirst && row.scheduledAt !== null ? [attempt, statusEntry('queued', settledAt)] : [attempt]
}

/** The provider of a past attempt; after a failover, the last attempt of the earlier connection has it. */
function providerOf(row: MessageRow, { connectionId }: PastAttempt): string {
  const last = row.pastAttempts.find(each => each.left && each.connectionId === connectionId)
  return last?.left?.provider ?? row.provider
}

/** Whether the last attempt is not among the past ones; after a throttled attempt its number is used again. */
function hasCurrentAttempt(row: MessageRow): boolean {
  // A withdrawn message may have a recorded attempt, which was not made.
  if (row.attemptAt === null || row.status === 'cancelled') return false
  const last = row.pastAttempts.at(-1)
  if (!last) return true
  const numberAfter = last.counted ? last.attempt : last.attempt - 1
  return row.attempt !== numberAfter || row.attemptAt !== Date.parse(last.at)
}

/** The past attempt that was unknown until its late outcome; null if that is the last attempt. */
function lateAttempt({ unknownAt, status, pastAttempts }: MessageRow): PastAttempt | null {
  if (unknownAt === null || status === 'unknown') return null
  return pastAttempts.find(({ settledAt }) => Date.parse(settledAt) >= unknownAt) ?? null
}

function lastEntries(row: MessageRow, explain: ExplainCode): TimelineEntry[] {
  const at = row.attemptAt!
  const unknownAt = lateAttempt(row) === null ? row.unknownAt : null
  const attempt: TimelineEntry = {
    at: toIso(at),
    event: 'attempt',
    attempt: row.attempt,
    outcome: lastOutcome(row),
    ...(unknownAt !== null && { unknownAt: toIso(unknownAt) }),
    provider: row.provider,
    connectionId: row.connectionId,
    ...(row.status === 'sending' ? NO_OUTCOME_YET : outcomeFields(row, explain)),
  }
  const unknown = unknownAt === null ? [] : [statusEntry('unknown', unknownAt)]
  return [statusEntry('sending', at), attempt, ...unknown]
}

/** Until the outcome, the row still has the values of the attempt before. */
const NO_OUTCOME_YET = { settledAt: null, providerCode: null, explanation: null, detail: null }

function outcomeFields({ provider, providerCode, settledAt, errorDetail }: MessageRow, explain: ExplainCode) {
  return {
    settledAt: isoOrNull(settledAt),
    providerCode,
    explanation: providerCode === null ? null : explain(provider, providerCode),
    detail: errorDetail,
  }
}

function lastOutcome(row: MessageRow): NonNullable<TimelineEntry['outcome']> {
  if (row.status === 'sending') return 'pending'
  // After the deadline the message counts as sent, but the outcome of the attempt is still unknown.
  if (row.unknownAt !== null && !isKnownTaken(row) && row.status !== 'failed') return 'unknown'
  if (row.status === 'failed') return row.errorCode === 'PROVIDER_UNAVAILABLE' ? 'retry' : 'rejected'
  return row.sentAt === null ? 'pending' : 'accepted'
}

/**
 * The provider has answered with the message's id, or sent receipts that ended it. The ids of some of its parts, which
 * end with an ellipsis, do not say that all of it was taken.
 */
function isKnownTaken({ providerId, status }: MessageRow): boolean {
  if (providerId === null) return false
  return status !== 'unknown' && !(status === 'sent' && providerId.endsWith(',…'))
}

function laterEntries(row: MessageRow): TimelineEntry[] {
  const { sentAt, deliveredAt, readAt, endedAt } = forwardTimes(row)
  const steps: [MessageStatus, number | null][] = [
    ['sent', sentAt],
    ['delivered', deliveredAt],
    ['read', readAt],
    [row.status, ENDS.has(row.status) ? endedAt : null],
  ]
  return steps.flatMap(([status, at]) => (at === null ? [] : [statusEntry(status, at)]))
}

/**
 * A receipt has the time of its provider's clock, often to the minute, and may come before
 * the response to its submit: no time is shown earlier than the one before it.
 */
function forwardTimes(row: MessageRow) {
  const deliveredAt = notBefore(row.deliveredAt, row.sentAt)
  return {
    sentAt: row.sentAt,
    deliveredAt,
    readAt: notBefore(row.readAt, deliveredAt ?? row.sentAt),
    endedAt: notBefore(row.endedAt, row.sentAt),
  }
}

function notBefore(at: number | null, earliest: number | null): number | null {
  return at === null || earliest === null ? at : Math.max(at, earliest)
}

const ENDS: ReadonlySet<MessageStatus> = new Set(['failed', 'undelivered', 'cancelled', 'expired'])
