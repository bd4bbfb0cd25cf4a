import { useEffect, useRef } from 'react'
import { useLive } from '../../api/use-live.ts'

/** Changes within this time cause one read. */
const GATHER_MS = 150

/**
 * Calls `read` when a message has arrived, and repeatedly if streams do not get through. For all of the
 * account's messages: one stream serves the list and the conversation beside it.
 */
export function useInboundChanges(read: () => unknown): void {
  const latest = useRef(read)
  latest.current = read
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  useEffect(() => () => clearTimeout(timer.current), [])

  function readSoon(): void {
    timer.current ??= setTimeout(() => {
      timer.current = undefined
      latest.current()
    }, GATHER_MS)
  }

  useLive('/api/v2/inbound/events', { onEvent: readSoon, poll: () => latest.current() })
}
