import type { Clock } from '../../lib/clock.ts'
import { createLru } from '../../lib/lru.ts'

/** Who is on the chat app, as far as it says so. */
export type Recipients = {
  /** Null where nobody says. */
  isThere(phone: string): Promise<boolean | null>
}

/** Puts the question; null where the connection ended over it. */
export type AskWhoIsThere = (phone: string) => Promise<boolean | null>

const HELD = 2_000
const HOLDS_MS = 10 * 60_000
/** A number may have been registered a moment ago. */
const HOLDS_NO_MS = 60_000
/** A server that hangs up over the question is not asked again for this long. */
const MUTE_MS = 10 * 60_000

export function createRecipients(clock: Clock, ask: AskWhoIsThere): Recipients {
  const known = createLru<string, { answer: boolean; untilMs: number }>(HELD)
  let muteUntilMs = Number.NEGATIVE_INFINITY

  return {
    async isThere(phone) {
      const held = known.get(phone)
      if (held && held.untilMs > clock.monotonic()) return held.answer
      if (clock.monotonic() < muteUntilMs) return null
      const answer = await ask(phone)
      if (answer === null) muteUntilMs = clock.monotonic() + MUTE_MS
      else known.set(phone, { answer, untilMs: clock.monotonic() + (answer ? HOLDS_MS : HOLDS_NO_MS) })
      return answer
    },
  }
}
