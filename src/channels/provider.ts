import type { TSchema } from 'typebox'
import type { BotPlatform } from '../contract/bot-platform.ts'
import type { AttachmentType, Channel, MessageType } from '../contract/enums.ts'
import type { InboundReply, InboundRequest } from '../contract/inbound.ts'
import type { InboundCard, InboundLocation } from '../contract/inbound-message.ts'
import type { Clock } from '../lib/clock.ts'
import type { ConnectionId } from '../lib/ids.ts'
import type { Log } from '../lib/log.ts'
import type { Random } from '../lib/random.ts'

/**
 * The one interface between Posthorn and whoever carries a message. A provider
 * is a file that exports a `Provider`; `registry.ts` names it; the conformance
 * suite in `test/channels` runs the same faults on every one of them.
 */

/** Why a message is refused for good; each maps to one public error code. */
export const REJECT_CODES = [
  'RECIPIENT_REJECTED',
  'CHATAPP_NOT_REGISTERED',
  'MESSAGE_REJECTED',
  'SENDER_REJECTED',
  'PROVIDER_UNAVAILABLE',
] as const
export type RejectCode = (typeof REJECT_CODES)[number]

/** What became of one attempt. Failure is a value; a throw counts as `unknown`. */
export type Outcome =
  /** The provider took it: the hold is captured. */
  | { kind: 'accepted'; providerId: string; parts?: number; code?: string; pieces?: Pieces }
  /** Refused for good: the hold is released, the next connection may be tried. */
  | {
      kind: 'rejected'
      code: RejectCode
      detail: string
      providerCode?: string
      /** The recipient wants no messages from this sender: nobody else is asked to carry it. */
      optedOut?: true
    }
  /** Provably not taken: tried again with the policy's backoff, or after `afterMs`. */
  | { kind: 'retry'; detail: string; providerCode?: string; afterMs?: number }
  /**
   * Too fast: the lane rests for `afterMs`, for all, for this account, or not at all where only this
   * message comes too early; does not count as a try.
   */
  | {
      kind: 'throttled'
      afterMs: number
      scope?: 'account' | 'message'
      detail?: string
      providerCode?: string
    }
  /** Perhaps taken, nobody knows: the hold stays, and nothing is sent again. */
  | { kind: 'unknown'; detail: string; providerCode?: string; pieces?: Pieces }

/**
 * What the provider calls the parts of a message that it has taken, where each has receipts of its own: the message is
 * delivered when `total` of them are, and undelivered with the first that is not.
 */
export type Pieces = {
  /** What the message itself goes by, its `providerId`: no part's id. */
  whole: string
  ids: readonly string[]
  /** More than there are ids where some parts were never taken. */
  total: number
}

/** How a provider behaves towards Posthorn; `GET /messages/policies` prints it. */
export type ProviderPolicy = {
  allowedTypes: readonly MessageType[]
  sendModeByType: Readonly<Partial<Record<MessageType, 'plain_text' | 'template_optional'>>>
  requiresApprovedTemplate: boolean
  supportsUserSender: boolean
  supportsSystemSenderFallback: boolean
  retryPolicy: { maxAttempts: number; backoffMs: number }
}

/** A file that goes out with a message; `open` gives its bytes anew at each call. */
export type OutgoingFile = {
  type: AttachmentType
  mimetype: string
  fileName: string
  /** Known in advance for stored files only. */
  sizeBytes?: number
  /** The address the user gave, where the provider fetches it itself (bots). */
  publicUrl?: string
  /** Streams the bytes; rejects with `FileUnavailable` when they cannot be had. */
  open(signal: AbortSignal): Promise<NodeJS.ReadableStream>
}

/** An attachment that cannot be had; thrown by `OutgoingFile.open`, before anything left the building. */
export class FileUnavailable extends Error {
  /** A fetch that may go better later, against one that never will. */
  readonly retryable: boolean
  constructor(message: string, retryable: boolean) {
    super(message)
    this.name = 'FileUnavailable'
    this.retryable = retryable
  }
}

