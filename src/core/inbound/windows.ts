import type { InboundMessage } from '../../channels/provider.ts'
import { createBatcher } from '../../infra/batch.ts'
import type { Db } from '../../infra/db.ts'
import type { Clock } from '../../lib/clock.ts'
import type { ConnectionId } from '../../lib/ids.ts'
import { findWindows, openWindows, type WindowKey } from './windows-store.ts'

/** For how long after somebody's message they may be written to in free text: WhatsApp's rule. */
const OPEN_MS = 24 * 3_600_000

/** When recipients last wrote to a sender of ours, as far as it decides what may be sent to them. */
export type ConversationWindows = {
  /** Resolves once stored. Messages of other channels than the official one open nothing. */
  heard(connectionId: ConnectionId, messages: readonly InboundMessage[]): Promise<void>
  /** Whether a free text may go to the recipient at that time, in ms since the epoch. */
  isOpen(key: WindowKey, atMs: number): Promise<boolean>
}

export function createConversationWindows({ db, clock }: { db: Db; clock: Clock }): ConversationWindows {
  const finds = createBatcher<WindowKey, number | null>({ flush: keys => findWindows(db, keys) })

  return {
    async heard(connectionId, messages) {
      const ends = new Map<string, number>()
      const nowMs = clock.now()
      for (const { channel, from, atMs } of messages) {
        if (channel !== 'official_chatapp') continue
        // A provider's clock that runs ahead opens nothing for longer.
        const untilMs = Math.min(atMs ?? nowMs, nowMs) + OPEN_MS
        ends.set(from, Math.max(ends.get(from) ?? 0, untilMs))
      }
      if (ends.size === 0) return
      await openWindows(
        db,
        connectionId,
        [...ends].map(([recipient, untilMs]) => ({ recipient, untilMs })),
      )
    },
    isOpen: async (key, atMs) => ((await finds.add(key)) ?? 0) > atMs,
  }
}
