import type { InfiniteData } from '@tanstack/react-query'

/** Where a page begins: its cursor, how many rows lie before it, and the page before it. */
export type PageStart = { cursor: string | null; rowsBefore: number; previous: PageStart | null }
/** A page as the API answers it. */
type Page<R> = { data: R[]; nextCursor: string | null }
export type Pages<R> = InfiniteData<Page<R>, PageStart>

export const FIRST_PAGE: PageStart = { cursor: null, rowsBefore: 0, previous: null }

/** Null behind the last one. */
export function nextStart<R>({ data, nextCursor }: Page<R>, start: PageStart): PageStart | null {
  if (nextCursor === null) return null
  return { cursor: nextCursor, rowsBefore: start.rowsBefore + data.length, previous: start }
}

/** Rows that were read and let go again, since too many lie behind them. */
export function rowsLetGo<R>(pages: Pages<R> | undefined): number {
  return pages?.pageParams[0]?.rowsBefore ?? 0
}

export type Placing<R> = {
  /** Sorts as the list does, the first one the greatest. */
  keyOf(row: R): string
  /** Whether the list has it, as it is now. */
  fits(row: R): boolean
  /** New rows come in at the top; without this only those that are there change. */
  insert: boolean
}

/** The pages with `rows` as they are now: changed in their places, gone, or new. */
export function placeRows<R>(
  pages: Pages<R>,
  rows: readonly R[],
  { keyOf, fits, insert }: Placing<R>,
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
  return startAnew({ pages: addOnTop(placed, fresh, keyOf), pageParams: pages.pageParams })
}

/** Only above the last row of the first page: what is older than that belongs to pages that may not be here. */
function addOnTop<R>(pages: Page<R>[], fresh: R[], keyOf: (row: R) => string): Page<R>[] {
  const [first, ...others] = pages
  if (!first || fresh.length === 0) return pages
  const last = first.data.at(-1)
  const isOpen = first.nextCursor === null || last === undefined
  const above = fresh.filter(row => isOpen || keyOf(row) > keyOf(last!))
  const data = [...above, ...first.data].sort((a, b) => (keyOf(a) > keyOf(b) ? -1 : 1))
  return [{ ...first, data }, ...others]
}

/** Pages that grew or shrank move those behind them. */
function startAnew<R>({ pages, pageParams }: Pages<R>): Pages<R> {
  const starts = pageParams.slice(0, 1)
  for (const [at, page] of pages.slice(0, -1).entries()) {
    const start = starts[at]!
    starts.push({ ...pageParams[at + 1]!, rowsBefore: start.rowsBefore + page.data.length, previous: start })
  }
  return { pages, pageParams: starts }
}
