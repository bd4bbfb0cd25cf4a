import { type FocusEvent, type RefObject, useEffect, useRef } from 'react'

type Place = { key: string; index: number; element: HTMLElement }

/** Within this time, a closed dialog has returned the focus, and its changes are read. In ms. */
const SETTLED_MS = 300

/**
 * Keeps the focus in a list when the focused element disappears: a button with its action, or a whole row,
 * often after a dialog. Then the row gets the focus, or the row in its place, or the list if it is empty. The
 * returned function is called for each focus in a row.
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
      const sameRow = rows.find(row => row.dataset['key'] === place.key)
      // A row that was only scrolled out of view still exists.
      const next = keys.has(place.key)
        ? sameRow
        : (rows.find(row => indexOf(row) >= place.index) ?? rows.at(-1))
      const empty = keys.size === 0 ? list.current : null
      ;(next ?? empty)?.focus({ preventScroll: true })
    }, SETTLED_MS)
    return () => clearTimeout(timer)
  })
  return ({ target, currentTarget }, key, index) => {
    // Focus events of dialogs that a row has opened bubble here too.
    if (currentTarget.contains(target)) last.current = { key, index, element: target as HTMLElement }
  }
}

function indexOf(row: HTMLElement): number {
  return Number(row.dataset['index'])
}
