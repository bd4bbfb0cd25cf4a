import { Button, Loader, Skeleton } from '@mantine/core'
import { useVirtualizer, type VirtualItem } from '@tanstack/react-virtual'
import {
  type KeyboardEvent,
  type MouseEvent,
  type ReactNode,
  type UIEvent,
  useEffect,
  useRef,
  useState,
} from 'react'
import type { PagedRead } from '../api/use-read.ts'
import classes from './data-list.module.css'
import { ReadFault } from './fault-note.tsx'
import { keepOffset, startOffsetPx } from './kept-scroll.ts'
import { inTextSize, textScale } from './text-size.ts'
import { useFittingColumns } from './use-fitting-columns.ts'
import { useRowFocus } from './use-row-focus.ts'

export type Column<R> = {
  title: string
  /** The content makes the title unnecessary, as buttons do: it is only for screen readers. */
  hidesTitle?: boolean
  /** As in a CSS grid, in pixels or with a minimum in pixels: `120px`, `minmax(160px, 2fr)`. Grows with larger texts. */
  width: string
  render: (row: R) => ReactNode
  align?: 'end'
  /** On a phone, wraps instead of being truncated; a row has room for two lines. */
  breaksOnPhone?: boolean
  /** Omitted on a phone, and where the list is too narrow; of several, the last one first. */
  wideOnly?: boolean
}

/** As in data-list.module.css, for texts of the default size. */
const ROW_PX = 44
/** Rows that are rendered before and after the visible ones. */
const OVERSCAN = 12
/** Distance from the end at which the next page is loaded. */
const NEAR_END_ROWS = 60

/**
 * A list of any length: only visible rows are rendered, and pages are loaded as one scrolls near them. Arrow
 * keys move between rows, Enter opens one, Tab goes to the controls in it, and then out of the list.
 */
export function DataList<R>({
  label,
  read,
  columns,
  rowKey,
  onOpen,
  opened,
  empty,
  height = 'calc(100dvh - 250px)',
}: {
  /** Accessible name of the list. */
  label: string
  read: PagedRead<R>
  columns: readonly Column<R>[]
  rowKey: (row: R) => string
  onOpen?: (row: R) => void
  /** The key of the row that is open. */
  opened?: string | null
  /** Shown if there are no rows. */
  empty: ReactNode
  height?: string
}) {
  const scroller = useRef<HTMLDivElement>(null)
  const { rows, droppedRowCount = 0 } = read
  const shown = useFittingColumns(scroller, columns, !read.isPending && rows.length > 0)
  const rowAt = (index: number): R | undefined => rows[index - droppedRowCount]
  const virtual = useVirtualizer({
    count: droppedRowCount + rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_PX * textScale(),
    overscan: OVERSCAN,
    initialOffset: () => startOffsetPx(label),
    getItemKey(index) {
      const row = rowAt(index)
      return row === undefined ? index : rowKey(row)
    },
  })
  const seen = virtual.getVirtualItems()
  // Only the current row, with its controls, is in the tab order: otherwise Tab would go through all rows.
  const [current, setCurrent] = useState<string | null>(null)
  const isCurrentRendered = seen.some(({ key }) => key === current)
  const recordFocus = useRowFocus(scroller, new Set(rows.map(rowKey)))
  useEffect(() => syncTabOrder(scroller.current))
  useNearbyPages(read, seen[0]?.index ?? 0, seen.at(-1)?.index ?? 0)

  function onScroll({ currentTarget: { scrollTop } }: UIEvent): void {
    keepOffset(label, scrollTop)
    if (scrollTop === 0) read.rewind?.()
  }

  if (read.isPending) return <ListSkeleton />
  if (read.error && rows.length === 0) return <ReadFault error={read.error} retry={read.refetch} />
  if (rows.length === 0)
    return (
      <section ref={scroller} className="ph-card" tabIndex={-1} aria-label={label}>
        {read.hasNextPage ? <SearchingFurther read={read} /> : empty}
      </section>
    )

  const isInTabOrder = ({ key, index }: VirtualItem) =>
    isCurrentRendered ? key === current : index === (virtual.range?.startIndex ?? 0)

  const template = { gridTemplateColumns: shown.map(column => inTextSize(column.width)).join(' ') }

  return (
    <div className="ph-card" style={{ overflow: 'hidden' }}>
      <div
        ref={scroller}
        onScroll={onScroll}
        className={classes.scroller}
        style={{ maxHeight: height }}
        tabIndex={0}
        role="region"
        aria-label={label}
      >
        <div
          role="table"
          aria-label={label}
          aria-rowcount={read.hasNextPage ? -1 : droppedRowCount + rows.length + 1}
          data-stale={read.isPlaceholderData || undefined}
          className={classes.table}
        >
          <div role="row" className={classes.head} style={template}>
            {shown.map(column => (
              <span key={column.title} role="columnheader" data-align={column.align}>
                {column.hidesTitle ? <span className="ph-unseen">{column.title}</span> : column.title}
              </span>
            ))}
          </div>
          <div role="rowgroup" className={classes.rows} style={{ height: virtual.getTotalSize() }}>
            {seen.map(item => {
              const row = rowAt(item.index)
              if (row === undefined) return <RowPlaceholder key={item.key} startPx={item.start} />
              const key = rowKey(row)
              return (
                <div
                  key={item.key}
                  role="row"
                  aria-rowindex={item.index + 2}
                  className={classes.row}
                  data-open={key === opened || undefined}
                  data-clickable={onOpen !== undefined || undefined}
                  style={{ ...template, transform: `translateY(${item.start}px)` }}
                  tabIndex={isInTabOrder(item) ? 0 : -1}
                  data-key={key}
                  data-index={item.index}
                  onFocus={event => {
                    setCurrent(key)
                    recordFocus(event, key, item.index)
                  }}
                  onClick={onOpen && (event => isRowClick(event) && onOpen(row))}
                  onKeyDown={event => onRowKey(event, onOpen && (() => onOpen(row)))}
                >
                  {shown.map(column => (
                    <span
                      key={column.title}
                      role="cell"
                      data-align={column.align}
                      data-breaks={column.breaksOnPhone}
                    >
                      {column.render(row)}
                    </span>
                  ))}
                </div>
              )
            })}
          </div>
        </div>
      </div>
      <ListFoot read={read} />
    </div>
  )
}

