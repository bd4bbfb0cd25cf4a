import { useEffect, useRef } from 'react'
import { useLive } from '../../api/use-live.ts'

/** What comes within so much is one reading. */
const GATHER_MS = 150

/**
 * Calls `read` when something has come in, and again and again where no stream gets through. All that comes to
 * the account, whatever a list shows of it: one stream serves the list and the conversation beside it.
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
