import { useState } from 'react'
import { PosthornError } from '../../../sdk/index.ts'
import type { Identity } from '../api/console-fetch.ts'
import { useApiContext } from '../api/context.tsx'
import { newId } from './new-id.ts'

/** Calls `send` with an idempotency key. */
export type IdempotentSend = <R>(body: unknown, send: (idempotencyKey: string) => Promise<R>) => Promise<R>

/**
 * The same body is sent only once, however often the button is pressed or the connection fails. After a
 * response, the next send has a new key: the API would replay its response, although the reason of a refusal
 * may be gone. So has the same body in another mode or account: keys are the account's in both modes, and a live
 * send would get the response of the test.
 */
export function useIdempotentSend(): IdempotentSend {
  const { identity } = useApiContext()
  const [once] = useState(() => createIdempotentSend(identity))
  return once
}

function createIdempotentSend(identity: () => Identity): IdempotentSend {
  let last = { text: '', key: '' }
  return async (body, send) => {
    const { accountId, mode } = identity()
    const text = JSON.stringify([accountId, mode, body])
    if (last.text !== text) last = { text, key: newId() }
    try {
      const result = await send(last.key)
      last = { text: '', key: '' }
      return result
    } catch (error) {
      if (isRefusal(error)) last = { text: '', key: '' }
      throw error
    }
  }
}

/** Whether the API has refused the request, so that it is certainly not running. */
function isRefusal(error: unknown): boolean {
  return error instanceof PosthornError && error.status < 500 && error.status !== 409
}
