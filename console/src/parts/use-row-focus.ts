import { type FocusEvent, type RefObject, useEffect, useRef } from 'react'

type Place = { key: string; index: number; element: HTMLElement }

/** A dialog that has closed gives the focus back within so much, and what it has changed is read anew. In ms. */
const SETTLED_MS = 300

/**
 * What has the focus in a row may go: a button with what it does, or the row with what it stands for,
 * often behind a dialog that has asked first. Then the row has it, or the one in its place, or what stands
 * in the place of the list where that was the last one, and not nothing.
 * What is returned is called with each focus in a row.
 */
export function useRowFocus(
  list: RefObject<HTMLElement | null>,
  keys: ReadonlySet<string>,
): (event: FocusEvent<HTMLElement>, key: string, index: number) => void {
  const last = useRef<Place | null>(null)
  useEffect(() => {
    const timer = setTimeout(() => {
      const place = last.current
      if (place === null || place.element.isConnected || document.activeElement !== document.body) return
      const rows = [...(list.current?.querySelectorAll<HTMLElement>('[role="row"][tabindex]') ?? [])]
      const standing = rows.find(row => row.dataset['key'] === place.key)
      // One that was only scrolled away is where it was.
      const next = keys.has(place.key)
        ? standing
        : (rows.find(row => indexOf(row) >= place.index) ?? rows.at(-1))
      const empty = keys.size === 0 ? list.current : null
      ;(next ?? empty)?.focus({ preventScroll: true })
    }, SETTLED_MS)
    return () => clearTimeout(timer)
  })
  return ({ target, currentTarget }, key, index) => {
    // What a row has opened elsewhere tells it, too.
    if (currentTarget.contains(target)) last.current = { key, index, element: target as HTMLElement }
  }
}

function indexOf(row: HTMLElement): number {
  return Number(row.dataset['index'])
}
