import { MASKED, type Message, type MessageWithTimeline, type TimelineEntry } from '../../contract/message.ts'
import { toIso } from '../../lib/clock.ts'
import { sameAs, timeOf } from '../../lib/ids.ts'
import { fromMicros } from '../../lib/money.ts'
import type { MessageRow, PastAttempt } from './message-store.ts'

/** What a provider means by its own code, in words; null when it is not known. */
export type ExplainCode = (provider: string, code: string) => string | null

/** A message as the wire shows it. The words of an OTP are never part of it. */
export function viewMessage(row: MessageRow, currency: string): Message {
  const content = row.content
  const secret = row.messageType === 'otp'
  return {
    messageId: row.id,
    requestId: sameAs('req', row.id),
    usageId: sameAs('usg', row.id),
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
    errorMessage: row.errorDetail,
    createdAt: toIso(timeOf(row.id)),
    scheduledAt: isoOrNull(row.scheduledAt),
    sentAt: isoOrNull(row.sentAt),
    deliveredAt: isoOrNull(row.deliveredAt),
    readAt: isoOrNull(row.readAt),
    endedAt: isoOrNull(row.endedAt),
  }
}

/** The same with its life: every status with its time, every attempt with the provider's word. */
export function viewWithTimeline(
  row: MessageRow,
  currency: string,
  explain: ExplainCode,
): MessageWithTimeline {
  const timeline = [...statusEntries(row), ...attemptEntries(row, explain)].sort((a, b) =>
    a.at < b.at ? -1 : a.at > b.at ? 1 : 0,
  )
  return { ...viewMessage(row, currency), timeline }
}

function statusEntries(row: MessageRow): TimelineEntry[] {
  const ended =
    row.status === 'failed' ||
    row.status === 'undelivered' ||
    row.status === 'cancelled' ||
    row.status === 'expired'
  const steps: [TimelineEntry['status'], number | null][] = [
    [row.scheduledAt === null ? 'queued' : 'scheduled', timeOf(row.id)],
    ['sending', row.attemptAt],
    ['unknown', row.unknownAt],
    ['sent', row.sentAt],
    ['delivered', row.deliveredAt],
    ['read', row.readAt],
    [row.status, ended ? row.endedAt : null],
  ]
  return steps
    .filter(([, at]) => at !== null)
    .map(([status, at]) => ({ at: toIso(at!), event: 'status' as const, status }))
}

function attemptEntries(row: MessageRow, explain: ExplainCode): TimelineEntry[] {
  const past = row.pastAttempts.map(attempt => pastEntry(row, attempt, explain))
  const running = row.attemptAt !== null && row.status !== 'queued'
  return running ? [...past, lastEntry(row, explain)] : past
}

function pastEntry(row: MessageRow, past: PastAttempt, explain: ExplainCode): TimelineEntry {
  return {
    at: toIso(Date.parse(past.at)),
    event: 'attempt',
    attempt: past.attempt,
    outcome: past.counted ? 'retry' : 'throttled',
    settledAt: toIso(Date.parse(past.settledAt)),
    provider: row.provider,
    providerCode: past.providerCode,
    explanation: past.providerCode === null ? null : explain(row.provider, past.providerCode),
    detail: past.detail,
  }
}

function lastEntry(row: MessageRow, explain: ExplainCode): TimelineEntry {
  return {
    at: toIso(row.attemptAt!),
    event: 'attempt',
    attempt: row.attempt,
    outcome: lastOutcome(row),
    settledAt: isoOrNull(row.settledAt),
    provider: row.provider,
    providerCode: row.providerCode,
    explanation: row.providerCode === null ? null : explain(row.provider, row.providerCode),
    detail: row.errorDetail,
  }
}

function lastOutcome(row: MessageRow): NonNullable<TimelineEntry['outcome']> {
  if (row.status === 'sending') return 'pending'
  if (row.status === 'unknown') return 'unknown'
  if (row.status === 'failed') return row.errorCode === 'PROVIDER_UNAVAILABLE' ? 'retry' : 'rejected'
  return row.sentAt === null ? 'pending' : 'accepted'
}

function isoOrNull(at: number | null): string | null {
  return at === null ? null : toIso(at)
}
