import { useCallback } from 'react'
import { useLocation } from 'wouter'
import { useIsHere } from './use-is-here.ts'

/**
 * Goes to a page after an action, unless the person has left this one while it ran: they would lose what they have
 * typed elsewhere.
 */
export function useGo(): (to: string) => void {
  const [, go] = useLocation()
  const isHere = useIsHere()
  return useCallback(
    (to: string) => {
      if (isHere()) go(to)
    },
    [go, isHere],
  )
}
