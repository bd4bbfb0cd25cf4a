import { Tooltip } from '@mantine/core'
import { useSyncExternalStore } from 'react'
import { nowMs } from '../api/server-clock.ts'

const TICK_MS = 10_000
const ticker = createTicker()

const relative = new Intl.RelativeTimeFormat(undefined, { numeric: 'auto', style: 'short' })
const absolute = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' })
const day = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeZone: 'UTC' })
const clock = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium' })

/** Units from the smallest: length in ms, and the number from which the next unit is used. */
const UNITS: readonly [Intl.RelativeTimeFormatUnit, number, number][] = [
  ['second', 1_000, 60],
  ['minute', 60_000, 60],
  ['hour', 3_600_000, 24],
  ['day', 86_400_000, 30],
  ['month', 2_592_000_000, 12],
  ['year', 31_536_000_000, Number.POSITIVE_INFINITY],
]

export function formatTime(iso: string): string {
  return absolute.format(new Date(iso))
}

/** The date without the time. */
export function formatDay(iso: string): string {
  return day.format(new Date(iso))
}

export function formatRelative(iso: string, nowMs: number): string {
  const byMs = new Date(iso).getTime() - nowMs
  // Times since the last tick are not in the future, and seconds would be outdated when they are read.
  if (Math.abs(byMs) < TICK_MS) return relative.format(0, 'second')
  for (const [unit, ms, most] of UNITS) {
    const count = Math.round(byMs / ms)
    if (Math.abs(count) < most) return relative.format(count, unit)
  }
  return ''
}

/** The time of day; of another day than today, with the date. */
export function formatClock(iso: string, nowMs: number): string {
  const date = new Date(iso)
  return (date.toDateString() === new Date(nowMs).toDateString() ? clock : absolute).format(date)
}

/** The relative time, with the exact time in a tooltip; `exact` shows the time of day, or date and time, instead. */
export function Time({ at, exact = false }: { at: string; exact?: boolean }) {
  // The snapshot is a string, so that only components whose text changes render again.
  const words = useSyncExternalStore(ticker.subscribe, () =>
    (exact ? formatClock : formatRelative)(at, ticker.now()),
  )
  return (
    <Tooltip label={formatTime(at)}>
      <time dateTime={at} className="ph-num">
        {words}
      </time>
    </Tooltip>
  )
}

/** The time, or `none` without one. */
export function MaybeTime({ at, none = '–' }: { at: string | null; none?: string }) {
  return at === null ? <span style={{ color: 'var(--ph-quiet)' }}>{none}</span> : <Time at={at} />
}

/** A clock for all relative times, updated a few times a minute. */
function createTicker() {
  const listeners = new Set<() => void>()
  let tickedAtMs = nowMs()
  let timer: ReturnType<typeof setInterval> | undefined
  function tick(): void {
    tickedAtMs = nowMs()
    for (const listener of listeners) listener()
  }
  return {
    now: () => tickedAtMs,
    subscribe(listener: () => void) {
      if (listeners.size === 0) {
        tickedAtMs = nowMs()
        timer = setInterval(tick, TICK_MS)
      }
      listeners.add(listener)
      return () => {
        listeners.delete(listener)
        if (listeners.size === 0) clearInterval(timer)
      }
    },
  }
}
