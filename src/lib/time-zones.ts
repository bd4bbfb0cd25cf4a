/** Time zones of countries that the platform's data does not have, by ISO 3166-1 alpha-2. */
const UNNAMED: Readonly<Record<string, readonly string[]>> = {
  AC: ['Atlantic/St_Helena'],
  TA: ['Atlantic/St_Helena'],
  XK: ['Europe/Belgrade'],
}

/** Cache: time zones by country. */
const known = new Map<string, readonly string[]>()

/** The time zones of a country by ISO 3166-1 alpha-2; empty if there is no such country. */
export function timeZonesOf(country: string): readonly string[] {
  const held = known.get(country)
  if (held) return held
  if (!/^[A-Z]{2}$/.test(country)) return []
  const zones = UNNAMED[country] ?? zonesByPlatform(country)
  known.set(country, zones)
  return zones
}

/** TypeScript's types do not have this method yet. */
function zonesByPlatform(country: string): readonly string[] {
  const locale = new Intl.Locale(`und-${country}`) as Intl.Locale & { getTimeZones(): string[] | undefined }
  return locale.getTimeZones() ?? []
}

/** Cache: formatters by zone, of which there are some 400. */
const clocks = new Map<string, Intl.DateTimeFormat>()

/** A zone's offset from UTC at `atMs`, in ms, positive east of Greenwich; takes some 2 µs. */
export function offsetOf(zone: string, atMs: number): number {
  const fields: Record<string, number> = {}
  for (const { type, value } of clockOf(zone).formatToParts(atMs)) fields[type] = Number(value)
  const { year, month, day, hour, minute, second } = fields as Record<Field, number>
  return Date.UTC(year, month - 1, day, hour, minute, second) - Math.floor(atMs / 1_000) * 1_000
}

type Field = 'year' | 'month' | 'day' | 'hour' | 'minute' | 'second'

/** Cached, since making a formatter takes far longer than using it. */
function clockOf(zone: string): Intl.DateTimeFormat {
  const held = clocks.get(zone)
  if (held) return held
  const made = new Intl.DateTimeFormat('en-US', {
    timeZone: zone,
    calendar: 'iso8601',
    numberingSystem: 'latn',
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  })
  clocks.set(zone, made)
  return made
}
