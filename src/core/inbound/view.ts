import { moduleOf } from '../../contract/conversation.ts'
import type { InboundMessageView } from '../../contract/inbound-message.ts'
import { isoOrNull, toIso } from '../../lib/clock.ts'
import { timeOf } from '../../lib/ids.ts'
import type { InboundRow } from './store.ts'

/** An inbound message in lists and events. */
export function viewInbound(row: InboundRow): InboundMessageView {
  return {
    id: row.id,
    channel: row.channel,
    from: row.from,
    to: row.to,
    text: row.text,
    button: row.button,
    buttonTitle: row.buttonTitle,
    media: viewMedia(row),
    location: row.location,
    contacts: [...row.contacts],
    replyTo: row.replyTo,
    contact: row.contact,
    keyword: row.keyword,
    receivedAt: toIso(timeOf(row.id)),
    sentAt: isoOrNull(row.sentAtMs),
    provider: row.provider,
    connectionId: row.connectionId,
    providerMessageId: row.providerId,
    conversationContext: viewContext(row),
  }
}

function viewMedia({ id, media }: InboundRow): InboundMessageView['media'] {
  return media.map(({ type, mimetype, fileName, sizeBytes, reference }, at) => ({
    type,
    mimetype,
    fileName,
    sizeBytes,
    path: reference === null ? null : `/api/v2/inbound/${id}/media/${at}`,
  }))
}

/** The context for a reply: a send with it has the `chatId` as `to`. */
function viewContext({
  channel,
  conversation,
  contact,
}: InboundRow): InboundMessageView['conversationContext'] {
  const moduleType = moduleOf(channel)
  if (!moduleType || !conversation) return null
  return {
    moduleType,
    accountId: conversation.accountId,
    chatId: conversation.chatId,
    contactId: contact?.id ?? null,
    conversationKey: conversation.key,
  }
}
