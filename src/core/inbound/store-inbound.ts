import { isSms } from '../../contract/enums.ts'
import type { Db } from '../../infra/db.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Ids } from '../../lib/ids.ts'
import type { Phones } from '../../lib/phone.ts'
import { toStorableText } from '../../lib/storable.ts'
import { PLATFORM } from '../accounts/platform.ts'
import { insertSubscribedEvents } from '../callbacks/event-store.ts'
import type { OptOuts } from '../consent/opt-outs.ts'
import { findOwners, type Owner } from '../consent/store.ts'
import { smsChannelOf } from '../routing/recipient.ts'
import { conversationOf } from './conversation.ts'
import { decisionsOf } from './decisions.ts'
import { keywordOf } from './keyword.ts'
import { findOutdated } from './outdated.ts'
import type { ReceivedMessage } from './received.ts'
import { type InboundRow, insertInbound } from './store.ts'
import { viewInbound } from './view.ts'
import { openWindowsOf } from './windows.ts'

/** Stores inbound messages with their owner, the windows that they open, opt-outs and opt-ins, and events; returns the number of events. */
export type StoreInbound = (tx: Db, messages: readonly ReceivedMessage[]) => Promise<number>

export type StoreInboundDeps = { clock: Clock; ids: Ids; phones: Phones; optOuts: OptOuts }

export function createStoreInbound({ clock, ids, phones, optOuts }: StoreInboundDeps): StoreInbound {
  function toRow(
    { accountId: _, chatId, decision, isIncomplete, ...message }: ReceivedMessage,
    owner: Owner,
  ): InboundRow {
    const text = message.text === null ? null : toStorableText(message.text) || null
    const phone = phones.parse(message.from)
    const from = phone?.e164 ?? message.from
    return {
      ...message,
      id: ids.next('inb'),
      accountId: owner.accountId,
      // The provider does not know the account's home country, on which the SMS channel depends.
      channel:
        isSms(message.channel) && phone && owner.homeCountry !== null
          ? smsChannelOf(phone.country, owner.homeCountry)
          : message.channel,
      from,
      text,
      contacts: message.contacts.map(card => ({ ...card, phones: inE164(card.phones) })),
      conversation: conversationOf({ ...message, from, chatId }, owner),
      // Of a long text the last part alone may be a keyword, which the whole message was not.
      keyword: isIncomplete ? null : (decision ?? keywordOf({ ...message, text, from, chatId })),
    }
  }

  /** The numbers in E.164, without duplicates. */
  function inE164(written: readonly string[]): string[] {
    return [...new Set(written.map(each => phones.parse(each)?.e164 ?? each))]
  }

  async function publishEvents(tx: Db, rows: readonly InboundRow[]): Promise<number> {
    const events = rows
      .filter(row => row.accountId !== PLATFORM)
      .map(row => ({
        accountId: row.accountId,
        id: ids.next('evt'),
        type: 'inbound.message' as const,
        atMs: clock.now(),
        data: viewInbound(row),
      }))
    return insertSubscribedEvents(tx, events)
  }

  /** Without keywords that arrive after what the author decided later. */
  async function withoutOutdated(tx: Db, rows: readonly InboundRow[]): Promise<readonly InboundRow[]> {
    const dated = rows.flatMap(row =>
      row.keyword !== null && row.sentAtMs !== null ? [{ ...row, atMs: row.sentAtMs }] : [],
    )
    const outdated = new Set([...(await findOutdated(tx, clock.now(), dated))].map(({ id }) => id))
    return rows.filter(({ id }) => !outdated.has(id))
  }

  return async (tx, messages) => {
    if (messages.length === 0) return 0
    const owners = await ownersOf(tx, messages)
    const rows = messages.map((told, at) => toRow(told, owners[at]!))
    await insertInbound(tx, rows)
    // What a person writes in a group does not let us write to that person.
    const direct = rows.filter((_, at) => messages[at]!.chatId === null)
    await openWindowsOf(tx, clock.now(), direct)
    const { stop, start } = decisionsOf(await withoutOutdated(tx, rows), phones)
    await optOuts.stop(tx, stop, 'stop', 'The recipient asked for it in a message.')
    await optOuts.start(tx, start)
    return publishEvents(tx, rows)
  }
}

/** The owner that the provider named, else that of the connection or the number. */
async function ownersOf(tx: Db, messages: readonly ReceivedMessage[]): Promise<Owner[]> {
  const asked = messages.filter(({ accountId }) => accountId === null)
  const numbers = asked.map(({ connectionId, to }) => ({ connectionId, number: to }))
  const found = numbers.length === 0 ? [] : await findOwners(tx, numbers)
  const byMessage = new Map(asked.map((told, at) => [told, found[at]!]))
  return messages.map(
    told => byMessage.get(told) ?? { accountId: told.accountId!, homeCountry: null, ownsConnection: false },
  )
}
