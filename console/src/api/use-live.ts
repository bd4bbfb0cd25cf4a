import { useEffect, useRef, useState } from 'react'
import { useApiContext } from './context.tsx'
import { readEvents, type ServerEvent, type StreamPosition } from './events.ts'
import { isRefusalStatus } from './fault.ts'

export type LiveState = 'live' | 'polling' | 'off'

export type LiveOptions = {
  onEvent(event: ServerEvent): void
  /** Polls, if streams do not get through. */
  poll(): unknown
}

const POLL_MS = 2_000
/** After so many streams that failed without an event, or one that was refused, it polls, and retries a stream only every RETRY_STREAM_MS. */
const MAX_FAILURES = 3
const RETRY_STREAM_MS = 30_000
/** The server sends a heartbeat every 15 s: a stream that is silent for longer is dead. */
const MAX_SILENCE_MS = 40_000
const SILENCE_CHECK_MS = 5_000

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
    const connection = createConnection({ path, fetch, handlers, setState })
    const onVisibilityChange = () => (document.hidden ? connection.close() : connection.open())
    document.addEventListener('visibilitychange', onVisibilityChange)
    onVisibilityChange()
    return () => {
      document.removeEventListener('visibilitychange', onVisibilityChange)
      connection.close()
    }
  }, [path, fetch, accountId, mode])

  return state
}

type ConnectionDeps = {
  path: string
  fetch: (request: Request) => Promise<Response>
  handlers: { current: LiveOptions }
  setState(state: LiveState): void
}

/** Reconnecting streams, or polling in their place; neither while the page is hidden. */
function createConnection({ path, fetch, handlers, setState }: ConnectionDeps) {
  const place: StreamPosition = { id: '', receivedAtMs: 0 }
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

  function close(): void {
    current?.abort()
    current = null
    clearTimeout(timer)
  }

  async function follow(signal: AbortSignal): Promise<void> {
    const silence = new AbortController()
    place.receivedAtMs = performance.now()
    const listening = setInterval(() => {
      if (performance.now() - place.receivedAtMs > MAX_SILENCE_MS) silence.abort()
    }, SILENCE_CHECK_MS)
    try {
      const headers = new Headers(place.id === '' ? [] : [['Last-Event-ID', place.id]])
      const either = AbortSignal.any([signal, silence.signal])
      const answer = await fetch(new Request(new URL(path, location.origin), { signal: either, headers }))
      if (isRefusalStatus(answer.status)) failures = MAX_FAILURES
      if (!answer.ok || !answer.body) throw new Error(`status ${answer.status}`)
      setState('live')
      for await (const event of readEvents(answer.body, place)) {
        failures = 0
        handlers.current.onEvent(event)
      }
      if (!signal.aborted) schedule(() => void follow(signal))
    } catch {
      if (signal.aborted) return
      failures++
      failedAtMs = performance.now()
      setState('polling')
      pollThenRetry(signal)
    } finally {
      clearInterval(listening)
    }
  }

  function pollThenRetry(signal: AbortSignal): void {
    handlers.current.poll()
    schedule(() => {
      const worthIt = failures < MAX_FAILURES || performance.now() - failedAtMs > RETRY_STREAM_MS
      if (worthIt) void follow(signal)
      else pollThenRetry(signal)
    })
  }

  function schedule(run: () => void): void {
    clearTimeout(timer)
    timer = setTimeout(run, POLL_MS)
  }

  return { open, close }
}
