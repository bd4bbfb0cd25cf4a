import type { TallyKey } from './tallies.ts'

/** Codes of one key that were sent in the same slot of time, and how many of them were confirmed. */
export type MaturedCodes = { key: TallyKey; sends: number; verified: number }

/**
 * Holds codes, and their confirmations, back until there was time to confirm them.
 * If codes were counted at once and confirmations later, conversion would seem to
 * drop whenever traffic rises.
 */
export type Maturing = {
  /** Codes that are older than TIME_TO_CONFIRM_MS are given out by the next `takeMatured`. */
  record(key: TallyKey, sentAtMs: number, nowMs: number, what: 'sends' | 'verified'): void
  /** Takes out the codes that there was time to confirm. */
  takeMatured(nowMs: number): MaturedCodes[]
}

/** Nearly everybody who confirms a code does so within this time. */
export const TIME_TO_CONFIRM_MS = 120_000
const SLOT_MS = 10_000
/** Keys per slot; in a flood, further new keys are not followed. */
const MAX_KEYS = 50_000

export function createMaturing(): Maturing {
  const slots = new Map<number, Map<string, MaturedCodes>>()

  /** The slot of that time, but no later than now's, and no earlier than one that is matured already. */
  function slotAt(sentAtMs: number, nowMs: number): Map<string, MaturedCodes> {
    const earliestMs = nowMs - TIME_TO_CONFIRM_MS - SLOT_MS
    const number = Math.floor(Math.min(Math.max(sentAtMs, earliestMs), nowMs) / SLOT_MS)
    const found = slots.get(number)
    if (found) return found
    const made = new Map<string, MaturedCodes>()
    slots.set(number, made)
    return made
  }

  return {
    record(key, sentAtMs, nowMs, what) {
      const slot = slotAt(sentAtMs, nowMs)
      const held = slot.get(key.name)
      if (held) held[what]++
      else if (slot.size < MAX_KEYS) slot.set(key.name, maturedOf(key, what))
    },
    takeMatured(nowMs) {
      const ripe: MaturedCodes[] = []
      for (const [number, slot] of slots) {
        if ((number + 1) * SLOT_MS + TIME_TO_CONFIRM_MS > nowMs) continue
        slots.delete(number)
        ripe.push(...slot.values())
      }
      return ripe
    },
  }
}

function maturedOf(key: TallyKey, what: 'sends' | 'verified'): MaturedCodes {
  return { key, sends: Number(what === 'sends'), verified: Number(what === 'verified') }
}
