import type { TallyKey } from './tallies.ts'

/** What became of the codes that one key was sent at one time. */
export type Ripe = { key: TallyKey; sends: number; verified: number }

/**
 * Holds codes back until there was time to confirm them, and their confirmations
 * with them: who counts a code at once and its confirmation later sees nobody
 * confirm anything whenever traffic rises.
 */
export type Maturing = {
  /** What is too old to wait for is ripe at the next `take`. */
  note(key: TallyKey, sentAtMs: number, nowMs: number, what: 'sends' | 'verified'): void
  /** Takes out what is ripe. */
  take(nowMs: number): Ripe[]
}

/** By then nearly everybody who will confirm a code has done so. */
export const TIME_TO_CONFIRM_MS = 120_000
const SLOT_MS = 10_000
/** Keys of one slot; a flood of new ones beyond is not followed one by one. */
const MOST_KEYS = 50_000

export function createMaturing(): Maturing {
  const slots = new Map<number, Map<string, Ripe>>()

  /** As a slot is: no later than now, no earlier than the first that is not ripe but one. */
  function slotAt(sentAtMs: number, nowMs: number): Map<string, Ripe> {
    const earliestMs = nowMs - TIME_TO_CONFIRM_MS - SLOT_MS
    const number = Math.floor(Math.min(Math.max(sentAtMs, earliestMs), nowMs) / SLOT_MS)
    const found = slots.get(number)
    if (found) return found
    const made = new Map<string, Ripe>()
    slots.set(number, made)
    return made
  }

  return {
    note(key, sentAtMs, nowMs, what) {
      const slot = slotAt(sentAtMs, nowMs)
      const held = slot.get(key.name)
      if (held) held[what]++
      else if (slot.size < MOST_KEYS) slot.set(key.name, ripeOf(key, what))
    },
    take(nowMs) {
      const ripe: Ripe[] = []
      for (const [number, slot] of slots) {
        if ((number + 1) * SLOT_MS + TIME_TO_CONFIRM_MS > nowMs) continue
        slots.delete(number)
        ripe.push(...slot.values())
      }
      return ripe
    },
  }
}

function ripeOf(key: TallyKey, what: 'sends' | 'verified'): Ripe {
  return { key, sends: Number(what === 'sends'), verified: Number(what === 'verified') }
}
