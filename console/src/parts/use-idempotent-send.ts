import { useState } from 'react'
import { PosthornError } from '../../../sdk/index.ts'
import { newId } from './new-id.ts'

/** Calls `send` with an idempotency key. */
type IdempotentSend = <R>(body: unknown, send: (idempotencyKey: string) => Promise<R>) => Promise<R>

/**
 * The same body is sent only once, however often the button is pressed or the connection fails. After a
 * response, the next send has a new key: the API would replay its response, although the reason of a refusal
 * may be gone.
 */
export function useIdempotentSend(): IdempotentSend {
  const [once] = useState(createIdempotentSend)
  return once
}

function createIdempotentSend(): IdempotentSend {
  let last = { text: '', key: '' }
  return async (body, send) => {
    const text = JSON.stringify(body)
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
