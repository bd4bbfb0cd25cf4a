/** Places whose time zones the platform's data does not name, by ISO 3166-1 alpha-2. */
const UNNAMED: Readonly<Record<string, readonly string[]>> = {
  AC: ['Atlantic/St_Helena'],
  TA: ['Atlantic/St_Helena'],
  XK: ['Europe/Belgrade'],
}

/** One for each country that was asked for. */
const known = new Map<string, readonly string[]>()

/** The time zones of a country by ISO 3166-1 alpha-2; none for what is no country. */
export function timeZonesOf(country: string): readonly string[] {
  const held = known.get(country)
  if (held) return held
  if (!/^[A-Z]{2}$/.test(country)) return []
  const zones = UNNAMED[country] ?? zonesByPlatform(country)
  known.set(country, zones)
  return zones
}

/** The method is newer than the types that we compile with. */
function zonesByPlatform(country: string): readonly string[] {
  const locale = new Intl.Locale(`und-${country}`) as Intl.Locale & { getTimeZones(): string[] | undefined }
  return locale.getTimeZones() ?? []
}

/** One for each zone that was asked for, of some 400. */
const clocks = new Map<string, Intl.DateTimeFormat>()

/** How far a zone's clocks are before UTC at a moment, in ms; some 2 µs. */
export function offsetOf(zone: string, atMs: number): number {
  const fields: Record<string, number> = {}
  for (const { type, value } of clockOf(zone).formatToParts(atMs)) fields[type] = Number(value)
  const { year, month, day, hour, minute, second } = fields as Record<Field, number>
  return Date.UTC(year, month - 1, day, hour, minute, second) - Math.floor(atMs / 1_000) * 1_000
}

type Field = 'year' | 'month' | 'day' | 'hour' | 'minute' | 'second'

/** Making a formatter takes far longer than using it; there are some 400 zones. */
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
