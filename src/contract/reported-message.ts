import type { AttachmentType, Channel } from './enums.ts'
import type { InboundCard, InboundLocation } from './inbound-message.ts'

/** A message from a person to one of our numbers, names, sessions or bots. */
export type InboundMessage = {
  kind: 'message'
  /**
   * The provider's id of it, unique within the connection, and the same each time that the provider reports it:
   * repeats are recognised by it. Where ids are unique per chat or bot only, it includes the chat's or bot's id.
   */
  eventId: string
  /** The account that it is for, where the provider knows: one connection may carry bots and sessions of many accounts. */
  accountId?: string
  channel: Channel
  /** The author: E.164 with plus if the number is known; for a bot the chat id. In a group, the person and not the group. */
  from: string
  /** The recipient: E.164 with plus, a short code, the name of a session, or the id of a bot. */
  to: string
  /** The chat to answer in, where that is not `from`: a group. */
  chatId?: string
  /** The person, as the platform knows them. */
  contact?: InboundContact
  /** The text, the caption of media, or the label of the button that was pressed. */
  text: string | null
  /** The id or payload of the button that was pressed. */
  button: string | null
  /** The label of that button, where the provider sends it. */
  buttonTitle?: string | null
  /** Files, voice messages, stickers; at most 10 are kept. */
  media?: readonly InboundMedia[]
  /** A place. With invalid coordinates, such as NaN, only the place is dropped, not the message. */
  location?: InboundLocation | null
  /** Contact cards; at most 20 are kept. */
  contacts?: readonly InboundCard[]
  /** The provider's id of the message that this one answers. */
  replyTo?: string | null
  /** What the provider takes it for, by keywords of its own: its word on marketing to the author counts, whatever the text. */
  decision?: 'stop' | 'start'
  /** When it was written, as the provider says, in ms since the epoch; null when it does not say. */
  atMs: number | null
  /** For a long message that arrives in parts: `text` is this part's. The parts are joined when all have arrived. */
  part?: InboundPart
}

export type InboundContact = {
  /** The platform's id of the person: `contactId` of the conversation. */
  id: string | null
  /** What the person calls themselves. */
  name: string | null
}

/** A file that came with a message: only described here, and fetched from the provider when a client asks for it. */
export type InboundMedia = {
  /** A voice message is `audio`, a sticker `image`. */
  type: AttachmentType
  mimetype: string | null
  fileName: string | null
  sizeBytes: number | null
  /** What `openMedia` finds it by, at most 4,000 characters; null where it cannot be fetched. Never shown. */
  reference: string | null
}

/** Which file to open: one of a message to `to`, received for this account. */
export type InboundMediaRequest = { accountId: string; to: string; reference: string }

/** Part `number` (from 1) of `total`; the parts of one message share the reference. */
export type InboundPart = {
  reference: number
  number: number
  total: number
  /** The provider gave it no id, so that only its content shows whether it came before. */
  unnamed?: true
}
