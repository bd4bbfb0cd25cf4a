const MINUTE_MS = 60_000

/** The value of a `datetime-local` input: local time, to the second. */
export function localTime(ms: number): string {
  const zoneMs = new Date(ms).getTimezoneOffset() * MINUTE_MS
  return new Date(ms - zoneMs).toISOString().slice(0, 19)
}

/** Whether the value of such an input is a time; none is in the hour that is skipped when clocks go forward. */
export function isLocalTime(local: string): boolean {
  const ms = new Date(local).getTime()
  // The skipped hour is read as the one after it.
  return !Number.isNaN(ms) && localTime(ms).startsWith(local)
}

/**
 * The value of such an input as ISO 8601; unchanged if it is not a time, so that the API refuses it. The unedited value
 * is the time `presetMs` that it was made of: when clocks go back, the same local time comes twice.
 */
export function isoOfLocal(local: string, presetMs?: number): string {
  if (presetMs !== undefined && local === localTime(presetMs)) return new Date(presetMs).toISOString()
  return isLocalTime(local) ? new Date(local).toISOString() : local
}
