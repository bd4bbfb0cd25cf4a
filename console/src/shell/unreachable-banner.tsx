import { Loader } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useSyncExternalStore } from 'react'
import { useApiContext } from '../api/context.tsx'
import { isServerReady, POLL_EVERY_MS } from '../api/ready.ts'
import classes from './frame.module.css'

/** Shows that the server is unreachable, polls until it is back, and then refreshes all data. */
export function UnreachableBanner() {
  const { reachability } = useApiContext()
  const client = useQueryClient()
  const isUnreachable = useSyncExternalStore(reachability.subscribe, reachability.isUnreachable)
  useEffect(() => {
    if (!isUnreachable) return
    const timer = setInterval(async () => {
      if (!(await isServerReady())) return
      reachability.setUnreachable(false)
      void client.invalidateQueries()
    }, POLL_EVERY_MS)
    return () => clearInterval(timer)
  }, [isUnreachable, reachability, client])
  if (!isUnreachable) return null
  return (
    <div className={classes.away} role="status">
      <Loader size={14} color="currentColor" />
      The server does not answer. The data shown may be outdated; the page recovers automatically.
    </div>
  )
}
