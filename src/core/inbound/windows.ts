import { createBatcher } from '../../infra/batch.ts'
import type { Db } from '../../infra/db.ts'
import { DAY_MS } from '../../lib/durations.ts'
import type { ConnectionId } from '../../lib/ids.ts'
import type { InboundRow } from './store.ts'
import { findWindows, openWindows, type WindowEnd, type WindowKey } from './windows-store.ts'

/** For how long after somebody's message they may be written to in free text: WhatsApp's rule. */
const OPEN_MS = DAY_MS

/** When recipients last wrote to a sender of ours, as far as it decides what may be sent to them. */
export type ConversationWindows = {
  /** Whether a free text may go to the recipient at that time, in ms since the epoch. */
  isOpen(key: WindowKey, atMs: number): Promise<boolean>
}

export function createConversationWindows({ db }: { db: Db }): ConversationWindows {
  const finds = createBatcher<WindowKey, number | null>({ flush: keys => findWindows(db, keys) })
  return { isOpen: async (key, atMs) => ((await finds.add(key)) ?? 0) > atMs }
}

/** Opens the windows of whoever wrote, within the transaction that keeps it. Only the official channel has any. */
export async function openWindowsOf(
  tx: Db,
  nowMs: number,
  rows: readonly Pick<InboundRow, 'connectionId' | 'channel' | 'from' | 'sentAtMs'>[],
): Promise<void> {
  const ends = new Map<string, WindowEnd>()
  for (const { connectionId, channel, from, sentAtMs } of rows) {
    if (channel !== 'official_chatapp') continue
    const untilMs = endOf(sentAtMs, nowMs)
    const key = placeOf(connectionId, from)
    if (untilMs > (ends.get(key)?.untilMs ?? 0)) ends.set(key, { connectionId, recipient: from, untilMs })
  }
  if (ends.size > 0) await openWindows(tx, [...ends.values()])
}

/** A provider's clock that runs ahead opens nothing for longer. */
function endOf(sentAtMs: number | null, nowMs: number): number {
  return Math.min(sentAtMs ?? nowMs, nowMs) + OPEN_MS
}

function placeOf(connectionId: ConnectionId, recipient: string): string {
  return `${connectionId} ${recipient}`
}
