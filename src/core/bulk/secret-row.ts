import type { Seal } from '../../infra/seal.ts'
import type { JobId } from './job.ts'

/**
 * A row whose words must not be read at rest, as it is stored: its recipient, and the
 * row itself, sealed for its job. An array, which no message is. Once it is a message
 * the recipient alone is left (migrations/functions/accept_bulk.sql).
 */
type SealedRow = [to: string, sealed?: string]

/** Whether a message says of itself that it carries a code; of others its template may tell. */
export function carriesCode(row: object): boolean {
  const { messageType, content } = row as { messageType?: unknown; content?: { otpCode?: unknown } | null }
  return messageType === 'otp' || (typeof content === 'object' && content?.otpCode !== undefined)
}

export function sealRow(text: string, to: string, jobId: JobId, seal: Pick<Seal, 'seal'>): string {
  const row: SealedRow = [to, seal.seal(text, rowContext(jobId)).toString('base64')]
  return JSON.stringify(row)
}

export function isSealed(body: string): boolean {
  return body.startsWith('[')
}

/** The message of a stored row. Throws SealBroken. */
export function openRow(body: string, jobId: JobId, seal: Pick<Seal, 'open'>): unknown {
  if (!isSealed(body)) return JSON.parse(body)
  const [, sealed = ''] = JSON.parse(body) as SealedRow
  return JSON.parse(seal.open(Buffer.from(sealed, 'base64'), rowContext(jobId)).toString())
}

/** The same row, its words put through `change`; null for one that has none. */
export function changeSealed(body: string, change: (sealed: Buffer) => Buffer | null): string | null {
  const [to, sealed] = JSON.parse(body) as SealedRow
  const changed = sealed === undefined ? null : change(Buffer.from(sealed, 'base64'))
  return changed && JSON.stringify([to, changed.toString('base64')] satisfies SealedRow)
}

export function recipientOf(body: string): string {
  const row = JSON.parse(body) as { to: string } | SealedRow
  return Array.isArray(row) ? row[0] : row.to
}

/** It opens for a row of this job alone. */
export function rowContext(jobId: JobId): string {
  return `bulk:${jobId}`
}
