import type { InfiniteData } from '@tanstack/react-query'

/** The start of a page: its cursor, the number of rows before it, and the previous page. */
export type PageStart = { cursor: string | null; rowsBefore: number; previous: PageStart | null }
/** A page as the API returns it. */
type Page<R> = { data: R[]; nextCursor: string | null }
export type Pages<R> = InfiniteData<Page<R>, PageStart>

export const FIRST_PAGE: PageStart = { cursor: null, rowsBefore: 0, previous: null }

/** Null after the last page. */
export function nextPageStart<R>({ data, nextCursor }: Page<R>, start: PageStart): PageStart | null {
  if (nextCursor === null) return null
  return { cursor: nextCursor, rowsBefore: start.rowsBefore + data.length, previous: start }
}

/** The number of rows before the first page that is held: they were dropped, since many follow. */
export function droppedRowCount<R>(pages: Pages<R> | undefined): number {
  return pages?.pageParams[0]?.rowsBefore ?? 0
}

export type RowUpdate<R> = {
  /** The sort key; the first row has the greatest. */
  keyOf(row: R): string
  /** Whether the row, as it is now, belongs to the list. */
  fits(row: R): boolean
  /** Whether new rows are added at the top; otherwise only existing rows change. */
  insert: boolean
}

/** Updates the pages with `rows`: replaces, removes or adds them. */
export function updateRows<R>(
  pages: Pages<R>,
  rows: readonly R[],
  { keyOf, fits, insert }: RowUpdate<R>,
): Pages<R> {
  const changed = new Map(rows.map(row => [keyOf(row), row]))
  const placed = pages.pages.map(page => ({
    ...page,
    data: page.data.flatMap(row => {
      const now = changed.get(keyOf(row))
      changed.delete(keyOf(row))
      return now === undefined ? [row] : fits(now) ? [now] : []
    }),
  }))
  const fresh = insert ? [...changed.values()].filter(fits) : []
  return recountRowsBefore({ pages: addOnTop(placed, fresh, keyOf), pageParams: pages.pageParams })
}

/** Adds rows only above the last row of the first page: older ones belong to pages that may not be loaded. */
function addOnTop<R>(pages: Page<R>[], fresh: R[], keyOf: (row: R) => string): Page<R>[] {
  const [first, ...others] = pages
  if (!first || fresh.length === 0) return pages
  const last = first.data.at(-1)
  const isOpen = first.nextCursor === null || last === undefined
  const above = fresh.filter(row => isOpen || keyOf(row) > keyOf(last!))
  const data = [...above, ...first.data].sort((a, b) => (keyOf(a) > keyOf(b) ? -1 : 1))
  return [{ ...first, data }, ...others]
}

/** Recomputes `rowsBefore` of the pages after one that has grown or shrunk. */
function recountRowsBefore<R>({ pages, pageParams }: Pages<R>): Pages<R> {
  const starts = pageParams.slice(0, 1)
  for (const [at, page] of pages.slice(0, -1).entries()) {
    const start = starts[at]!
    starts.push({ ...pageParams[at + 1]!, rowsBefore: start.rowsBefore + page.data.length, previous: start })
  }
  return { pages, pageParams: starts }
}
