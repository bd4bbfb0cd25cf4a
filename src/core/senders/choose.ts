import type { Channel } from '../../contract/enums.ts'
import { isSms } from '../../contract/enums.ts'
import { invalid } from '../../contract/errors.ts'
import type { SenderSource, SingleSendBody } from '../../contract/send.ts'
import type { AccountId } from '../../lib/ids.ts'
import type { ConnectionSnapshot } from '../connections/snapshot.ts'
import { officialSource } from './official-route.ts'
import type { SenderSnapshot, SendersSnapshot } from './snapshot.ts'

/** Who a message comes from; `from` is null where the connection speaks for itself. */
export type SenderChoice = { from: string | null; source: SenderSource }

/**
 * Chooses the sender of a message (contract, rule 6): the one that was asked for,
 * else the account's approved default, else the platform's. On the official chat app
 * the connection is the sender, and is chosen by then (official-route.ts). Throws a
 * 400 that names the field for a sender that is unknown or not approved.
 */
export function chooseSender(
  body: SingleSendBody,
  channel: Channel,
  accountId: AccountId,
  senders: SendersSnapshot,
  connection: Pick<ConnectionSnapshot, 'accountId'>,
): SenderChoice {
  if (isSms(channel)) return smsSender(body, accountId, senders)
  switch (channel) {
    case 'official_chatapp':
      return { from: null, source: officialSource(body, connection, senders.officialChoice) }
    case 'user_chatapp_session':
      return { from: body.conversationContext?.accountId ?? null, source: 'session' }
    case 'botapp_bot':
      return { from: body.conversationContext?.accountId ?? null, source: 'bot' }
    default:
      // A mail comes from the address of its connection.
      return { from: null, source: 'platform' }
  }
}

function smsSender(body: SingleSendBody, accountId: AccountId, senders: SendersSnapshot): SenderChoice {
  const asked = body.sender?.id ?? body.senderId
  if (asked !== undefined) {
    return requested(senders.byId.get(asked), body.sender?.id === undefined ? 'senderId' : 'sender.id')
  }
  if (body.sender?.name !== undefined) return requested(senders.byName.get(body.sender.name), 'sender.name')
  const sender = senders.default
  if (!sender) return { from: null, source: 'platform' }
  return { from: sender.name, source: sender.accountId === accountId ? 'account_default' : 'platform' }
}

function requested(sender: SenderSnapshot | undefined, path: string): SenderChoice {
  if (!sender) throw invalid(path, 'there is no such SMS sender')
  if (sender.status !== 'approved')
    throw invalid(path, `the SMS sender "${sender.name}" is ${sender.status}, not approved`)
  return { from: sender.name, source: 'request' }
}