/** A message on its way out, resolved and rendered. */
export type Outgoing = {
  /** Unique per attempt: `msg_….1`; handed to providers that dedupe by it. */
  attemptId: string
  messageId: string
  accountId: string
  /** 1 for the first try. */
  attempt: number
  channel: Channel
  messageType: MessageType
  /** E.164 with plus, an e-mail address, or a chat id. */
  to: string
  /** Sender id, e-mail address or phone number; null where the connection has its own. */
  from: string | null
  text: string
  subject: string | null
  /** E-mail alone: the text is HTML. */
  html: boolean
  files: readonly OutgoingFile[]
  /** Where the provider itself fills in an approved template; `text` is then what the recipient reads, for records alone. */
  template: OutgoingTemplate | null
}

/** A use of a template that the provider holds: its name, and the values for its places. */
export type OutgoingTemplate = {
  name: string
  language: string
  /** The provider's id of the template, where we know it. */
  providerTemplateId: string | null
  header:
    | null
    | { type: 'text'; variables: readonly string[] }
    | { type: 'image' | 'video' | 'document'; file: OutgoingFile }
  /** The values of `{{1}}…{{n}}` of the body, in order. */
  body: readonly string[]
  /** Buttons that want a value at each send, by their place in the template, from 0. */
  buttons: readonly { index: number; subType: 'url' | 'copy_code'; text: string }[]
}

/** A template as it is put before whoever approves it. */
export type OfficialTemplate = {
  name: string
  language: string
  subType: 'utility' | 'otp' | 'marketing' | 'free'
  header:
    | null
    | { type: 'text'; text: string; examples: readonly string[] }
    | { type: 'image' | 'video' | 'document'; file: OutgoingFile }
  /** With `{{1}}…{{n}}`; empty for an OTP, whose words are the platform's own. */
  body: string
  /** One value for each place of the body. */
  examples: readonly string[]
  footer: string | null
  buttons: readonly OfficialButton[]
  otp: null | {
    type: 'copy_code' | 'one_tap' | 'zero_tap'
    addSecurityRecommendation: boolean
    codeExpirationMinutes: number | null
    buttonText: string | null
    packageName: string | null
    signatureHash: string | null
    zeroTapTermsAccepted: boolean
  }
}

export type OfficialButton =
  | { type: 'url'; text: string; url: string; urlExample: string | null }
  | { type: 'phone'; text: string; phoneNumber: string }
  | { type: 'quick_reply'; text: string }
  | { type: 'copy_code'; text: string; example: string }

/** Where the approval of a template stands, by the provider's word. */
export type TemplateState = {
  /** Empty where the provider does not say it. */
  providerTemplateId: string
  name: string
  language: string
  status: 'pending' | 'approved' | 'rejected' | 'disabled'
  /** Why it was rejected or disabled, in the provider's words. */
  reason: string | null
  /** What the provider takes it for; absent where it does not say, or has no such kinds. */
  subType?: 'utility' | 'marketing'
}

/** What became of a template that was put before the provider. */
export type TemplateOutcome =
  | { kind: 'submitted'; state: TemplateState }
  /** Refused for what it says; `path` names the field where the provider does. */
  | { kind: 'refused'; detail: string; path?: string; providerCode?: string }
  /** Not reached, or no answer: safe to repeat, since the provider knows a template by name and language. */
  | { kind: 'unavailable'; detail: string }

/** What a provider knows of the number or name that an official connection sends as. */
export type OfficialIdentity = {
  /** E.164 with plus. */
  phoneNumber: string | null
  displayName: string
  qualityRating: string | null
  /** Recipients in 24 hours that it may begin a conversation with, in the provider's words. */
  messagingLimit: string | null
  status: string | null
}

/** A delivery report. `providerId` is what the submit's answer called the message. */
export type Receipt = {
  kind: 'receipt'
  providerId: string
  /** Our own id of the attempt, where the provider gives it back: it finds an attempt that stayed without an answer. */
  attemptId?: string
  /** Where a long message has such an id, and receipts, for each of its parts alone. */
  ofPart?: true
  status: 'sent' | 'delivered' | 'read' | 'undelivered'
  /** Where it was refused after all, although the submit was taken: the message fails, and its money is released. */
  reject?: RejectCode
  /** It was refused because the recipient wants no messages from this sender. */
  optedOut?: true
  /** When it happened by the provider's word, in ms since the epoch; null when it does not say. */
  atMs: number | null
  providerCode: string | null
  detail: string | null
}

/** What became of an attempt that was unknown when `send` answered: its answer came after all. */
export type LateOutcome = {
  accountId: string
  attemptId: string
  outcome: Outcome
}

