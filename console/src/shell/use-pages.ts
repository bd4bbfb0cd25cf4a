import { useMemo } from 'react'
import type { Page } from '../page.ts'
import { PAGES } from '../pages.ts'
import { useSession } from '../session/context.tsx'

/** The pages that the person may open, in order. */
export function usePages(): readonly Page[] {
  const { may, can } = useSession()
  return useMemo(
    () => PAGES.filter(({ need, permissions = [] }) => may(need) && permissions.every(can)),
    [may, can],
  )
}
