import type { Clock } from '../../lib/clock.ts'
import { createSemaphore } from '../shared/semaphore.ts'
import type { SmtpFault } from './outcome.ts'

/** Whether the server accepts non-ASCII addresses, which it announces by SMTPUTF8 (RFC 6531). */
export type SmtpUtf8Check = {
  /** Records the extensions that the server announced on a connection that has carried a mail. */
  recordExtensions(extensions: readonly string[]): void
  /** From the last recorded extensions; asks the server if they are older than CACHED_MS. */
  isSupported(signal: AbortSignal): Promise<boolean | { fault: SmtpFault }>
}

/** Asks the server for its extensions, one a line. */
type QueryExtensions = (signal: AbortSignal) => Promise<{ said: string } | { fault: SmtpFault }>

/** The server's configuration may change while the link is open. */
const CACHED_MS = 10 * 60_000
const SMTPUTF8_KEYWORD = /^(?:250[ -])?SMTPUTF8\b/im

/**
 * nodemailer writes a non-ASCII address to any server as it is, and a server without SMTPUTF8 may do anything with it.
 * So this is checked before a mail is handed over. Mails to ASCII addresses do not wait for the check.
 */
export function createSmtpUtf8Check(ask: QueryExtensions, clock: Pick<Clock, 'monotonic'>): SmtpUtf8Check {
  /** Lets one caller ask; the others wait, and use its answer. */
  const mutex = createSemaphore(1)
  let known: { taken: boolean; atMs: number } | null = null

  function record(extensions: string): boolean {
    known = { taken: SMTPUTF8_KEYWORD.test(extensions), atMs: clock.monotonic() }
    return known.taken
  }

  async function isTaken(signal: AbortSignal): Promise<boolean | { fault: SmtpFault }> {
    if (known && clock.monotonic() - known.atMs < CACHED_MS) return known.taken
    const answer = await ask(signal)
    return 'fault' in answer ? answer : record(answer.said)
  }

  return {
    recordExtensions: extensions => void record(extensions.join('\n')),
    async isSupported(signal) {
      const place = await mutex.acquire(1, signal)
      if (!place) return { fault: { code: 'EABORT' } }
      return isTaken(signal).finally(place.release)
    },
  }
}

export function isNonAscii(address: string): boolean {
  return /[^\x20-\x7e]/.test(address)
}
