import type { Clock } from '../../lib/clock.ts'
import type { SmtpFault } from './outcome.ts'
import { createRoom } from './room.ts'

/** Whether the server accepts non-ASCII addresses, which it announces by SMTPUTF8 (RFC 6531). */
export type BeyondAscii = {
  /** Records the extensions that the server announced on a connection that has carried a mail. */
  heard(extensions: readonly string[]): void
  /** From the last recorded extensions; asks the server if they are older than BELIEVED_MS. */
  isTaken(signal: AbortSignal): Promise<boolean | { fault: SmtpFault }>
}

/** Asks the server for its extensions, one a line. */
type Ask = (signal: AbortSignal) => Promise<{ said: string } | { fault: SmtpFault }>

/** The server's configuration may change while the link is open. */
const BELIEVED_MS = 10 * 60_000
const KEYWORD = /^(?:250[ -])?SMTPUTF8\b/im

/**
 * nodemailer writes a non-ASCII address to any server as it is, and a server without SMTPUTF8 may do anything with it.
 * So this is checked before a mail is handed over. Mails to ASCII addresses do not wait for the check.
 */
export function createBeyondAscii(ask: Ask, clock: Pick<Clock, 'monotonic'>): BeyondAscii {
  /** Lets one caller ask; the others wait, and use its answer. */
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
