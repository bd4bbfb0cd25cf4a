const MINUTE_MS = 60_000

/** As a field of type `datetime-local` writes it: by the clock of whoever looks, to the second. */
export function localTime(ms: number): string {
  const zoneMs = new Date(ms).getTimezoneOffset() * MINUTE_MS
  return new Date(ms - zoneMs).toISOString().slice(0, 19)
}

/** What such a field says, as ISO 8601; as it stands where it is no time: that is for the API to say. */
export function isoOfLocal(local: string): string {
  const at = new Date(local)
  return Number.isNaN(at.getTime()) ? local : at.toISOString()
}
