import type { proto, WAMessage } from 'baileys'
import type { InboundCard, InboundLocation } from '../../contract/inbound-message.ts'
import type { InboundMedia, InboundMessage } from '../../contract/reported-message.ts'
import { readVcard } from '../shared/contact-card.ts'
import { isGroup, phoneOf } from './jid.ts'
import type { Baileys } from './library.ts'
import { timeOf } from './time.ts'

/** A message from a person; null for our own messages, notices, statuses, channels and the like. */
export function readInbound(
  baileys: Pick<Baileys, 'extractMessageContent'>,
  message: WAMessage,
  session: { accountId: string; name: string },
): InboundMessage | null {
  const { key, messageTimestamp, pushName } = message
  const content = baileys.extractMessageContent(message.message)
  const chat = key.remoteJid ?? ''
  const inGroup = isGroup(chat)
  const person = inGroup ? key.participant : chat
  if (key.fromMe || !key.id || !person || !content || (!inGroup && !isPerson(chat))) return null
  const said = readWords(content)
  const media = readMedia(content)
  const location = readLocation(content)
  const contacts = readCards(content)
  if (!said && media.length === 0 && !location && contacts.length === 0) return null
  const from = phoneOf(person) ?? phoneOf(inGroup ? key.participantAlt : key.remoteJidAlt)
  return {
    kind: 'message',
    eventId: `${chat}/${inGroup ? `${person}/` : ''}${key.id}`,
    accountId: session.accountId,
    channel: 'user_chatapp_session',
    from: from ?? person,
    to: session.name,
    ...(inGroup && { chatId: chat }),
    contact: { id: person, name: pushName || null },
    text: said?.text ?? null,
    button: said?.button ?? null,
    buttonTitle: said?.button == null ? null : said.text,
    ...(media.length > 0 && { media }),
    ...(location && { location }),
    ...(contacts.length > 0 && { contacts }),
    replyTo: replyOf(content),
    atMs: timeOf(messageTimestamp),
  }
}

/** Not a status, a channel or a broadcast. */
function isPerson(jid: string): boolean {
  return phoneOf(jid) !== null || jid.endsWith('@lid')
}

type Content = proto.IMessage
type Words = { text: string | null; button: string | null }

function readWords(content: Content): Words | null {
  const pressed = readButton(content)
  if (pressed) return pressed
  const text =
    content.conversation ||
    content.extendedTextMessage?.text ||
    content.imageMessage?.caption ||
    content.videoMessage?.caption ||
    content.documentMessage?.caption ||
    content.locationMessage?.comment ||
    content.liveLocationMessage?.caption
  return text ? { text, button: null } : null
}

function readButton(content: Content): Words | null {
  const { buttonsResponseMessage: button, templateButtonReplyMessage: template } = content
  const { listResponseMessage: list, interactiveResponseMessage: flow } = content
  if (button?.selectedButtonId) {
    return { text: button.selectedDisplayText ?? null, button: button.selectedButtonId }
  }
  if (template?.selectedId) return { text: template.selectedDisplayText ?? null, button: template.selectedId }
  if (list?.singleSelectReply?.selectedRowId) {
    return { text: list.title ?? null, button: list.singleSelectReply.selectedRowId }
  }
  const id = readFlowId(flow?.nativeFlowResponseMessage?.paramsJson)
  return id === null ? null : { text: flow?.body?.text ?? null, button: id }
}

/** Newer buttons answer with JSON, which the sender controls. */
function readFlowId(json: string | null | undefined): string | null {
  if (!json) return null
  try {
    const { id } = JSON.parse(json) as { id?: unknown }
    return typeof id === 'string' ? id : null
  } catch {
    return null
  }
}

const MEDIA = [
  ['image', 'imageMessage'],
  ['video', 'videoMessage'],
  // Round video messages that are recorded in the chat.
  ['video', 'ptvMessage'],
  ['audio', 'audioMessage'],
  ['document', 'documentMessage'],
  ['image', 'stickerMessage'],
] as const

function readMedia(content: Content): InboundMedia[] {
  return MEDIA.flatMap(([type, field]) => {
    const file = content[field]
    if (!file) return []
    return [
      {
        type,
        mimetype: file.mimetype ?? null,
        fileName: 'fileName' in file ? (file.fileName ?? null) : null,
        sizeBytes: Number(file.fileLength ?? 0) || null,
        reference: referenceOf(field, file),
      },
    ]
  })
}

/** The file's path and key. Never the `url` in the message: its sender chose it, and it may lead anywhere. */
function referenceOf(
  field: (typeof MEDIA)[number][1],
  file: { directPath?: string | null; mediaKey?: Uint8Array | null },
): string | null {
  if (!file.directPath || !file.mediaKey) return null
  return JSON.stringify({
    as: field.replace('Message', ''),
    path: file.directPath,
    key: Buffer.from(file.mediaKey).toString('base64'),
  })
}

/** For a live location its start; its updates come by another way. */
function readLocation({
  locationMessage: place,
  liveLocationMessage: live,
}: Content): InboundLocation | null {
  const found = place ?? live
  if (!found) return null
  return {
    latitude: found.degreesLatitude ?? Number.NaN,
    longitude: found.degreesLongitude ?? Number.NaN,
    name: place?.name || null,
    address: place?.address || null,
  }
}

function readCards({ contactMessage: one, contactsArrayMessage: several }: Content): InboundCard[] {
  const cards = one ? [one] : (several?.contacts ?? [])
  return cards.map(({ vcard, displayName }) => readVcard(vcard ?? '', displayName || null))
}

function replyOf(content: Content): string | null {
  for (const value of Object.values(content)) {
    const context = (value as { contextInfo?: proto.IContextInfo | null } | null)?.contextInfo
    if (context?.stanzaId) return context.stanzaId
  }
  return null
}
