import { DAY_MS, MINUTE_MS } from './durations.ts'
import { offsetOf } from './time-zones.ts'

/**
 * The part of every day in which nothing is sent: from `startMinute` until just before `endMinute`, in
 * minutes of the local day, never equal. If `startMinute` is the larger one, it spans midnight.
 */
export type QuietHours = { startMinute: number; endMinute: number }

/** Offsets change at most once within this time, and quiet hours end at least once within it in every zone. */
const HORIZON_MS = 2 * DAY_MS
/** The step in which changes of the offset are searched for. */
const PROBE_MS = 6 * 60 * MINUTE_MS

/** Minutes of the day for a time such as 21:30; null if the text is not one. */
export function parseMinute(text: string): number | null {
  const [, hours, minutes] = /^([01]\d|2[0-3]):([0-5]\d)$/.exec(text) ?? []
  return hours === undefined ? null : Number(hours) * 60 + Number(minutes)
}

/** A time such as 21:30, from minutes of the day. */
export function formatMinute(minute: number): string {
  const two = (part: number) => String(part).padStart(2, '0')
  return `${two(Math.floor(minute / 60))}:${two(minute % 60)}`
}

/**
 * The first time from `atMs` on that is outside the quiet hours in every one of `zones`; if there is none,
 * the first time at which that holds for as many zones as possible. In ms since the epoch; `atMs` itself if
 * that will do.
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

/** Whether it is quiet hours in a zone at `atMs`. */
export function isQuiet({ startMinute, endMinute }: QuietHours, zone: string, atMs: number): boolean {
  const minute = Math.floor(modulo(atMs + offsetOf(zone, atMs), DAY_MS) / MINUTE_MS)
  return startMinute < endMinute
    ? minute >= startMinute && minute < endMinute
    : minute >= startMinute || minute < endMinute
}

/**
 * Every time after `atMs` at which the quiet hours of the zone may end: when its local time is `endMinute`
 * (which a change of the offset may skip or repeat), and when the offset changes.
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

/** The times at which the zone's local time is `shownMs`, which is written as if it were UTC. */
function momentsOf(zone: string, shownMs: number): number[] {
  const offsets = new Set([offsetOf(zone, shownMs - DAY_MS), offsetOf(zone, shownMs + DAY_MS)])
  return [...offsets].map(offset => shownMs - offset).filter(at => at + offsetOf(zone, at) === shownMs)
}

/** The times within the horizon at which the zone's offset changes, to the minute. */
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
