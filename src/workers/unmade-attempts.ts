import type { MessageId } from '../lib/ids.ts'
import { createLru } from '../lib/lru.ts'

/**
 * First attempts that are to be reverted because they were not made. An accept whose response was lost may have stored its
 * message, with the first attempt recorded. This node has not made that attempt, and makes none before it holds the message.
 */
export type UnmadeAttempts = {
  /** The response to an accept of the message was lost. `begun`: it records the first attempt with the message. */
  noteLostAccept(id: MessageId, begun: boolean): void
  /** This node holds the message: from now on its attempts are made. */
  noteHeld(id: MessageId): void
  /**
   * Whether the first attempt of the message, which is stored, was certainly recorded and not made. The caller then reverts
   * it. True only once, since the next attempt has the same number.
   */
  takeIfRecorded(id: MessageId): boolean
  /** The same where the database says that an attempt is recorded, so that only this node's part is in question. */
  takeRecorded(id: MessageId): boolean
}

/**
 * What the accepts without a response record: all of them a first attempt, none, or some of them. `over`: there is nothing to
 * revert any more, since the message was held, or its attempt was reverted.
 */
type State = 'recorded' | 'not recorded' | 'uncertain' | 'over'

/** Many more than there are at once. Messages that were not stored after all are never taken. */
const MAX_KEPT = 10_000

export function createUnmadeAttempts(): UnmadeAttempts {
  const states = createLru<MessageId, State>(MAX_KEPT)

  function takeRecorded(id: MessageId): boolean {
    const state = states.get(id)
    // Of a message that was stored without an attempt, whoever claimed it from the outbox has recorded one, and makes it.
    if (state !== 'recorded' && state !== 'uncertain') return false
    states.set(id, 'over')
    return true
  }

  return {
    noteLostAccept(id, begun) {
      const before = states.get(id)
      if (before === 'over') return
      const now = begun ? 'recorded' : 'not recorded'
      states.set(id, before === undefined || before === now ? now : 'uncertain')
    },
    noteHeld(id) {
      if (states.get(id) !== undefined) states.set(id, 'over')
    },
    // Where it may not have been recorded with the message, another node may be making one.
    takeIfRecorded: id => states.get(id) === 'recorded' && takeRecorded(id),
    takeRecorded,
  }
}
