/** Whole seconds by RFC 9110; some say parts of them too. */
const SECONDS = /^\d+(?:\.\d+)?$/
/** The three forms of RFC 9110, 5.6.7: `Sun, 06 Nov 1994 08:49:37 GMT`, `Sunday, 06-Nov-94 …` and `Sun Nov  6 08:49:37 1994`. */
const DATE = /^(?:Sun|Mon|Tue|Wed|Thu|Fri|Sat)[a-z]*,? [A-Za-z0-9 :-]+$/

/**
 * The wait that a Retry-After asks for, in ms, not less than 0; infinite where it says more seconds than
 * there are numbers. Null for what is neither seconds nor a date.
 */
export function readRetryAfter(text: string, nowMs: number): number | null {
  if (SECONDS.test(text)) return Number(text) * 1_000
  if (!DATE.test(text)) return null
  // The last of the three names no zone: it is of UTC like the others, not of wherever this machine stands.
  const atMs = Date.parse(/ (?:GMT|UTC)$/.test(text) ? text : `${text} GMT`)
  return Number.isNaN(atMs) ? null : Math.max(0, atMs - nowMs)
}
