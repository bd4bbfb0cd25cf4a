import { useEffect, useRef, useState } from 'react'
import { useApiContext } from './context.tsx'
import { type Place, readEvents, type ServerEvent } from './events.ts'

export type LiveState = 'live' | 'polling' | 'off'

export type LiveOptions = {
  onEvent(event: ServerEvent): void
  /** Polls, if streams do not get through. */
  poll(): unknown
}

const POLL_MS = 2_000
/** After so many streams that failed without an event it polls, and retries a stream only every TRY_AGAIN_MS. */
const MOST_FAILURES = 3
const TRY_AGAIN_MS = 30_000
/** The server sends a heartbeat every 15 s: a stream that is silent for longer is dead. */
const MOST_SILENCE_MS = 40_000
const LISTEN_EVERY_MS = 5_000

/**
 * Follows `path` by server-sent events, and polls instead if these do not get
 * through: a proxy may buffer them. Only while the page is visible:
 * browsers allow few connections to a server, and a hidden tab needs none. A
 * stream that ends is reopened, since a server that stops ends it as well:
 * pass null for the path when nothing more is expected.
 *
 *     const live = useLive(`/api/v2/messages/bulk/${id}/events`, {
 *       onEvent: ({ data }) => setJob(JSON.parse(data)),
 *       poll: () => job.refetch(),
 *     })
 */
export function useLive(path: string | null, options: LiveOptions): LiveState {
  const { fetch, identity } = useApiContext()
  const { accountId, mode } = identity()
  const [state, setState] = useState<LiveState>('off')
  const handlers = useRef(options)
  handlers.current = options

  // biome-ignore lint/correctness/useExhaustiveDependencies: the same path tells another account of other things
  useEffect(() => {
    if (path === null) return setState('off')
    const line = createLine({ path, fetch, handlers, setState })
    const onLook = () => (document.hidden ? line.rest() : line.open())
    document.addEventListener('visibilitychange', onLook)
    onLook()
    return () => {
      document.removeEventListener('visibilitychange', onLook)
      line.rest()
    }
  }, [path, fetch, accountId, mode])

  return state
}

type LineDeps = {
  path: string
  fetch: (request: Request) => Promise<Response>
  handlers: { current: LiveOptions }
  setState(state: LiveState): void
}

/** Reconnecting streams, or polling in their place; neither while the page is hidden. */
function createLine({ path, fetch, handlers, setState }: LineDeps) {
  const place: Place = { id: '', heardAtMs: 0 }
  let current: AbortController | null = null
  let timer: ReturnType<typeof setTimeout> | undefined
  let failures = 0
  let failedAtMs = 0

  function open(): void {
    if (current) return
    current = new AbortController()
    failures = 0
    void follow(current.signal)
  }

  function rest(): void {
    current?.abort()
    current = null
    clearTimeout(timer)
  }

  async function follow(signal: AbortSignal): Promise<void> {
    const silence = new AbortController()
    place.heardAtMs = performance.now()
    const listening = setInterval(() => {
      if (performance.now() - place.heardAtMs > MOST_SILENCE_MS) silence.abort()
    }, LISTEN_EVERY_MS)
    try {
      const headers = new Headers(place.id === '' ? [] : [['Last-Event-ID', place.id]])
      const either = AbortSignal.any([signal, silence.signal])
      const answer = await fetch(new Request(new URL(path, location.origin), { signal: either, headers }))
      if (!answer.ok || !answer.body) throw new Error(`status ${answer.status}`)
      setState('live')
      for await (const event of readEvents(answer.body, place)) {
        failures = 0
        handlers.current.onEvent(event)
      }
      if (!signal.aborted) later(() => void follow(signal))
    } catch {
      if (signal.aborted) return
      failures++
      failedAtMs = performance.now()
      setState('polling')
      ask(signal)
    } finally {
      clearInterval(listening)
    }
  }

  function ask(signal: AbortSignal): void {
    handlers.current.poll()
    later(() => {
      const worthIt = failures < MOST_FAILURES || performance.now() - failedAtMs > TRY_AGAIN_MS
      if (worthIt) void follow(signal)
      else ask(signal)
    })
  }

  function later(run: () => void): void {
    clearTimeout(timer)
    timer = setTimeout(run, POLL_MS)
  }

  return { open, rest }
}
