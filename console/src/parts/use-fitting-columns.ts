import { useMediaQuery } from '@mantine/hooks'
import { type RefObject, useLayoutEffect, useState } from 'react'

type Measured = { width: string; wideOnly?: boolean }

const PHONE = '(max-width: 48em)'
/** The gap between two columns, and both paddings of a row, on a screen that is wider than a phone's. */
const GAP_PX = 16
const PADDING_PX = 32

/**
 * The columns that fit into the list without scrolling sideways: those that are `wideOnly` are left out on a
 * phone, and elsewhere from the last one on until the others fit. `shown` is whether the list is rendered.
 */
export function useFittingColumns<C extends Measured>(
  list: RefObject<HTMLElement | null>,
  columns: readonly C[],
  shown: boolean,
): readonly C[] {
  const isPhone = useMediaQuery(PHONE, undefined, { getInitialValueInEffect: false })
  const [widthPx, setWidthPx] = useState(Number.POSITIVE_INFINITY)
  // biome-ignore lint/correctness/useExhaustiveDependencies: the element exists only while the list is shown
  useLayoutEffect(() => {
    const element = list.current
    if (!element) return
    const measure = () => setWidthPx(element.clientWidth)
    measure()
    const observer = new ResizeObserver(measure)
    observer.observe(element)
    return () => observer.disconnect()
  }, [list, shown])
  if (isPhone) return columns.filter(({ wideOnly }) => wideOnly !== true)
  return fittingColumns(columns, widthPx)
}

function fittingColumns<C extends Measured>(columns: readonly C[], widthPx: number): readonly C[] {
  if (leastWidthPx(columns) <= widthPx) return columns
  const last = columns.findLastIndex(({ wideOnly }) => wideOnly === true)
  return last === -1 ? columns : fittingColumns(columns.toSpliced(last, 1), widthPx)
}

function leastWidthPx(columns: readonly Measured[]): number {
  const gapsPx = GAP_PX * (columns.length - 1)
  return columns.reduce((sumPx, { width }) => sumPx + leastOfPx(width), PADDING_PX + gapsPx)
}

/** Of `120px` and of `minmax(120px, 2fr)`: 120. */
function leastOfPx(width: string): number {
  return Number(/\d+/.exec(width)?.[0] ?? 0)
}
