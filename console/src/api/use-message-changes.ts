import { useEffect, useRef } from 'react'
import type { Message } from '../../../sdk/index.ts'
import type { ServerEvent } from './events.ts'
import { type LiveState, useLive } from './use-live.ts'

/** Changes within this time are reported together. */
const GATHER_MS = 150

/**
 * Follows the account's messages: calls `onChanged` with changed messages, in batches, as they are now; or
 * `read` if more has changed than is reported, and repeatedly if streams do not get through. A null query
 * follows nothing.
 */
export function useMessageChanges(
  query: Readonly<Record<string, string | undefined>> | null,
  handlers: { onChanged(messages: readonly Message[]): void; read(): unknown },
): LiveState {
  const latest = useRef(handlers)
  latest.current = handlers
  const gathered = useRef(new Map<string, Message>())
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  const path = query && pathOf(query)
  // What was gathered by one query does not belong to the list of the next one.
  // biome-ignore lint/correctness/useExhaustiveDependencies: they are dropped when the path changes
  useEffect(
    () => () => {
      clearTimeout(timer.current)
      timer.current = undefined
      gathered.current.clear()
    },
    [path],
  )

  function flush(): void {
    timer.current = undefined
    const messages = [...gathered.current.values()]
    gathered.current.clear()
    latest.current.onChanged(messages)
  }

  function onEvent({ event, data }: ServerEvent): void {
    if (event === 'reset') return void latest.current.read()
    if (event !== 'message') return
    const message = JSON.parse(data) as Message
    gathered.current.set(message.messageId, message)
    timer.current ??= setTimeout(flush, GATHER_MS)
  }

  return useLive(path, { onEvent, poll: () => latest.current.read() })
}

function pathOf(query: Readonly<Record<string, string | undefined>>): string {
  const given = Object.entries(query).filter((entry): entry is [string, string] => Boolean(entry[1]))
  return given.length === 0
    ? '/api/v2/messages/events'
    : `/api/v2/messages/events?${new URLSearchParams(given)}`
}
