import { useState } from 'react'
import { PosthornError } from '../../../sdk/index.ts'
import { newId } from './new-id.ts'

/** Sends by `send`, with the key by which the API knows a request that comes again. */
type Once = <R>(body: unknown, send: (idempotencyKey: string) => Promise<R>) => Promise<R>

/**
 * The same words are sent once, however often a button is pressed or a line breaks. Once there is an
 * answer the next time is another request: what refused it may have changed, and an answer is kept by its key.
 */
export function useOnce(): Once {
  const [once] = useState(createOnce)
  return once
}

function createOnce(): Once {
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

/** Not while it may still be under way. */
function isRefusal(error: unknown): boolean {
  return error instanceof PosthornError && error.status < 500 && error.status !== 409
}
