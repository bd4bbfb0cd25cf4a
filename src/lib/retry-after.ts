/** RFC 9110 has whole seconds; some servers send fractions. */
const SECONDS = /^\d+(?:\.\d+)?$/
/** The three forms of RFC 9110, 5.6.7: `Sun, 06 Nov 1994 08:49:37 GMT`, `Sunday, 06-Nov-94 …` and `Sun Nov  6 08:49:37 1994`. */
const DATE = /^(?:Sun|Mon|Tue|Wed|Thu|Fri|Sat)[a-z]*,? [A-Za-z0-9 :-]+$/

/**
 * The wait that a Retry-After header asks for, in ms, at least 0; infinite if the number of seconds
 * overflows. Null if it is neither seconds nor a date.
 */
export function readRetryAfter(text: string, nowMs: number): number | null {
  if (SECONDS.test(text)) return Number(text) * 1_000
  if (!DATE.test(text)) return null
  // The asctime form names no zone: it is in UTC like the others, not in this machine's zone.
  const atMs = Date.parse(/ (?:GMT|UTC)$/.test(text) ? text : `${text} GMT`)
  return Number.isNaN(atMs) ? null : Math.max(0, atMs - nowMs)
}
