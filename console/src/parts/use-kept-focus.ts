import { useLayoutEffect, useRef } from 'react'

/**
 * A button that is disabled during an action loses the focus. The returned function is called when the action
 * begins: the element that has the focus then gets it back at the end, unless another one has it by then.
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
