import type { Outcome } from '../channels/provider.ts'
import type { Conclude } from '../core/messages/conclude.ts'
import type { OutboxItem } from '../core/outbox/dispatch-port.ts'
import type { OwnedRow } from '../core/outbox/store.ts'
import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import type { UnmadeAttempts } from './unmade-attempts.ts'

/** What ends an attempt: its outcome, or that nobody makes it. */
export type AttemptEnds = {
  /** Stores the outcome; returns the message if it goes on over another connection. Never rejects. */
  conclude(item: OutboxItem, attempt: number, outcome: Outcome): Promise<OutboxItem | null>
  /** Concludes an attempt that was recorded and is not being made: it may have been sent. */
  concludeLost(row: OwnedRow): Promise<void>
  /** The same for one that was certainly not made: the message is due again. */
  concludeUnmade(row: OwnedRow): Promise<void>
  /** Reverts the first attempt of a stored message if it was certainly recorded with it, and not made. Never rejects. */
  undo(message: Pick<OutboxItem, 'accountId' | 'id' | 'connectionId'>): Promise<void>
}

export type AttemptEndsDeps = {
  clock: Pick<Clock, 'now'>
  log: Log
  conclude: Conclude
  unmadeAttempts: Pick<UnmadeAttempts, 'takeIfRecorded'>
  /** Called with the time at which a message is due again. */
  onDue(dueAtMs: number): void
}

/** If the bulk job of a message has been cancelled, the message is withdrawn within this time of its release. */
const WITHDRAWN_WITHIN_MS = 2_000

export function createAttemptEnds({ clock, log, conclude, ...deps }: AttemptEndsDeps): AttemptEnds {
  async function concludeUnmade(
    { attempt, ...row }: Omit<OwnedRow, 'begun'>,
    dueAtMs: number,
  ): Promise<void> {
    const conclusion = await conclude.notMade(row, attempt, dueAtMs)
    if (conclusion.kind === 'settled' && conclusion.dueAt !== null) deps.onDue(conclusion.dueAt)
  }

  return {
    async conclude(item, attempt, outcome) {
      try {
        const conclusion = await conclude.attempt(item, attempt, outcome)
        if (conclusion.kind === 'moved') return conclusion.item
        if (conclusion.dueAt !== null) deps.onDue(conclusion.dueAt)
      } catch (error) {
        log.warn(
          { err: error, messageId: item.id },
          'an outcome could not be stored; the message will become unknown',
        )
      }
      return null
    },
    async concludeLost({ attempt, ...row }) {
      await conclude.orphaned(row, attempt)
    },
    concludeUnmade: row => concludeUnmade(row, clock.now() + WITHDRAWN_WITHIN_MS),
    async undo(message) {
      if (!deps.unmadeAttempts.takeIfRecorded(message.id)) return
      try {
        await concludeUnmade({ ...message, attempt: 1 }, clock.now())
      } catch (error) {
        log.warn(
          { err: error, messageId: message.id },
          'an unmade attempt could not be undone; its message will be released as orphaned',
        )
      }
    },
  }
}
