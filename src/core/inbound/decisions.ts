import { isSms } from '../../contract/enums.ts'
import type { Phones } from '../../lib/phone.ts'
import { PLATFORM } from '../accounts/platform.ts'
import type { Decision } from '../consent/opt-outs.ts'
import { mayBeAnswered } from './keyword.ts'
import type { InboundRow } from './store.ts'

export type Decisions = { stop: Decision[]; start: Decision[] }

/**
 * What these messages, in the order in which they came, decide on marketing: of each person's words to
 * somebody the last. By those whom an answer could reach: a short code or a name gets no marketing.
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

function placeOf({ accountId, connectionId, channel, from }: InboundRow): string {
  const shared = accountId === PLATFORM ? connectionId : ''
  return `${accountId} ${shared} ${isSms(channel) ? 'sms' : channel} ${from}`
}
