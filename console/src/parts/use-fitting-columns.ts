import { useMediaQuery } from '@mantine/hooks'
import { type RefObject, useLayoutEffect, useState } from 'react'
import { textScale } from './text-size.ts'

type Measured = { width: string; wideOnly?: boolean }

const PHONE = '(max-width: 48em)'
const NARROW_PHONE = '(max-width: 23.5em)'
/** The gap between two columns, and both paddings of a row, as in data-list.module.css. */
type Spacing = { gapPx: number; paddingPx: number }
const SPACING: Spacing = { gapPx: 16, paddingPx: 32 }
const PHONE_SPACING: Spacing = { gapPx: 10, paddingPx: 24 }
const NARROW_PHONE_SPACING: Spacing = { gapPx: 8, paddingPx: 16 }

/**
 * The columns that fit into the list without scrolling sideways: those that are `wideOnly` are left out on a
 * phone, and elsewhere from the last one on until the others fit. On a phone that is too narrow for the others, those with a
 * minimum get less. `shown` is whether the list is rendered.
 */
export function useFittingColumns<C extends Measured>(
  list: RefObject<HTMLElement | null>,
  columns: readonly C[],
  shown: boolean,
): readonly C[] {
  const isPhone = useMediaQuery(PHONE, undefined, { getInitialValueInEffect: false })
  const isNarrow = useMediaQuery(NARROW_PHONE, undefined, { getInitialValueInEffect: false })
  const [widthPx, setWidthPx] = useState(Number.POSITIVE_INFINITY)
  // biome-ignore lint/correctness/useExhaustiveDependencies: the element exists only while the list is shown
  useLayoutEffect(() => {
    const element = list.current
    if (!element) return
    // As if texts had their default size: the columns grow with them.
    const measure = () => setWidthPx(element.clientWidth / textScale())
    measure()
    const observer = new ResizeObserver(measure)
    observer.observe(element)
    return () => observer.disconnect()
  }, [list, shown])
  if (isPhone) {
    const spacing = isNarrow ? NARROW_PHONE_SPACING : PHONE_SPACING
    return squeezedColumns(
      columns.filter(({ wideOnly }) => wideOnly !== true),
      widthPx,
      spacing,
    )
  }
  return fittingColumns(columns, widthPx)
}

function fittingColumns<C extends Measured>(columns: readonly C[], widthPx: number): readonly C[] {
  if (leastWidthPx(columns, SPACING) <= widthPx) return columns
  const last = columns.findLastIndex(({ wideOnly }) => wideOnly === true)
  return last === -1 ? columns : fittingColumns(columns.toSpliced(last, 1), widthPx)
}

/** Takes what is missing from the minimums, in proportion to them. */
function squeezedColumns<C extends Measured>(
  columns: readonly C[],
  widthPx: number,
  spacing: Spacing,
): readonly C[] {
  const missingPx = leastWidthPx(columns, spacing) - widthPx
  if (missingPx <= 0) return columns
  const minimumsPx = sum(columns.map(({ width }) => (isFlexible(width) ? leastOfPx(width) : 0)))
  const share = Math.max(0, 1 - missingPx / minimumsPx)
  return columns.map(column =>
    isFlexible(column.width)
      ? { ...column, width: column.width.replace(/\d+/, least => `${Math.floor(Number(least) * share)}`) }
      : column,
  )
}

function leastWidthPx(columns: readonly Measured[], { gapPx, paddingPx }: Spacing): number {
  return sum(columns.map(({ width }) => leastOfPx(width))) + paddingPx + gapPx * (columns.length - 1)
}

function isFlexible(width: string): boolean {
  return width.startsWith('minmax')
}

/** Of `120px` and of `minmax(120px, 2fr)`: 120. */
function leastOfPx(width: string): number {
  return Number(/\d+/.exec(width)?.[0] ?? 0)
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}
