import type { AttachmentType } from './enums.ts'
import type { InboundCard, InboundLocation } from './inbound-message.ts'

/**
 * What is asked of a platform on which accounts bring their own bots: who a token is, where its updates
 * go, and what they are. Failure is a value; nothing here rejects.
 */
export type BotPlatform = {
  /** Whose token this is. */
  identify(token: string, signal: AbortSignal): Promise<PlatformAnswer<BotIdentity>>
  /** From now on updates go to this address, each with the secret; or nowhere, until they are asked for. */
  listen(token: string, webhook: BotWebhook | null, signal: AbortSignal): Promise<PlatformAnswer<true>>
  /** Who listens now, by the platform's word. */
  listener(token: string, signal: AbortSignal): Promise<PlatformAnswer<BotListener>>
  /**
   * The updates that wait, waiting for one for at most `waitMs`. Everything before `offset` is confirmed
   * by it, and never told again; null confirms nothing.
   */
  updates(
    token: string,
    ask: { offset: number | null; waitMs: number },
    signal: AbortSignal,
  ): Promise<PlatformAnswer<readonly BotUpdate[]>>
  /** Tells the platform that a press of a button has come, so that the person is not shown any more that it waits. */
  acknowledge(token: string, press: string, signal: AbortSignal): Promise<PlatformAnswer<true>>
  /** The header, in lower case, in which the platform repeats the secret. */
  secretHeader: string
  /** The update that a call brings; null where it cannot be read. */
  readCall(body: Buffer): BotUpdate | null
}

export type BotWebhook = { url: string; secret: string }

export type BotListener = {
  /** Where updates go; null where they wait to be asked for. */
  url: string | null
  /** How many updates wait. */
  waiting: number
  /** When the platform last failed to hand one over, in ms since the epoch, and how; null for never. */
  failedAtMs: number | null
  failure: string | null
}

export type BotIdentity = { platformId: string; username: string | null; name: string }

export type PlatformAnswer<T> =
  | { kind: 'answer'; value: T }
  /** The token opens nothing, or not any more. */
  | { kind: 'unauthorized' }
  /** Somebody else hears the bot's updates: at a webhook, or by asking as we do. */
  | { kind: 'conflict'; webhook: boolean }
  | { kind: 'throttled'; afterMs: number }
  /** Refused for what it says. */
  | { kind: 'refused'; detail: string }
  /** Not reached, or no answer that can be read. */
  | { kind: 'unavailable'; detail: string }

/** Something that happened in a chat with a bot. */
export type BotUpdate = {
  /** Rises with each update of the bot, but for an idle week, after which it may begin anew anywhere. */
  id: number
  /** Null where it tells of no chat, or of nothing that concerns us. */
  chat: BotChat | null
  /** When, by the platform's word, in ms since the epoch; null where it does not say. */
  atMs: number | null
  what: BotHappening | null
  /** The platform's id of the button's press that this is, which waits to be acknowledged; null for all else. */
  press: string | null
}

/** Of a person the names are theirs; of a group `firstName` is its title. */
export type BotChat = {
  chatId: string
  userId: string | null
  username: string | null
  firstName: string | null
  lastName: string | null
}

export type BotHappening =
  | { kind: 'message'; start: { payload: string | null } | null; message: BotMessage }
  /** The person blocked the bot; the group removed it. */
  | { kind: 'blocked' }
  /** That ended. */
  | { kind: 'returned' }
  /** The group came to be, or somebody came into it; none but those whom it has let in hear of that. */
  | { kind: 'joined' }
  /** The group goes on under another id. */
  | { kind: 'moved'; to: string }

export type BotMessage = {
  text: string | null
  button: string | null
  buttonTitle: string | null
  /** What the person calls themselves. */
  name: string | null
  /** The number of the message that this one answers; of the same chat. */
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

/** How a message in a bot's chat is called: platforms number them in each chat anew. */
export function botMessageId(botId: string, chatId: string, number: number): string {
  return `${botId}/${chatId}/${number}`
}
