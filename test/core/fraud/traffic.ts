import type { PhoneType } from '../../../src/lib/phone-type.ts'

/** A request for a code; `confirmedAtMs` is when the recipient would confirm it, null for never. */
export type Ask = {
  atMs: number
  recipient: string
  country: string
  phoneType: PhoneType
  honest: boolean
  confirmedAtMs: number | null
}

type Region = { country: string; stems: readonly string[]; digits: number; weight: number; zone: number }

/** The regions of honest traffic: prefixes of mobile numbers, and how many digits follow. */
const REGIONS: readonly Region[] = [
  { country: 'IQ', stems: ['96475', '96477', '96478'], digits: 8, weight: 30, zone: 3 },
  {
    country: 'DE',
    stems: ['49151', '49157', '49160', '49170', '49175', '49176'],
    digits: 8,
    weight: 16,
    zone: 1,
  },
  { country: 'GB', stems: ['4473', '4474', '4475', '4477', '4478'], digits: 8, weight: 12, zone: 0 },
  { country: 'US', stems: ['1212', '1305', '1415', '1512', '1617', '1713'], digits: 7, weight: 10, zone: -6 },
  { country: 'TR', stems: ['9053', '9054', '9055'], digits: 8, weight: 10, zone: 3 },
  { country: 'IN', stems: ['9170', '9188', '9197', '9198', '9199'], digits: 8, weight: 8, zone: 5 },
  { country: 'AE', stems: ['97150', '97152', '97155'], digits: 7, weight: 6, zone: 4 },
  { country: 'BR', stems: ['55119', '55219', '55319'], digits: 8, weight: 4, zone: -3 },
  { country: 'KW', stems: ['9655', '9656', '9659'], digits: 7, weight: 2, zone: 3 },
  { country: 'EE', stems: ['3725'], digits: 7, weight: 1, zone: 2 },
  { country: 'MT', stems: ['35679', '35699'], digits: 6, weight: 0.6, zone: 1 },
  { country: 'AM', stems: ['37491', '37494'], digits: 6, weight: 0.4, zone: 4 },
]

export const SECOND_MS = 1_000
export const MINUTE_MS = 60_000
export const HOUR_MS = 3_600_000
export const DAY_MS = 24 * HOUR_MS
export const START_MS = Date.UTC(2026, 4, 4)

export type Dice = {
  /** At least 0, below 1. */
  next(): number
  below(limit: number): number
  digits(count: number): string
}

/** The same numbers for the same seed (mulberry32). */
export function createDice(seed: number): Dice {
  let state = seed >>> 0
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const below = (limit: number) => Math.floor(next() * limit)
  return { next, below, digits: count => String(below(10 ** count)).padStart(count, '0') }
}

/** Honest traffic of all regions over some days, by their local time; `perHour` on average. */
export function everyday(dice: Dice, { days, perHour }: { days: number; perHour: number }): Ask[] {
  const asks: Ask[] = []
  const shares = REGIONS.map(() => 0.7 + 0.15 * dice.next())
  for (let atMs = START_MS; atMs < START_MS + days * DAY_MS; ) {
    // Drawn at the rate of the busiest hour, then thinned out by the local hour of the region.
    atMs += (-Math.log(1 - dice.next()) * HOUR_MS) / (perHour * BUSIEST)
    const at = pick(dice)
    if (dice.next() * BUSIEST > busy(atMs, REGIONS[at]!.zone)) continue
    asks.push(...person(dice, REGIONS[at]!, atMs, shares[at]!))
  }
  return asks
}

/** A rush: many people of one country request codes within minutes. */
export function campaign(
  dice: Dice,
  {
    country,
    atMs,
    minutes,
    perSecond,
  }: { country: string; atMs: number; minutes: number; perSecond: number },
): Ask[] {
  const region = REGIONS.find(each => each.country === country)!
  const count = minutes * 60 * perSecond
  return Array.from({ length: count }, () =>
    person(dice, region, atMs + dice.next() * minutes * MINUTE_MS, 0.75),
  ).flat()
}

/** SMS pumping: codes to numbers of `prefixes`, in order or not, that are never confirmed. */
export function pumping(
  dice: Dice,
  {
    prefixes,
    digits,
    country,
    count,
    perSecond,
    atMs,
    sequential = false,
  }: {
    prefixes: readonly string[]
    digits: number
    country: string
    count: number
    perSecond: number
    atMs: number
    sequential?: boolean
  },
): Ask[] {
  return Array.from({ length: count }, (_, n) => {
    const prefix = prefixes[n % prefixes.length]!
    const tail = sequential
      ? String(Math.floor(n / prefixes.length)).padStart(digits, '0')
      : dice.digits(digits)
    const ask = { recipient: `+${prefix}${tail}`, country, phoneType: 'mobile' as const }
    return {
      ...ask,
      atMs: Math.round(atMs + (n / perSecond) * SECOND_MS),
      honest: false,
      confirmedAtMs: null,
    }
  })
}

const BUSIEST = 1.9

/** Twice the mean in the evening, next to nothing at night. */
function busy(atMs: number, zone: number): number {
  const hour = ((atMs / HOUR_MS + zone) % 24) + 24
  return 1 + 0.9 * Math.cos(((hour - 19) / 24) * 2 * Math.PI)
}

function pick(dice: Dice): number {
  let left = dice.next() * REGIONS.reduce((sum, region) => sum + region.weight, 0)
  const at = REGIONS.findIndex(({ weight }) => {
    left -= weight
    return left < 0
  })
  return Math.max(0, at)
}

/** A person who confirms a code after some 25 seconds, or requests another one, or gives up. */
function person(dice: Dice, region: Region, atMs: number, share: number): Ask[] {
  const recipient = `+${region.stems[dice.below(region.stems.length)]}${dice.digits(region.digits)}`
  const first = ask(
    recipient,
    region.country,
    atMs,
    dice.next() < share ? confirmationTime(dice, atMs) : null,
  )
  if (first.confirmedAtMs !== null || dice.next() > 0.3) return [first]
  const againMs = atMs + (60 + 60 * dice.next()) * SECOND_MS
  return [
    first,
    ask(recipient, region.country, againMs, dice.next() < 0.5 ? confirmationTime(dice, againMs) : null),
  ]
}

function ask(recipient: string, country: string, atMs: number, confirmedAtMs: number | null): Ask {
  return { recipient, country, phoneType: 'mobile', honest: true, atMs: Math.round(atMs), confirmedAtMs }
}

/** When a code is confirmed: half within 25 s, one in twenty later than two minutes. */
function confirmationTime(dice: Dice, atMs: number): number {
  const spread = Math.sqrt(-2 * Math.log(1 - dice.next())) * Math.cos(2 * Math.PI * dice.next())
  return Math.round(atMs + Math.min(25 * Math.exp(0.9 * spread), 540) * SECOND_MS)
}
