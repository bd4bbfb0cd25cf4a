import { type Id, isId, type MessageId, type Prefix } from '../lib/ids.ts'
import { invalid } from './errors.ts'

/** The query of a list; the schema fills in the default of `limit`. */
export type PageQuery = { limit?: number; cursor?: string }
export type Page<T> = { success: true; data: T[]; nextCursor: string | null }

/** Default number of rows per page. */
export const DEFAULT_LIMIT = 50

/** A cursor: the position at which a list continues, as opaque text. */
export function writeCursor(...words: readonly string[]): string {
  return Buffer.from(words.join(' ')).toString('base64url')
}

/** The parts of a cursor, checked by `fits`. Throws VALIDATION_ERROR for a cursor of another list. */
export function readCursor(cursor: string, fits: (words: string[]) => boolean): string[] {
  const words = Buffer.from(cursor, 'base64url').toString().split(' ')
  const storable = words.every(word => !word.includes('\0'))
  if (!storable || !fits(words)) throw invalid('cursor', 'is not a cursor of this list')
  return words
}

/**
 * The id after which a list by id continues; null at its beginning. Throws VALIDATION_ERROR for a cursor of
 * another list.
 */
export function readIdCursor<P extends Prefix>(prefix: P, cursor: string | undefined): Id<P> | null {
  if (cursor === undefined) return null
  return readCursor(cursor, words => words.length === 1 && isId(prefix, words[0]!))[0] as Id<P>
}

/** Position in a list by time (ms since the epoch) and message. */
export type TimePosition = { atMs: number; messageId: MessageId }

/** Parses such a position. Throws VALIDATION_ERROR for a cursor of another list. */
export function readTimeCursor(cursor: string): TimePosition {
  // Thirteen digits reach the year 2286; with more, it may be a time that PostgreSQL cannot store.
  const fits = (words: string[]) =>
    words.length === 2 && /^\d{1,13}$/.test(words[0]!) && isId('msg', words[1]!)
  const [atMs, messageId] = readCursor(cursor, fits)
  return { atMs: Number(atMs), messageId: messageId as MessageId }
}

/**
 * Builds a page from rows that were read with one row more than `limit`. `scannedTo` is the cursor of where
 * the search stopped, if not at the end of the list: the next page continues there.
 */
export function pageOf<Row, View>(
  rows: readonly Row[],
  limit: number,
  view: (row: Row) => View,
  cursorAfter: (last: Row) => string,
  scannedTo: string | null = null,
): Page<View> {
  const shown = rows.slice(0, limit)
  const last = shown.at(-1)
  const nextCursor = rows.length > limit && last !== undefined ? cursorAfter(last) : scannedTo
  return { success: true, data: shown.map(view), nextCursor }
}

/** The same for a list by id; `scannedTo` is the id where the search stopped. */
export function pageById<Row extends { id: string }, View>(
  rows: readonly Row[],
  limit: number,
  view: (row: Row) => View,
  scannedTo: string | null = null,
): Page<View> {
  return pageOf(rows, limit, view, row => writeCursor(row.id), scannedTo && writeCursor(scannedTo))
}
