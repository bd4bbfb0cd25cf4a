import { useCallback, useEffect, useRef } from 'react'

/** Whether the component is still there: no longer, once the person has left its page or closed its dialog. */
export function useIsHere(): () => boolean {
  const isHere = useRef(false)
  useEffect(() => {
    isHere.current = true
    return () => {
      isHere.current = false
    }
  }, [])
  return useCallback(() => isHere.current, [])
}
