import type { Channel } from '../../contract/enums.ts'
import { isSms } from '../../contract/enums.ts'
import { invalid } from '../../contract/errors.ts'
import type { SenderSource, SingleSendBody } from '../../contract/send.ts'
import type { AccountId } from '../../lib/ids.ts'
import type { ConnectionSnapshot } from '../connections/snapshot.ts'
import { officialSource } from './official-route.ts'
import type { AccountSendersSnapshot, SenderSnapshot } from './snapshot.ts'

/** The sender of a message; `from` is null where the connection decides it. */
export type SenderChoice = { from: string | null; source: SenderSource }

/**
 * Chooses the sender of a message (docs/sending.md): the one that the body names,
 * else the account's approved default, else the platform's. On the official chat app
 * the connection is the sender, and was chosen before (official-route.ts). Throws a
 * 400 that names the field for a sender that is unknown or not approved.
 */
export function chooseSender(
  body: SingleSendBody,
  channel: Channel,
  accountId: AccountId,
  senders: AccountSendersSnapshot,
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
      // E-mail is sent from the address of the connection.
      return { from: null, source: 'platform' }
  }
}

/** Throws a 400 if the body names an SMS sender that is unknown or not approved, also for messages on other channels. */
export function checkNamedSender(body: SingleSendBody, senders: AccountSendersSnapshot): void {
  requestedSender(body, senders)
}

function smsSender(
  body: SingleSendBody,
  accountId: AccountId,
  senders: AccountSendersSnapshot,
): SenderChoice {
  const requested = requestedSender(body, senders)
  if (requested) return { from: requested.name, source: 'request' }
  const sender = senders.default
  if (!sender) return { from: null, source: 'platform' }
  return { from: sender.name, source: sender.accountId === accountId ? 'account_default' : 'platform' }
}

/** The sender that the body names. Throws a 400 if its fields name different senders. */
function requestedSender(
  { sender, senderId }: SingleSendBody,
  senders: AccountSendersSnapshot,
): SenderSnapshot | undefined {
  if (sender === undefined && senderId === undefined) return undefined
  const named = [
    ...findNamed(sender?.id, 'sender.id', senders.byId),
    ...findNamed(senderId, 'senderId', senders.byId),
    ...findNamed(sender?.name, 'sender.name', senders.byName),
  ]
  const [first] = named
  const other = named.find(({ found }) => found.name !== first!.found.name)
  if (other) throw invalid(other.path, `must name the same SMS sender as ${first!.path}`)
  return first?.found
}

function findNamed(
  text: string | undefined,
  path: string,
  known: ReadonlyMap<string, SenderSnapshot>,
): { path: string; found: SenderSnapshot }[] {
  if (text === undefined) return []
  const found = known.get(text)
  if (!found) throw invalid(path, 'there is no such SMS sender')
  if (found.status !== 'approved')
    throw invalid(path, `the SMS sender "${found.name}" is ${found.status}, not approved`)
  return [{ path, found }]
}
