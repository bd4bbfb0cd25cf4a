import type { AccountId } from '../../lib/ids.ts'
import type { KeyClaim } from '../messages/hot-store.ts'

/** Idempotency keys of starts that this node is at work on, until each is accepted or refused. */
export type KeysAtWork = {
  /**
   * Takes the key and returns what gives it back, which may be called twice. Where another request has it, a
   * promise that resolves once that one gives it back.
   */
  begin(accountId: AccountId, claim: KeyClaim): (() => void) | Promise<void>
  /** Takes the key, whoever else has it. */
  take(accountId: AccountId, claim: KeyClaim): () => void
}

/** Who waits for one. */
type Work = { waiting: (() => void)[] | null }

/**
 * Of requests that come at once with one key the guard sees the first alone: the
 * others are not more codes, and must neither take turns nor be listed as blocked.
 * On other nodes they are told apart by the store.
 */
export function createKeysAtWork(): KeysAtWork {
  const atWork = new Map<string, Work>()

  function start(name: string): () => void {
    const work: Work = { waiting: null }
    atWork.set(name, work)
    return () => {
      if (atWork.get(name) === work) atWork.delete(name)
      for (const resolve of work.waiting?.splice(0) ?? []) resolve()
    }
  }

  return {
    begin(accountId, { key }) {
      const name = `${accountId} ${key}`
      const work = atWork.get(name)
      if (!work) return start(name)
      return new Promise(resolve => {
        work.waiting ??= []
        work.waiting.push(resolve)
      })
    },
    take: (accountId, { key }) => start(`${accountId} ${key}`),
  }
}
