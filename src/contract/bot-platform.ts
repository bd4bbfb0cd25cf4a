import type { AttachmentType } from './enums.ts'
import type { InboundCard, InboundLocation } from './inbound-message.ts'

/**
 * The API of a platform on which accounts bring their own bots: the identity of a token, where updates go,
 * and the updates. Failures are returned as values; nothing here rejects.
 */
export type BotPlatform = {
  /** The bot that this token belongs to. */
  identify(token: string, signal: AbortSignal): Promise<PlatformResult<BotIdentity>>
  /**
   * Sets the webhook, whose calls carry the secret. With null there is none, and updates wait until `updates`
   * fetches them.
   */
  setWebhook(token: string, webhook: BotWebhook | null, signal: AbortSignal): Promise<PlatformResult<true>>
  /** The current webhook, according to the platform. */
  getWebhook(token: string, signal: AbortSignal): Promise<PlatformResult<BotWebhookInfo>>
  /**
   * Fetches pending updates; if there are none, waits for one for at most `waitMs`. Confirms all updates
   * before `offset`, which are not delivered again; null confirms nothing.
   */
  updates(
    token: string,
    ask: { offset: number | null; waitMs: number },
    signal: AbortSignal,
  ): Promise<PlatformResult<readonly BotUpdate[]>>
  /** Confirms that a button was pressed, so that the platform stops showing it as pending. */
  acknowledge(token: string, press: string, signal: AbortSignal): Promise<PlatformResult<true>>
  /** The header, in lower case, in which the platform sends the secret. */
  secretHeader: string
  /** Parses the update of a webhook call; null if it cannot be read. */
  parseUpdate(body: Buffer): BotUpdate | null
}

export type BotWebhook = { url: string; secret: string }

export type BotWebhookInfo = {
  /** The webhook's URL; null if updates wait to be fetched. */
  url: string | null
  /** Number of pending updates. */
  waiting: number
  /** When a webhook call of the platform last failed, in ms since the epoch, and how; null for never. */
  failedAtMs: number | null
  failure: string | null
}

export type BotIdentity = { platformId: string; username: string | null; name: string }

export type PlatformResult<T> =
  | { kind: 'answer'; value: T }
  /** The token is invalid, or was revoked. */
  | { kind: 'unauthorized' }
  /** Another program gets the bot's updates: by a webhook (`webhook`), or by fetching them. */
  | { kind: 'conflict'; webhook: boolean }
  | { kind: 'throttled'; afterMs: number }
  /** The platform refused the request's content. */
  | { kind: 'refused'; detail: string }
  /** The platform cannot be reached, or its answer cannot be read. */
  | { kind: 'unavailable'; detail: string }

/** Something that happened in a chat with a bot. */
export type BotUpdate = {
  /** Rises with each update of the bot; after a week without updates it may restart anywhere. */
  id: number
  /** Null if the update concerns no chat, or is not relevant here. */
  chat: BotChat | null
  /** The platform's time, in ms since the epoch; null if it gives none. */
  atMs: number | null
  what: BotChatEvent | null
  /** The platform's id of the button press that must be acknowledged; null for other updates. */
  press: string | null
}

/** The names of a person; for a group, `firstName` is its title. */
export type BotChat = {
  chatId: string
  userId: string | null
  username: string | null
  firstName: string | null
  lastName: string | null
}

export type BotChatEvent =
  | { kind: 'message'; start: { payload: string | null } | null; message: BotMessage }
  /** The person blocked the bot; the group removed it. */
  | { kind: 'blocked' }
  /** The person unblocked the bot, or the group added it again. */
  | { kind: 'returned' }
  /** The group was created, or a member was added; only reported to bots that are members. */
  | { kind: 'joined' }
  /** The group got another id. */
  | { kind: 'moved'; to: string }

export type BotMessage = {
  text: string | null
  button: string | null
  buttonTitle: string | null
  /** The person's display name. */
  name: string | null
  /** The number of the message in the same chat that this one replies to. */
  replyTo: number | null
  media: readonly {
    type: AttachmentType
    mimetype: string | null
    fileName: string | null
    sizeBytes: number | null
    reference: string | null
  }[]
  location: InboundLocation | null
  contacts: readonly InboundCard[]
}

/** The id of a message in a bot's chat: platforms number messages per chat. */
export function botMessageId(botId: string, chatId: string, number: number): string {
  return `${botId}/${chatId}/${number}`
}
