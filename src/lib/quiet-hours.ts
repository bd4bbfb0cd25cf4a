import { DAY_MS, MINUTE_MS } from './durations.ts'
import { offsetOf } from './time-zones.ts'

/**
 * The part of every day in which nobody is to be disturbed: from `startMinute`
 * on, until `endMinute` comes. Minutes of the day by the clocks of the place,
 * never equal; the later one first means across midnight.
 */
export type QuietHours = { startMinute: number; endMinute: number }

/** Clocks are moved at most once within this, and every zone has opened in it. */
const HORIZON_MS = 2 * DAY_MS
/** Where clocks are moved there is another offset on the two sides of it. */
const PROBE_MS = 6 * 60 * MINUTE_MS

/** A time of day such as 21:30 as its minute; null for what is none. */
export function parseMinute(text: string): number | null {
  const [, hours, minutes] = /^([01]\d|2[0-3]):([0-5]\d)$/.exec(text) ?? []
  return hours === undefined ? null : Number(hours) * 60 + Number(minutes)
}

export function formatMinute(minute: number): string {
  const two = (part: number) => String(part).padStart(2, '0')
  return `${two(Math.floor(minute / 60))}:${two(minute % 60)}`
}

/**
 * The first moment from `atMs` on that is outside the quiet hours in every one
 * of `zones`; where there is no such moment, the first at which it is in as many
 * as can be. Pure; in ms since the epoch, `atMs` itself where that will do.
 */
export function opensAt(quiet: QuietHours, zones: readonly string[], atMs: number): number {
  let best = { atMs, open: countOpen(quiet, zones, atMs) }
  if (best.open === zones.length) return atMs
  const openings = [...new Set(zones.flatMap(zone => openingsOf(quiet, zone, atMs)))].sort((a, b) => a - b)
  for (const opening of openings) {
    const open = countOpen(quiet, zones, opening)
    if (open > best.open) best = { atMs: opening, open }
    if (open === zones.length) break
  }
  return best.atMs
}

function countOpen(quiet: QuietHours, zones: readonly string[], atMs: number): number {
  return zones.filter(zone => !isQuiet(quiet, zone, atMs)).length
}

/** Whether the clocks of a zone stand within the quiet hours. */
export function isQuiet({ startMinute, endMinute }: QuietHours, zone: string, atMs: number): boolean {
  const minute = Math.floor(modulo(atMs + offsetOf(zone, atMs), DAY_MS) / MINUTE_MS)
  return startMinute < endMinute
    ? minute >= startMinute && minute < endMinute
    : minute >= startMinute || minute < endMinute
}

/**
 * Every moment after `atMs` at which the zone may begin to be open: when its
 * clocks show the end (not at all, or twice, on a day on which they are moved),
 * and when they are moved.
 */
function openingsOf({ endMinute }: QuietHours, zone: string, atMs: number): number[] {
  const moves = movesOf(zone, atMs)
  const firstDay = Math.floor((atMs + offsetOf(zone, atMs)) / DAY_MS) - 1
  const found = [...moves]
  for (let day = firstDay; day * DAY_MS < atMs + HORIZON_MS + DAY_MS; day++) {
    found.push(...momentsOf(zone, day * DAY_MS + endMinute * MINUTE_MS))
  }
  return found.filter(each => each > atMs && each <= atMs + HORIZON_MS)
}

/** When the clocks of a zone show this, written as if it were UTC. */
function momentsOf(zone: string, shownMs: number): number[] {
  const offsets = new Set([offsetOf(zone, shownMs - DAY_MS), offsetOf(zone, shownMs + DAY_MS)])
  return [...offsets].map(offset => shownMs - offset).filter(at => at + offsetOf(zone, at) === shownMs)
}

/** When the clocks of a zone are moved within the horizon: to the minute, as all of them are. */
function movesOf(zone: string, atMs: number): number[] {
  const moves: number[] = []
  for (let from = Math.floor(atMs / MINUTE_MS) * MINUTE_MS; from < atMs + HORIZON_MS; from += PROBE_MS) {
    const to = from + PROBE_MS
    if (offsetOf(zone, from) !== offsetOf(zone, to)) moves.push(moveBetween(zone, from, to))
  }
  return moves
}

function moveBetween(zone: string, fromMs: number, toMs: number): number {
  let [before, after] = [fromMs, toMs]
  while (after - before > MINUTE_MS) {
    const middle = Math.floor((before + after) / 2 / MINUTE_MS) * MINUTE_MS
    if (offsetOf(zone, middle) === offsetOf(zone, before)) before = middle
    else after = middle
  }
  return after
}

function modulo(value: number, by: number): number {
  return ((value % by) + by) % by
}
