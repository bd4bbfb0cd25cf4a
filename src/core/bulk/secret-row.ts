import type { Seal } from '../../infra/seal.ts'
import { parseBody } from '../../lib/exact-numbers.ts'
import type { JobId } from './job.ts'

/**
 * The stored form of a row with a one-time code: the recipient, and the whole
 * row sealed for its job. An array, so that it differs from other rows, which are objects. Once it is
 * a message, only the recipient is left (migrations/functions/accept_bulk.sql).
 */
type SealedRow = [to: string, sealed?: string]

/** Whether a message has a one-time code by its own fields; for others it depends on the template. */
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

/** The message of a stored row. Throws SealBroken if it cannot be opened. */
export function openRow(body: string, jobId: JobId, seal: Pick<Seal, 'open'>): unknown {
  if (!isSealed(body)) return parseBody(body)
  const [, sealed = ''] = JSON.parse(body) as SealedRow
  return parseBody(seal.open(Buffer.from(sealed, 'base64'), rowContext(jobId)).toString())
}

/** The row with its sealed part replaced by `change`; null if it has none, or `change` returns null. */
export function changeSealed(body: string, change: (sealed: Buffer) => Buffer | null): string | null {
  const [to, sealed] = JSON.parse(body) as SealedRow
  const changed = sealed === undefined ? null : change(Buffer.from(sealed, 'base64'))
  return changed && JSON.stringify([to, changed.toString('base64')] satisfies SealedRow)
}

export function recipientOf(body: string): string {
  const row = JSON.parse(body) as { to: string } | SealedRow
  return Array.isArray(row) ? row[0] : row.to
}

/** The context that binds a sealed row to its job. */
export function rowContext(jobId: JobId): string {
  return `bulk:${jobId}`
}
