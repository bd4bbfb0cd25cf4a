import { isSms } from '../../contract/enums.ts'
import type { Phones } from '../../lib/phone.ts'
import { PLATFORM } from '../accounts/platform.ts'
import { addressKeyOf } from '../consent/address.ts'
import type { Decision } from '../consent/opt-outs.ts'
import { mayBeAnswered } from './keyword.ts'
import type { InboundRow } from './store.ts'

export type Decisions = { stop: Decision[]; start: Decision[] }

/**
 * The opt-outs and opt-ins in these messages, which are in the order of their arrival: of each author and recipient the
 * last one. Only from authors who can be answered: short codes and names get no marketing.
 */
export function decisionsOf(rows: readonly InboundRow[], phones: Phones): Decisions {
  const last = new Map<string, InboundRow>()
  for (const row of rows) {
    if (row.keyword !== null && mayBeAnswered(row, phones)) last.set(placeOf(row), row)
  }
  const by = (keyword: InboundRow['keyword']) =>
    [...last.values()].filter(row => row.keyword === keyword).map(row => ({ ...row, recipient: row.from }))
  return { stop: by('stop'), start: by('start') }
}

/** Equal for decisions of which only the last one counts. */
export function placeOf({
  accountId,
  connectionId,
  channel,
  from,
}: Pick<InboundRow, 'accountId' | 'connectionId' | 'channel' | 'from'>): string {
  const shared = accountId === PLATFORM ? connectionId : ''
  return `${accountId} ${shared} ${isSms(channel) ? 'sms' : channel} ${addressKeyOf(from)}`
}
