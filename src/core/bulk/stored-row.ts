import type { Detail } from '../../contract/errors.ts'
import type { Seal } from '../../infra/seal.ts'
import { parseBody } from '../../lib/exact-numbers.ts'
import { toStorableText } from '../../lib/storable.ts'
import type { JobId } from './job.ts'

/**
 * The stored form of rows that are not stored as they are, which is an object. Of a row with a one-time code, the
 * recipient and the whole row sealed for its job; once it is a message, only the recipient
 * (migrations/functions/accept_bulk.sql). Of a row that the database could not store, the recipient and the flaw,
 * without the rest.
 */
type SpecialRow = [to: string] | [to: string, sealed: string] | [to: string, sealed: null, flaw: Detail]

/** A row that is invalid already as JSON. */
export class FlawedRow {
  readonly flaw: Detail
  constructor(flaw: Detail) {
    this.flaw = flaw
  }
}

/** Whether a message has a one-time code by its own fields; for others it depends on the template. */
export function carriesCode(row: object): boolean {
  const { messageType, content } = row as { messageType?: unknown; content?: { otpCode?: unknown } | null }
  return messageType === 'otp' || (typeof content === 'object' && content?.otpCode !== undefined)
}

/** The stored form of a row with a one-time code; `text` is its JSON. */
export function sealRow(text: string, to: string, jobId: JobId, seal: Pick<Seal, 'seal'>): string {
  const row: SpecialRow = [to, seal.seal(text, rowContext(jobId)).toString('base64')]
  return JSON.stringify(row)
}

/** The stored form of a row that the database cannot store. */
export function flawedRow(to: string, { path, message }: Detail): string {
  const row: SpecialRow = [toStorableText(to), null, { path, message }]
  return JSON.stringify(row)
}

/** Whether the row is stored as it is. */
export function isPlain(body: string): boolean {
  return !body.startsWith('[')
}

/** The message of a stored row, or a FlawedRow. Throws SealBroken if it cannot be opened. */
export function openRow(body: string, jobId: JobId, seal: Pick<Seal, 'open'>): unknown {
  if (isPlain(body)) return parseBody(body)
  const [, sealed = '', flaw] = JSON.parse(body) as SpecialRow
  if (sealed === null) return new FlawedRow(flaw!)
  return parseBody(seal.open(Buffer.from(sealed, 'base64'), rowContext(jobId)).toString())
}

/** The row with its sealed part replaced by `change`; null if it has none, or `change` returns null. */
export function changeSealed(body: string, change: (sealed: Buffer) => Buffer | null): string | null {
  const [to, sealed] = JSON.parse(body) as SpecialRow
  const changed = typeof sealed === 'string' ? change(Buffer.from(sealed, 'base64')) : null
  return changed && JSON.stringify([to, changed.toString('base64')] satisfies SpecialRow)
}

/** The recipient of a stored row, of whichever form. */
export function recipientOf(body: string): string {
  const row = JSON.parse(body) as { to: string } | SpecialRow
  return Array.isArray(row) ? row[0] : row.to
}

/** The context that binds a sealed row to its job. */
export function rowContext(jobId: JobId): string {
  return `bulk:${jobId}`
}