/** Puts the controls of a row in the tab order only if the row is. */
function syncTabOrder(list: HTMLElement | null): void {
  for (const control of list?.querySelectorAll<HTMLElement>('[role="row"] :is(a, button)') ?? [])
    control.tabIndex = control.closest<HTMLElement>('[role="row"]')!.tabIndex
}

/** Whether the click is on the row itself, not on a button in it or in something that such a button has opened. */
function isRowClick({ target, currentTarget }: MouseEvent<HTMLElement>): boolean {
  return currentTarget.contains(target as Node) && (target as Element).closest('a, button') === null
}

/** Loads the next or previous page when the visible rows are near it. */
function useNearbyPages<R>(read: PagedRead<R>, first: number, last: number): void {
  const { rows, droppedRowCount = 0, hasNextPage, isFetchingNextPage, isFetchingPreviousPage, error } = read
  const nearEnd = last >= droppedRowCount + rows.length - NEAR_END_ROWS
  const nearStart = droppedRowCount > 0 && first < droppedRowCount + NEAR_END_ROWS
  const isBusy = isFetchingNextPage || isFetchingPreviousPage === true
  const { fetchNextPage, fetchPreviousPage } = read
  useEffect(() => {
    // After an error, the person retries.
    if (isBusy || error !== null) return
    if (nearStart) fetchPreviousPage?.()
    else if (nearEnd && hasNextPage) fetchNextPage()
  }, [nearStart, nearEnd, hasNextPage, isBusy, error, fetchNextPage, fetchPreviousPage])
}

/** A placeholder for a dropped row until it is loaded again. */
function RowPlaceholder({ startPx }: { startPx: number }) {
  return (
    <div role="row" className={classes.row} style={{ transform: `translateY(${startPx}px)` }}>
      <Skeleton h={12} w="60%" />
    </div>
  )
}

/** Rare rows may take several pages to find. */
function SearchingFurther<R>({ read }: { read: PagedRead<R> }) {
  return (
    <div className={classes.foot} aria-live="polite">
      <Loader size={12} aria-hidden />
      <span>No matches yet: searching older entries…</span>
      {read.error !== null && (
        <Button size="compact-xs" variant="subtle" onClick={() => read.fetchNextPage()}>
          Loading failed: try again
        </Button>
      )}
    </div>
  )
}

function onRowKey(event: KeyboardEvent<HTMLElement>, open: (() => void) | undefined): void {
  if (event.target !== event.currentTarget) return
  const { key, currentTarget } = event
  if (open && (key === 'Enter' || key === ' ')) open()
  else if (key === 'ArrowDown') (currentTarget.nextElementSibling as HTMLElement | null)?.focus()
  else if (key === 'ArrowUp') (currentTarget.previousElementSibling as HTMLElement | null)?.focus()
  else return
  event.preventDefault()
}

function ListFoot<R>({ read }: { read: PagedRead<R> }) {
  const { rows, hasNextPage, isFetchingNextPage, fetchNextPage, refetch, error } = read
  return (
    <div className={classes.foot} aria-live="polite">
      <span className="ph-num">
        {((read.droppedRowCount ?? 0) + rows.length).toLocaleString()}
        {hasNextPage ? ' so far' : rows.length === 1 ? ' row' : ' rows'}
      </span>
      {isFetchingNextPage && <Loader size={12} aria-label="Loading more" />}
      {error !== null && (
        <Button
          size="compact-xs"
          variant="subtle"
          onClick={() => (hasNextPage ? fetchNextPage() : refetch())}
        >
          {hasNextPage ? 'The next page' : 'The list'} could not be loaded: try again
        </Button>
      )}
    </div>
  )
}

function ListSkeleton() {
  return (
    <div className="ph-card" style={{ padding: 16 }} aria-busy="true">
      {Array.from({ length: 8 }, (_, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: they are all the same
        <Skeleton key={at} h={16} my={14} w={`${96 - (at % 4) * 9}%`} />
      ))}
    </div>
  )
}
