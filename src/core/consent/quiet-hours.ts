import type { AccountSnapshot } from '../../contract/caller.ts'
import type { MessageType } from '../../contract/enums.ts'
import { MINUTE_MS } from '../../lib/durations.ts'
import { createLru } from '../../lib/lru.ts'
import { opensAt } from '../../lib/quiet-hours.ts'
import { timeZonesOf } from '../../lib/time-zones.ts'

/** A message that may have to wait for the end of quiet hours. */
export type QuietHoursMessage = {
  messageType: MessageType
  /** The country of the recipient's number; null without one, as for e-mail. */
  country: string | null
  account: Pick<AccountSnapshot, 'homeCountry' | 'quietHours'>
  /** When it would go out, now or as scheduled, in ms since the epoch. */
  atMs: number
}

/** In ms since the epoch. */
export type MayLeaveAt = (message: QuietHoursMessage) => number

/** Cached answers, by country and minute: the messages of a campaign ask the same for every recipient. */
const REMEMBERED = 2_000

/**
 * When a message may go out: at `atMs`, or, for marketing within the account's
 * quiet hours, when they end in the recipient's country. For recipients without a
 * country, the account's home country counts.
 */
export function createQuietHours(): MayLeaveAt {
  const cache = createLru<string, number>(REMEMBERED)

  return function mayLeaveAt({ messageType, country, account, atMs }) {
    const { quietHours } = account
    if (messageType !== 'marketing' || !quietHours) return atMs
    const minute = Math.floor(atMs / MINUTE_MS)
    const zones = zonesOf(country, account.homeCountry)
    const cacheKey = `${country ?? account.homeCountry} ${quietHours.startMinute} ${quietHours.endMinute} ${minute}`
    let opens = cache.get(cacheKey)
    if (opens === undefined) {
      // Quiet hours and changes of clocks begin at full minutes, so one answer holds for the whole minute.
      opens = opensAt(quietHours, zones, minute * MINUTE_MS)
      cache.set(cacheKey, opens)
    }
    return Math.max(opens, atMs)
  }
}

function zonesOf(country: string | null, homeCountry: string): readonly string[] {
  const zones = country === null ? [] : timeZonesOf(country)
  if (zones.length > 0) return zones
  const home = timeZonesOf(homeCountry)
  return home.length > 0 ? home : ['UTC']
}
