import type { LinkSpec, Links } from '../channels/links.ts'
import type { Inbound, Io, LinkState } from '../channels/provider.ts'
import { Problem } from '../contract/errors.ts'
import type { InboundDoor } from '../contract/inbound.ts'
import { storableReceipt } from '../core/messages/provider-words.ts'
import type { Receipts } from '../core/messages/receipts.ts'
import { type ConnectionId, isId } from '../lib/ids.ts'
import type { BotRooms } from './bots.ts'
import type { ConsentRooms } from './consent.ts'
import type { Foundation } from './foundation.ts'
import type { TemplateRooms } from './templates.ts'
import { receiptTokenOf, receiptUrlOf } from './webhook-address.ts'

/** What a link may use of ours: time, its log, where receipts go, and whom it tells. */
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
    emit: inbound => inbox.take(spec, inbound),
    tellLate: late => inbox.takeLate(spec.id, late),
    report(state) {
      report(state)
      log.debug({ state: state.state, detail: state.detail }, 'link')
    },
  }
}

/** What providers tell us, by its kinds. */
export type Inbox = {
  /** Resolves once all of it is stored. */
  take(connection: { id: ConnectionId; provider: string }, inbound: readonly Inbound[]): Promise<void>
  takeLate: Receipts['takeLate']
}

export function createInbox(
  receipts: Receipts,
  { takeInbound, optOuts }: ConsentRooms,
  { templateStates }: TemplateRooms,
  { learnOfBot }: BotRooms,
): Inbox {
  return {
    async take(connection, inbound) {
      const messages = inbound.filter(each => each.kind === 'message')
      const states = inbound.filter(each => each.kind === 'template')
      const optedOut = inbound.filter(each => each.kind === 'receipt').filter(each => each.optedOut)
      await Promise.all([
        receipts.take(connection.id, inbound),
        // By ids as the store has them, since the messages are found by these.
        optOuts.refusedLater(
          optedOut.map(receipt => ({ ...storableReceipt(receipt), connectionId: connection.id })),
        ),
        takeInbound(connection, messages),
        templateStates.take(
          connection.id,
          states.map(({ state }) => state),
        ),
        ...inbound.filter(each => each.kind === 'sender').map(learnOfBot),
      ])
    },
    takeLate: receipts.takeLate,
  }
}

/** Where providers call us. What they tell is stored before they are answered, so that a 200 means that we have it. */
export function createInboundDoor(
  links: Links,
  inbox: Inbox,
  { botDoor }: BotRooms,
  isWanted: (provider: string, id: ConnectionId) => Promise<boolean>,
): InboundDoor {
  /** Null where there is none. */
  async function findLink(provider: string, connectionId: string) {
    if (!isId('cnn', connectionId)) return null
    const open = links.hearing(connectionId)
    // One that is being opened by this node: the provider comes again.
    if (!open && (await isWanted(provider, connectionId))) throw new Problem('SERVICE_UNAVAILABLE')
    return open?.provider === provider ? open : null
  }

  return {
    async awaits(provider, connectionId) {
      if (provider === BOTS) return botDoor.awaits(connectionId)
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

/** In the path, in place of a provider's key: `/webhooks/botapp/{botId}`. The bot itself says what its platform is. */
const BOTS = 'botapp'
