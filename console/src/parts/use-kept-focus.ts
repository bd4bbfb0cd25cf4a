import { useLayoutEffect, useRef } from 'react'

/**
 * A button that is disabled while it works loses the focus to nothing. What is returned is called
 * when the work begins: what has the focus then has it again when the work is over, unless
 * something else has by then.
 */
export function useKeptFocus(busy: boolean): () => void {
  const had = useRef<Element | null>(null)
  useLayoutEffect(() => {
    if (busy) return
    if (document.activeElement === document.body) (had.current as HTMLElement | null)?.focus()
    had.current = null
  }, [busy])
  return () => {
    had.current = document.activeElement
  }
}