/** A message from a person to one of our numbers, names, sessions or bots. */
export type InboundMessage = {
  kind: 'message'
  /**
   * The provider's id of it, unique within the connection and the same whenever it is told: what was
   * told before changes nothing. Where ids count from one in every chat or bot, those are part of it.
   */
  eventId: string
  /** Whose it is, where the provider knows: one connection may carry bots and sessions of many accounts. */
  accountId?: string
  channel: Channel
  /** Who wrote: E.164 with plus wherever the number is known; to a bot the chat id. In a group the person. */
  from: string
  /** What they wrote to: E.164 with plus, a short code, the name of a session, the id of a bot. */
  to: string
  /** The chat that an answer belongs into, where that is not `from`: a group. */
  chatId?: string
  /** As the platform knows the person. */
  contact?: InboundContact
  /** The words; the caption where there is media; what stands on a button that they pressed. */
  text: string | null
  /** What a button that they pressed says to programs: its id or payload. */
  button: string | null
  /** What stands on that button, where the provider says it. */
  buttonTitle?: string | null
  /** Files, voice messages, stickers; the most that are kept is 10. */
  media?: readonly InboundMedia[]
  /** A place. Coordinates that are none, such as NaN, cost the place alone. */
  location?: InboundLocation | null
  /** Contact cards; the most that are kept is 20. */
  contacts?: readonly InboundCard[]
  /** The provider's id of the message that this one answers. */
  replyTo?: string | null
  /** By the provider's word, in ms since the epoch; null when it does not say. */
  atMs: number | null
  /** Of a long message that comes in parts: `text` is then this part's alone. They are joined when all have come. */
  part?: InboundPart
}

export type InboundContact = {
  /** The platform's id of the person: `contactId` of the conversation. */
  id: string | null
  /** What the person calls themselves. */
  name: string | null
}

/** A file that came with a message: described, and had from the provider when somebody asks for it. */
export type InboundMedia = {
  /** A voice message is `audio`, a sticker `image`. */
  type: AttachmentType
  mimetype: string | null
  fileName: string | null
  sizeBytes: number | null
  /** What `openMedia` has it by, at most 4,000 characters; null for what cannot be had. Shown to nobody. */
  reference: string | null
}

/** Which file is asked for: of a message to `to`, which was this account's. */
export type InboundMediaRequest = { accountId: string; to: string; reference: string }

/** Which of `total` parts, from 1; those of one message share the reference. */
export type InboundPart = { reference: number; number: number; total: number }

/** The provider's word on a template, unasked. */
export type TemplateUpdate = { kind: 'template'; eventId: string; state: TemplateWord }

/** `status` is null where the word is about something else, and it stands as before. */
export type TemplateWord = Omit<TemplateState, 'status'> & { status: TemplateState['status'] | null }

/** What a provider found out, by a send, of a sender that an account brought along: a bot and its chats. */
export type SenderUpdate = {
  kind: 'sender'
  accountId: string
  senderId: string
  change:
    | { kind: 'blocked'; chatId: string }
    | { kind: 'moved'; chatId: string; to: string }
    /** What proves that we may speak as it is valid no more. */
    | { kind: 'unauthorized' }
}

export type Inbound = Receipt | InboundMessage | TemplateUpdate | SenderUpdate

/** What came of a call from the provider: only what is `taken` was told by the provider itself. */
export type InboundAnswer =
  | { kind: 'taken'; inbound: readonly Inbound[]; reply?: InboundReply }
  /** Not the provider's, or changed on the way. */
  | { kind: 'unauthorized' }
  /** A question whether we are here, by somebody who does not know the word that was agreed on. */
  | { kind: 'forbidden' }
  /** The provider's, but nothing that can be read. */
  | { kind: 'malformed'; detail: string }

/** What a link reports of its own health, for the console, metrics and log. */
export type LinkState = { state: 'connecting' | 'up' | 'down'; detail: string }

/** Whether a configuration works, and why not, for the operator. */
export type LinkTest = { ok: boolean; detail: string }

