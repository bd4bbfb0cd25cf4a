import { isSms } from '../../contract/enums.ts'
import type { Db } from '../../infra/db.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Ids } from '../../lib/ids.ts'
import type { Phones } from '../../lib/phone.ts'
import { PLATFORM } from '../accounts/platform.ts'
import { insertHeardEvents } from '../callbacks/event-store.ts'
import { readKeyword } from '../consent/keywords.ts'
import type { Decision, OptOuts } from '../consent/opt-outs.ts'
import { findOwners, type Owner } from '../consent/store.ts'
import { smsChannelOf } from '../routing/recipient.ts'
import { type InboundRow, insertInbound } from './store.ts'
import { viewInbound } from './view.ts'

/** A whole message as its provider told it. */
export type Told = Omit<InboundRow, 'accountId' | 'id' | 'keyword'>

/** Stores messages, whose they are, what a STOP or START among them ends, and the events. */
export type KeepInbound = (tx: Db, messages: readonly Told[]) => Promise<void>

export type KeepInboundDeps = { clock: Clock; ids: Ids; phones: Phones; optOuts: OptOuts }

export function createKeepInbound({ clock, ids, phones, optOuts }: KeepInboundDeps): KeepInbound {
  function toRow(told: Told, owner: Owner): InboundRow {
    const text = told.text === null ? null : told.text.replaceAll('\0', '').toWellFormed()
    const phone = phones.parse(told.from)
    return {
      ...told,
      id: ids.next('inb'),
      accountId: owner.accountId,
      // Providers do not know where the account is at home.
      channel:
        isSms(told.channel) && phone && owner.homeCountry !== null
          ? smsChannelOf(phone.country, owner.homeCountry)
          : told.channel,
      from: phone?.e164 ?? told.from,
      text,
      keyword: isSms(told.channel) ? readKeyword(text) : null,
    }
  }

  /** By those whom an answer could reach: a short code or a name gets no marketing. */
  function decisionsOf(rows: readonly InboundRow[], keyword: InboundRow['keyword']): Decision[] {
    return rows
      .filter(row => row.keyword === keyword && phones.parse(row.from)?.possible)
      .map(row => ({ ...row, recipient: row.from }))
  }

  async function tell(tx: Db, rows: readonly InboundRow[]): Promise<void> {
    const events = rows
      .filter(row => row.accountId !== PLATFORM)
      .map(row => ({
        accountId: row.accountId,
        id: ids.next('evt'),
        type: 'inbound.message' as const,
        atMs: clock.now(),
        data: viewInbound(row),
      }))
    await insertHeardEvents(tx, events)
  }

  return async (tx, messages) => {
    if (messages.length === 0) return
    const numbers = messages.map(({ connectionId, to }) => ({ connectionId, number: to }))
    const owners = await findOwners(tx, numbers)
    const rows = messages.map((told, at) => toRow(told, owners[at]!))
    await insertInbound(tx, rows)
    await optOuts.stop(tx, decisionsOf(rows, 'stop'), 'stop', 'The recipient asked for it by a message.')
    await optOuts.start(tx, decisionsOf(rows, 'start'))
    await tell(tx, rows)
  }
}
