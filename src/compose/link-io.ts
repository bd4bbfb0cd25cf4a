import type { LinkSpec, Links } from '../channels/links.ts'
import type { Inbound, Io, LinkState } from '../channels/provider.ts'
import { Problem } from '../contract/errors.ts'
import type { InboundReceiver } from '../contract/inbound.ts'
import { storableReceipt } from '../core/messages/provider-text.ts'
import type { Receipts } from '../core/messages/receipts.ts'
import { selectProviderIds, selectRecipients } from '../core/outbox/provider-ids-store.ts'
import { type ConnectionId, isId } from '../lib/ids.ts'
import type { BotRooms } from './bots.ts'
import type { ConsentRooms } from './consent.ts'
import type { Foundation } from './foundation.ts'
import type { TemplateRooms } from './templates.ts'
import { receiptTokenOf, receiptUrlOf } from './webhook-address.ts'

/** What a link gets from us: clock, log, the URL for receipts, and callbacks for what the provider sends. */
export function createIo(
  base: Foundation,
  inbox: Inbox,
  { botTokens }: BotRooms,
  spec: LinkSpec,
  report: (state: LinkState) => void,
): Io {
  const log = base.log.child({ connectionId: spec.id, provider: spec.provider })
  return {
    connectionId: spec.id,
    receiptUrl: receiptUrlOf(base, spec),
    receiptToken: receiptTokenOf(base, spec),
    clock: base.clock,
    random: base.random,
    log,
    vault: { read: id => botTokens.read(spec.id, id) },
    earlierIds: () => selectProviderIds(base.db, spec.id),
    recipientsOf: providerIds => selectRecipients(base.db, spec.id, providerIds),
    emit: inbound => inbox.take(spec, inbound),
    reportLateOutcome: late => inbox.takeLate(spec.id, late),
    report(state) {
      report(state)
      log.debug({ state: state.state, detail: state.detail }, 'link')
    },
  }
}

/** Takes what providers send, by its kind. */
export type Inbox = {
  /** Resolves once all of it is stored. */
  take(connection: { id: ConnectionId; provider: string }, inbound: readonly Inbound[]): Promise<void>
  takeLate: Receipts['applyLate']
}

export function createInbox(
  receipts: Receipts,
  { takeInbound, takePreferences, optOuts }: ConsentRooms,
  { templateStates }: TemplateRooms,
  { applyBotUpdate }: BotRooms,
): Inbox {
  return {
    async take(connection, inbound) {
      const messages = inbound.filter(each => each.kind === 'message')
      const preferences = inbound.filter(each => each.kind === 'preference')
      const states = inbound.filter(each => each.kind === 'template')
      const optedOut = inbound.filter(each => each.kind === 'receipt').filter(each => each.optedOut)
      await Promise.all([
        receipts.apply(connection.id, inbound),
        // With ids in the form in which they are stored, since messages are found by them.
        optOuts.refusedLater(
          optedOut.map(receipt => ({ ...storableReceipt(receipt), connectionId: connection.id })),
        ),
        takeInbound(connection, messages),
        takePreferences(connection.id, preferences),
        templateStates.applyReports(connection.id, states),
        ...inbound.filter(each => each.kind === 'sender').map(applyBotUpdate),
      ])
    },
    takeLate: receipts.applyLate,
  }
}

/** Handles webhooks of providers. A 200 is answered only after all of the content is stored. */
export function createInboundDoor(
  links: Links,
  inbox: Inbox,
  { botDoor }: BotRooms,
  isWanted: (provider: string, id: ConnectionId) => Promise<boolean>,
): InboundReceiver {
  /** The open link of a connection; null if there is none. */
  async function findLink(provider: string, connectionId: string) {
    if (!isId('cnn', connectionId)) return null
    const open = links.webhookLink(connectionId)
    // This node has yet to open the link: a 503 makes the provider call again.
    if (!open && (await isWanted(provider, connectionId))) throw new Problem('SERVICE_UNAVAILABLE')
    return open?.provider === provider ? open : null
  }

  return {
    async accepts(provider, connectionId) {
      if (provider === BOTS) return botDoor.hasBot(connectionId)
      return (await findLink(provider, connectionId))?.link.receive !== undefined
    },

    async receive(provider, connectionId, request) {
      if (provider === BOTS) return botDoor.receive(connectionId, request)
      const open = await findLink(provider, connectionId)
      if (!open?.link.receive) return { kind: 'unknown' }
      const answer = await open.link.receive(request)
      if (answer.kind !== 'taken') return answer
      await inbox.take(open, answer.inbound)
      return { kind: 'stored', ...(answer.reply && { reply: answer.reply }) }
    },
  }
}

/** In the path in place of a provider's key: `/webhooks/botapp/{botId}`. The platform follows from the bot. */
const BOTS = 'botapp'
