import { useEffect, useRef, useState } from 'react'
import { useApiContext } from './context.tsx'
import { readEvents, type ServerEvent } from './events.ts'

export type LiveState = 'live' | 'polling' | 'off'

const POLL_MS = 2_000
/** After so many streams that broke at once it only asks. */
const MOST_FAILURES = 3

/**
 * Follows `path` by server-sent events, and asks instead where these do not get
 * through: a proxy in between may hold them back.
 *
 *     const live = useLive(`/api/v2/messages/bulk/${id}/events`, {
 *       onEvent: ({ data }) => setJob(JSON.parse(data)),
 *       poll: () => job.refetch(),
 *     })
 */
export function useLive(
  path: string | null,
  { onEvent, poll }: { onEvent: (event: ServerEvent) => void; poll: () => unknown },
): LiveState {
  const { fetch } = useApiContext()
  const [state, setState] = useState<LiveState>('off')
  const handlers = useRef({ onEvent, poll })
  handlers.current = { onEvent, poll }

  useEffect(() => {
    if (path === null) return setState('off')
    const end = new AbortController()
    let timer: ReturnType<typeof setTimeout> | undefined

    async function follow(failures: number): Promise<void> {
      if (end.signal.aborted) return
      try {
        const request = new Request(new URL(path!, location.origin), { signal: end.signal })
        const answer = await fetch(request)
        if (!answer.ok || !answer.body) throw new Error(`status ${answer.status}`)
        setState('live')
        for await (const event of readEvents(answer.body)) handlers.current.onEvent(event)
        // Its end is an end: a job that is over has nothing more to tell.
        if (!end.signal.aborted) setState('off')
        handlers.current.poll()
      } catch {
        if (end.signal.aborted) return
        setState('polling')
        handlers.current.poll()
        timer = setTimeout(() => (failures < MOST_FAILURES ? void follow(failures + 1) : ask()), POLL_MS)
      }
    }

    function ask(): void {
      handlers.current.poll()
      timer = setTimeout(ask, POLL_MS)
    }

    void follow(0)
    return () => {
      end.abort()
      clearTimeout(timer)
    }
  }, [path, fetch])

  return state
}
