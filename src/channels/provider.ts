import type { TSchema } from 'typebox'
import type { BotPlatform } from '../contract/bot-platform.ts'
import type { AttachmentType, Channel, MessageType } from '../contract/enums.ts'
import type { InboundReply, InboundRequest } from '../contract/inbound.ts'
import type { InboundMediaRequest, InboundMessage } from '../contract/reported-message.ts'
import type { Clock } from '../lib/clock.ts'
import type { ConnectionId } from '../lib/ids.ts'
import type { Log } from '../lib/log.ts'
import type { Random } from '../lib/random.ts'

/**
 * The one interface between Posthorn and the services that carry messages. A provider
 * is a file that exports a `Provider`; `registry.ts` lists it; the conformance
 * suite in `test/channels` runs the same faults on every provider.
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
  | { kind: 'accepted'; providerId: string; parts?: number; code?: string; pieces?: PartIds }
  /** Refused for good: the hold is released, the next connection may be tried. */
  | {
      kind: 'rejected'
      code: RejectCode
      detail: string
      providerCode?: string
      /** The recipient has opted out of messages from this sender: no other connection is tried. */
      optedOut?: true
    }
  /** Provably not taken: tried again with the policy's backoff, or after `afterMs`; never before `atLeastMs`. */
  | {
      kind: 'retry'
      detail: string
      providerCode?: string
      afterMs?: number
      /** How long the provider asks to wait; the backoff may be longer. */
      atLeastMs?: number
      /** The provider was not asked, for a reason in the message: this shows nothing about the connection. */
      notAsked?: true
      /** Whose fault it is, such as of a mailbox or a queue that is full: the connection works. */
      fault?: 'recipient' | 'sender'
    }
  /**
   * Too fast: the lane rests for `afterMs`, for all accounts or for this one; or it does not rest, where only this
   * message comes too early. Does not count as a try.
   */
  | {
      kind: 'throttled'
      afterMs: number
      scope?: 'account' | 'message'
      detail?: string
      providerCode?: string
    }
  /** Perhaps taken: the hold stays, and the message is not sent again. */
  | { kind: 'unknown'; detail: string; providerCode?: string; pieces?: PartIds }

/**
 * The provider's ids of the parts of a message, where each part has receipts of its own: the message is
 * delivered when `total` parts are, and undelivered as soon as one part is.
 */
export type PartIds = {
  /** The `providerId` of the whole message, which is no part's id. */
  whole: string
  ids: readonly string[]
  /** All parts of the message. Greater than the number of ids where some parts were not taken. */
  total: number
}

/** How Posthorn uses a provider; `GET /messages/policies` shows it. */
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
  /** The URL that the user gave, for providers that fetch the file themselves (bots). */
  publicUrl?: string
  /** Streams the bytes; rejects with `FileUnavailable` when they cannot be had. */
  open(signal: AbortSignal): Promise<NodeJS.ReadableStream>
}

/** A file that cannot be read; thrown by `OutgoingFile.open`, before anything was sent. */
export class FileUnavailable extends Error {
  /** True where a later try may succeed. */
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
  /** An approved template that the provider renders itself; `text` is then only a copy of the rendered text. */
  template: OutgoingTemplate | null
}

/** A use of a template that the provider stores: its name, and the values of its placeholders. */
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
  /** Buttons that need a value at each send, by their position in the template, from 0. */
  buttons: readonly { index: number; subType: 'url' | 'copy_code'; text: string }[]
}

/** A template, without the values of a message. */
export type StoredTemplateRef = Pick<OutgoingTemplate, 'name' | 'language' | 'providerTemplateId'>

