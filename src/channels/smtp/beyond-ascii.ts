import type { Clock } from '../../lib/clock.ts'
import type { SmtpFault } from './outcome.ts'
import { createRoom } from './room.ts'

/** Whether the server takes addresses beyond ASCII, which it announces by SMTPUTF8 (RFC 6531). */
export type BeyondAscii = {
  /** What it announced to a connection that has carried a mail. */
  heard(extensions: readonly string[]): void
  /** As it was last heard; asks where that is long ago. */
  isTaken(signal: AbortSignal): Promise<boolean | { fault: SmtpFault }>
}

/** Asks the server for its extensions, one a line. */
type Ask = (signal: AbortSignal) => Promise<{ said: string } | { fault: SmtpFault }>

/** A server may be given it, or lose it, while the link is open. */
const BELIEVED_MS = 10 * 60_000
const KEYWORD = /^(?:250[ -])?SMTPUTF8\b/im

/**
 * The mail library writes such an address to any server as it is, and leaves it to chance what that makes of it:
 * so it is known before a mail is handed over. Mails to plain addresses neither ask nor wait.
 */
export function createBeyondAscii(ask: Ask, clock: Pick<Clock, 'monotonic'>): BeyondAscii {
  /** One asks, and the others take its answer. */
  const turn = createRoom(1)
  let known: { taken: boolean; atMs: number } | null = null

  function learn(extensions: string): boolean {
    known = { taken: KEYWORD.test(extensions), atMs: clock.monotonic() }
    return known.taken
  }

  async function isTaken(signal: AbortSignal): Promise<boolean | { fault: SmtpFault }> {
    if (known && clock.monotonic() - known.atMs < BELIEVED_MS) return known.taken
    const answer = await ask(signal)
    return 'fault' in answer ? answer : learn(answer.said)
  }

  return {
    heard: extensions => void learn(extensions.join('\n')),
    async isTaken(signal) {
      const place = await turn.enter(1, signal)
      if (!place) return { fault: { code: 'EABORT' } }
      return isTaken(signal).finally(place.leave)
    },
  }
}

export function isBeyondAscii(address: string): boolean {
  return /[^\x20-\x7e]/.test(address)
}
