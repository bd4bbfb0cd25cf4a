import { createBatcher } from '../../infra/batch.ts'
import type { Db } from '../../infra/db.ts'
import { DAY_MS } from '../../lib/durations.ts'
import type { ConnectionId } from '../../lib/ids.ts'
import { comparablePhone } from '../../lib/phone.ts'
import type { InboundRow } from './store.ts'
import { findWindows, openWindows, type WindowEnd, type WindowKey } from './windows-store.ts'

/** How long after a person's message a free text may be sent to them: WhatsApp's rule. */
const OPEN_MS = DAY_MS

/** The 24-hour windows that a person's message opens, in which free texts may be sent to them. */
export type ConversationWindows = {
  /** Whether a free text may be sent to the recipient at `atMs`, in ms since the epoch. */
  isOpen(key: WindowKey, atMs: number): Promise<boolean>
}

export function createConversationWindows({ db }: { db: Db }): ConversationWindows {
  const finds = createBatcher<WindowKey, number | null>({ flush: keys => findWindows(db, keys) })
  return {
    async isOpen({ connectionId, recipient }, atMs) {
      const untilMs = await finds.add({ connectionId, recipient: comparablePhone(recipient) })
      return (untilMs ?? 0) > atMs
    },
  }
}

/** Opens the authors' windows, within the transaction that stores their messages. Only the official channel has windows. */
export async function openWindowsOf(
  tx: Db,
  nowMs: number,
  rows: readonly Pick<InboundRow, 'connectionId' | 'channel' | 'from' | 'sentAtMs'>[],
): Promise<void> {
  const ends = new Map<string, WindowEnd>()
  for (const { connectionId, channel, from, sentAtMs } of rows) {
    if (channel !== 'official_chatapp') continue
    const untilMs = endOf(sentAtMs, nowMs)
    const recipient = comparablePhone(from)
    const key = placeOf(connectionId, recipient)
    if (untilMs > (ends.get(key)?.untilMs ?? 0)) ends.set(key, { connectionId, recipient, untilMs })
  }
  if (ends.size > 0) await openWindows(tx, [...ends.values()])
}

/** Not later than OPEN_MS from now, in case the provider's clock is ahead. */
function endOf(sentAtMs: number | null, nowMs: number): number {
  return Math.min(sentAtMs ?? nowMs, nowMs) + OPEN_MS
}

function placeOf(connectionId: ConnectionId, recipient: string): string {
  return `${connectionId} ${recipient}`
}