/** What a provider is given: nothing else reaches it. */
export type Io = {
  /** The connection that this link carries; receipts belong to it. */
  connectionId: ConnectionId
  /** Where the provider may call this connection; null where nobody can reach us. */
  receiptUrl: string | null
  /** Unguessable, and the same on every node and after a restart: for providers that do not sign. */
  receiptToken: string
  clock: Clock
  random: Random
  log: Log
  vault: Vault
  /** Resolves once stored: only then may the provider be told that we have it. */
  emit(inbound: readonly Inbound[]): Promise<void>
  /** What an attempt came to that was unknown; changes nothing where it is known by now. Resolves once stored. */
  tellLate(late: LateOutcome): Promise<void>
  /** A change of the link's health. */
  report(state: LinkState): void
}

/** What is kept sealed for senders that accounts bring along: a bot's token. */
export type Vault = {
  /** Null where there is no such sender, or it belongs to another connection. Rejects when the store is away. */
  read(senderId: string): Promise<string | null>
}

/** A provider that is connected with one configuration. Only `send` and `close` are required. */
export type Link = {
  /** How many sends it takes at once; the lane holds the others back. */
  concurrency: number
  /** Ceiling of sends a second; absent means none. */
  messagesPerSecond?: number
  /** Submits once. Must settle soon after `signal` aborts, with `unknown` if the bytes may have left. */
  send(message: Outgoing, signal: AbortSignal): Promise<Outcome>
  /** Settles an unknown attempt, where the provider can look it up. */
  find?(attemptId: string, signal: AbortSignal): Promise<Outcome>
  /** Whether the recipient can be reached at all; absent means "nobody knows". */
  reaches?(to: string, signal: AbortSignal): Promise<boolean>
  /** Puts a template before whoever approves it. A template that exists there by name and language counts as submitted. */
  submitTemplate?(template: OfficialTemplate, signal: AbortSignal): Promise<TemplateOutcome>
  /** Where one template stands; null when the provider has none of that name and language. Rejects when it cannot say. */
  readTemplate?(name: string, language: string, signal: AbortSignal): Promise<TemplateState | null>
  /** The same by the provider's own id of it; null when the provider has none of that id. */
  findTemplate?(providerTemplateId: string, signal: AbortSignal): Promise<TemplateState | null>
  /** Takes a template away; resolves as well when it is gone already. Rejects when nobody can say. */
  deleteTemplate?(name: string, language: string, signal: AbortSignal): Promise<void>
  /** What the provider knows of the identity that this connection sends as. Rejects when it cannot say. */
  identity?(signal: AbortSignal): Promise<OfficialIdentity>
  /** Reads what the provider calls us with, once it has proved who calls; stores nothing. */
  receive?(request: InboundRequest): Promise<InboundAnswer>
  /**
   * Opens a file that came with a message. Rejects with `FileUnavailable`: retryable where it may go
   * better later, not so where the provider has it no longer. Must settle soon after `signal` aborts.
   */
  openMedia?(request: InboundMediaRequest, signal: AbortSignal): Promise<NodeJS.ReadableStream>
  /** Where accounts bring their own bots to the platform. */
  bots?: BotPlatform
  /** Cheap proof that the configuration works, for the operator's test button. */
  test?(signal: AbortSignal): Promise<LinkTest>
  /**
   * The link that this one replaces is closed. It is open until its last answer is there, and a far side that allows
   * so many connections may have refused ours for it: whoever waits to try again does so at once.
   */
  urge?(): void
  close(): Promise<void>
}

export type Provider<C = Record<string, unknown>> = {
  readonly key: string
  readonly channels: readonly Channel[]
  readonly policy: ProviderPolicy
  /** Validates, documents, and draws the console's form. */
  readonly config: TSchema
  /** Sealed at rest, redacted everywhere. */
  readonly secrets: readonly (keyof C & string)[]
  /** Honours our attempt id, so that an unknown attempt may be sent again. */
  readonly dedupes: boolean
  /**
   * It calls us with what became of messages, and to open a link calls nobody: a disabled connection's
   * is open for that alone, and carries nothing.
   */
  readonly callsBack?: true
  /** As a link's `openMedia`, where the reference alone is enough: asked where the node has no such link. */
  openMedia?(
    request: InboundMediaRequest,
    io: Pick<Io, 'log' | 'clock'>,
    signal: AbortSignal,
  ): Promise<NodeJS.ReadableStream>
  /** What one of its codes means, in words; null for one that it does not know. */
  explain?(code: string): string | null
  /** Never waits for the far side: connecting goes on in the background. */
  open(config: C, io: Io): Promise<Link>
}
