import { Loader } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useSyncExternalStore } from 'react'
import { useApiContext } from '../api/context.tsx'
import { ASK_EVERY_MS, isServerReady } from '../api/ready.ts'
import classes from './frame.module.css'

/** Shows that the server is unreachable, polls until it is back, and then refreshes all data. */
export function AwayBanner() {
  const { away } = useApiContext()
  const client = useQueryClient()
  const isAway = useSyncExternalStore(away.subscribe, away.isAway)
  useEffect(() => {
    if (!isAway) return
    const timer = setInterval(async () => {
      if (!(await isServerReady())) return
      away.tell(false)
      void client.invalidateQueries()
    }, ASK_EVERY_MS)
    return () => clearInterval(timer)
  }, [isAway, away, client])
  if (!isAway) return null
  return (
    <div className={classes.away} role="status">
      <Loader size={14} color="currentColor" />
      The server does not answer. The data shown may be outdated; the page recovers automatically.
    </div>
  )
}
