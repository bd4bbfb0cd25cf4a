import type { AccountId } from '../../lib/ids.ts'
import { createShortLivedMap } from '../../lib/short-lived-map.ts'
import type { KeyClaim } from '../messages/hot-store.ts'

/** The idempotency keys of starts in progress on this node, until each is accepted or refused. */
export type KeysInProgress = {
  /**
   * Takes the key and returns the function that releases it, which may be called twice. If another request has it,
   * returns a promise that resolves once that one releases it.
   */
  begin(accountId: AccountId, claim: KeyClaim): (() => void) | Promise<void>
  /** Takes the key, even if another request has it. */
  take(accountId: AccountId, claim: KeyClaim): () => void
}

/** The requests that wait for a key. */
type Work = { waiting: (() => void)[] | null }

/**
 * Of concurrent requests with one key the guard judges only the first: the others are
 * not further codes, and must neither take turns nor be listed as blocked. Requests on
 * other nodes are distinguished by the database.
 */
export function createKeysInProgress(): KeysInProgress {
  const inProgress = createShortLivedMap<string, Work>()

  function start(name: string): () => void {
    const work: Work = { waiting: null }
    inProgress.set(name, work)
    return () => {
      if (inProgress.get(name) === work) inProgress.delete(name)
      for (const resolve of work.waiting?.splice(0) ?? []) resolve()
    }
  }

  return {
    begin(accountId, { key }) {
      const name = `${accountId} ${key}`
      const work = inProgress.get(name)
      if (!work) return start(name)
      return new Promise(resolve => {
        work.waiting ??= []
        work.waiting.push(resolve)
      })
    },
    take: (accountId, { key }) => start(`${accountId} ${key}`),
  }
}
