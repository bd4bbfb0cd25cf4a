import type { AccountSnapshot } from '../../contract/caller.ts'
import type { MessageType } from '../../contract/enums.ts'
import { MINUTE_MS } from '../../lib/durations.ts'
import { createLru } from '../../lib/lru.ts'
import { opensAt } from '../../lib/quiet-hours.ts'
import { timeZonesOf } from '../../lib/time-zones.ts'

/** What decides when marketing may go out. */
export type ToHold = {
  messageType: MessageType
  /** Of the recipient's number; null where it has none, as an e-mail. */
  country: string | null
  account: Pick<AccountSnapshot, 'homeCountry' | 'quietHours'>
  /** When it is to go out: now, or as scheduled; in ms since the epoch. */
  atMs: number
}

/** In ms since the epoch. */
export type MayLeaveAt = (message: ToHold) => number

/** Countries, by the minute: a campaign asks the same for every recipient. */
const REMEMBERED = 2_000

/**
 * When a message may go out: `atMs`, or, for marketing within the account's
 * quiet hours, the moment at which the recipient's country is past them. What
 * has no country goes by the clocks of the account's own.
 */
export function createQuietHours(): MayLeaveAt {
  const opened = createLru<string, number>(REMEMBERED)

  return function mayLeaveAt({ messageType, country, account, atMs }) {
    const { quietHours } = account
    if (messageType !== 'marketing' || !quietHours) return atMs
    const minute = Math.floor(atMs / MINUTE_MS)
    const zones = zonesOf(country, account.homeCountry)
    const mark = `${country ?? account.homeCountry} ${quietHours.startMinute} ${quietHours.endMinute} ${minute}`
    let opens = opened.get(mark)
    if (opens === undefined) {
      // Clocks change on whole minutes: what holds at the first moment of one holds for all of it.
      opens = opensAt(quietHours, zones, minute * MINUTE_MS)
      opened.set(mark, opens)
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
