import { type Id, isId, type MessageId, type Prefix } from '../lib/ids.ts'
import { invalid } from './errors.ts'

/** What a list is asked for; `limit` is filled in by the schema of the query. */
export type PageQuery = { limit?: number; cursor?: string }
export type Page<T> = { success: true; data: T[]; nextCursor: string | null }

/** Rows of a page when nobody says. */
export const DEFAULT_LIMIT = 50

/** Where a list goes on: a few words, opaque on the wire. */
export function writeCursor(...words: readonly string[]): string {
  return Buffer.from(words.join(' ')).toString('base64url')
}

/** The words of a cursor that `fits`. Throws VALIDATION_ERROR for one that is not of this list. */
export function readCursor(cursor: string, fits: (words: string[]) => boolean): string[] {
  const words = Buffer.from(cursor, 'base64url').toString().split(' ')
  const storable = words.every(word => !word.includes('\0'))
  if (!storable || !fits(words)) throw invalid('cursor', 'not a cursor of this list')
  return words
}

/** Where a list by id goes on; null at its beginning. Throws VALIDATION_ERROR for a cursor that is not of this list. */
export function readIdCursor<P extends Prefix>(prefix: P, cursor: string | undefined): Id<P> | null {
  if (cursor === undefined) return null
  return readCursor(cursor, words => words.length === 1 && isId(prefix, words[0]!))[0] as Id<P>
}

/** Where a list by time (ms since the epoch) and message goes on. */
export type TimePlace = { atMs: number; messageId: MessageId }

/** Such a place. Throws VALIDATION_ERROR for a cursor that is not of this list. */
export function readTimeCursor(cursor: string): TimePlace {
  // Thirteen digits are the year 2286: more of them is a time that the store does not know.
  const fits = (words: string[]) =>
    words.length === 2 && /^\d{1,13}$/.test(words[0]!) && isId('msg', words[1]!)
  const [atMs, messageId] = readCursor(cursor, fits)
  return { atMs: Number(atMs), messageId: messageId as MessageId }
}

/**
 * One page of what was read one row further than asked for. `lookedTo` is the cursor behind what was looked at,
 * where that was not all: what is older is looked at by the next page.
 */
export function pageOf<Row, View>(
  rows: readonly Row[],
  limit: number,
  view: (row: Row) => View,
  cursorAfter: (last: Row) => string,
  lookedTo: string | null = null,
): Page<View> {
  const shown = rows.slice(0, limit)
  const last = shown.at(-1)
  const nextCursor = rows.length > limit && last !== undefined ? cursorAfter(last) : lookedTo
  return { success: true, data: shown.map(view), nextCursor }
}
