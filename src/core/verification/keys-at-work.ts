import type { AccountId } from '../../lib/ids.ts'
import type { KeyClaim } from '../messages/hot-store.ts'

/** Idempotency keys of starts that this node is at work on, until each is accepted or refused. */
export type KeysAtWork = {
  /** Resolves when nobody else of this node is at work on the key; at once, and true, where nobody is. */
  wait(accountId: AccountId, claim: KeyClaim): true | Promise<void>
  /** From here on others wait; the end is to be told, more than once does no harm. */
  begin(accountId: AccountId, claim: KeyClaim): () => void
}

/**
 * Of requests that come at once with one key the guard sees the first alone: the
 * others are not more codes, and must neither take turns nor be listed as blocked.
 * On other nodes they are told apart by the store.
 */
export function createKeysAtWork(): KeysAtWork {
  /** Who waits for each. */
  const atWork = new Map<string, (() => void)[]>()
  return {
    wait(accountId, { key }) {
      const waiting = atWork.get(`${accountId} ${key}`)
      return waiting ? new Promise(resolve => waiting.push(resolve)) : true
    },
    begin(accountId, { key }) {
      const name = `${accountId} ${key}`
      const waiting: (() => void)[] = []
      atWork.set(name, waiting)
      return () => {
        if (atWork.get(name) === waiting) atWork.delete(name)
        for (const resolve of waiting.splice(0)) resolve()
      }
    },
  }
}