/** A template as it is submitted for approval. */
export type OfficialTemplate = {
  name: string
  language: string
  subType: 'utility' | 'otp' | 'marketing' | 'free'
  header:
    | null
    | { type: 'text'; text: string; examples: readonly string[] }
    | { type: 'image' | 'video' | 'document'; file: OutgoingFile }
  /** With `{{1}}…{{n}}`; empty for an OTP, whose text the platform sets. */
  body: string
  /** One value for each placeholder of the body. */
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

/** The state of a template at the provider. */
export type TemplateState = {
  /** Empty where the provider does not give one. */
  providerTemplateId: string
  name: string
  language: string
  status: 'pending' | 'approved' | 'rejected' | 'disabled'
  /** Why it was rejected or disabled, as the provider words it. */
  reason: string | null
  /** The category that the provider gave it; absent where the provider does not report one. */
  subType?: 'utility' | 'marketing'
}

/** The result of submitting a template. */
export type TemplateOutcome =
  | { kind: 'submitted'; state: TemplateState }
  /** Refused for its content; `path` names the field if the provider does. */
  | { kind: 'refused'; detail: string; path?: string; providerCode?: string }
  /** Not reached, or no answer: safe to repeat, since the provider knows a template by name and language. */
  | { kind: 'unavailable'; detail: string }

/** What a provider knows of the number or name that an official connection sends as. */
export type OfficialIdentity = {
  /** E.164 with plus. */
  phoneNumber: string | null
  displayName: string
  qualityRating: string | null
  /** How many recipients it may start conversations with in 24 hours, as the provider words it. */
  messagingLimit: string | null
  status: string | null
}

/** A delivery report. `providerId` is the id from the submit's answer. */
export type Receipt = {
  kind: 'receipt'
  providerId: string
  /** Our id of the attempt, where the provider returns it: finds the attempt even if its submit was never answered. */
  attemptId?: string
  /** `providerId` is the id of one part of a long message, whose parts have receipts of their own. */
  ofPart?: true
  status: 'sent' | 'delivered' | 'read' | 'undelivered'
  /** Refused after all, although the submit was taken: the message fails, and its money is released. */
  reject?: RejectCode
  /** Refused because the recipient has opted out of messages from this sender. */
  optedOut?: true
  /** When it happened, as the provider says, in ms since the epoch; null when it does not say. */
  atMs: number | null
  providerCode: string | null
  detail: string | null
}

/** The outcome of an attempt whose `send` had returned `unknown`: the provider answered after all. */
export type LateOutcome = {
  accountId: string
  attemptId: string
  outcome: Outcome
}

/** A change of a template that the provider reports by itself. */
export type TemplateUpdate = {
  kind: 'template'
  /** The same each time that the provider reports it: repeats are recognised by it. Null where nothing tells repeats apart. */
  eventId: string | null
  state: TemplateChange
}

/** `status` is null where something else changed, and the status did not. */
export type TemplateChange = Omit<TemplateState, 'status'> & { status: TemplateState['status'] | null }

/** A change of an account's own sender, a bot, or of its chats, that the answer to a send revealed. */
export type SenderUpdate = {
  kind: 'sender'
  accountId: string
  senderId: string
  change:
    | { kind: 'blocked'; chatId: string }
    | { kind: 'moved'; chatId: string; to: string }
    /** Its token is no longer valid. */
    | { kind: 'unauthorized' }
}

/** A person's decision on marketing that they made in the provider's app, and not by a message. */
export type MarketingPreference = {
  kind: 'preference'
  /** The same each time that the provider reports it: repeats are recognised by it. */
  eventId: string
  channel: Channel
  /** The person and our number, in E.164 with plus. */
  from: string
  to: string
  decision: 'stop' | 'start'
  /** When the person decided, by the provider's clock; null if it does not say. */
  atMs: number | null
}

export type Inbound = Receipt | InboundMessage | TemplateUpdate | SenderUpdate | MarketingPreference

/** The result of reading a webhook call. Only for `taken` it is proved that the call comes from the provider. */
export type InboundResult =
  | { kind: 'taken'; inbound: readonly Inbound[]; reply?: InboundReply }
  /** Not from the provider, or changed on the way. */
  | { kind: 'unauthorized' }
  /** A handshake with a wrong verify token. */
  | { kind: 'forbidden' }
  /** From the provider, but not readable. */
  | { kind: 'malformed'; detail: string }

/** What a link reports of its own health, for the console, metrics and log. */
export type LinkState = { state: 'connecting' | 'up' | 'down'; detail: string }

/** Whether a configuration works, and why not, for the operator. */
export type LinkTest = { ok: boolean; detail: string }

/** All that a provider is given of the rest of the program. */
export type Io = {
  /** The connection that this link carries; receipts belong to it. */
  connectionId: ConnectionId
  /** The URL of this connection's webhook; null without a public URL. */
  receiptUrl: string | null
  /** Unguessable, and the same on every node and after a restart: for providers that do not sign. */
  receiptToken: string
  clock: Clock
  random: Random
  log: Log
  vault: Vault
  /**
   * Some of the ids that the provider gave to earlier messages of this connection, on any node, the highest first.
   * Rejects when the store is away.
   */
  earlierIds(): Promise<readonly string[]>
  /**
   * To whom messages of this connection went, on any node, by the ids that the provider gave to them or to their parts.
   * Other ids are left out. Rejects when the store is away.
   */
  recipientsOf(providerIds: readonly string[]): Promise<ReadonlyMap<string, string>>
  /** Resolves once stored. Only then may the provider's call be answered with success. */
  emit(inbound: readonly Inbound[]): Promise<void>
  /** Reports the outcome of an unknown attempt; ignored if it is known by now. Resolves once stored. */
  reportLateOutcome(late: LateOutcome): Promise<void>
  /** A change of the link's health. */
  report(state: LinkState): void
}

/** The sealed secrets of accounts' own senders: a bot's token. */
export type Vault = {
  /** Null where there is no such sender, or it belongs to another connection. Rejects when the store is away. */
  read(senderId: string): Promise<string | null>
}

/** A provider that is connected with one configuration. Only `send` and `close` are required. */
export type Link = {
  /** How many sends may run at once; the lane holds the others back. */
  concurrency: number
  /** Ceiling of sends a second; absent means none. */
  messagesPerSecond?: number
  /** Submits once. Must settle soon after `signal` aborts, with `unknown` if the bytes may have left. */
  send(message: Outgoing, signal: AbortSignal): Promise<Outcome>
  /**
   * Looks an unknown attempt up at the provider. One that the provider does not know is `unknown`, never `retry`: a node that
   * was frozen after it had recorded the attempt may still submit it.
   */
  find?(attemptId: string, signal: AbortSignal): Promise<Outcome>
  /** Whether the recipient is registered on the chat app; absent where the provider cannot tell. */
  reaches?(to: string, signal: AbortSignal): Promise<boolean>
  /** Submits a template for approval. One that exists there by name and language counts as submitted. */
  submitTemplate?(template: OfficialTemplate, signal: AbortSignal): Promise<TemplateOutcome>
  /** The state of one template; null when the provider has none of that name and language. Rejects when the provider cannot be asked. */
  readTemplate?(name: string, language: string, signal: AbortSignal): Promise<TemplateState | null>
  /** The same by the provider's id of the template; null when the provider has none of that id. */
  findTemplate?(providerTemplateId: string, signal: AbortSignal): Promise<TemplateState | null>
  /**
   * Deletes a template, but not another one that has its name by now, where its id is known; resolves also when it does
   * not exist. Rejects when the provider cannot be asked.
   */
  deleteTemplate?(template: StoredTemplateRef, signal: AbortSignal): Promise<void>
  /** The number or name that this connection sends as. Rejects when the provider cannot be asked. */
  identity?(signal: AbortSignal): Promise<OfficialIdentity>
  /** Verifies and reads a webhook call; stores nothing. */
  receive?(request: InboundRequest): Promise<InboundResult>
  /**
   * Opens a file that came with a message. Rejects with `FileUnavailable`: retryable where a later try may
   * succeed, not retryable where the provider no longer has it. Must settle soon after `signal` aborts.
   */
  openMedia?(request: InboundMediaRequest, signal: AbortSignal): Promise<NodeJS.ReadableStream>
  /** For platforms where accounts register bots of their own. */
  bots?: BotPlatform
  /** Cheap proof that the configuration works, for the operator's test button. */
  test?(signal: AbortSignal): Promise<LinkTest>
  /**
   * Called when the link that this one replaces has closed. Until then a provider that limits the number of
   * connections may have refused ours: a link that waits to reconnect does so at once.
   */
  retryNow?(): void
  close(): Promise<void>
}

export type Provider<C = Record<string, unknown>> = {
  readonly key: string
  readonly channels: readonly Channel[]
  readonly policy: ProviderPolicy
  /** The schema of a connection's configuration: validates it, documents it, and makes the console's form. */
  readonly config: TSchema
  /** Sealed at rest, redacted everywhere. */
  readonly secrets: readonly (keyof C & string)[]
  /** Honours our attempt id, so that an unknown attempt may be sent again. */
  readonly dedupes: boolean
  /**
   * The provider reports by webhook, and opening a link makes no request. So the link of a disabled connection stays
   * open, for webhooks only.
   */
  readonly usesWebhooks?: true
  /** As a link's `openMedia`, but without a link: for files that the reference alone is enough to open, on any node. */
  openMedia?(
    request: InboundMediaRequest,
    io: Pick<Io, 'log' | 'clock'>,
    signal: AbortSignal,
  ): Promise<NodeJS.ReadableStream>
  /** What one of the provider's codes means, in a sentence; null for an unknown code. */
  explain?(code: string): string | null
  /** Resolves without waiting for the provider: connecting goes on in the background. */
  open(config: C, io: Io): Promise<Link>
}
