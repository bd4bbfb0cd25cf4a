// Made by "npm run sdk" from the table of routes, and never by hand.

export type Channel =
  'local_sms' | 'int_sms' | 'official_chatapp' | 'user_chatapp_session' | 'botapp_bot' | 'email_user'
export type SenderSource = 'request' | 'account_default' | 'platform' | 'official_default' | 'session' | 'bot'
export type PostMessagesSend200 = SendResult | BatchResult
export type MessageType = 'otp' | 'utility' | 'marketing' | 'free_text'
export type AttachmentType = 'image' | 'video' | 'audio' | 'document'
export type ModuleType = 'chatapp_web' | 'chatapp_official' | 'botapp_bot'
export type MessageStatus =
  | 'scheduled'
  | 'queued'
  | 'sending'
  | 'unknown'
  | 'sent'
  | 'delivered'
  | 'read'
  | 'undelivered'
  | 'failed'
  | 'cancelled'
  | 'expired'
export type MessageError =
  | 'RECIPIENT_REJECTED'
  | 'RECIPIENT_SUPPRESSED'
  | 'CHATAPP_NOT_REGISTERED'
  | 'MESSAGE_REJECTED'
  | 'PROVIDER_UNAVAILABLE'
  | 'VERIFICATION_EXPIRED'
  | 'INTERNAL_ERROR'
export type KeyMode = 'live' | 'test'
export type VerificationStatus = 'pending' | 'verified' | 'expired' | 'exhausted' | 'superseded' | 'failed'
export type BulkStatus =
  'accepting' | 'validating' | 'rejected' | 'queued' | 'running' | 'paused' | 'completed' | 'cancelled'
export type PauseReason = 'insufficient_balance' | 'provider_rate_limit' | 'user'
export type BulkError = 'VALIDATION_FAILED' | 'INSUFFICIENT_BALANCE' | 'INTAKE_INCOMPLETE'
export type RowStatus = 'pending' | 'sent' | 'failed' | 'cancelled' | 'invalid'
export type SuppressionSource = 'api' | 'stop' | 'provider'
export type AccountStatus = 'active' | 'suspended'
export type VerificationChannel = 'local_sms' | 'int_sms' | 'official_chatapp' | 'email_user'
export type PlanStatus = 'active' | 'inactive'
export type Permission = 'messages:create' | 'messages:read' | 'api_keys:read' | 'api_keys:write'
export type SenderStatus = 'pending' | 'approved' | 'rejected'
export type LedgerType = 'credit' | 'debit' | 'refund' | 'hold' | 'capture' | 'release'
export type HeaderType = 'text' | 'image' | 'video' | 'document'
export type SessionState = 'connecting' | 'qr' | 'pairing_code' | 'open' | 'closed' | 'logged_out'
export type ChatKind = 'user' | 'group'
export type BotState = 'active' | 'unauthorized'
export type BotProblem = 'taken_back' | 'taken' | 'shared' | 'unreachable'
export type TemplateCategory = 'chatapp' | 'sms' | 'message' | 'email'
export type TemplateSubType = 'utility' | 'otp' | 'marketing' | 'free'
export type TemplateStatus = 'pending' | 'approved' | 'rejected' | 'active' | 'disabled'
export type ButtonType = 'url' | 'phone' | 'quick_reply' | 'copy_code'
export type TemplateProvider = 'user_session' | 'official_provider' | 'internal'
export type OtpType = 'copy_code' | 'one_tap' | 'zero_tap'
export type FraudRule =
  'allowedCountries' | 'numberType' | 'prefix' | 'country' | 'conversion' | 'clientIp' | 'spend' | 'recipient'
export type BlockAction = 'blocked' | 'monitored'
export type Listened =
  | 'message.sent'
  | 'message.delivered'
  | 'message.read'
  | 'message.undelivered'
  | 'message.failed'
  | 'message.unknown'
  | 'message.cancelled'
  | 'message.expired'
  | 'verification.sent'
  | 'verification.verified'
  | 'verification.failed'
  | 'verification.superseded'
  | 'verification.blocked'
  | 'bulk.queued'
  | 'bulk.rejected'
  | 'bulk.running'
  | 'bulk.paused'
  | 'bulk.completed'
  | 'bulk.cancelled'
  | 'inbound.message'
  | 'bot.subscriber.started'
  | 'bot.subscriber.blocked'
  | 'bot.subscriber.returned'
  | 'bot.unauthorized'
  | 'bot.problem'
  | 'suppression.created'
  | 'suppression.deleted'
  | 'sms_sender.approved'
  | 'sms_sender.rejected'
  | 'template.pending'
  | 'template.approved'
  | 'template.rejected'
  | 'template.disabled'
  | 'session.pairing'
  | 'session.open'
  | 'session.closed'
  | 'session.logged_out'
  | 'wallet.low'
  | 'webhook.disabled'
  | 'webhook.test'
  | 'message.*'
  | 'verification.*'
  | 'bulk.*'
  | 'inbound.*'
  | 'bot.*'
  | 'bot.subscriber.*'
  | 'suppression.*'
  | 'sms_sender.*'
  | 'template.*'
  | 'session.*'
  | 'wallet.*'
  | 'webhook.*'
  | '*'
export type DisabledReason = 'request' | 'failing' | 'gone'
export type EventType =
  | 'message.sent'
  | 'message.delivered'
  | 'message.read'
  | 'message.undelivered'
  | 'message.failed'
  | 'message.unknown'
  | 'message.cancelled'
  | 'message.expired'
  | 'verification.sent'
  | 'verification.verified'
  | 'verification.failed'
  | 'verification.superseded'
  | 'verification.blocked'
  | 'bulk.queued'
  | 'bulk.rejected'
  | 'bulk.running'
  | 'bulk.paused'
  | 'bulk.completed'
  | 'bulk.cancelled'
  | 'inbound.message'
  | 'bot.subscriber.started'
  | 'bot.subscriber.blocked'
  | 'bot.subscriber.returned'
  | 'bot.unauthorized'
  | 'bot.problem'
  | 'suppression.created'
  | 'suppression.deleted'
  | 'sms_sender.approved'
  | 'sms_sender.rejected'
  | 'template.pending'
  | 'template.approved'
  | 'template.rejected'
  | 'template.disabled'
  | 'session.pairing'
  | 'session.open'
  | 'session.closed'
  | 'session.logged_out'
  | 'wallet.low'
  | 'webhook.disabled'
  | 'webhook.test'
export type DeliveryStatus = 'pending' | 'delivered' | 'failed' | 'cancelled'
export type KeyRole = 'owner' | 'member'
export type Actor = 'user' | 'api_key' | 'operator_token'
export type RuleMode = 'off' | 'monitor' | 'block'
export type GuardedType =
  | 'premium'
  | 'shared_cost'
  | 'unallocated'
  | 'voip'
  | 'toll_free'
  | 'fixed'
  | 'pager'
  | 'personal'
  | 'uan'
  | 'voicemail'
export type SendMode = 'plain_text' | 'template_optional'

export interface ErrorBody {
  success: false
  code:
    | 'VALIDATION_ERROR'
    | 'CHATAPP_NOT_REGISTERED'
    | 'RECIPIENT_SUPPRESSED'
    | 'RECIPIENT_REJECTED'
    | 'VERIFICATION_CODE_INVALID'
    | 'VERIFICATION_EXPIRED'
    | 'MESSAGE_REJECTED'
    | 'IDEMPOTENCY_KEY_REQUIRED'
    | 'IDEMPOTENCY_KEY_INVALID'
    | 'INVALID_REQUEST_BODY'
    | 'MESSAGES_PER_SECOND_INVALID'
    | 'MESSAGES_REQUIRED'
    | 'INVALID_MESSAGE'
    | 'UNAUTHORIZED'
    | 'TOTP_REQUIRED'
    | 'INSUFFICIENT_BALANCE'
    | 'FORBIDDEN'
    | 'SUBSCRIPTION_INACTIVE'
    | 'NOT_FOUND'
    | 'JOB_NOT_FOUND'
    | 'METHOD_NOT_ALLOWED'
    | 'REQUEST_TIMEOUT'
    | 'CONFLICT'
    | 'IDEMPOTENCY_KEY_CONFLICT'
    | 'IDEMPOTENCY_CONFLICT'
    | 'JOB_STATE_CONFLICT'
    | 'SESSION_NOT_OPEN'
    | 'TEMPLATE_EXISTS'
    | 'MESSAGE_STATE_CONFLICT'
    | 'VERIFICATION_ALREADY_USED'
    | 'PAYLOAD_TOO_LARGE'
    | 'UNSUPPORTED_MEDIA_TYPE'
    | 'RANGE_NOT_SATISFIABLE'
    | 'RATE_LIMITED'
    | 'VERIFICATION_ATTEMPTS_EXHAUSTED'
    | 'RESEND_TOO_SOON'
    | 'RESEND_LIMIT'
    | 'HEADERS_TOO_LARGE'
    | 'INTERNAL_ERROR'
    | 'PROVIDER_UNAVAILABLE'
    | 'SERVICE_UNAVAILABLE'
  /**
   * For people; programs match on `code`.
   */
  error: string
  requestId: string
  /**
   * Each error, with its path in the body, query or headers.
   */
  details?: {
    path: string
    message: string
  }[]
  retryAfterSeconds?: number
  /**
   * Only with VERIFICATION_CODE_INVALID.
   */
  attemptsRemaining?: number
}
export interface SendResult {
  success: true
  requestId: string
  status: 'sent' | 'queued' | 'scheduled'
  scheduledAt?: string
  resolved: {
    channel: Channel
    provider: string
    senderSource: SenderSource
    channels: Channel[]
  }
  billing: {
    estimatedCost: number
    currency: string
    /**
     * Only for SMS
     */
    parts?: number
  }
  tracking: {
    messageId: string
    usageId: string
    queueId: string | null
  }
}
export interface BatchResult {
  /**
   * At least one recipient succeeded.
   */
  success: boolean
  batch: true
  requestId: string
  summary: {
    total: number
    sent: number
    /**
     * Includes scheduled ones.
     */
    queued: number
    failed: number
  }
  results: {
    to: string
    success: boolean
    requestId: string
    status: 'sent' | 'queued' | 'scheduled' | 'failed'
    /**
     * For an accepted recipient, and for a failed one whose message may still be sent.
     */
    messageId?: string
    /**
     * For a failed recipient.
     */
    code?: string
    error?: string
  }[]
}
export interface PostMessagesSendHeader {
  /**
   * 1 to 200 characters; takes precedence over idempotencyKey and options.idempotencyKey
   */
  'Idempotency-Key'?: string
}
export interface Content {
  /**
   * The text, or the caption of media
   */
  text?: string
  /**
   * A one-time code, for messageType otp without a template
   */
  otpCode?: string
  /**
   * For e-mail: 1 to 255 characters in one line; other channels ignore it
   */
  subject?: string
}
export interface Attachment {
  type: AttachmentType
  publicUrl?: string
  /**
   * Raw base64, without a data: prefix; bots ignore it
   */
  base64?: string
  mimetype?: string
  fileName?: string
  assetId?: string
}
export interface ConversationContext {
  moduleType: ModuleType
  /**
   * Session name, bot id, or official sender id
   */
  accountId: string
  /**
   * Group or user chat id
   */
  chatId: string
  contactId?: string
  /**
   * Stored with the message; by default `moduleType:accountId:chatId`
   */
  conversationKey?: string
}
export interface TemplateUse {
  id?: string
  key?: string
  language?: string
  /**
   * @maxItems 100
   */
  variablesIndexed?: string[]
  variablesNamed?: {
    [k: string]: string
  }
  /**
   * @maxItems 10
   */
  buttonVariables?: {
    index: number
    subType?: string
    text: string
  }[]
  headerAssetId?: string
  headerMediaUrl?: string
  headerMediaType?: 'image' | 'video' | 'document'
  /**
   * Alias of headerMediaUrl
   */
  header?: string
}
export interface SendOptions {
  /**
   * ISO 8601, in the future, at most a year ahead
   */
  scheduleAt?: string
  idempotencyKey?: string
  /**
   * Any JSON of at most 16,384 characters; stored with the message
   */
  metadata?: unknown
  /**
   * @deprecated
   * Ignored
   */
  priority?: unknown
}
export interface SenderChoice {
  id?: string
  name?: string
  officialId?: string
}
export interface SendBody {
  to: string | string[]
  /**
   * Shortcut for content.text
   */
  text?: string
  channel?:
    | 'auto'
    | 'local_sms'
    | 'int_sms'
    | 'official_chatapp'
    | 'user_chatapp_session'
    | 'botapp_bot'
    | 'email_user'
  messageType?: MessageType
  content?: Content
  attachment?: Attachment
  conversationContext?: ConversationContext
  template?: TemplateUse
  options?: SendOptions
  sender?: SenderChoice
  /**
   * Alias of sender.id
   */
  senderId?: string
  /**
   * Alias of sender.officialId
   */
  officialSenderId?: string
  idempotencyKey?: string
}
export interface Estimate {
  /**
   * Whether the send would be accepted now.
   */
  deliverable: boolean
  /**
   * Why it would not be accepted; empty if it would.
   */
  reasons: {
    code: string
    path: string
    message: string
  }[]
  resolved: {
    channel: Channel
    provider: string
    senderSource: SenderSource
    channels: Channel[]
  } | null
  rendered: {
    text: string
    subject: string | null
  } | null
  sms: {
    encoding: 'GSM-7' | 'UCS-2'
    /**
     * Septets for GSM-7, UTF-16 code units for UCS-2.
     */
    characters: number
    parts: number
  } | null
  /**
   * When the message would be sent; absent if at once
   */
  scheduledAt?: string
  billing: {
    estimatedCost: number
    currency: string
    /**
     * Only for SMS.
     */
    parts?: number
    /**
     * What pays for it; for a test key, what would pay for it with a live key.
     */
    source: 'pool' | 'wallet'
  } | null
}
export interface PostMessagesEstimate200 {
  success: true
  data: Estimate
}
export interface SingleSendBody {
  /**
   * E.164 phone, e-mail address, chat-app group id (`<id>@g.us`) or bot chat id
   */
  to: string
  /**
   * Shortcut for content.text
   */
  text?: string
  channel?:
    | 'auto'
    | 'local_sms'
    | 'int_sms'
    | 'official_chatapp'
    | 'user_chatapp_session'
    | 'botapp_bot'
    | 'email_user'
  messageType?: MessageType
  content?: Content
  attachment?: Attachment
  conversationContext?: ConversationContext
  template?: TemplateUse
  options?: SendOptions
  sender?: SenderChoice
  /**
   * Alias of sender.id
   */
  senderId?: string
  /**
   * Alias of sender.officialId
   */
  officialSenderId?: string
  idempotencyKey?: string
}
export interface ConversationView {
  moduleType: ModuleType
  /**
   * Session name, official sender id or bot id
   */
  accountId: string
  chatId: string
  contactId: string | null
  conversationKey: string | null
}
export interface Message {
  id: string
  /**
   * The same as `id`
   */
  messageId: string
  requestId: string
  usageId: string
  /**
   * The mode of the key that sent it
   */
  mode: 'live' | 'test'
  status: MessageStatus
  channel: Channel
  /**
   * The channels that routing considered, in order
   */
  channels: Channel[]
  messageType: MessageType
  to: string
  country: string | null
  sender: string | null
  senderSource: SenderSource
  provider: string
  connectionId: string
  providerMessageId: string | null
  text: string | null
  subject: string | null
  html: boolean
  attachment: {
    type: AttachmentType
    mimetype: string
    fileName: string
    publicUrl: string | null
    sizeBytes: number | null
  } | null
  conversationContext: ConversationView | null
  templateId: string | null
  bulkJobId: string | null
  metadata: unknown
  billing: {
    cost: number
    currency: string
    parts: number | null
    source: 'wallet' | 'pool' | 'none'
    state: 'held' | 'captured' | 'released' | 'none'
  }
  attempts: number
  errorCode: string | null
  errorMessage: string | null
  /**
   * ISO 8601, UTC, with milliseconds.
   */
  createdAt: string
  scheduledAt: string | null
  sentAt: string | null
  deliveredAt: string | null
  readAt: string | null
  endedAt: string | null
}
export interface GetMessages200 {
  success: true
  data: Message[]
  /**
   * Pass it as `cursor` for the next page; null on the last page.
   */
  nextCursor: string | null
}
export interface GetMessagesQuery {
  /**
   * Rows per page.
   */
  limit?: number
  /**
   * The `nextCursor` of the previous page; opaque.
   */
  cursor?: string
  status?: MessageStatus
  channel?: Channel
  messageType?: MessageType
  /**
   * The mode of the key that sent it; both if absent.
   */
  mode?: 'live' | 'test'
  /**
   * Only those to this recipient; a phone number in any spelling that a send accepts.
   */
  to?: string
  errorCode?: MessageError
  /**
   * Nothing matches a malformed id
   */
  templateId?: string
  /**
   * Nothing matches a malformed id
   */
  bulkJobId?: string
  /**
   * ISO 8601 with an offset
   */
  createdAfter?: string
  /**
   * ISO 8601 with an offset
   */
  createdBefore?: string
}
export interface GetMessagesEventsQuery {
  status?: MessageStatus
  channel?: Channel
  messageType?: MessageType
  /**
   * The mode of the key that sent it; both if absent.
   */
  mode?: 'live' | 'test'
  /**
   * Only those to this recipient; a phone number in any spelling that a send accepts.
   */
  to?: string
  errorCode?: MessageError
  /**
   * Nothing matches a malformed id
   */
  templateId?: string
  /**
   * Nothing matches a malformed id
   */
  bulkJobId?: string
  /**
   * ISO 8601 with an offset
   */
  createdAfter?: string
  /**
   * ISO 8601 with an offset
   */
  createdBefore?: string
}
export interface GetMessagesEventsHeader {
  /**
   * The id of the last event received, to continue an earlier stream.
   */
  'Last-Event-ID'?: string
}
export interface ProviderMessagePolicy {
  providerKey: string
  channel: Channel
  enabled: boolean
  allowedTypes: MessageType[]
  sendModeByType: {
    [k: string]: string
  }
  requiresApprovedTemplate: boolean
  supportsUserSender: boolean
  supportsSystemSenderFallback: boolean
  priorityOrder: number
  retryPolicy: {
    maxAttempts: number
    backoffMs: number
  }
}
export interface GetMessagesPolicies200 {
  success: true
  data: ProviderMessagePolicy[]
}
export interface TimelineEntry {
  /**
   * ISO 8601, UTC, with milliseconds.
   */
  at: string
  event: 'status' | 'attempt'
  status?: MessageStatus
  attempt?: number
  outcome?: 'accepted' | 'rejected' | 'retry' | 'throttled' | 'unknown' | 'pending'
  /**
   * For an attempt whose outcome was unknown for some time: since when. ISO 8601, UTC, with milliseconds.
   */
  unknownAt?: string
  settledAt?: string | null
  provider?: string
  connectionId?: string
  providerCode?: string | null
  explanation?: string | null
  detail?: string | null
}
export interface MessageWithTimeline {
  id: string
  /**
   * The same as `id`
   */
  messageId: string
  requestId: string
  usageId: string
  /**
   * The mode of the key that sent it
   */
  mode: 'live' | 'test'
  status: MessageStatus
  channel: Channel
  /**
   * The channels that routing considered, in order
   */
  channels: Channel[]
  messageType: MessageType
  to: string
  country: string | null
  sender: string | null
  senderSource: SenderSource
  provider: string
  connectionId: string
  providerMessageId: string | null
  text: string | null
  subject: string | null
  html: boolean
  attachment: {
    type: AttachmentType
    mimetype: string
    fileName: string
    publicUrl: string | null
    sizeBytes: number | null
  } | null
  conversationContext: ConversationView | null
  templateId: string | null
  bulkJobId: string | null
  metadata: unknown
  billing: {
    cost: number
    currency: string
    parts: number | null
    source: 'wallet' | 'pool' | 'none'
    state: 'held' | 'captured' | 'released' | 'none'
  }
  attempts: number
  errorCode: string | null
  errorMessage: string | null
  /**
   * ISO 8601, UTC, with milliseconds.
   */
  createdAt: string
  scheduledAt: string | null
  sentAt: string | null
  deliveredAt: string | null
  readAt: string | null
  endedAt: string | null
  timeline: TimelineEntry[]
}
export interface GetMessagesByMessageId200 {
  success: true
  data: MessageWithTimeline
}
export interface GetMessagesByMessageIdPath {
  messageId: string
}
export interface PostMessagesByMessageIdCancel200 {
  success: true
  data: MessageWithTimeline
}
export interface PostMessagesByMessageIdCancelPath {
  messageId: string
}
export interface VerificationAttempt {
  success: true
  verificationId: string
  status: 'sent' | 'queued' | 'scheduled'
  channel: Channel
  /**
   * Present if more than one channel succeeded
   */
  channels?: Channel[]
  /**
   * Present if the account sends codes over several channels at once
   */
  deliveries?: {
    channel: Channel
    messageId: string
    status: 'sent' | 'queued' | 'failed'
  }[]
  /**
   * ISO 8601, UTC, with milliseconds.
   */
  expiresAt: string
  /**
   * ISO 8601, UTC, with milliseconds.
   */
  resendAvailableAt: string
  resendCount: number
  /**
   * Present if the account uses a learned order and several channels are possible
   */
  resolved?: {
    channel: Channel
    channels: Channel[]
    order: {
      /**
       * `learned`: by the results of earlier codes; `policy`: there is too little data; `trial`: a channel with little data goes first
       */
      by: 'learned' | 'policy' | 'trial'
      country: string
      /**
       * In the order in which they are tried
       */
      channels: {
        channel: Channel
        /**
         * Weighted number of recent codes; older ones count less
         */
        codes: number
        /**
         * The estimated share of confirmed codes
         */
        conversion: number
        /**
         * The estimated time until delivery
         */
        deliverySeconds: number
      }[]
    }
  }
}
export interface PostVerificationSendHeader {
  /**
   * 1 to 200 characters; takes precedence over idempotencyKey
   */
  'Idempotency-Key'?: string
}
export interface VerificationSend {
  /**
   * E.164 phone or e-mail address
   */
  to: string
  /**
   * local_sms, int_sms, official_chatapp, email_user; if absent, routing chooses
   */
  channel?: string
  senderId?: string
  officialSenderId?: string
  sender?: SenderChoice
  /**
   * The address of the end user who requested the code
   */
  clientIp?: string
  idempotencyKey?: string
}
export interface VerificationResend {
  verificationId?: string
  /**
   * E.164 phone or e-mail address
   */
  to?: string
  /**
   * The address of the end user who requested the code
   */
  clientIp?: string
}
export interface Verified {
  success: true
  verificationId: string
  status: 'verified'
  /**
   * ISO 8601, UTC, with milliseconds.
   */
  verifiedAt: string
}
export interface VerificationCheck {
  verificationId?: string
  /**
   * E.164 phone or e-mail address
   */
  to?: string
  /**
   * Digits of any script; spaces and hyphens are ignored
   */
  code: string
}
export interface VerificationView {
  verificationId: string
  mode: KeyMode
  status: VerificationStatus
  to: string
  country: string | null
  channel: Channel
  /**
   * In order, the original send before the resends; read each message for its channel and cost
   */
  messageIds: string[]
  attemptsRemaining: number
  resendCount: number
  /**
   * ISO 8601, UTC, with milliseconds.
   */
  createdAt: string
  /**
   * ISO 8601, UTC, with milliseconds.
   */
  expiresAt: string
  resendAvailableAt: string | null
  verifiedAt: string | null
}
export interface GetVerificationByVerificationId200 {
  success: true
  data: VerificationView
}
export interface GetVerificationByVerificationIdPath {
  verificationId: string
}
export interface BulkCreated {
  success: true
  id: string
  /**
   * Empty if none was given
   */
  name: string
  status: BulkStatus
  messagesPerSecond: number | null
  pauseReason: PauseReason | null
  /**
   * Number of rows; while accepting, the rows stored so far
   */
  total: number
  /**
   * Rows checked so far
   */
  validatedCount: number
  counts: {
    /**
     * Not settled: waiting, being sent, or unknown
     */
    pending: number
    /**
     * Accepted by a provider
     */
    sent: number
    failed: number
    cancelled: number
  }
  errorCode: BulkError | null
  errorMessage: string | null
  /**
   * ISO 8601, UTC, with milliseconds.
   */
  createdAt: string
}
export interface PostMessagesBulkHeader {
  /**
   * 1 to 200 characters
   */
  'Idempotency-Key': string
}
export interface BulkCreate {
  name?: string
  messagesPerSecond: number
  /**
   * Any number. Each is a send to one recipient, without scheduleAt.
   *
   * @minItems 1
   */
  messages: SingleSendBody[]
}
export interface BulkJob {
  id: string
  /**
   * Empty if none was given
   */
  name: string
  status: BulkStatus
  messagesPerSecond: number | null
  pauseReason: PauseReason | null
  /**
   * Number of rows; while accepting, the rows stored so far
   */
  total: number
  /**
   * Rows checked so far
   */
  validatedCount: number
  counts: {
    /**
     * Not settled: waiting, being sent, or unknown
     */
    pending: number
    /**
     * Accepted by a provider
     */
    sent: number
    failed: number
    cancelled: number
  }
  errorCode: BulkError | null
  errorMessage: string | null
  /**
   * ISO 8601, UTC, with milliseconds.
   */
  createdAt: string
}
export interface GetMessagesBulk200 {
  success: true
  data: BulkJob[]
  /**
   * Pass it as `cursor` for the next page; null on the last page.
   */
  nextCursor: string | null
}
export interface GetMessagesBulkQuery {
  /**
   * Rows per page.
   */
  limit?: number
  /**
   * The `nextCursor` of the previous page; opaque.
   */
  cursor?: string
  status?: BulkStatus
}
export interface BulkAnswer {
  success: true
  job: BulkJob
}
export interface GetMessagesBulkByJobIdPath {
  jobId: string
}
export interface BulkRow {
  /**
   * Index in `messages`, from 0
   */
  index: number
  to: string
  status: RowStatus
  messageId: string | null
  errorCode: string | null
  errorMessage: string | null
}
export interface GetMessagesBulkByJobIdRows200 {
  success: true
  data: BulkRow[]
  /**
   * Pass it as `cursor` for the next page; null on the last page.
   */
  nextCursor: string | null
}
export interface GetMessagesBulkByJobIdRowsPath {
  jobId: string
}
export interface GetMessagesBulkByJobIdRowsQuery {
  /**
   * Rows per page.
   */
  limit?: number
  /**
   * The `nextCursor` of the previous page; opaque.
   */
  cursor?: string
  status?: RowStatus
}
export interface GetMessagesBulkByJobIdEventsPath {
  jobId: string
}
export interface PostMessagesBulkByJobIdPausePath {
  jobId: string
}
export interface PostMessagesBulkByJobIdResumePath {
  jobId: string
}
export interface PostMessagesBulkByJobIdCancelPath {
  jobId: string
}
export interface InboundMediaView {
  /**
   * A voice message is `audio`, a sticker is `image`
   */
  type: 'image' | 'video' | 'audio' | 'document'
  mimetype: string | null
  fileName: string | null
  sizeBytes: number | null
  path: string | null
}
export interface InboundLocation {
  latitude: number
  longitude: number
  name: string | null
  address: string | null
}
export interface InboundCard {
  id: string | null
  name: string | null
  /**
   * Items: E.164 if the number has a country code, else as written
   */
  phones: string[]
  emails: string[]
}
export interface InboundMessageView {
  id: string
  channel: Channel
  /**
   * E.164 for a number that can receive messages; for a bot, the chat id; in a group, the person
   */
  from: string
  /**
   * The address that received the message: E.164, a short code, a session name or a bot id
   */
  to: string
  text: string | null
  button: string | null
  buttonTitle: string | null
  media: InboundMediaView[]
  location: InboundLocation | null
  /**
   * Contact cards in the message
   */
  contacts: InboundCard[]
  replyTo: string | null
  contact: {
    id: string | null
    name: string | null
  } | null
  keyword: ('stop' | 'start') | null
  /**
   * ISO 8601, UTC, with milliseconds.
   */
  receivedAt: string
  sentAt: string | null
  provider: string
  connectionId: string
  /**
   * The provider's id of the message
   */
  providerMessageId: string
  conversationContext: ConversationView | null
}
export interface GetInbound200 {
  success: true
  data: InboundMessageView[]
  /**
   * Pass it as `cursor` for the next page; null on the last page.
   */
  nextCursor: string | null
}
export interface GetInboundQuery {
  /**
   * Rows per page.
   */
  limit?: number
  /**
   * The `nextCursor` of the previous page; opaque.
   */
  cursor?: string
  /**
   * A phone number in E.164, or a chat id
   */
  from?: string
  /**
   * A phone number in E.164, a short code, a session name or a bot id
   */
  to?: string
  channel?: Channel
  /**
   * Of its conversationContext
   */
  accountId?: string
  /**
   * Of its conversationContext
   */
  conversationKey?: string
  /**
   * ISO 8601 with an offset
   */
  createdAfter?: string
  /**
   * ISO 8601 with an offset
   */
  createdBefore?: string
}
export interface GetInboundEventsQuery {
  /**
   * A phone number in E.164, or a chat id
   */
  from?: string
  /**
   * A phone number in E.164, a short code, a session name or a bot id
   */
  to?: string
  channel?: Channel
  /**
   * Of its conversationContext
   */
  accountId?: string
  /**
   * Of its conversationContext
   */
  conversationKey?: string
  /**
   * ISO 8601 with an offset
   */
  createdAfter?: string
  /**
   * ISO 8601 with an offset
   */
  createdBefore?: string
}
export interface GetInboundEventsHeader {
  /**
   * The id of the last event received, to continue an earlier stream.
   */
  'Last-Event-ID'?: string
}
export interface GetInboundByInboundId200 {
  success: true
  data: InboundMessageView
}
export interface GetInboundByInboundIdPath {
  inboundId: string
}
export interface GetInboundByInboundIdMediaByIndexPath {
  inboundId: string
  /**
   * Index in the message's `media`, from 0
   */
  index: string
}
export interface SuppressionView {
  id: string
  to: string
  channel:
    | ('local_sms' | 'int_sms' | 'official_chatapp' | 'user_chatapp_session' | 'botapp_bot' | 'email_user')
    | null
  source: SuppressionSource
  reason: string | null
  /**
   * ISO 8601, UTC, with milliseconds.
   */
  createdAt: string
}
export interface PostSuppressions201 {
  success: true
  data: {
    suppression: SuppressionView
  }
}
export interface SuppressionCreate {
  /**
   * A phone number in E.164, an e-mail address, a group id or a chat id
   */
  to: string
  /**
   * If absent, every channel
   */
  channel?:
    'local_sms' | 'int_sms' | 'official_chatapp' | 'user_chatapp_session' | 'botapp_bot' | 'email_user'
  reason?: string
}
export interface GetSuppressions200 {
  success: true
  data: SuppressionView[]
  /**
   * Pass it as `cursor` for the next page; null on the last page.
   */
  nextCursor: string | null
}
export interface GetSuppressionsQuery {
  /**
   * Rows per page.
   */
  limit?: number
  /**
   * The `nextCursor` of the previous page; opaque.
   */
  cursor?: string
  /**
   * A phone number in E.164, an e-mail address, a group id or a chat id
   */
  to?: string
  /**
   * Only those of exactly this channel
   */
  channel?:
    'local_sms' | 'int_sms' | 'official_chatapp' | 'user_chatapp_session' | 'botapp_bot' | 'email_user'
}
export interface DeleteSuppressionsById200 {
  success: true
  data: {
    id: string
    deleted: true
  }
}
export interface DeleteSuppressionsByIdPath {
  id: string
}
export interface PhoneView {
  number: string | null
  verified: boolean
}
export interface QuietHoursView {
  /**
   * The start of the quiet hours, such as 21:00
   */
  start: string
  /**
   * Their end, on the next day if it is earlier than `start`; must differ from it
   */
  end: string
}
export interface VerificationSettingsView {
  /**
   * Number of digits of a code; default 6
   */
  codeLength: number
  /**
   * Minutes for which a code is valid; default 10
   */
  validityMinutes: number
  /**
   * Codes are sent over all of these channels that fit the recipient; if empty, over the one that routing chooses
   *
   * @maxItems 4
   */
  channels: VerificationChannel[]
  templateId: string | null
  /**
   * How routing orders several possible channels: by policy, or by the results of earlier codes; default policy
   */
  channelOrder: 'policy' | 'learned'
  /**
   * Percentage of codes with a learned order that try a channel with little data first; default 5
   */
  trialPercent: number
}
export interface PoolView {
  channels: Channel[]
  /**
   * Messages included per month
   */
  limit: number
  used: number
  /**
   * ISO 8601, UTC, with milliseconds.
   */
  resetsAt: string
}
export interface SmsSenderView {
  id: string
  name: string
  status: SenderStatus
  isDefault: boolean
  webhookConfigured: boolean
  /**
   * The operator's reason for a rejection; absent otherwise
   */
  reason?: string
}
export interface OfficialSender {
  /**
   * `platform` for the platform's own number
   */
  id: string
  scope: 'platform' | 'official_sender'
  isPlatform: boolean
  /**
   * Whether it is the account's default sender
   */
  isDefault: boolean
  label: string | null
  phoneNumber: string | null
  displayName: string
  /**
   * `disabled` if the operator disabled the sender, `unknown` until the provider has reported a status, else the provider's status in lower case, such as `connected`, `flagged` or `banned`
   */
  status: string
  qualityRating: string | null
  messagingLimit: string | null
  lastCheckedAt: string | null
}
export interface AccountView {
  id: string
  name: string
  status: AccountStatus
  homeCountry: string
  phone: PhoneView
  currency: string
  quietHours: QuietHoursView | null
  verification: VerificationSettingsView
  wallet: {
    balance: number
    held: number
  }
  plan: {
    name: string
    status: PlanStatus
    allowsScheduling: boolean
    pool: PoolView[]
  }
  key: {
    id: string
    name: string
    prefix: string
    mode: KeyMode
    permissions: Permission[]
  }
  smsSenders: SmsSenderView[]
  officialSenders: OfficialSender[]
}
export interface GetAccount200 {
  success: true
  data: AccountView
}
export interface PatchAccount200 {
  success: true
  data: AccountView
}
export interface VerificationSettingsUpdate {
  /**
   * Number of digits of a code; default 6
   */
  codeLength?: number
  /**
   * Minutes for which a code is valid; default 10
   */
  validityMinutes?: number
  /**
   * Codes are sent over all of these channels that fit the recipient; if empty, over the one that routing chooses
   *
   * @maxItems 4
   */
  channels?: VerificationChannel[]
  templateId?: string | null
  /**
   * How routing orders several possible channels: by policy, or by the results of earlier codes; default policy
   */
  channelOrder?: 'policy' | 'learned'
  /**
   * Percentage of codes with a learned order that try a channel with little data first; default 5
   */
  trialPercent?: number
}
export interface OwnAccountUpdate {
  verification?: VerificationSettingsUpdate | null
  /**
   * Null removes them; absent leaves them unchanged.
   */
  quietHours?: QuietHoursView | null
}
export interface WalletWithThreshold {
  /**
   * Available to spend
   */
  balance: number
  /**
   * Held for messages that are not settled
   */
  held: number
  /**
   * Charged for messages that a provider accepted
   */
  captured: number
  /**
   * The sum of all credits, less debits
   */
  credited: number
  currency: string
  /**
   * The event `wallet.low` is sent when the balance falls below this amount; 0 for never
   */
  lowBalance: number
}
export interface GetWallet200 {
  success: true
  data: WalletWithThreshold
}
export interface PatchWallet200 {
  success: true
  data: WalletWithThreshold
}
export interface WalletUpdate {
  /**
   * The event `wallet.low` is sent when the balance falls below this amount; 0 for never
   */
  lowBalance?: number
}
export interface LedgerEntry {
  /**
   * The `usageId` of a send (`usg_…`), or the id of a credit (`crd_…`)
   */
  id: string
  type: LedgerType
  /**
   * Never negative; `type` gives the direction
   */
  amount: number
  currency: string
  messageId: string | null
  note: string | null
  /**
   * ISO 8601, UTC, with milliseconds.
   */
  createdAt: string
}
export interface GetWalletLedger200 {
  success: true
  data: LedgerEntry[]
  /**
   * Pass it as `cursor` for the next page; null on the last page.
   */
  nextCursor: string | null
}
export interface GetWalletLedgerQuery {
  /**
   * Rows per page.
   */
  limit?: number
  /**
   * The `nextCursor` of the previous page; opaque.
   */
  cursor?: string
  /**
   * `credits`: credits, debits and refunds by the operator
   */
  source?: 'messages' | 'credits'
  /**
   * ISO 8601
   */
  createdAfter?: string
  /**
   * ISO 8601
   */
  createdBefore?: string
}
export interface SandboxMedia {
  type: AttachmentType
  mimetype: string
  fileName: string
  sizeBytes: number
  /**
   * Of the bytes, in hexadecimal.
   */
  sha256: string
  publicUrl?: string
}
export interface SandboxTemplateUse {
  name: string
  language: string
  header: {
    type: HeaderType
    variables: string[] | null
    media: SandboxMedia | null
  } | null
  /**
   * The values of `{{1}}`, `{{2}}` and so on.
   */
  body: string[]
  buttons: {
    index: number
    subType: 'url' | 'copy_code'
    text: string
  }[]
}
export interface SandboxMessage {
  messageId: string
  channel: Channel
  to: string
  sender: string | null
  subject: string | null
  text: string | null
  html: string | null
  media: SandboxMedia[] | null
  template: SandboxTemplateUse | null
  /**
   * Attempts until the sandbox accepted the message, including the accepted one.
   */
  attempts: number
  /**
   * ISO 8601, UTC, with milliseconds.
   */
  receivedAt: string
}
export interface SandboxPage {
  success: true
  data: SandboxMessage[]
  /**
   * Pass it as `cursor` for the next page; null on the last page.
   */
  nextCursor: string | null
}
export interface GetSandboxMessagesQuery {
  /**
   * Rows per page.
   */
  limit?: number
  /**
   * The `nextCursor` of the previous page; opaque.
   */
  cursor?: string
  /**
   * Only those to this recipient; a phone number in any spelling that a send accepts.
   */
  to?: string
}
export interface MediaAsset {
  /**
   * The value for `headerAssetId` and `attachment.assetId`
   */
  id: string
  mediaType: AttachmentType
  /**
   * Detected from the bytes, whatever type was declared
   */
  mimetype: string
  fileName: string
  /**
   * In bytes
   */
  size: number
  /**
   * In hexadecimal
   */
  sha256: string
  /**
   * Returns the file without a key to anyone with the URL, for about a day
   */
  previewUrl: string
  /**
   * ISO 8601, UTC, with milliseconds.
   */
  createdAt: string
}
export interface PostTemplatesMedia201 {
  success: true
  data: {
    asset: MediaAsset
  }
}
export interface GetTemplatesMediaByAssetId200 {
  success: true
  data: MediaAsset
}
export interface GetTemplatesMediaByAssetIdPath {
  assetId: string
}
export interface DeleteTemplatesMediaByAssetId200 {
  success: true
  data: {
    id: string
    deleted: true
  }
}
export interface DeleteTemplatesMediaByAssetIdPath {
  assetId: string
}
export interface PostSmsSenders201 {
  success: true
  message: string
  data: {
    smsSender: SmsSenderView
  }
}
export interface SmsSenderRequest {
  /**
   * 3–11 letters, digits, spaces, `.`, `-` or `_` with at least one letter, or 3–15 digits
   */
  name: string
  /**
   * An https URL at a public address, called when the name is approved or rejected
   */
  webhookUrl?: string
  /**
   * Required with `webhookUrl`; never returned
   */
  webhookSecret?: string
}
export interface GetSmsSenders200 {
  success: true
  data: SmsSenderView[]
  /**
   * Pass it as `cursor` for the next page; null on the last page.
   */
  nextCursor: string | null
}
export interface GetSmsSendersQuery {
  /**
   * Rows per page.
   */
  limit?: number
  /**
   * The `nextCursor` of the previous page; opaque.
   */
  cursor?: string
}
export interface PostSmsSendersByIdDefault200 {
  success: true
  data: SmsSenderView
}
export interface PostSmsSendersByIdDefaultPath {
  id: string
}
export interface GetOfficialSenders200 {
  success: true
  data: OfficialSender[]
  /**
   * Pass it as `cursor` for the next page; null on the last page.
   */
  nextCursor: string | null
}
export interface GetOfficialSendersQuery {
  /**
   * Rows per page; if absent, all of them
   */
  limit?: number
  /**
   * The `nextCursor` of the previous page; opaque
   */
  cursor?: string
}
export interface PostOfficialSendersByIdDefault200 {
  success: true
  data: OfficialSender
}
export interface PostOfficialSendersByIdDefaultPath {
  id: string
}
export interface WebSessionView {
  name: string
  /**
   * The connectionId of its messages and inbound messages
   */
  connectionId: string
  state: SessionState
  detail: string | null
  phone: string | null
  pushName: string | null
  qr: {
    /**
     * The content of the QR code, to render it yourself
     */
    text: string
    /**
     * The QR code as an image
     */
    svg: string
    /**
     * ISO 8601, UTC, with milliseconds.
     */
    expiresAt: string
  } | null
  pairingCode: {
    code: string
    /**
     * ISO 8601, UTC, with milliseconds.
     */
    expiresAt: string
  } | null
  pace: {
    /**
     * The current limit
     */
    messagesPerMinute: number
    /**
     * The limit after the warm-up
     */
    fullMessagesPerMinute: number
    warmAt: string | null
  }
  /**
   * Created by a test key; needs no phone
   */
  sandbox: boolean
  notice: string
  /**
   * ISO 8601, UTC, with milliseconds.
   */
  createdAt: string
  pairedAt: string | null
  openedAt: string | null
  /**
   * ISO 8601, UTC, with milliseconds.
   */
  changedAt: string
}
export interface PostChatappSessions201 {
  success: true
  data: {
    session: WebSessionView
  }
}
export interface WebSessionCreate {
  /**
   * Letters, digits, _ and -, at most 64; the accountId of its conversations
   */
  name: string
  /**
   * E.164; the session is linked by a code to enter on this phone instead of a QR code
   */
  phone?: string
}
export interface WebSessionRow {
  name: string
  /**
   * The connectionId of its messages and inbound messages
   */
  connectionId: string
  state: SessionState
  detail: string | null
  phone: string | null
  pushName: string | null
  pace: {
    /**
     * The current limit
     */
    messagesPerMinute: number
    /**
     * The limit after the warm-up
     */
    fullMessagesPerMinute: number
    warmAt: string | null
  }
  /**
   * Created by a test key; needs no phone
   */
  sandbox: boolean
  /**
   * ISO 8601, UTC, with milliseconds.
   */
  createdAt: string
  pairedAt: string | null
  openedAt: string | null
  /**
   * ISO 8601, UTC, with milliseconds.
   */
  changedAt: string
}
export interface GetChatappSessions200 {
  success: true
  data: WebSessionRow[]
  /**
   * Pass it as `cursor` for the next page; null on the last page.
   */
  nextCursor: string | null
}
export interface GetChatappSessionsQuery {
  /**
   * Rows per page.
   */
  limit?: number
  /**
   * The `nextCursor` of the previous page; opaque.
   */
  cursor?: string
}
export interface GetChatappSessionsByName200 {
  success: true
  data: WebSessionView
}
export interface WebSessionParams {
  name: string
}
export interface DeleteChatappSessionsByName200 {
  success: true
  data: {
    name: string
    deleted: true
  }
}
export interface WebSessionChat {
  /**
   * The value for `to` and conversationContext.chatId of a send
   */
  chatId: string
  kind: ChatKind
  name: string | null
  lastMessageAt: string | null
  conversationContext: {
    moduleType: 'chatapp_web'
    accountId: string
    chatId: string
  }
}
export interface GetChatappSessionsByNameChats200 {
  success: true
  data: WebSessionChat[]
  /**
   * Pass it as `cursor` for the next page; null on the last page.
   */
  nextCursor: string | null
}
export interface GetChatappSessionsByNameChatsQuery {
  /**
   * Rows per page.
   */
  limit?: number
  /**
   * The `nextCursor` of the previous page; opaque.
   */
  cursor?: string
  kind?: ChatKind
}
export interface PostChatappSessionsByNameRestart200 {
  success: true
  data: WebSessionView
}
export interface BotView {
  /**
   * `accountId` of a conversationContext
   */
  id: string
  /**
   * The bot's user id on the platform
   */
  telegramUserId: string
  /**
   * Same as telegramUserId
   */
  botappUserId: string
  username: string | null
  name: string
  state: BotState
  mode: ('webhook' | 'polling') | null
  problem: {
    code: BotProblem
    detail: string
    /**
     * ISO 8601, UTC, with milliseconds.
     */
    since: string
  } | null
  /**
   * Created by a test key; does not exist on the platform
   */
  sandbox: boolean
  /**
   * Number of subscribers, including those that blocked the bot
   */
  subscribers: number
  lastUpdateAt: string | null
  /**
   * ISO 8601, UTC, with milliseconds.
   */
  createdAt: string
}
export interface PostBotappBots201 {
  success: true
  data: {
    bot: BotView
  }
}
export interface BotCreate {
  /**
   * The token that the platform issued; checked with the platform, encrypted at rest, never returned
   */
  token: string
}
export interface GetBotappBots200 {
  success: true
  data: BotView[]
  /**
   * Pass it as `cursor` for the next page; null on the last page.
   */
  nextCursor: string | null
}
export interface GetBotappBotsQuery {
  /**
   * Rows per page.
   */
  limit?: number
  /**
   * The `nextCursor` of the previous page; opaque.
   */
  cursor?: string
}
export interface DeleteBotappBotsByBotId200 {
  success: true
  data: {
    id: string
    deleted: true
  }
}
export interface DeleteBotappBotsByBotIdPath {
  botId: string
}
export interface BotSubscriber {
  /**
   * The bot's id
   */
  accountId: string
  chatId: string
  telegramUserId: string | null
  botappUserId: string | null
  username: string | null
  firstName: string | null
  lastName: string | null
  startPayload: string | null
  /**
   * ISO 8601, UTC, with milliseconds.
   */
  startedAt: string
  /**
   * ISO 8601, UTC, with milliseconds.
   */
  lastSeenAt: string
  blockedAt: string | null
  conversationKey: string
  conversationContext: {
    moduleType: 'botapp_bot'
    accountId: string
    chatId: string
  }
}
export interface SubscriberPage {
  success: true
  data: {
    accountId: string
    subscribers: BotSubscriber[]
    page: number
    limit: number
    total: number
    hasMore: boolean
  }
}
export interface GetBotappBotsByBotIdSubscribersPath {
  botId: string
}
export interface GetBotappBotsByBotIdSubscribersQuery {
  /**
   * Part of the chat id, the username or the name
   */
  q?: string
  page?: number
  limit?: number
}
export interface TemplateButton {
  type: ButtonType
  text: string
  url?: string
  urlExample?: string
  phoneNumber?: string
  /**
   * The example code of a copy_code button, for the provider's review
   */
  example?: string
}
export interface TemplateSender {
  /**
   * `platform` for the platform's own number
   */
  id: string
  scope: 'platform' | 'official_sender'
  isPlatform: boolean
  /**
   * Whether it is the account's default sender
   */
  isDefault: boolean
  label: string | null
  phoneNumber: string | null
  displayName: string
}
export interface TemplateView {
  id: string
  name: string
  category: TemplateCategory
  subType: TemplateSubType
  language: string | null
  status: TemplateStatus
  statusReason: string | null
  body: string | null
  bodyParameters:
    | {
        index: number
        label: string
      }[]
    | null
  headerType: HeaderType | null
  headerValue: string | null
  headerAssetId: string | null
  headerPreviewUrl: string | null
  allowsHeaderMediaOverride: boolean
  footer: string | null
  buttons: TemplateButton[] | null
  /**
   * The buttons that need a value in each send, by their index from 0
   */
  urlButtonVariables: {
    index: number
    subType: string
    example: string | null
  }[]
  /**
   * For example `{{1}}`, in order
   */
  indexedPlaceholders: string[]
  content: string | null
  emailSubject: string | null
  /**
   * An example value for each placeholder, in order
   */
  parameters: (string | null)[]
  provider: TemplateProvider
  providerTemplateId: string | null
  manualProvider: TemplateProvider | null
  officialSenderId: string | null
  officialSender: TemplateSender | null
  isPlatformNumber: boolean
  /**
   * Created by the platform for every account
   */
  isPlatformTemplate: boolean
  isDefault: boolean
  otpType: OtpType | null
  addSecurityRecommendation: boolean | null
  codeExpirationMinutes: number | null
  otpButtonText: string | null
  packageName: string | null
  signatureHash: string | null
  lastCheckedAt: string | null
  /**
   * ISO 8601, UTC, with milliseconds.
   */
  createdAt: string
}
export interface SmsTemplateCreated {
  id: string
  name: string
  category: 'sms'
  status: TemplateStatus
}
export interface PostTemplates201 {
  success: true
  data: {
    template: TemplateView | SmsTemplateCreated
  }
  message: string
}
export interface TemplateButtonInput {
  type: ButtonType
  text: string
  /**
   * May end in {{1}}, whose value each send then gives
   */
  url?: string
  urlExample?: string
  /**
   * E.164
   */
  phoneNumber?: string
  /**
   * For a copy_code button
   */
  example?: string
}
export interface TemplateCreate {
  /**
   * Lowercase letters and underscores
   */
  name: string
  category: TemplateCategory
  subType: TemplateSubType
  /**
   * For example en or en_US
   */
  language?: string
  /**
   * For chat-app templates
   */
  body?: string
  /**
   * For SMS, message and e-mail templates
   */
  content?: string
  emailSubject?: string
  headerType?: HeaderType
  headerValue?: string
  headerAssetId?: string
  /**
   * Fetched once and stored; an alternative to headerAssetId
   */
  headerMediaUrl?: string
  footer?: string
  /**
   * @maxItems 10
   */
  buttons?: TemplateButtonInput[]
  /**
   * An example value for each placeholder
   *
   * @maxItems 100
   */
  bodyParameters?: {
    index: number
    label: string
  }[]
  otpType?: OtpType
  addSecurityRecommendation?: boolean
  codeExpirationMinutes?: number
  otpButtonText?: string
  packageName?: string
  signatureHash?: string
  zeroTapTermsAccepted?: boolean
  provider?: TemplateProvider
  templateTarget?: 'user_session'
  officialSenderId?: string
  creationMode?: 'manual_external_id'
  providerTemplateId?: string
  manualVariableCount?: number
}
export interface TemplateList {
  data: TemplateView[]
  nextCursor?: string | null
}
export interface GetTemplatesQuery {
  category?: TemplateCategory
  /**
   * By default `active` and `approved`
   */
  status?: 'pending' | 'approved' | 'rejected' | 'active' | 'disabled'
  provider?: TemplateProvider
  /**
   * `platform` for the platform's own number
   */
  officialSenderId?: string
  /**
   * Alias of officialSenderId
   */
  'sender.officialId'?: string
  /**
   * Rows per page; if absent, all of them
   */
  limit?: number
  /**
   * The `nextCursor` of the previous page; opaque
   */
  cursor?: string
}
export interface GetTemplatesPlatformQuery {
  category?: TemplateCategory
  /**
   * By default `active` and `approved`
   */
  status?: 'pending' | 'approved' | 'rejected' | 'active' | 'disabled'
  provider?: TemplateProvider
  /**
   * Rows per page; if absent, all of them
   */
  limit?: number
  /**
   * The `nextCursor` of the previous page; opaque
   */
  cursor?: string
}
export interface GetTemplatesById200 {
  data: TemplateView
}
export interface GetTemplatesByIdPath {
  id: string
}
export interface DeleteTemplatesById200 {
  success: true
  data: {
    id: string
    deleted: true
  }
}
export interface DeleteTemplatesByIdPath {
  id: string
}
export interface PostTemplatesByIdDefault200 {
  success: true
  data: TemplateView
}
export interface PostTemplatesByIdDefaultPath {
  id: string
}
export interface PostTemplatesByIdEnable200 {
  success: true
  data: TemplateView
}
export interface PostTemplatesByIdEnablePath {
  id: string
}
export interface PostTemplatesByIdDisable200 {
  success: true
  data: TemplateView
}
export interface PostTemplatesByIdDisablePath {
  id: string
}
export interface TemplatePreview {
  text: string
  subject: string | null
  html: boolean
  header: {
    type: HeaderType
    text: string | null
    previewUrl: string | null
  } | null
  footer: string | null
  buttons: {
    type: ButtonType
    text: string
    value: string | null
  }[]
  sms: {
    encoding: 'GSM-7' | 'UCS-2'
    characters: number
    parts: number
  } | null
}
export interface PostTemplatesByIdPreview200 {
  success: true
  data: TemplatePreview
}
export interface PostTemplatesByIdPreviewPath {
  id: string
}
export interface TemplatePreviewBody {
  /**
   * @maxItems 100
   */
  variablesIndexed?: string[]
  variablesNamed?: {
    [k: string]: string
  }
  /**
   * @maxItems 10
   */
  buttonVariables?: {
    index: number
    subType?: string
    text: string
  }[]
}
export interface BlockView {
  id: string
  /**
   * `monitored`: the send was not blocked, since the rule is in monitor mode
   */
  action: 'blocked' | 'monitored'
  rule: FraudRule
  reason: string
  to: string
  country: string | null
  channel: Channel
  clientIp: string | null
  /**
   * ISO 8601, UTC, with milliseconds.
   */
  retryAt: string
  /**
   * ISO 8601, UTC, with milliseconds.
   */
  createdAt: string
}
export interface GetVerificationBlocks200 {
  success: true
  data: BlockView[]
  /**
   * Pass it as `cursor` for the next page; null on the last page.
   */
  nextCursor: string | null
}
export interface GetVerificationBlocksQuery {
  /**
   * Rows per page.
   */
  limit?: number
  /**
   * The `nextCursor` of the previous page; opaque.
   */
  cursor?: string
  action?: BlockAction
  rule?: FraudRule
  /**
   * Only those to this recipient; a phone number in any spelling that a send accepts.
   */
  to?: string
  /**
   * ISO 3166-1 alpha-2
   */
  country?: string
  /**
   * ISO 8601
   */
  createdAfter?: string
  /**
   * ISO 8601
   */
  createdBefore?: string
}
export interface StatsRow {
  day: string | null
  channel: Channel | null
  country: string | null
  /**
   * Verifications with at least one code that a provider accepted
   */
  started: number
  /**
   * Codes that providers accepted; each resend, and each channel of a fan-out, counts
   */
  sent: number
  /**
   * Codes with a delivery receipt
   */
  delivered: number
  verified: number
  conversion: number | null
  /**
   * The amount charged for codes
   */
  cost: number
  currency: string
  /**
   * Sends that the fraud guard refused
   */
  blocked: number
}
export interface GetVerificationStats200 {
  success: true
  data: StatsRow[]
  /**
   * Pass it as `cursor` for the next page; null on the last page.
   */
  nextCursor: string | null
}
export interface GetVerificationStatsQuery {
  /**
   * Rows per page.
   */
  limit?: number
  /**
   * The `nextCursor` of the previous page; opaque.
   */
  cursor?: string
  /**
   * The first day, in UTC, such as 2030-01-31; by default 30 days up to `to`
   */
  from?: string
  /**
   * The last day, included; by default today
   */
  to?: string
  /**
   * One or more of `day`, `channel` and `country`, separated by commas
   */
  groupBy?: string
}
export interface WebhookWithSecret {
  id: string
  url: string
  description: string
  events: Listened[]
  enabled: boolean
  failingSince: string | null
  disabledAt: string | null
  disabledReason: DisabledReason | null
  previousSecretValidUntil: string | null
  /**
   * ISO 8601, UTC, with milliseconds.
   */
  createdAt: string
  /**
   * `whsec_…`; only this response contains it
   */
  secret: string
}
export interface PostWebhooks201 {
  success: true
  data: {
    webhook: WebhookWithSecret
  }
}
export interface WebhookCreate {
  /**
   * An https URL at a public address; redirects are not followed
   */
  url: string
  description?: string
  /**
   * `*` is every type, `message.*` every type with that prefix, both including types of later versions
   *
   * @minItems 1
   * @maxItems 50
   */
  events?: Listened[]
  enabled?: boolean
}
export interface WebhookView {
  id: string
  url: string
  description: string
  events: Listened[]
  enabled: boolean
  failingSince: string | null
  disabledAt: string | null
  disabledReason: DisabledReason | null
  previousSecretValidUntil: string | null
  /**
   * ISO 8601, UTC, with milliseconds.
   */
  createdAt: string
}
export interface GetWebhooks200 {
  success: true
  data: WebhookView[]
  /**
   * Pass it as `cursor` for the next page; null on the last page.
   */
  nextCursor: string | null
}
export interface GetWebhooksQuery {
  /**
   * Rows per page.
   */
  limit?: number
  /**
   * The `nextCursor` of the previous page; opaque.
   */
  cursor?: string
}
export interface GetWebhooksById200 {
  success: true
  data: WebhookView
}
export interface GetWebhooksByIdPath {
  id: string
}
export interface PatchWebhooksById200 {
  success: true
  data: WebhookView
}
export interface PatchWebhooksByIdPath {
  id: string
}
export interface WebhookUpdate {
  /**
   * An https URL at a public address; redirects are not followed
   */
  url?: string
  description?: string
  /**
   * `*` is every type, `message.*` every type with that prefix, both including types of later versions
   *
   * @minItems 1
   * @maxItems 50
   */
  events?: Listened[]
  enabled?: boolean
}
export interface DeleteWebhooksById200 {
  success: true
  data: {
    id: string
    deleted: true
  }
}
export interface DeleteWebhooksByIdPath {
  id: string
}
export interface DeliveryView {
  id: string
  /**
   * The `webhook-id` header of every attempt
   */
  eventId: string
  eventType: EventType
  messageId: string | null
  status: DeliveryStatus
  attempts: number
  nextAttemptAt: string | null
  lastAttemptAt: string | null
  lastStatus: number | null
  lastError: string | null
  endedAt: string | null
  replayOf: string | null
  /**
   * ISO 8601, UTC, with milliseconds.
   */
  createdAt: string
}
export interface PostWebhooksByIdTest201 {
  success: true
  data: {
    delivery: DeliveryView
  }
}
export interface PostWebhooksByIdTestPath {
  id: string
}
export interface PostWebhooksByIdRotate200 {
  success: true
  data: WebhookWithSecret
}
export interface PostWebhooksByIdRotatePath {
  id: string
}
export interface GetWebhooksByIdDeliveries200 {
  success: true
  data: DeliveryView[]
  /**
   * Pass it as `cursor` for the next page; null on the last page.
   */
  nextCursor: string | null
}
export interface GetWebhooksByIdDeliveriesPath {
  id: string
}
export interface GetWebhooksByIdDeliveriesQuery {
  /**
   * Rows per page.
   */
  limit?: number
  /**
   * The `nextCursor` of the previous page; opaque.
   */
  cursor?: string
  status?: DeliveryStatus
  eventType?: EventType
}
export interface DeliveryWithPayload {
  id: string
  /**
   * The `webhook-id` header of every attempt
   */
  eventId: string
  eventType: EventType
  messageId: string | null
  status: DeliveryStatus
  attempts: number
  nextAttemptAt: string | null
  lastAttemptAt: string | null
  lastStatus: number | null
  lastError: string | null
  endedAt: string | null
  replayOf: string | null
  /**
   * ISO 8601, UTC, with milliseconds.
   */
  createdAt: string
  payload: {
    type: EventType
    id: string
    /**
     * ISO 8601, UTC, with milliseconds.
     */
    timestamp: string
    data: unknown
  } | null
}
export interface GetWebhooksByIdDeliveriesByDeliveryId200 {
  success: true
  data: DeliveryWithPayload
}
export interface GetWebhooksByIdDeliveriesByDeliveryIdPath {
  id: string
  deliveryId: string
}
export interface PostWebhooksByIdDeliveriesByDeliveryIdReplay201 {
  success: true
  data: {
    delivery: DeliveryView
  }
}
export interface PostWebhooksByIdDeliveriesByDeliveryIdReplayPath {
  id: string
  deliveryId: string
}
export interface PostWebhooksDeliveriesByDeliveryIdReplay201 {
  success: true
  data: {
    delivery: DeliveryView
  }
}
export interface PostWebhooksDeliveriesByDeliveryIdReplayPath {
  deliveryId: string
}
export interface WebhookReplayed {
  success: true
  data: {
    /**
     * Number of queued deliveries
     */
    queued: number
  }
  nextCursor: string | null
}
export interface PostWebhooksByIdReplayPath {
  id: string
}
export interface WebhookReplay {
  /**
   * ISO 8601; inclusive
   */
  from: string
  /**
   * ISO 8601; exclusive
   */
  to: string
  /**
   * `*` is every type, `message.*` every type with that prefix, both including types of later versions
   *
   * @minItems 1
   * @maxItems 50
   */
  events?: Listened[]
  /**
   * The `nextCursor` of the previous request
   */
  cursor?: string
}
export interface WalletView {
  /**
   * Available to spend
   */
  balance: number
  /**
   * Held for messages that are not settled
   */
  held: number
  /**
   * Charged for messages that a provider accepted
   */
  captured: number
  /**
   * The sum of all credits, less debits
   */
  credited: number
  currency: string
}
export interface AdminAccount {
  id: string
  name: string
  status: AccountStatus
  homeCountry: string
  currency: string
  phone: PhoneView
  quietHours: QuietHoursView | null
  verification: VerificationSettingsView
  plan: {
    name: string
    status: PlanStatus
    allowsScheduling: boolean
    pool: PoolView[]
    bulkCeilingPerSecond: number
    rateLimitPerSecond: number
    verificationRateLimitPerSecond: number
  }
  wallet: WalletView
  /**
   * ISO 8601, UTC, with milliseconds.
   */
  createdAt: string
}
export interface GetAdminAccounts200 {
  success: true
  data: AdminAccount[]
  /**
   * Pass it as `cursor` for the next page; null on the last page.
   */
  nextCursor: string | null
}
export interface GetAdminAccountsQuery {
  /**
   * Rows per page.
   */
  limit?: number
  /**
   * The `nextCursor` of the previous page; opaque.
   */
  cursor?: string
  /**
   * Part of a name, or the id of an account
   */
  q?: string
}
export interface PostAdminAccounts201 {
  success: true
  data: {
    account: AdminAccount
    liveKey: string | null
    testKey: string | null
  }
}
export interface PostAdminAccountsHeader {
  /**
   * 1 to 200 characters
   */
  'Idempotency-Key'?: string
}
export interface PhoneInput {
  /**
   * E.164
   */
  number?: string
  /**
   * true needs a number
   */
  verified?: boolean
}
export interface PlanInput {
  name?: string
  status?: PlanStatus
  allowsScheduling?: boolean
  /**
   * @maxItems 50
   */
  pool?: {
    /**
     * @minItems 1
     * @maxItems 6
     */
    channels: Channel[]
    limit: number
  }[]
  bulkCeilingPerSecond?: number
  rateLimitPerSecond?: number
  verificationRateLimitPerSecond?: number
}
export interface AccountCreate {
  name: string
  /**
   * ISO 3166-1 alpha-2
   */
  homeCountry: string
  /**
   * ISO 4217
   */
  currency: string
  phone?: PhoneInput
  plan?: PlanInput
  /**
   * In units of the currency, at most six decimals
   */
  balance?: number
  quietHours?: QuietHoursView | null
  verification?: VerificationSettingsUpdate | null
}
export interface ActorView {
  type: Actor
  id: string | null
  /**
   * The name at the time
   */
  name: string
}
export interface ApiKey {
  id: string
  name: string
  prefix: string
  mode: KeyMode
  role: KeyRole
  permissions: Permission[]
  /**
   * ISO 8601, UTC, with milliseconds.
   */
  createdAt: string
  createdBy: ActorView | null
  expiresAt: string | null
  revokedAt: string | null
  lastUsedAt: string | null
}
export interface AdminAccountWithKeys {
  id: string
  name: string
  status: AccountStatus
  homeCountry: string
  currency: string
  phone: PhoneView
  quietHours: QuietHoursView | null
  verification: VerificationSettingsView
  plan: {
    name: string
    status: PlanStatus
    allowsScheduling: boolean
    pool: PoolView[]
    bulkCeilingPerSecond: number
    rateLimitPerSecond: number
    verificationRateLimitPerSecond: number
  }
  wallet: WalletView
  /**
   * ISO 8601, UTC, with milliseconds.
   */
  createdAt: string
  keys: ApiKey[]
}
export interface GetAdminAccountsById200 {
  success: true
  data: AdminAccountWithKeys
}
export interface GetAdminAccountsByIdPath {
  id: string
}
export interface PatchAdminAccountsById200 {
  success: true
  data: AdminAccountWithKeys
}
export interface PatchAdminAccountsByIdPath {
  id: string
}
export interface AccountUpdate {
  name?: string
  status?: AccountStatus
  homeCountry?: string
  currency?: string
  phone?: PhoneInput
  plan?: PlanInput
  /**
   * Null removes them; absent leaves them unchanged.
   */
  quietHours?: QuietHoursView | null
  verification?: VerificationSettingsUpdate | null
}
export interface FraudSettings {
  recipient?: {
    mode?: RuleMode
    /**
     * Codes to one recipient, including resends
     */
    sends?: number
    /**
     * The period in which they count, in minutes
     */
    windowMinutes?: number
  }
  clientIp?: {
    mode?: RuleMode
    /**
     * Codes requested from one client address
     */
    sends?: number
    /**
     * The period in which they count, in minutes
     */
    windowMinutes?: number
  }
  prefix?: {
    mode?: RuleMode
    /**
     * Unconfirmed codes to a range of 10,000 numbers, beyond the usual number for that range
     */
    unverified?: number
  }
  country?: {
    mode?: RuleMode
    /**
     * Codes to one country that were not confirmed within two minutes, beyond the usual number for that country
     */
    unverified?: number
  }
  conversion?: {
    mode?: RuleMode
    /**
     * Number of codes from which a range is judged
     */
    sends?: number
    /**
     * A range is blocked if its rate of confirmed codes is less than this share of the rate in the rest of the account
     */
    share?: number
  }
  numberType?: {
    mode?: RuleMode
    /**
     * @maxItems 10
     */
    types?: GuardedType[]
  }
  allowedCountries?: {
    mode?: RuleMode
    countries?: string[] | null
  }
  spend?: {
    mode?: RuleMode
    dailyCap?: number | null
  }
  /**
   * Never blocked: phone numbers in E.164, e-mail addresses, or number prefixes with a *, such as +4479*
   *
   * @maxItems 1000
   */
  safe?: string[]
}
export interface FraudRules {
  recipient: {
    mode: RuleMode
    /**
     * Codes to one recipient, including resends
     */
    sends: number
    /**
     * The period in which they count, in minutes
     */
    windowMinutes: number
  }
  clientIp: {
    mode: RuleMode
    /**
     * Codes requested from one client address
     */
    sends: number
    /**
     * The period in which they count, in minutes
     */
    windowMinutes: number
  }
  prefix: {
    mode: RuleMode
    /**
     * Unconfirmed codes to a range of 10,000 numbers, beyond the usual number for that range
     */
    unverified: number
  }
  country: {
    mode: RuleMode
    /**
     * Codes to one country that were not confirmed within two minutes, beyond the usual number for that country
     */
    unverified: number
  }
  conversion: {
    mode: RuleMode
    /**
     * Number of codes from which a range is judged
     */
    sends: number
    /**
     * A range is blocked if its rate of confirmed codes is less than this share of the rate in the rest of the account
     */
    share: number
  }
  numberType: {
    mode: RuleMode
    /**
     * @maxItems 10
     */
    types: GuardedType[]
  }
  allowedCountries: {
    mode: RuleMode
    countries: string[] | null
  }
  spend: {
    mode: RuleMode
    dailyCap: number | null
  }
  /**
   * Never blocked: phone numbers in E.164, e-mail addresses, or number prefixes with a *, such as +4479*
   *
   * @maxItems 1000
   */
  safe: string[]
}
export interface FraudSettingsView {
  settings: FraudSettings
  effective: FraudRules
}
export interface GetAdminAccountsByIdFraud200 {
  success: true
  data: FraudSettingsView
}
export interface GetAdminAccountsByIdFraudPath {
  id: string
}
export interface PutAdminAccountsByIdFraud200 {
  success: true
  data: FraudSettingsView
}
export interface PutAdminAccountsByIdFraudPath {
  id: string
}
export interface ApiKeyMade {
  key: ApiKey
  apiKey: string
}
export interface PostAdminAccountsByIdKeys201 {
  success: true
  data: ApiKeyMade
}
export interface PostAdminAccountsByIdKeysPath {
  id: string
}
export interface KeyCreate {
  name: string
  mode: KeyMode
  role: KeyRole
  /**
   * @maxItems 50
   */
  permissions: Permission[]
  /**
   * ISO 8601, in the future
   */
  expiresAt?: string
}
export interface DeleteAdminAccountsByIdKeysByKeyId200 {
  success: true
  data: ApiKey
}
export interface DeleteAdminAccountsByIdKeysByKeyIdPath {
  id: string
  keyId: string
}
export interface PostAdminAccountsByIdCredits201 {
  success: true
  data: {
    /**
     * Available to spend
     */
    balance: number
    /**
     * Held for messages that are not settled
     */
    held: number
    /**
     * Charged for messages that a provider accepted
     */
    captured: number
    /**
     * The sum of all credits, less debits
     */
    credited: number
    currency: string
    entry: LedgerEntry
  }
}
export interface PostAdminAccountsByIdCreditsPath {
  id: string
}
export interface PostAdminAccountsByIdCreditsHeader {
  /**
   * 1 to 200 characters
   */
  'Idempotency-Key'?: string
}
export interface CreditCreate {
  /**
   * In units of the currency, at most six decimals
   */
  amount: number
  note?: string
}
export interface PatchAdminAccountsByIdWallet200 {
  success: true
  data: WalletWithThreshold
}
export interface PatchAdminAccountsByIdWalletPath {
  id: string
}
export interface GetAdminFraud200 {
  success: true
  data: FraudSettingsView
}
export interface PutAdminFraud200 {
  success: true
  data: FraudSettingsView
}
export interface PriceRow {
  channel: Channel
  country: string | null
  prefix: string | null
  messageType: 'otp' | 'utility' | 'marketing' | 'free_text' | '*'
  price: number
  currency: string
}
export interface GetAdminPrices200 {
  success: true
  data: PriceRow[]
  /**
   * Pass it as `cursor` for the next page; null on the last page.
   */
  nextCursor: string | null
}
export interface GetAdminPricesQuery {
  /**
   * Rows per page.
   */
  limit?: number
  /**
   * The `nextCursor` of the previous page; opaque.
   */
  cursor?: string
}
export interface PutAdminPrices200 {
  success: true
  data: {
    prices: PriceRow[]
  }
}
export interface PriceInput {
  channel: Channel
  /**
   * ISO 3166-1 alpha-2, or `*` for any
   */
  country?: string
  /**
   * First digits of an E.164 number
   */
  prefix?: string
  messageType?: 'otp' | 'utility' | 'marketing' | 'free_text' | '*'
  /**
   * In units of the currency, at most six decimals
   */
  price: number
  currency: string
}
export interface PricesReplace {
  /**
   * @maxItems 20000
   */
  prices: PriceInput[]
}
export interface AdminSender {
  id: string
  accountId: string | null
  name: string
  status: SenderStatus
  isDefault: boolean
  webhookConfigured: boolean
  reason: string | null
  /**
   * ISO 8601, UTC, with milliseconds.
   */
  createdAt: string
}
export interface GetAdminSmsSenders200 {
  success: true
  data: AdminSender[]
  /**
   * Pass it as `cursor` for the next page; null on the last page.
   */
  nextCursor: string | null
}
export interface GetAdminSmsSendersQuery {
  /**
   * Rows per page.
   */
  limit?: number
  /**
   * The `nextCursor` of the previous page; opaque.
   */
  cursor?: string
  status?: SenderStatus
  /**
   * Only those of this account
   */
  accountId?: string
}
export interface PostAdminSmsSenders201 {
  success: true
  data: {
    smsSender: AdminSender
  }
}
export interface SenderCreate {
  name: string
  isDefault?: boolean
}
export interface GetAdminSmsSendersById200 {
  success: true
  data: AdminSender
}
export interface GetAdminSmsSendersByIdPath {
  id: string
}
export interface PostAdminSmsSendersByIdApprove200 {
  success: true
  data: AdminSender
}
export interface PostAdminSmsSendersByIdApprovePath {
  id: string
}
export interface PostAdminSmsSendersByIdReject200 {
  success: true
  data: AdminSender
}
export interface PostAdminSmsSendersByIdRejectPath {
  id: string
}
export interface SenderReject {
  reason: string
}
export interface GetAdminInbound200 {
  success: true
  data: InboundMessageView[]
  /**
   * Pass it as `cursor` for the next page; null on the last page.
   */
  nextCursor: string | null
}
export interface GetAdminInboundQuery {
  /**
   * Rows per page.
   */
  limit?: number
  /**
   * The `nextCursor` of the previous page; opaque.
   */
  cursor?: string
  /**
   * A phone number in E.164, or a chat id
   */
  from?: string
  /**
   * A phone number in E.164, a short code, a session name or a bot id
   */
  to?: string
  channel?: Channel
  /**
   * Of its conversationContext
   */
  accountId?: string
  /**
   * Of its conversationContext
   */
  conversationKey?: string
  /**
   * ISO 8601 with an offset
   */
  createdAfter?: string
  /**
   * ISO 8601 with an offset
   */
  createdBefore?: string
}
export interface SharedSuppressionView {
  id: string
  to: string
  channel:
    | ('local_sms' | 'int_sms' | 'official_chatapp' | 'user_chatapp_session' | 'botapp_bot' | 'email_user')
    | null
  source: SuppressionSource
  reason: string | null
  /**
   * ISO 8601, UTC, with milliseconds.
   */
  createdAt: string
  connectionId: string | null
}
export interface GetAdminSuppressions200 {
  success: true
  data: SharedSuppressionView[]
  /**
   * Pass it as `cursor` for the next page; null on the last page.
   */
  nextCursor: string | null
}
export interface GetAdminSuppressionsQuery {
  /**
   * Rows per page.
   */
  limit?: number
  /**
   * The `nextCursor` of the previous page; opaque.
   */
  cursor?: string
  /**
   * A phone number in E.164, an e-mail address, a group id or a chat id
   */
  to?: string
  /**
   * Only those of exactly this channel
   */
  channel?:
    'local_sms' | 'int_sms' | 'official_chatapp' | 'user_chatapp_session' | 'botapp_bot' | 'email_user'
}
export interface DeleteAdminSuppressionsById200 {
  success: true
  data: {
    id: string
    deleted: true
  }
}
export interface DeleteAdminSuppressionsByIdPath {
  id: string
}
export interface GetAdminTemplates200 {
  success: true
  data: TemplateView[]
  /**
   * Pass it as `cursor` for the next page; null on the last page.
   */
  nextCursor: string | null
}
export interface GetAdminTemplatesQuery {
  category?: TemplateCategory
  /**
   * By default `active` and `approved`
   */
  status?: 'pending' | 'approved' | 'rejected' | 'active' | 'disabled'
  provider?: TemplateProvider
  /**
   * `platform` for the platform's own number
   */
  officialSenderId?: string
  /**
   * Alias of officialSenderId
   */
  'sender.officialId'?: string
  /**
   * Rows per page; if absent, all of them
   */
  limit?: number
  /**
   * The `nextCursor` of the previous page; opaque
   */
  cursor?: string
}
export interface PostAdminTemplates201 {
  success: true
  data: {
    template: TemplateView
  }
}
export interface PlatformTemplateCreate {
  /**
   * Lowercase letters and underscores
   */
  name: string
  category: TemplateCategory
  subType: TemplateSubType
  /**
   * For example en or en_US
   */
  language?: string
  /**
   * For chat-app templates
   */
  body?: string
  /**
   * For SMS, message and e-mail templates
   */
  content?: string
  emailSubject?: string
  headerType?: HeaderType
  headerValue?: string
  headerAssetId?: string
  /**
   * Fetched once and stored; an alternative to headerAssetId
   */
  headerMediaUrl?: string
  footer?: string
  /**
   * @maxItems 10
   */
  buttons?: TemplateButtonInput[]
  /**
   * An example value for each placeholder
   *
   * @maxItems 100
   */
  bodyParameters?: {
    index: number
    label: string
  }[]
  otpType?: OtpType
  addSecurityRecommendation?: boolean
  codeExpirationMinutes?: number
  otpButtonText?: string
  packageName?: string
  signatureHash?: string
  zeroTapTermsAccepted?: boolean
  provider?: TemplateProvider
  templateTarget?: 'user_session'
  officialSenderId?: string
  creationMode?: 'manual_external_id'
  providerTemplateId?: string
  manualVariableCount?: number
  /**
   * Used by accounts that have no default for this category and subType
   */
  isDefault?: boolean
}
export interface DeleteAdminTemplatesById200 {
  success: true
  data: {
    id: string
    deleted: true
  }
}
export interface DeleteAdminTemplatesByIdPath {
  id: string
}
export interface PostAdminTemplatesMedia201 {
  success: true
  data: {
    asset: MediaAsset
  }
}
export interface ConnectionState {
  link: 'closed' | 'connecting' | 'up' | 'down'
  detail: string
  /**
   * Open: tried after all other connections. Half open: one message tests whether it works again
   */
  circuit: 'closed' | 'open' | 'half_open'
}
export interface ConnectionView {
  id: string
  accountId: string | null
  provider: string
  name: string
  channels: Channel[]
  config: {
    [k: string]: unknown
  }
  /**
   * Items: The secret fields that have a value; the values are never returned
   */
  secretsSet: string[]
  enabled: boolean
  priorityOrder: number
  retryPolicy: {
    maxAttempts: number
    backoffMs: number
  }
  allowedTypes: MessageType[]
  sendModeByType: {
    otp?: SendMode
    utility?: SendMode
    marketing?: SendMode
    free_text?: SendMode
  }
  state: ConnectionState
  /**
   * ISO 8601, UTC, with milliseconds.
   */
  createdAt: string
}
export interface GetAdminConnections200 {
  success: true
  data: ConnectionView[]
  /**
   * Pass it as `cursor` for the next page; null on the last page.
   */
  nextCursor: string | null
}
export interface GetAdminConnectionsQuery {
  /**
   * Rows per page.
   */
  limit?: number
  /**
   * The `nextCursor` of the previous page; opaque.
   */
  cursor?: string
}
export interface PostAdminConnections201 {
  success: true
  data: {
    connection: ConnectionView
  }
}
export interface ConnectionCreate {
  provider: string
  name: string
  /**
   * @minItems 1
   * @maxItems 6
   */
  channels: Channel[]
  config?: {
    [k: string]: unknown
  }
  /**
   * Absent for a connection of every account
   */
  accountId?: string
  priorityOrder?: number
  retryPolicy?: {
    maxAttempts?: number
    backoffMs?: number
  }
  /**
   * Only types that the provider supports
   *
   * @minItems 1
   * @maxItems 4
   */
  allowedTypes?: MessageType[]
  sendModeByType?: {
    otp?: SendMode
    utility?: SendMode
    marketing?: SendMode
    free_text?: SendMode
  }
  enabled?: boolean
}
export interface PatchAdminConnectionsById200 {
  success: true
  data: ConnectionView
}
export interface PatchAdminConnectionsByIdPath {
  id: string
}
export interface ConnectionUpdate {
  name?: string
  /**
   * @minItems 1
   * @maxItems 6
   */
  channels?: Channel[]
  config?: {
    [k: string]: unknown
  }
  priorityOrder?: number
  retryPolicy?: {
    maxAttempts?: number
    backoffMs?: number
  }
  /**
   * Only types that the provider supports
   *
   * @minItems 1
   * @maxItems 4
   */
  allowedTypes?: MessageType[]
  sendModeByType?: {
    otp?: SendMode
    utility?: SendMode
    marketing?: SendMode
    free_text?: SendMode
  }
  enabled?: boolean
}
export interface ConnectionRemoved {
  id: string
  accountId: string | null
  deleted: true
}
export interface DeleteAdminConnectionsById200 {
  success: true
  data: ConnectionRemoved
}
export interface DeleteAdminConnectionsByIdPath {
  id: string
}
export interface ConnectionTest {
  ok: boolean
  detail: string
}
export interface PostAdminConnectionsByIdTest200 {
  success: true
  data: ConnectionTest
}
export interface PostAdminConnectionsByIdTestPath {
  id: string
}
export interface ConnectionWebhook {
  url: string | null
}
export interface GetAdminConnectionsByIdWebhook200 {
  success: true
  data: ConnectionWebhook
}
export interface GetAdminConnectionsByIdWebhookPath {
  id: string
}
export interface SetupState {
  /**
   * No login exists yet; the first one can be created
   */
  needed: boolean
  /**
   * The first login requires the operator token, since the server can be reached from other machines
   */
  operatorToken: boolean
}
export interface GetConsoleSetup200 {
  success: true
  data: SetupState
}
export interface UserView {
  id: string
  email: string
  name: string
  operator: boolean
  /**
   * The second factor is on
   */
  totp: boolean
  recoveryCodesLeft: number
  /**
   * ISO 8601, UTC, with milliseconds.
   */
  createdAt: string
}
export interface MembershipView {
  account: {
    id: string
    name: string
    status: AccountStatus
    homeCountry: string
    currency: string
  }
  role: KeyRole
  permissions: Permission[]
}
export interface SessionView {
  user: UserView
  memberships: MembershipView[]
  /**
   * To be sent as `X-CSRF-Token` with every request except GET
   */
  csrfToken: string
  session: {
    id: string
    /**
     * ISO 8601, UTC, with milliseconds.
     */
    createdAt: string
    /**
     * The latest time; 12 hours without use end the session too
     */
    expiresAt: string
  }
}
export interface PostConsoleSetup201 {
  success: true
  data: SessionView
}
export interface SetupBody {
  /**
   * An e-mail address
   */
  email: string
  name: string
  /**
   * Any characters; must differ from the e-mail address
   */
  password: string
  operatorToken?: string
}
export interface PostConsoleLogin200 {
  success: true
  data: SessionView
}
export interface LoginBody {
  /**
   * An e-mail address
   */
  email: string
  password: string
  /**
   * Six digits from the authenticator app, or a recovery code
   */
  totp?: string
}
export interface PostConsoleLogout200 {
  success: true
  data: {
    signedOut: true
  }
}
export interface GetConsoleSession200 {
  success: true
  data: SessionView
}
export interface SessionRow {
  id: string
  /**
   * The session of this request
   */
  current: boolean
  /**
   * ISO 8601, UTC, with milliseconds.
   */
  createdAt: string
  /**
   * ISO 8601, UTC, with milliseconds.
   */
  lastSeenAt: string
  ip: string | null
  userAgent: string | null
}
export interface GetConsoleSessions200 {
  success: true
  data: SessionRow[]
}
export interface DeleteConsoleSessionsById200 {
  success: true
  data: {
    id: string
    ended: true
  }
}
export interface DeleteConsoleSessionsByIdPath {
  id: string
}
export interface PatchConsoleUser200 {
  success: true
  data: SessionView
}
export interface UserUpdate {
  name?: string
}
export interface PostConsolePassword200 {
  success: true
  data: SessionView
}
export interface PasswordChange {
  currentPassword: string
  /**
   * Any characters; must differ from the e-mail address
   */
  newPassword: string
}
export interface TotpStart {
  /**
   * Base32, for manual entry
   */
  secret: string
  /**
   * `otpauth://…`, for a QR code
   */
  uri: string
}
export interface PostConsoleTotp200 {
  success: true
  data: TotpStart
}
export interface PasswordProof {
  password: string
}
export interface DeleteConsoleTotp200 {
  success: true
  data: SessionView
}
export interface TotpDone {
  /**
   * Each works once; only this response contains them
   */
  recoveryCodes: string[]
  session: SessionView
}
export interface PostConsoleTotpConfirm200 {
  success: true
  data: TotpDone
}
export interface TotpConfirm {
  /**
   * The code that the authenticator app shows
   */
  code: string
}
export interface InvitationPreview {
  /**
   * `reset`: a new password for an existing login
   */
  kind: 'invitation' | 'reset'
  email: string
  accountName: string | null
  role: ('owner' | 'member' | 'operator') | null
  /**
   * A login exists; its password accepts the invitation
   */
  hasLogin: boolean
  /**
   * ISO 8601, UTC, with milliseconds.
   */
  expiresAt: string
}
export interface PostConsoleInvitationsRead200 {
  success: true
  data: InvitationPreview
}
export interface InvitationRead {
  /**
   * The part of the link after the #
   */
  token: string
}
export interface InvitationAccepted {
  user: UserView
  memberships: MembershipView[]
  /**
   * To be sent as `X-CSRF-Token` with every request except GET
   */
  csrfToken: string
  session: {
    id: string
    /**
     * ISO 8601, UTC, with milliseconds.
     */
    createdAt: string
    /**
     * The latest time; 12 hours without use end the session too
     */
    expiresAt: string
  }
  joined: string | null
}
export interface PostConsoleInvitationsAccept200 {
  success: true
  data: InvitationAccepted
}
export interface InvitationAccept {
  /**
   * The part of the link after the #
   */
  token: string
  name?: string
  /**
   * A new password, or that of the existing login
   */
  password: string
  /**
   * Six digits from the authenticator app, or a recovery code
   */
  totp?: string
}
export interface Member {
  id: string
  email: string
  name: string
  role: KeyRole
  permissions: Permission[]
  /**
   * The member has a second factor
   */
  totp: boolean
  lastSeenAt: string | null
  /**
   * ISO 8601, UTC, with milliseconds.
   */
  joinedAt: string
}
export interface GetMembers200 {
  success: true
  data: Member[]
  /**
   * Pass it as `cursor` for the next page; null on the last page.
   */
  nextCursor: string | null
}
export interface GetMembersQuery {
  /**
   * Rows per page.
   */
  limit?: number
  /**
   * The `nextCursor` of the previous page; opaque.
   */
  cursor?: string
}
export interface PatchMembersById200 {
  success: true
  data: Member
}
export interface PatchMembersByIdPath {
  id: string
}
export interface MemberUpdate {
  role?: KeyRole
  /**
   * For a member; an owner has all permissions. By default messages:create and messages:read
   *
   * @maxItems 4
   */
  permissions?: Permission[]
}
export interface MadeKey {
  id: string
  accountId: string
  name: string
  mode: KeyMode
  role: KeyRole
}
export interface MemberRemoved {
  id: string
  deleted: true
  /**
   * Keys that stay valid: those that the person created, and those created with such keys. Revoke the ones that the person may still know
   */
  apiKeys: MadeKey[]
}
export interface DeleteMembersById200 {
  success: true
  data: MemberRemoved
}
export interface DeleteMembersByIdPath {
  id: string
}
export interface Invitation {
  id: string
  email: string
  role: 'owner' | 'member' | 'operator'
  permissions: Permission[]
  status: 'pending' | 'accepted' | 'expired'
  invitedBy: string
  /**
   * ISO 8601, UTC, with milliseconds.
   */
  createdAt: string
  /**
   * ISO 8601, UTC, with milliseconds.
   */
  expiresAt: string
  acceptedAt: string | null
}
export interface GetMembersInvitations200 {
  success: true
  data: Invitation[]
  /**
   * Pass it as `cursor` for the next page; null on the last page.
   */
  nextCursor: string | null
}
export interface GetMembersInvitationsQuery {
  /**
   * Rows per page.
   */
  limit?: number
  /**
   * The `nextCursor` of the previous page; opaque.
   */
  cursor?: string
}
export interface InvitationMade {
  invitation: Invitation
  /**
   * Only for the invited person; only this response contains it
   */
  link: string
  /**
   * `no_connection`: e-mail only has the sandbox, which others can read; pass the link on yourself
   */
  mail: 'sent' | 'queued' | 'failed' | 'no_connection' | 'not_asked'
}
export interface PostMembersInvitations201 {
  success: true
  data: InvitationMade
}
export interface InvitationCreate {
  /**
   * An e-mail address
   */
  email: string
  role: KeyRole
  /**
   * For a member; an owner has all permissions. By default messages:create and messages:read
   *
   * @maxItems 4
   */
  permissions?: Permission[]
  /**
   * Send the link by e-mail, over the connection that the account's own e-mails would use
   */
  mail?: boolean
}
export interface DeleteMembersInvitationsById200 {
  success: true
  data: {
    id: string
    deleted: true
  }
}
export interface DeleteMembersInvitationsByIdPath {
  id: string
}
export interface GetApiKeys200 {
  success: true
  data: ApiKey[]
  /**
   * Pass it as `cursor` for the next page; null on the last page.
   */
  nextCursor: string | null
}
export interface GetApiKeysQuery {
  /**
   * Rows per page.
   */
  limit?: number
  /**
   * The `nextCursor` of the previous page; opaque.
   */
  cursor?: string
  /**
   * Only keys that work: neither revoked nor expired
   */
  active?: boolean
}
export interface PostApiKeys201 {
  success: true
  data: ApiKeyMade
}
export interface ApiKeyCreate {
  name: string
  mode: KeyMode
  /**
   * @maxItems 4
   */
  permissions: Permission[]
  /**
   * By default member; only an owner's key may use operations for owners
   */
  role?: 'owner' | 'member'
  /**
   * ISO 8601, in the future
   */
  expiresAt?: string
}
export interface DeleteApiKeysById200 {
  success: true
  data: ApiKey
}
export interface DeleteApiKeysByIdPath {
  id: string
}
export interface ApiKeyRotated {
  key: ApiKey
  apiKey: string
  previous: ApiKey
}
export interface PostApiKeysByIdRotate201 {
  success: true
  data: ApiKeyRotated
}
export interface PostApiKeysByIdRotatePath {
  id: string
}
export interface ApiKeyRotate {
  /**
   * How long the old key stays valid; by default a day; 0 ends it at once
   */
  overlapSeconds?: number
}
export interface AuditEntry {
  id: string
  /**
   * ISO 8601, UTC, with milliseconds.
   */
  at: string
  actor: ActorView
  /**
   * For example `api_key.create`
   */
  action: string
  target: string | null
  /**
   * The requested changes, without secrets
   */
  changes: {
    [k: string]: unknown
  }
  ip: string | null
  requestId: string
}
export interface GetAudit200 {
  success: true
  data: AuditEntry[]
  /**
   * Pass it as `cursor` for the next page; null on the last page.
   */
  nextCursor: string | null
}
export interface GetAuditQuery {
  /**
   * Rows per page.
   */
  limit?: number
  /**
   * The `nextCursor` of the previous page; opaque.
   */
  cursor?: string
  /**
   * An action such as `api_key.create`, or a group such as `api_key`
   */
  action?: string
  /**
   * Of a login or a key; nothing matches a malformed id
   */
  actorId?: string
  /**
   * ISO 8601
   */
  from?: string
  /**
   * ISO 8601; exclusive
   */
  to?: string
}
export interface MessageStatsRow {
  /**
   * The start of the hour or day
   */
  at: string
  channel: Channel | null
  /**
   * Accepted by a provider
   */
  sent: number
  delivered: number
  undelivered: number
  failed: number
  /**
   * Attempts that had an unknown outcome
   */
  unknown: number
  cancelled: number
  /**
   * The amount charged, less refunds
   */
  cost: number
}
export interface MessageStats {
  /**
   * ISO 8601, UTC, with milliseconds.
   */
  from: string
  /**
   * ISO 8601, UTC, with milliseconds.
   */
  to: string
  interval: 'hour' | 'day'
  mode: KeyMode
  currency: string
  total: {
    /**
     * Accepted by a provider
     */
    sent: number
    delivered: number
    undelivered: number
    failed: number
    /**
     * Attempts that had an unknown outcome
     */
    unknown: number
    cancelled: number
    /**
     * The amount charged, less refunds
     */
    cost: number
  }
  now: {
    /**
     * Scheduled, queued and sending messages; counted up to 10,000, among the newest 20,000 of both modes
     */
    waiting: number
    /**
     * Whether there may be more waiting messages than were counted
     */
    waitingMore: boolean
    /**
     * Messages whose outcome is still unknown; counted in the same way, separately from waiting ones
     */
    unknown: number
    /**
     * Whether there may be more unknown messages than were counted
     */
    unknownMore: boolean
  }
  /**
   * In order; hours and days without any counts are omitted
   */
  rows: MessageStatsRow[]
}
export interface GetStats200 {
  success: true
  data: MessageStats
}
export interface GetStatsQuery {
  /**
   * ISO 8601; by default one day before `to`
   */
  from?: string
  /**
   * ISO 8601, exclusive; by default now
   */
  to?: string
  /**
   * In UTC
   */
  interval?: 'hour' | 'day'
  groupBy?: 'channel'
  /**
   * By default the mode of the key
   */
  mode?: 'live' | 'test'
}
export interface Person {
  id: string
  email: string
  name: string
  operator: boolean
  totp: boolean
  memberships: {
    accountId: string
    accountName: string
    role: KeyRole
    permissions: Permission[]
  }[]
  lastSeenAt: string | null
  /**
   * ISO 8601, UTC, with milliseconds.
   */
  createdAt: string
}
export interface GetAdminMembers200 {
  success: true
  data: Person[]
  /**
   * Pass it as `cursor` for the next page; null on the last page.
   */
  nextCursor: string | null
}
export interface GetAdminMembersQuery {
  /**
   * Rows per page.
   */
  limit?: number
  /**
   * The `nextCursor` of the previous page; opaque.
   */
  cursor?: string
  accountId?: string
  /**
   * Part of an e-mail address or a name
   */
  q?: string
}
export interface PostAdminMembers201 {
  success: true
  data: {
    member: Person
  }
}
export interface MembershipCreate {
  userId: string
  accountId: string
  role: KeyRole
  /**
   * For a member; an owner has all permissions. By default messages:create and messages:read
   *
   * @maxItems 4
   */
  permissions?: Permission[]
}
export interface GetAdminMembersById200 {
  success: true
  data: Person
}
export interface GetAdminMembersByIdPath {
  id: string
}
export interface PatchAdminMembersById200 {
  success: true
  data: Person
}
export interface PatchAdminMembersByIdPath {
  id: string
}
export interface PersonUpdate {
  operator?: boolean
}
export interface DeleteAdminMembersById200 {
  success: true
  data: MemberRemoved
}
export interface DeleteAdminMembersByIdPath {
  id: string
}
export interface DeleteAdminMembersByIdQuery {
  /**
   * Removes only the membership of this account
   */
  accountId?: string
}
export interface ResetMade {
  /**
   * Sets a new password and removes the second factor; only this response contains it
   */
  link: string
  /**
   * ISO 8601, UTC, with milliseconds.
   */
  expiresAt: string
}
export interface PostAdminMembersByIdReset201 {
  success: true
  data: ResetMade
}
export interface PostAdminMembersByIdResetPath {
  id: string
}
export interface AdminInvitation {
  id: string
  email: string
  role: 'owner' | 'member' | 'operator'
  permissions: Permission[]
  status: 'pending' | 'accepted' | 'expired'
  invitedBy: string
  /**
   * ISO 8601, UTC, with milliseconds.
   */
  createdAt: string
  /**
   * ISO 8601, UTC, with milliseconds.
   */
  expiresAt: string
  acceptedAt: string | null
  accountId: string | null
  accountName: string | null
}
export interface GetAdminMembersInvitations200 {
  success: true
  data: AdminInvitation[]
  /**
   * Pass it as `cursor` for the next page; null on the last page.
   */
  nextCursor: string | null
}
export interface GetAdminMembersInvitationsQuery {
  /**
   * Rows per page.
   */
  limit?: number
  /**
   * The `nextCursor` of the previous page; opaque.
   */
  cursor?: string
}
export interface AdminInvitationMade {
  invitation: AdminInvitation
  link: string
}
export interface PostAdminMembersInvitations201 {
  success: true
  data: AdminInvitationMade
}
export interface AdminInvitationCreate {
  /**
   * An e-mail address
   */
  email: string
  role: 'owner' | 'member' | 'operator'
  /**
   * Required for owner and member
   */
  accountId?: string
  /**
   * For a member; an owner has all permissions. By default messages:create and messages:read
   *
   * @maxItems 4
   */
  permissions?: Permission[]
}
export interface AdminInvitationRemoved {
  id: string
  accountId: string | null
  deleted: true
}
export interface DeleteAdminMembersInvitationsById200 {
  success: true
  data: AdminInvitationRemoved
}
export interface DeleteAdminMembersInvitationsByIdPath {
  id: string
}
export interface PostAdminAccountsByIdKeysByKeyIdRotate201 {
  success: true
  data: ApiKeyRotated
}
export interface PostAdminAccountsByIdKeysByKeyIdRotatePath {
  id: string
  keyId: string
}
export interface NodeView {
  id: number
  host: string
  /**
   * ISO 8601, UTC, with milliseconds.
   */
  startedAt: string
  /**
   * ISO 8601, UTC, with milliseconds.
   */
  seenAt: string
  alive: boolean
  /**
   * The node that responds
   */
  current: boolean
  /**
   * Messages that the node holds; counted up to 10,000
   */
  holds: number
  /**
   * Accounts whose bulk lane the node holds
   */
  lanes: {
    accountId: string
    accountName: string
    fence: number
  }[]
}
export interface LinkView {
  connectionId: string
  provider: string
  link: 'closed' | 'connecting' | 'up' | 'down'
  detail: string
  circuit: 'closed' | 'open' | 'half_open'
  inFlight: number
  waiting: number
  resting: boolean
}
export interface NodesView {
  nodes: NodeView[]
  /**
   * The links of the node that responds; each node has its own
   */
  links: LinkView[]
}
export interface GetAdminNodes200 {
  success: true
  data: NodesView
}
export interface QueueView {
  connectionId: string
  name: string | null
  provider: string | null
  channels: Channel[]
  /**
   * Waiting and due; counted up to 10,000
   */
  due: number
  /**
   * Due later; counted up to 10,000
   */
  scheduled: number
  /**
   * Counted up to 10,000
   */
  unknown: number
  /**
   * How long the oldest due message has been due
   */
  lagMs: number
}
export interface QueuesView {
  connections: QueueView[]
  deliveries: {
    /**
     * Webhook deliveries; counted up to 10,000
     */
    waiting: number
  }
  bulk: {
    running: number
    queued: number
    paused: number
    validating: number
  }
  /**
   * Counted up to 10,000
   */
  parkedReceipts: number
}
export interface GetAdminQueues200 {
  success: true
  data: QueuesView
}
export interface UnknownMessage {
  messageId: string
  accountId: string
  accountName: string
  channel: Channel
  messageType: MessageType
  to: string
  provider: string
  connectionId: string
  attempt: number
  detail: string | null
  cost: number
  currency: string
  /**
   * ISO 8601, UTC, with milliseconds.
   */
  unknownAt: string
  /**
   * When the message counts as sent
   */
  closesAt: string
  /**
   * How often the provider was asked for the outcome
   */
  asks: number
}
export interface GetAdminUnknown200 {
  success: true
  data: UnknownMessage[]
  /**
   * Pass it as `cursor` for the next page; null on the last page.
   */
  nextCursor: string | null
}
export interface GetAdminUnknownQuery {
  /**
   * Rows per page.
   */
  limit?: number
  /**
   * The `nextCursor` of the previous page; opaque.
   */
  cursor?: string
}
export interface AdminPolicy {
  connectionId: string
  connectionName: string
  accountId: string | null
  providerKey: string
  channel: Channel
  enabled: boolean
  allowedTypes: MessageType[]
  sendModeByType: {
    [k: string]: string
  }
  requiresApprovedTemplate: boolean
  supportsUserSender: boolean
  supportsSystemSenderFallback: boolean
  priorityOrder: number
  retryPolicy: {
    maxAttempts: number
    backoffMs: number
  }
}
export interface GetAdminPolicies200 {
  success: true
  data: AdminPolicy[]
}
export interface ProviderView {
  key: string
  channels: Channel[]
  /**
   * JSON Schema 2020-12 of a connection's `config`
   */
  config: {
    [k: string]: unknown
  }
  /**
   * Items: Secret fields of `config`; they are never returned
   */
  secrets: string[]
  policy: {
    allowedTypes: MessageType[]
    sendModeByType: {
      [k: string]: string
    }
    requiresApprovedTemplate: boolean
    retryPolicy: {
      maxAttempts: number
      backoffMs: number
    }
  }
}
export interface GetAdminProviders200 {
  success: true
  data: ProviderView[]
}
export interface AdminAuditEntry {
  id: string
  /**
   * ISO 8601, UTC, with milliseconds.
   */
  at: string
  actor: ActorView
  /**
   * For example `api_key.create`
   */
  action: string
  target: string | null
  /**
   * The requested changes, without secrets
   */
  changes: {
    [k: string]: unknown
  }
  ip: string | null
  requestId: string
  accountId: string | null
}
export interface GetAdminAudit200 {
  success: true
  data: AdminAuditEntry[]
  /**
   * Pass it as `cursor` for the next page; null on the last page.
   */
  nextCursor: string | null
}
export interface GetAdminAuditQuery {
  /**
   * Rows per page.
   */
  limit?: number
  /**
   * The `nextCursor` of the previous page; opaque.
   */
  cursor?: string
  /**
   * An action such as `api_key.create`, or a group such as `api_key`
   */
  action?: string
  /**
   * Of a login or a key; nothing matches a malformed id
   */
  actorId?: string
  /**
   * ISO 8601
   */
  from?: string
  /**
   * ISO 8601; exclusive
   */
  to?: string
  /**
   * Only those of this account; `platform` for those of no account
   */
  accountId?: string
}
export interface GetMediaByAssetIdPath {
  assetId: string
}
export interface GetMediaByAssetIdQuery {
  token: string
}
export interface GetMediaByAssetIdHeader {
  /**
   * One part of the file, such as `bytes=0-99`
   */
  Range?: string
  /**
   * The `ETag` of the file that the part is of
   */
  'If-Range'?: string
  /**
   * The `ETag` of a file that the client has
   */
  'If-None-Match'?: string
}
export interface PostWebhooksByProviderByConnectionIdPath {
  provider: string
  connectionId: string
}
export interface GetWebhooksByProviderByConnectionIdPath {
  provider: string
  connectionId: string
}
export interface GetHealthz200 {
  status: 'ok'
}
export interface GetReadyz200 {
  status: 'ready'
}
/**
 * OpenAPI 3.1.
 */
export interface GetOpenapiJson200 {
  [k: string]: unknown
}

export interface Paths {
  '/api/v2/messages/send': {
    post: {
      parameters: { path?: never; query?: never; header?: PostMessagesSendHeader }
      requestBody: { content: { 'application/json': SendBody; 'multipart/form-data': FormData } }
      responses: {
        200: { content: { 'application/json': PostMessagesSend200 } }
        207: { content: { 'application/json': BatchResult } }
        400: { content: { 'application/json': ErrorBody } }
        401: { content: { 'application/json': ErrorBody } }
        402: { content: { 'application/json': ErrorBody } }
        403: { content: { 'application/json': ErrorBody } }
        404: { content: { 'application/json': ErrorBody } }
        409: { content: { 'application/json': ErrorBody } }
        413: { content: { 'application/json': ErrorBody } }
        415: { content: { 'application/json': ErrorBody } }
        429: { content: { 'application/json': ErrorBody } }
        503: { content: { 'application/json': ErrorBody } }
        default: { content: { 'application/json': ErrorBody } }
      }
    }
  }
  '/api/v2/messages/estimate': {
    post: {
      parameters: { path?: never; query?: never; header?: never }
      requestBody: { content: { 'application/json': SingleSendBody } }
      responses: {
        200: { content: { 'application/json': PostMessagesEstimate200 } }
        400: { content: { 'application/json': ErrorBody } }
        401: { content: { 'application/json': ErrorBody } }
        403: { content: { 'application/json': ErrorBody } }
        413: { content: { 'application/json': ErrorBody } }
        415: { content: { 'application/json': ErrorBody } }
        429: { content: { 'application/json': ErrorBody } }
        503: { content: { 'application/json': ErrorBody } }
        default: { content: { 'application/json': ErrorBody } }
      }
    }
  }
  '/api/v2/messages': {
    get: {
      parameters: { path?: never; query?: GetMessagesQuery; header?: never }
      responses: {
        200: { content: { 'application/json': GetMessages200 } }
        400: { content: { 'application/json': ErrorBody } }
        401: { content: { 'application/json': ErrorBody } }
        403: { content: { 'application/json': ErrorBody } }
        429: { content: { 'application/json': ErrorBody } }
        503: { content: { 'application/json': ErrorBody } }
        default: { content: { 'application/json': ErrorBody } }
      }
    }
  }
  '/api/v2/messages/events': {
    get: {
      parameters: { path?: never; query?: GetMessagesEventsQuery; header?: GetMessagesEventsHeader }
      responses: {
        200: { content: { 'text/event-stream': string } }
        400: { content: { 'application/json': ErrorBody } }
        401: { content: { 'application/json': ErrorBody } }
        403: { content: { 'application/json': ErrorBody } }
        429: { content: { 'application/json': ErrorBody } }
        503: { content: { 'application/json': ErrorBody } }
        default: { content: { 'application/json': ErrorBody } }
      }
    }
  }
  '/api/v2/messages/policies': {
    get: {
      parameters: { path?: never; query?: never; header?: never }
      responses: {
        200: { content: { 'application/json': GetMessagesPolicies200 } }
        400: { content: { 'application/json': ErrorBody } }
        401: { content: { 'application/json': ErrorBody } }
        403: { content: { 'application/json': ErrorBody } }
        429: { content: { 'application/json': ErrorBody } }
        503: { content: { 'application/json': ErrorBody } }
        default: { content: { 'application/json': ErrorBody } }
      }
    }
  }
  '/api/v2/messages/{messageId}': {
    get: {
      parameters: { path: GetMessagesByMessageIdPath; query?: never; header?: never }
      responses: {
        200: { content: { 'application/json': GetMessagesByMessageId200 } }
        400: { content: { 'application/json': ErrorBody } }
        401: { content: { 'application/json': ErrorBody } }
        403: { content: { 'application/json': ErrorBody } }
        404: { content: { 'application/json': ErrorBody } }
        429: { content: { 'application/json': ErrorBody } }
        503: { content: { 'application/json': ErrorBody } }
        default: { content: { 'application/json': ErrorBody } }
      }
    }
  }
  '/api/v2/messages/{messageId}/cancel': {
    post: {
      parameters: { path: PostMessagesByMessageIdCancelPath; query?: never; header?: never }
      responses: {
        200: { content: { 'application/json': PostMessagesByMessageIdCancel200 } }
        400: { content: { 'application/json': ErrorBody } }
        401: { content: { 'application/json': ErrorBody } }
        403: { content: { 'application/json': ErrorBody } }
        404: { content: { 'application/json': ErrorBody } }
        409: { content: { 'application/json': ErrorBody } }
        413: { content: { 'application/json': ErrorBody } }
        415: { content: { 'application/json': ErrorBody } }
        429: { content: { 'application/json': ErrorBody } }
        503: { content: { 'application/json': ErrorBody } }
        default: { content: { 'application/json': ErrorBody } }
      }
    }
  }
  '/api/v2/verification/send': {
    post: {
      parameters: { path?: never; query?: never; header?: PostVerificationSendHeader }
      requestBody: { content: { 'application/json': VerificationSend } }
      responses: {
        200: { content: { 'application/json': VerificationAttempt } }
        400: { content: { 'application/json': ErrorBody } }
        401: { content: { 'application/json': ErrorBody } }
        402: { content: { 'application/json': ErrorBody } }
        403: { content: { 'application/json': ErrorBody } }
        409: { content: { 'application/json': ErrorBody } }
        413: { content: { 'application/json': ErrorBody } }
        415: { content: { 'application/json': ErrorBody } }
        429: { content: { 'application/json': ErrorBody } }
        503: { content: { 'application/json': ErrorBody } }
        default: { content: { 'application/json': ErrorBody } }
      }
    }
  }
  '/api/v2/verification/resend': {
    post: {
      parameters: { path?: never; query?: never; header?: never }
      requestBody: { content: { 'application/json': VerificationResend } }
      responses: {
        200: { content: { 'application/json': VerificationAttempt } }
        400: { content: { 'application/json': ErrorBody } }
        401: { content: { 'application/json': ErrorBody } }
        402: { content: { 'application/json': ErrorBody } }
        403: { content: { 'application/json': ErrorBody } }
        404: { content: { 'application/json': ErrorBody } }
        409: { content: { 'application/json': ErrorBody } }
        413: { content: { 'application/json': ErrorBody } }
        415: { content: { 'application/json': ErrorBody } }
        429: { content: { 'application/json': ErrorBody } }
        503: { content: { 'application/json': ErrorBody } }
        default: { content: { 'application/json': ErrorBody } }
      }
    }
  }
  '/api/v2/verification/verify': {
    post: {
      parameters: { path?: never; query?: never; header?: never }
      requestBody: { content: { 'application/json': VerificationCheck } }
      responses: {
        200: { content: { 'application/json': Verified } }
        400: { content: { 'application/json': ErrorBody } }
        401: { content: { 'application/json': ErrorBody } }
        403: { content: { 'application/json': ErrorBody } }
        404: { content: { 'application/json': ErrorBody } }
        409: { content: { 'application/json': ErrorBody } }
        413: { content: { 'application/json': ErrorBody } }
        415: { content: { 'application/json': ErrorBody } }
        429: { content: { 'application/json': ErrorBody } }
        503: { content: { 'application/json': ErrorBody } }
        default: { content: { 'application/json': ErrorBody } }
      }
    }
  }
  '/api/v2/verification/{verificationId}': {
    get: {
      parameters: { path: GetVerificationByVerificationIdPath; query?: never; header?: never }
      responses: {
        200: { content: { 'application/json': GetVerificationByVerificationId200 } }
        400: { content: { 'application/json': ErrorBody } }
        401: { content: { 'application/json': ErrorBody } }
        403: { content: { 'application/json': ErrorBody } }
        404: { content: { 'application/json': ErrorBody } }
        429: { content: { 'application/json': ErrorBody } }
        503: { content: { 'application/json': ErrorBody } }
        default: { content: { 'application/json': ErrorBody } }
      }
    }
  }
  '/api/v2/messages/bulk': {
    post: {
      parameters: { path?: never; query?: never; header: PostMessagesBulkHeader }
      requestBody: { content: { 'application/json': BulkCreate } }
      responses: {
        202: { content: { 'application/json': BulkCreated } }
        400: { content: { 'application/json': ErrorBody } }
        401: { content: { 'application/json': ErrorBody } }
        403: { content: { 'application/json': ErrorBody } }
        408: { content: { 'application/json': ErrorBody } }
        409: { content: { 'application/json': ErrorBody } }
        413: { content: { 'application/json': ErrorBody } }
        415: { content: { 'application/json': ErrorBody } }
        429: { content: { 'application/json': ErrorBody } }
        503: { content: { 'application/json': ErrorBody } }
        default: { content: { 'application/json': ErrorBody } }
      }
    }
    get: {
      parameters: { path?: never; query?: GetMessagesBulkQuery; header?: never }
      responses: {
        200: { content: { 'application/json': GetMessagesBulk200 } }
        400: { content: { 'application/json': ErrorBody } }
        401: { content: { 'application/json': ErrorBody } }
        403: { content: { 'application/json': ErrorBody } }
        429: { content: { 'application/json': ErrorBody } }
        503: { content: { 'application/json': ErrorBody } }
        default: { content: { 'application/json': ErrorBody } }
      }
    }
  }
  '/api/v2/messages/bulk/{jobId}': {
    get: {
      parameters: { path: GetMessagesBulkByJobIdPath; query?: never; header?: never }
      responses: {
        200: { content: { 'application/json': BulkAnswer } }
        400: { content: { 'application/json': ErrorBody } }
        401: { content: { 'application/json': ErrorBody } }
        403: { content: { 'application/json': ErrorBody } }
        404: { content: { 'application/json': ErrorBody } }
        429: { content: { 'application/json': ErrorBody } }
        503: { content: { 'application/json': ErrorBody } }
        default: { content: { 'application/json': ErrorBody } }
      }
    }
  }
  '/api/v2/messages/bulk/{jobId}/rows': {
    get: {
      parameters: { path: GetMessagesBulkByJobIdRowsPath; query?: GetMessagesBulkByJobIdRowsQuery; header?: never }
      responses: {
        200: { content: { 'application/json': GetMessagesBulkByJobIdRows200 } }
        400: { content: { 'application/json': ErrorBody } }
        401: { content: { 'application/json': ErrorBody } }
        403: { content: { 'application/json': ErrorBody } }
        404: { content: { 'application/json': ErrorBody } }
        429: { content: { 'application/json': ErrorBody } }
        503: { content: { 'application/json': ErrorBody } }
        default: { content: { 'application/json': ErrorBody } }
      }
    }
  }
  '/api/v2/messages/bulk/{jobId}/events': {
    get: {
      parameters: { path: GetMessagesBulkByJobIdEventsPath; query?: never; header?: never }
      responses: {
        200: { content: { 'text/event-stream': string } }
        400: { content: { 'application/json': ErrorBody } }
        401: { content: { 'application/json': ErrorBody } }
        403: { content: { 'application/json': ErrorBody } }
        404: { content: { 'application/json': ErrorBody } }
        429: { content: { 'application/json': ErrorBody } }
        503: { content: { 'application/json': ErrorBody } }
        default: { content: { 'application/json': ErrorBody } }
      }
    }
  }
  '/api/v2/messages/bulk/{jobId}/pause': {
    post: {
      parameters: { path: PostMessagesBulkByJobIdPausePath; query?: never; header?: never }
      responses: {
        200: { content: { 'application/json': BulkAnswer } }
        400: { content: { 'application/json': ErrorBody } }
        401: { content: { 'application/json': ErrorBody } }
        403: { content: { 'application/json': ErrorBody } }
        404: { content: { 'application/json': ErrorBody } }
        409: { content: { 'application/json': ErrorBody } }
        413: { content: { 'application/json': ErrorBody } }
        415: { content: { 'application/json': ErrorBody } }
        429: { content: { 'application/json': ErrorBody } }
        503: { content: { 'application/json': ErrorBody } }
        default: { content: { 'application/json': ErrorBody } }
      }
    }
  }
  '/api/v2/messages/bulk/{jobId}/resume': {
    post: {
      parameters: { path: PostMessagesBulkByJobIdResumePath; query?: never; header?: never }
      responses: {
        200: { content: { 'application/json': BulkAnswer } }
        400: { content: { 'application/json': ErrorBody } }
        401: { content: { 'application/json': ErrorBody } }
        403: { content: { 'application/json': ErrorBody } }
        404: { content: { 'application/json': ErrorBody } }
        409: { content: { 'application/json': ErrorBody } }
        413: { content: { 'application/json': ErrorBody } }
        415: { content: { 'application/json': ErrorBody } }
        429: { content: { 'application/json': ErrorBody } }
        503: { content: { 'application/json': ErrorBody } }
        default: { content: { 'application/json': ErrorBody } }
      }
    }
  }
  '/api/v2/messages/bulk/{jobId}/cancel': {
    post: {
      parameters: { path: PostMessagesBulkByJobIdCancelPath; query?: never; header?: never }
      responses: {
        200: { content: { 'application/json': BulkAnswer } }
        400: { content: { 'application/json': ErrorBody } }
        401: { content: { 'application/json': ErrorBody } }
        403: { content: { 'application/json': ErrorBody } }
        404: { content: { 'application/json': ErrorBody } }
        409: { content: { 'application/json': ErrorBody } }
        413: { content: { 'application/json': ErrorBody } }
        415: { content: { 'application/json': ErrorBody } }
        429: { content: { 'application/json': ErrorBody } }
        503: { content: { 'application/json': ErrorBody } }
        default: { content: { 'application/json': ErrorBody } }
      }
    }
  }
  '/api/v2/inbound': {
    get: {
      parameters: { path?: never; query?: GetInboundQuery; header?: never }
      responses: {
        200: { content: { 'application/json': GetInbound200 } }
        400: { content: { 'application/json': ErrorBody } }
        401: { content: { 'application/json': ErrorBody } }
        403: { content: { 'application/json': ErrorBody } }
        429: { content: { 'application/json': ErrorBody } }
        503: { content: { 'application/json': ErrorBody } }
        default: { content: { 'application/json': ErrorBody } }
      }
    }
  }
  '/api/v2/inbound/events': {
    get: {
      parameters: { path?: never; query?: GetInboundEventsQuery; header?: GetInboundEventsHeader }
      responses: {
        200: { content: { 'text/event-stream': string } }
        400: { content: { 'application/json': ErrorBody } }
        401: { content: { 'application/json': ErrorBody } }
        403: { content: { 'application/json': ErrorBody } }
        429: { content: { 'application/json': ErrorBody } }
        503: { content: { 'application/json': ErrorBody } }
        default: { content: { 'application/json': ErrorBody } }
      }
    }
  }
  '/api/v2/inbound/{inboundId}': {
    get: {
      parameters: { path: GetInboundByInboundIdPath; query?: never; header?: never }
      responses: {
        200: { content: { 'application/json': GetInboundByInboundId200 } }
        400: { content: { 'application/json': ErrorBody } }
        401: { content: { 'application/json': ErrorBody } }
        403: { content: { 'application/json': ErrorBody } }
        404: { content: { 'application/json': ErrorBody } }
        429: { content: { 'application/json': ErrorBody } }
        503: { content: { 'application/json': ErrorBody } }
        default: { content: { 'application/json': ErrorBody } }
      }
    }
  }
  '/api/v2/inbound/{inboundId}/media/{index}': {
    get: {
      parameters: { path: GetInboundByInboundIdMediaByIndexPath; query?: never; header?: never }
      responses: {
        200: { content: { '*/*': string } }
        400: { content: { 'application/json': ErrorBody } }
        401: { content: { 'application/json': ErrorBody } }
        403: { content: { 'application/json': ErrorBody } }
        404: { content: { 'application/json': ErrorBody } }
        429: { content: { 'application/json': ErrorBody } }
        503: { content: { 'application/json': ErrorBody } }
        default: { content: { 'application/json': ErrorBody } }
      }
    }
  }
  '/api/v2/suppressions': {
    post: {
      parameters: { path?: never; query?: never; header?: never }
      requestBody: { content: { 'application/json': SuppressionCreate } }
      responses: {
        201: { content: { 'application/json': PostSuppressions201 } }
        400: { content: { 'application/json': ErrorBody } }
        401: { content: { 'application/json': ErrorBody } }
        403: { content: { 'application/json': ErrorBody } }
        409: { content: { 'application/json': ErrorBody } }
        413: { content: { 'application/json': ErrorBody } }
        415: { content: { 'application/json': ErrorBody } }
        429: { content: { 'application/json': ErrorBody } }
        503: { content: { 'application/json': ErrorBody } }
        default: { content: { 'application/json': ErrorBody } }
      }
    }
    get: {
      parameters: { path?: never; query?: GetSuppressionsQuery; header?: never }
      responses: {
        200: { content: { 'application/json': GetSuppressions200 } }
        400: { content: { 'application/json': ErrorBody } }
        401: { content: { 'application/json': ErrorBody } }
        403: { content: { 'application/json': ErrorBody } }
        429: { content: { 'application/json': ErrorBody } }
        503: { content: { 'application/json': ErrorBody } }
        default: { content: { 'application/json': ErrorBody } }
      }
    }
  }
  '/api/v2/suppressions/{id}': {
    delete: {
      parameters: { path: DeleteSuppressionsByIdPath; query?: never; header?: never }
      responses: {
        200: { content: { 'application/json': DeleteSuppressionsById200 } }
        400: { content: { 'application/json': ErrorBody } }
        401: { content: { 'application/json': ErrorBody } }
        403: { content: { 'application/json': ErrorBody } }
        404: { content: { 'application/json': ErrorBody } }
        413: { content: { 'application/json': ErrorBody } }
        415: { content: { 'application/json': ErrorBody } }
        429: { content: { 'application/json': ErrorBody } }
        503: { content: { 'application/json': ErrorBody } }
        default: { content: { 'application/json': ErrorBody } }
      }
    }
  }
  '/api/v2/account': {
    get: {
      parameters: { path?: never; query?: never; header?: never }
      responses: {
        200: { content: { 'application/json': GetAccount200 } }
        400: { content: { 'application/json': ErrorBody } }
        401: { content: { 'application/json': ErrorBody } }
        403: { content: { 'application/json': ErrorBody } }
        429: { content: { 'application/json': ErrorBody } }
        503: { content: { 'application/json': ErrorBody } }
        default: { content: { 'application/json': ErrorBody } }
      }
    }
    patch: {
      parameters: { path?: never; query?: never; header?: never }
      requestBody: { content: { 'application/json': OwnAccountUpdate } }
      responses: {
        200: { content: { 'application/json': PatchAccount200 } }
        400: { content: { 'application/json': ErrorBody } }
        401: { content: { 'application/json': ErrorBody } }
        403: { content: { 'application/json': ErrorBody } }
        413: { content: { 'application/json': ErrorBody } }
        415: { content: { 'application/json': ErrorBody } }
        429: { content: { 'application/json': ErrorBody } }
        503: { content: { 'application/json': ErrorBody } }
        default: { content: { 'application/json': ErrorBody } }
      }
    }
  }
  '/api/v2/wallet': {
    get: {
      parameters: { path?: never; query?: never; header?: never }
      responses: {
        200: { content: { 'application/json': GetWallet200 } }
        400: { content: { 'application/json': ErrorBody } }
        401: { content: { 'application/json': ErrorBody } }
        403: { content: { 'application/json': ErrorBody } }
        429: { content: { 'application/json': ErrorBody } }
        503: { content: { 'application/json': ErrorBody } }
        default: { content: { 'application/json': ErrorBody } }
      }
    }
    patch: {
      parameters: { path?: never; query?: never; header?: never }
      requestBody: { content: { 'application/json': WalletUpdate } }
      responses: {
        200: { content: { 'application/json': PatchWallet200 } }
        400: { content: { 'application/json': ErrorBody } }
        401: { content: { 'application/json': ErrorBody } }
        403: { content: { 'application/json': ErrorBody } }
        413: { content: { 'application/json': ErrorBody } }
        415: { content: { 'application/json': ErrorBody } }
        429: { content: { 'application/json': ErrorBody } }
        503: { content: { 'application/json': ErrorBody } }
        default: { content: { 'application/json': ErrorBody } }
      }
    }
  }
  '/api/v2/wallet/ledger': {
    get: {
      parameters: { path?: never; query?: GetWalletLedgerQuery; header?: never }
      responses: {
        200: { content: { 'application/json': GetWalletLedger200 } }
        400: { content: { 'application/json': ErrorBody } }
        401: { content: { 'application/json': ErrorBody } }
        403: { content: { 'application/json': ErrorBody } }
        429: { content: { 'application/json': ErrorBody } }
        503: { content: { 'application/json': ErrorBody } }
        default: { content: { 'application/json': ErrorBody } }
      }
    }
  }
  '/api/v2/sandbox/messages': {
    get: {
      parameters: { path?: never; query?: GetSandboxMessagesQuery; header?: never }
      responses: {
        200: { content: { 'application/json': SandboxPage } }
        400: { content: { 'application/json': ErrorBody } }
        401: { content: { 'application/json': ErrorBody } }
        403: { content: { 'application/json': ErrorBody } }
        429: { content: { 'application/json': ErrorBody } }
        503: { content: { 'application/json': ErrorBody } }
        default: { content: { 'application/json': ErrorBody } }
      }
    }
  }
  '/api/v2/templates/media': {
    post: {
      parameters: { path?: never; query?: never; header?: never }
      requestBody: { content: { 'multipart/form-data': FormData } }
      responses: {
        201: { content: { 'application/json': PostTemplatesMedia201 } }
        400: { content: { 'application/json': ErrorBody } }
        401: { content: { 'application/json': ErrorBody } }
        403: { content: { 'application/json': ErrorBody } }
        409: { content: { 'application/json': ErrorBody } }
        413: { content: { 'application/json': ErrorBody } }
        415: { content: { 'application/json': ErrorBody } }
        429: { content: { 'application/json': ErrorBody } }
        503: { content: { 'application/json': ErrorBody } }
        default: { content: { 'application/json': ErrorBody } }
      }
    }
  }
  '/api/v2/templates/media/{assetId}': {
    get: {
      parameters: { path: GetTemplatesMediaByAssetIdPath; query?: never; header?: never }
      responses: {
        200: { content: { 'application/json': GetTemplatesMediaByAssetId200 } }
        400: { content: { 'application/json': ErrorBody } }
        401: { content: { 'application/json': ErrorBody } }
        403: { content: { 'application/json': ErrorBody } }
        404: { content: { 'application/json': ErrorBody } }
        429: { content: { 'application/json': ErrorBody } }
        503: { content: { 'application/json': ErrorBody } }
        default: { content: { 'application/json': ErrorBody } }
      }
    }
    delete: {
      parameters: { path: DeleteTemplatesMediaByAssetIdPath; query?: never; header?: never }
      responses: {
        200: { content: { 'application/json': DeleteTemplatesMediaByAssetId200 } }
        400: { content: { 'application/json': ErrorBody } }
        401: { content: { 'application/json': ErrorBody } }
        403: { content: { 'application/json': ErrorBody } }
        404: { content: { 'application/json': ErrorBody } }
        409: { content: { 'application/json': ErrorBody } }
        413: { content: { 'application/json': ErrorBody } }
        415: { content: { 'application/json': ErrorBody } }
        429: { content: { 'application/json': ErrorBody } }
        503: { content: { 'application/json': ErrorBody } }
        default: { content: { 'application/json': ErrorBody } }
      }
    }
  }
  '/api/v2/sms-senders': {
    post: {
      parameters: { path?: never; query?: never; header?: never }
      requestBody: { content: { 'application/json': SmsSenderRequest } }
      responses: {
        201: { content: { 'application/json': PostSmsSenders201 } }
        400: { content: { 'application/json': ErrorBody } }
        401: { content: { 'application/json': ErrorBody } }
        403: { content: { 'application/json': ErrorBody } }
        409: { content: { 'application/json': ErrorBody } }
        413: { content: { 'application/json': ErrorBody } }
        415: { content: { 'application/json': ErrorBody } }
        429: { content: { 'application/json': ErrorBody } }
        503: { content: { 'application/json': ErrorBody } }
        default: { content: { 'application/json': ErrorBody } }
      }
    }
    get: {
      parameters: { path?: never; query?: GetSmsSendersQuery; header?: never }
      responses: {
        200: { content: { 'application/json': GetSmsSenders200 } }
        400: { content: { 'application/json': ErrorBody } }
        401: { content: { 'application/json': ErrorBody } }
        403: { content: { 'application/json': ErrorBody } }
        429: { content: { 'application/json': ErrorBody } }
        503: { content: { 'application/json': ErrorBody } }
        default: { content: { 'application/json': ErrorBody } }
      }
    }
  }
  '/api/v2/sms-senders/{id}/default': {
    post: {
      parameters: { path: PostSmsSendersByIdDefaultPath; query?: never; header?: never }
      responses: {
        200: { content: { 'application/json': PostSmsSendersByIdDefault200 } }
        400: { content: { 'application/json': ErrorBody } }
        401: { content: { 'application/json': ErrorBody } }
        403: { content: { 'application/json': ErrorBody } }
        404: { content: { 'application/json': ErrorBody } }
        409: { content: { 'application/json': ErrorBody } }
        413: { content: { 'application/json': ErrorBody } }
        415: { content: { 'application/json': ErrorBody } }
        429: { content: { 'application/json': ErrorBody } }
        503: { content: { 'application/json': ErrorBody } }
        default: { content: { 'application/json': ErrorBody } }
      }
    }
  }
  '/api/v2/official-senders': {
    get: {
      parameters: { path?: never; query?: GetOfficialSendersQuery; header?: never }
      responses: {
        200: { content: { 'application/json': GetOfficialSenders200 } }
        400: { content: { 'application/json': ErrorBody } }
        401: { content: { 'application/json': ErrorBody } }
        403: { content: { 'application/json': ErrorBody } }
        429: { content: { 'application/json': ErrorBody } }
        503: { content: { 'application/json': ErrorBody } }
        default: { content: { 'application/json': ErrorBody } }
      }
    }
  }
  '/api/v2/official-senders/{id}/default': {
    post: {
      parameters: { path: PostOfficialSendersByIdDefaultPath; query?: never; header?: never }
      responses: {
        200: { content: { 'application/json': PostOfficialSendersByIdDefault200 } }
        400: { content: { 'application/json': ErrorBody } }
        401: { content: { 'application/json': ErrorBody } }
        403: { content: { 'application/json': ErrorBody } }
        404: { content: { 'application/json': ErrorBody } }
        409: { content: { 'application/json': ErrorBody } }
        413: { content: { 'application/json': ErrorBody } }
        415: { content: { 'application/json': ErrorBody } }
        429: { content: { 'application/json': ErrorBody } }
        503: { content: { 'application/json': ErrorBody } }
        default: { content: { 'application/json': ErrorBody } }
      }
    }
  }
  '/api/v2/chatapp-sessions': {
    post: {
      parameters: { path?: never; query?: never; header?: never }
      requestBody: { content: { 'application/json': WebSessionCreate } }
      responses: {
        201: { content: { 'application/json': PostChatappSessions201 } }
        400: { content: { 'application/json': ErrorBody } }
        401: { content: { 'application/json': ErrorBody } }
        403: { content: { 'application/json': ErrorBody } }
        409: { content: { 'application/json': ErrorBody } }
        413: { content: { 'application/json': ErrorBody } }
        415: { content: { 'application/json': ErrorBody } }
        429: { content: { 'application/json': ErrorBody } }
        503: { content: { 'application/json': ErrorBody } }
        default: { content: { 'application/json': ErrorBody } }
      }
    }
    get: {
      parameters: { path?: never; query?: GetChatappSessionsQuery; header?: never }
      responses: {
        200: { content: { 'application/json': GetChatappSessions200 } }
        400: { content: { 'application/json': ErrorBody } }
        401: { content: { 'application/json': ErrorBody } }
        403: { content: { 'application/json': ErrorBody } }
        429: { content: { 'application/json': ErrorBody } }
        503: { content: { 'application/json': ErrorBody } }
        default: { content: { 'application/json': ErrorBody } }
      }
    }
  }
  '/api/v2/chatapp-sessions/{name}': {
    get: {
      parameters: { path: WebSessionParams; query?: never; header?: never }
      responses: {
        200: { content: { 'application/json': GetChatappSessionsByName200 } }
        400: { content: { 'application/json': ErrorBody } }
        401: { content: { 'application/json': ErrorBody } }
        403: { content: { 'application/json': ErrorBody } }
        404: { content: { 'application/json': ErrorBody } }
        429: { content: { 'application/json': ErrorBody } }
        503: { content: { 'application/json': ErrorBody } }
        default: { content: { 'application/json': ErrorBody } }
      }
    }
    delete: {
      parameters: { path: WebSessionParams; query?: never; header?: never }
      responses: {
        200: { content: { 'application/json': DeleteChatappSessionsByName200 } }
        400: { content: { 'application/json': ErrorBody } }
        401: { content: { 'application/json': ErrorBody } }
        403: { content: { 'application/json': ErrorBody } }
        404: { content: { 'application/json': ErrorBody } }
        413: { content: { 'application/json': ErrorBody } }
        415: { content: { 'application/json': ErrorBody } }
        429: { content: { 'application/json': ErrorBody } }
        503: { content: { 'application/json': ErrorBody } }
        default: { content: { 'application/json': ErrorBody } }
      }
    }
  }
  '/api/v2/chatapp-sessions/{name}/chats': {
    get: {
      parameters: { path: WebSessionParams; query?: GetChatappSessionsByNameChatsQuery; header?: never }
      responses: {
        200: { content: { 'application/json': GetChatappSessionsByNameChats200 } }
        400: { content: { 'application/json': ErrorBody } }
        401: { content: { 'application/json': ErrorBody } }
        403: { content: { 'application/json': ErrorBody } }
        404: { content: { 'application/json': ErrorBody } }
        429: { content: { 'application/json': ErrorBody } }
        503: { content: { 'application/json': ErrorBody } }
        default: { content: { 'application/json': ErrorBody } }
      }
    }
  }
  '/api/v2/chatapp-sessions/{name}/restart': {
    post: {
      parameters: { path: WebSessionParams; query?: never; header?: never }
      responses: {
        200: { content: { 'application/json': PostChatappSessionsByNameRestart200 } }
        400: { content: { 'application/json': ErrorBody } }
        401: { content: { 'application/json': ErrorBody } }
        403: { content: { 'application/json': ErrorBody } }
        404: { content: { 'application/json': ErrorBody } }
        413: { content: { 'application/json': ErrorBody } }
        415: { content: { 'application/json': ErrorBody } }
        429: { content: { 'application/json': ErrorBody } }
        503: { content: { 'application/json': ErrorBody } }
        default: { content: { 'application/json': ErrorBody } }
      }
    }
  }
  '/api/v2/botapp-bots': {
    post: {
      parameters: { path?: never; query?: never; header?: never }
      requestBody: { content: { 'application/json': BotCreate } }
      responses: {
        201: { content: { 'application/json': PostBotappBots201 } }
        400: { content: { 'application/json': ErrorBody } }
        401: { content: { 'application/json': ErrorBody } }
        403: { content: { 'application/json': ErrorBody } }
        409: { content: { 'application/json': ErrorBody } }
        413: { content: { 'application/json': ErrorBody } }
        415: { content: { 'application/json': ErrorBody } }
        429: { content: { 'application/json': ErrorBody } }
        503: { content: { 'application/json': ErrorBody } }
        default: { content: { 'application/json': ErrorBody } }
      }
    }
    get: {
      parameters: { path?: never; query?: GetBotappBotsQuery; header?: never }
      responses: {
        200: { content: { 'application/json': GetBotappBots200 } }
        400: { content: { 'application/json': ErrorBody } }
        401: { content: { 'application/json': ErrorBody } }
        403: { content: { 'application/json': ErrorBody } }
        429: { content: { 'application/json': ErrorBody } }
        503: { content: { 'application/json': ErrorBody } }
        default: { content: { 'application/json': ErrorBody } }
      }
    }
  }
  '/api/v2/botapp-bots/{botId}': {
    delete: {
      parameters: { path: DeleteBotappBotsByBotIdPath; query?: never; header?: never }
      responses: {
        200: { content: { 'application/json': DeleteBotappBotsByBotId200 } }
        400: { content: { 'application/json': ErrorBody } }
        401: { content: { 'application/json': ErrorBody } }
        403: { content: { 'application/json': ErrorBody } }
        404: { content: { 'application/json': ErrorBody } }
        413: { content: { 'application/json': ErrorBody } }
        415: { content: { 'application/json': ErrorBody } }
        429: { content: { 'application/json': ErrorBody } }
        503: { content: { 'application/json': ErrorBody } }
        default: { content: { 'application/json': ErrorBody } }
      }
    }
  }
  '/api/v2/botapp-bots/{botId}/subscribers': {
    get: {
      parameters: { path: GetBotappBotsByBotIdSubscribersPath; query?: GetBotappBotsByBotIdSubscribersQuery; header?: never }
      responses: {
        200: { content: { 'application/json': SubscriberPage } }
        400: { content: { 'application/json': ErrorBody } }
        401: { content: { 'application/json': ErrorBody } }
        403: { content: { 'application/json': ErrorBody } }
        404: { content: { 'application/json': ErrorBody } }
        429: { content: { 'application/json': ErrorBody } }
        503: { content: { 'application/json': ErrorBody } }
        default: { content: { 'application/json': ErrorBody } }
      }
    }
  }
  '/api/v2/templates': {
    post: {
      parameters: { path?: never; query?: never; header?: never }
      requestBody: { content: { 'application/json': TemplateCreate; 'multipart/form-data': FormData } }
      responses: {
        201: { content: { 'application/json': PostTemplates201 } }
        400: { content: { 'application/json': ErrorBody } }
        401: { content: { 'application/json': ErrorBody } }
        403: { content: { 'application/json': ErrorBody } }
        409: { content: { 'application/json': ErrorBody } }
        413: { content: { 'application/json': ErrorBody } }
        415: { content: { 'application/json': ErrorBody } }
        429: { content: { 'application/json': ErrorBody } }
        503: { content: { 'application/json': ErrorBody } }
        default: { content: { 'application/json': ErrorBody } }
      }
    }
    get: {
      parameters: { path?: never; query?: GetTemplatesQuery; header?: never }
      responses: {
        200: { content: { 'application/json': TemplateList } }
        400: { content: { 'application/json': ErrorBody } }
        401: { content: { 'application/json': ErrorBody } }
        403: { content: { 'application/json': ErrorBody } }
        404: { content: { 'application/json': ErrorBody } }
        429: { content: { 'application/json': ErrorBody } }
        503: { content: { 'application/json': ErrorBody } }
        default: { content: { 'application/json': ErrorBody } }
      }
    }
  }
  '/api/v2/templates/platform': {
    get: {
      parameters: { path?: never; query?: GetTemplatesPlatformQuery; header?: never }
      responses: {
        200: { content: { 'application/json': TemplateList } }
        400: { content: { 'application/json': ErrorBody } }
        401: { content: { 'application/json': ErrorBody } }
        403: { content: { 'application/json': ErrorBody } }
        404: { content: { 'application/json': ErrorBody } }
        429: { content: { 'application/json': ErrorBody } }
        503: { content: { 'application/json': ErrorBody } }
        default: { content: { 'application/json': ErrorBody } }
      }
    }
  }
  '/api/v2/templates/{id}': {
    get: {
      parameters: { path: GetTemplatesByIdPath; query?: never; header?: never }
      responses: {
        200: { content: { 'application/json': GetTemplatesById200 } }
        400: { content: { 'application/json': ErrorBody } }
        401: { content: { 'application/json': ErrorBody } }
        403: { content: { 'application/json': ErrorBody } }
        404: { content: { 'application/json': ErrorBody } }
        429: { content: { 'application/json': ErrorBody } }
        503: { content: { 'application/json': ErrorBody } }
        default: { content: { 'application/json': ErrorBody } }
      }
    }
    delete: {
      parameters: { path: DeleteTemplatesByIdPath; query?: never; header?: never }
      responses: {
        200: { content: { 'application/json': DeleteTemplatesById200 } }
        400: { content: { 'application/json': ErrorBody } }
        401: { content: { 'application/json': ErrorBody } }
        403: { content: { 'application/json': ErrorBody } }
        404: { content: { 'application/json': ErrorBody } }
        413: { content: { 'application/json': ErrorBody } }
        415: { content: { 'application/json': ErrorBody } }
        429: { content: { 'application/json': ErrorBody } }
        503: { content: { 'application/json': ErrorBody } }
        default: { content: { 'application/json': ErrorBody } }
      }
    }
  }
  '/api/v2/templates/{id}/default': {
    post: {
      parameters: { path: PostTemplatesByIdDefaultPath; query?: never; header?: never }
      responses: {
        200: { content: { 'application/json': PostTemplatesByIdDefault200 } }
        400: { content: { 'application/json': ErrorBody } }
        401: { content: { 'application/json': ErrorBody } }
        403: { content: { 'application/json': ErrorBody } }
        404: { content: { 'application/json': ErrorBody } }
        409: { content: { 'application/json': ErrorBody } }
        413: { content: { 'application/json': ErrorBody } }
        415: { content: { 'application/json': ErrorBody } }
        429: { content: { 'application/json': ErrorBody } }
        503: { content: { 'application/json': ErrorBody } }
        default: { content: { 'application/json': ErrorBody } }
      }
    }
  }
  '/api/v2/templates/{id}/enable': {
    post: {
      parameters: { path: PostTemplatesByIdEnablePath; query?: never; header?: never }
      responses: {
        200: { content: { 'application/json': PostTemplatesByIdEnable200 } }
        400: { content: { 'application/json': ErrorBody } }
        401: { content: { 'application/json': ErrorBody } }
        403: { content: { 'application/json': ErrorBody } }
        404: { content: { 'application/json': ErrorBody } }
        409: { content: { 'application/json': ErrorBody } }
        413: { content: { 'application/json': ErrorBody } }
        415: { content: { 'application/json': ErrorBody } }
        429: { content: { 'application/json': ErrorBody } }
        503: { content: { 'application/json': ErrorBody } }
        default: { content: { 'application/json': ErrorBody } }
      }
    }
  }
  '/api/v2/templates/{id}/disable': {
    post: {
      parameters: { path: PostTemplatesByIdDisablePath; query?: never; header?: never }
      responses: {
        200: { content: { 'application/json': PostTemplatesByIdDisable200 } }
        400: { content: { 'application/json': ErrorBody } }
        401: { content: { 'application/json': ErrorBody } }
        403: { content: { 'application/json': ErrorBody } }
        404: { content: { 'application/json': ErrorBody } }
        409: { content: { 'application/json': ErrorBody } }
        413: { content: { 'application/json': ErrorBody } }
        415: { content: { 'application/json': ErrorBody } }
        429: { content: { 'application/json': ErrorBody } }
        503: { content: { 'application/json': ErrorBody } }
        default: { content: { 'application/json': ErrorBody } }
      }
    }
  }
  '/api/v2/templates/{id}/preview': {
    post: {
      parameters: { path: PostTemplatesByIdPreviewPath; query?: never; header?: never }
      requestBody: { content: { 'application/json': TemplatePreviewBody } }
      responses: {
        200: { content: { 'application/json': PostTemplatesByIdPreview200 } }
        400: { content: { 'application/json': ErrorBody } }
        401: { content: { 'application/json': ErrorBody } }
        403: { content: { 'application/json': ErrorBody } }
        404: { content: { 'application/json': ErrorBody } }
        413: { content: { 'application/json': ErrorBody } }
        415: { content: { 'application/json': ErrorBody } }
        429: { content: { 'application/json': ErrorBody } }
        503: { content: { 'application/json': ErrorBody } }
        default: { content: { 'application/json': ErrorBody } }
      }
    }
  }
  '/api/v2/verification/blocks': {
    get: {
      parameters: { path?: never; query?: GetVerificationBlocksQuery; header?: never }
      responses: {
        200: { content: { 'application/json': GetVerificationBlocks200 } }
        400: { content: { 'application/json': ErrorBody } }
        401: { content: { 'application/json': ErrorBody } }
        403: { content: { 'application/json': ErrorBody } }
        429: { content: { 'application/json': ErrorBody } }
        503: { content: { 'application/json': ErrorBody } }
        default: { content: { 'application/json': ErrorBody } }
      }
    }
  }
  '/api/v2/verification/stats': {
    get: {
      parameters: { path?: never; query?: GetVerificationStatsQuery; header?: never }
      responses: {
        200: { content: { 'application/json': GetVerificationStats200 } }
        400: { content: { 'application/json': ErrorBody } }
        401: { content: { 'application/json': ErrorBody } }
        403: { content: { 'application/json': ErrorBody } }
        429: { content: { 'application/json': ErrorBody } }
        503: { content: { 'application/json': ErrorBody } }
        default: { content: { 'application/json': ErrorBody } }
      }
    }
  }
  '/api/v2/webhooks': {
    post: {
      parameters: { path?: never; query?: never; header?: never }
      requestBody: { content: { 'application/json': WebhookCreate } }
      responses: {
        201: { content: { 'application/json': PostWebhooks201 } }
        400: { content: { 'application/json': ErrorBody } }
        401: { content: { 'application/json': ErrorBody } }
        403: { content: { 'application/json': ErrorBody } }
        409: { content: { 'application/json': ErrorBody } }
        413: { content: { 'application/json': ErrorBody } }
        415: { content: { 'application/json': ErrorBody } }
        429: { content: { 'application/json': ErrorBody } }
        503: { content: { 'application/json': ErrorBody } }
        default: { content: { 'application/json': ErrorBody } }
      }
    }
    get: {
      parameters: { path?: never; query?: GetWebhooksQuery; header?: never }
      responses: {
        200: { content: { 'application/json': GetWebhooks200 } }
        400: { content: { 'application/json': ErrorBody } }
        401: { content: { 'application/json': ErrorBody } }
        403: { content: { 'application/json': ErrorBody } }
        429: { content: { 'application/json': ErrorBody } }
        503: { content: { 'application/json': ErrorBody } }
        default: { content: { 'application/json': ErrorBody } }
      }
    }
  }
  '/api/v2/webhooks/{id}': {
    get: {
      parameters: { path: GetWebhooksByIdPath; query?: never; header?: never }
      responses: {
        200: { content: { 'application/json': GetWebhooksById200 } }
        400: { content: { 'application/json': ErrorBody } }
        401: { content: { 'application/json': ErrorBody } }
        403: { content: { 'application/json': ErrorBody } }
        404: { content: { 'application/json': ErrorBody } }
        429: { content: { 'application/json': ErrorBody } }
        503: { content: { 'application/json': ErrorBody } }
        default: { content: { 'application/json': ErrorBody } }
      }
    }
    patch: {
      parameters: { path: PatchWebhooksByIdPath; query?: never; header?: never }
      requestBody: { content: { 'application/json': WebhookUpdate } }
      responses: {
        200: { content: { 'application/json': PatchWebhooksById200 } }
        400: { content: { 'application/json': ErrorBody } }
        401: { content: { 'application/json': ErrorBody } }
        403: { content: { 'application/json': ErrorBody } }
        404: { content: { 'application/json': ErrorBody } }
        413: { content: { 'application/json': ErrorBody } }
        415: { content: { 'application/json': ErrorBody } }
        429: { content: { 'application/json': ErrorBody } }
        503: { content: { 'application/json': ErrorBody } }
        default: { content: { 'application/json': ErrorBody } }
      }
    }
    delete: {
      parameters: { path: DeleteWebhooksByIdPath; query?: never; header?: never }
      responses: {
        200: { content: { 'application/json': DeleteWebhooksById200 } }
        400: { content: { 'application/json': ErrorBody } }
        401: { content: { 'application/json': ErrorBody } }
        403: { content: { 'application/json': ErrorBody } }
        404: { content: { 'application/json': ErrorBody } }
        413: { content: { 'application/json': ErrorBody } }
        415: { content: { 'application/json': ErrorBody } }
        429: { content: { 'application/json': ErrorBody } }
        503: { content: { 'application/json': ErrorBody } }
        default: { content: { 'application/json': ErrorBody } }
      }
    }
  }
  '/api/v2/webhooks/{id}/test': {
    post: {
      parameters: { path: PostWebhooksByIdTestPath; query?: never; header?: never }
      responses: {
        201: { content: { 'application/json': PostWebhooksByIdTest201 } }
        400: { content: { 'application/json': ErrorBody } }
        401: { content: { 'application/json': ErrorBody } }
        403: { content: { 'application/json': ErrorBody } }
        404: { content: { 'application/json': ErrorBody } }
        409: { content: { 'application/json': ErrorBody } }
        413: { content: { 'application/json': ErrorBody } }
        415: { content: { 'application/json': ErrorBody } }
        429: { content: { 'application/json': ErrorBody } }
        503: { content: { 'application/json': ErrorBody } }
        default: { content: { 'application/json': ErrorBody } }
      }
    }
  }
  '/api/v2/webhooks/{id}/rotate': {
    post: {
      parameters: { path: PostWebhooksByIdRotatePath; query?: never; header?: never }
      responses: {
        200: { content: { 'application/json': PostWebhooksByIdRotate200 } }
        400: { content: { 'application/json': ErrorBody } }
        401: { content: { 'application/json': ErrorBody } }
        403: { content: { 'application/json': ErrorBody } }
        404: { content: { 'application/json': ErrorBody } }
        413: { content: { 'application/json': ErrorBody } }
        415: { content: { 'application/json': ErrorBody } }
        429: { content: { 'application/json': ErrorBody } }
        503: { content: { 'application/json': ErrorBody } }
        default: { content: { 'application/json': ErrorBody } }
      }
    }
  }
  '/api/v2/webhooks/{id}/deliveries': {
    get: {
      parameters: { path: GetWebhooksByIdDeliveriesPath; query?: GetWebhooksByIdDeliveriesQuery; header?: never }
      responses: {
        200: { content: { 'application/json': GetWebhooksByIdDeliveries200 } }
        400: { content: { 'application/json': ErrorBody } }
        401: { content: { 'application/json': ErrorBody } }
        403: { content: { 'application/json': ErrorBody } }
        404: { content: { 'application/json': ErrorBody } }
        429: { content: { 'application/json': ErrorBody } }
        503: { content: { 'application/json': ErrorBody } }
        default: { content: { 'application/json': ErrorBody } }
      }
    }
  }
  '/api/v2/webhooks/{id}/deliveries/{deliveryId}': {
    get: {
      parameters: { path: GetWebhooksByIdDeliveriesByDeliveryIdPath; query?: never; header?: never }
      responses: {
        200: { content: { 'application/json': GetWebhooksByIdDeliveriesByDeliveryId200 } }
        400: { content: { 'application/json': ErrorBody } }
        401: { content: { 'application/json': ErrorBody } }
        403: { content: { 'application/json': ErrorBody } }
        404: { content: { 'application/json': ErrorBody } }
        429: { content: { 'application/json': ErrorBody } }
        503: { content: { 'application/json': ErrorBody } }
        default: { content: { 'application/json': ErrorBody } }
      }
    }
  }
  '/api/v2/webhooks/{id}/deliveries/{deliveryId}/replay': {
    post: {
      parameters: { path: PostWebhooksByIdDeliveriesByDeliveryIdReplayPath; query?: never; header?: never }
      responses: {
        201: { content: { 'application/json': PostWebhooksByIdDeliveriesByDeliveryIdReplay201 } }
        400: { content: { 'application/json': ErrorBody } }
        401: { content: { 'application/json': ErrorBody } }
        403: { content: { 'application/json': ErrorBody } }
        404: { content: { 'application/json': ErrorBody } }
        409: { content: { 'application/json': ErrorBody } }
        413: { content: { 'application/json': ErrorBody } }
        415: { content: { 'application/json': ErrorBody } }
        429: { content: { 'application/json': ErrorBody } }
        503: { content: { 'application/json': ErrorBody } }
        default: { content: { 'application/json': ErrorBody } }
      }
    }
  }
  '/api/v2/webhooks/deliveries/{deliveryId}/replay': {
    post: {
      parameters: { path: PostWebhooksDeliveriesByDeliveryIdReplayPath; query?: never; header?: never }
      responses: {
        201: { content: { 'application/json': PostWebhooksDeliveriesByDeliveryIdReplay201 } }
        400: { content: { 'application/json': ErrorBody } }
        401: { content: { 'application/json': ErrorBody } }
        403: { content: { 'application/json': ErrorBody } }
        404: { content: { 'application/json': ErrorBody } }
        409: { content: { 'application/json': ErrorBody } }
        413: { content: { 'application/json': ErrorBody } }
        415: { content: { 'application/json': ErrorBody } }
        429: { content: { 'application/json': ErrorBody } }
        503: { content: { 'application/json': ErrorBody } }
        default: { content: { 'application/json': ErrorBody } }
      }
    }
  }
  '/api/v2/webhooks/{id}/replay': {
    post: {
      parameters: { path: PostWebhooksByIdReplayPath; query?: never; header?: never }
      requestBody: { content: { 'application/json': WebhookReplay } }
      responses: {
        202: { content: { 'application/json': WebhookReplayed } }
        400: { content: { 'application/json': ErrorBody } }
        401: { content: { 'application/json': ErrorBody } }
        403: { content: { 'application/json': ErrorBody } }
        404: { content: { 'application/json': ErrorBody } }
        409: { content: { 'application/json': ErrorBody } }
        413: { content: { 'application/json': ErrorBody } }
        415: { content: { 'application/json': ErrorBody } }
        429: { content: { 'application/json': ErrorBody } }
        503: { content: { 'application/json': ErrorBody } }
        default: { content: { 'application/json': ErrorBody } }
      }
    }
  }
  '/api/admin/accounts': {
    get: {
      parameters: { path?: never; query?: GetAdminAccountsQuery; header?: never }
      responses: {
        200: { content: { 'application/json': GetAdminAccounts200 } }
        400: { content: { 'application/json': ErrorBody } }
        401: { content: { 'application/json': ErrorBody } }
        403: { content: { 'application/json': ErrorBody } }
        429: { content: { 'application/json': ErrorBody } }
        503: { content: { 'application/json': ErrorBody } }
        default: { content: { 'application/json': ErrorBody } }
      }
    }
    post: {
      parameters: { path?: never; query?: never; header?: PostAdminAccountsHeader }
      requestBody: { content: { 'application/json': AccountCreate } }
      responses: {
        201: { content: { 'application/json': PostAdminAccounts201 } }
        400: { content: { 'application/json': ErrorBody } }
        401: { content: { 'application/json': ErrorBody } }
        403: { content: { 'application/json': ErrorBody } }
        409: { content: { 'application/json': ErrorBody } }
        413: { content: { 'application/json': ErrorBody } }
        415: { content: { 'application/json': ErrorBody } }
        429: { content: { 'application/json': ErrorBody } }
        503: { content: { 'application/json': ErrorBody } }
        default: { content: { 'application/json': ErrorBody } }
      }
    }
  }
  '/api/admin/accounts/{id}': {
    get: {
      parameters: { path: GetAdminAccountsByIdPath; query?: never; header?: never }
      responses: {
        200: { content: { 'application/json': GetAdminAccountsById200 } }
        400: { content: { 'application/json': ErrorBody } }
        401: { content: { 'application/json': ErrorBody } }
        403: { content: { 'application/json': ErrorBody } }
        404: { content: { 'application/json': ErrorBody } }
        429: { content: { 'application/json': ErrorBody } }
        503: { content: { 'application/json': ErrorBody } }
        default: { content: { 'application/json': ErrorBody } }
      }
    }
    patch: {
      parameters: { path: PatchAdminAccountsByIdPath; query?: never; header?: never }
      requestBody: { content: { 'application/json': AccountUpdate } }
      responses: {
        200: { content: { 'application/json': PatchAdminAccountsById200 } }
        400: { content: { 'application/json': ErrorBody } }
        401: { content: { 'application/json': ErrorBody } }
        403: { content: { 'application/json': ErrorBody } }
        404: { content: { 'application/json': ErrorBody } }
        409: { content: { 'application/json': ErrorBody } }
        413: { content: { 'application/json': ErrorBody } }
        415: { content: { 'application/json': ErrorBody } }
        429: { content: { 'application/json': ErrorBody } }
        503: { content: { 'application/json': ErrorBody } }
        default: { content: { 'application/json': ErrorBody } }
      }
    }
  }
  '/api/admin/accounts/{id}/fraud': {
    get: {
      parameters: { path: GetAdminAccountsByIdFraudPath; query?: never; header?: never }
      responses: {
        200: { content: { 'application/json': GetAdminAccountsByIdFraud200 } }
        400: { content: { 'application/json': ErrorBody } }
        401: { content: { 'application/json': ErrorBody } }
        403: { content: { 'application/json': ErrorBody } }
        404: { content: { 'application/json': ErrorBody } }
        429: { content: { 'application/json': ErrorBody } }
        503: { content: { 'application/json': ErrorBody } }
        default: { content: { 'application/json': ErrorBody } }
      }
    }
    put: {
      parameters: { path: PutAdminAccountsByIdFraudPath; query?: never; header?: never }
      requestBody: { content: { 'application/json': FraudSettings } }
      responses: {
        200: { content: { 'application/json': PutAdminAccountsByIdFraud200 } }
        400: { content: { 'application/json': ErrorBody } }
        401: { content: { 'application/json': ErrorBody } }
        403: { content: { 'application/json': ErrorBody } }
        404: { content: { 'application/json': ErrorBody } }
        413: { content: { 'application/json': ErrorBody } }
        415: { content: { 'application/json': ErrorBody } }
        429: { content: { 'application/json': ErrorBody } }
        503: { content: { 'application/json': ErrorBody } }
        default: { content: { 'application/json': ErrorBody } }
      }
    }
  }
  '/api/admin/accounts/{id}/keys': {
    post: {
      parameters: { path: PostAdminAccountsByIdKeysPath; query?: never; header?: never }
      requestBody: { content: { 'application/json': KeyCreate } }
      responses: {
        201: { content: { 'application/json': PostAdminAccountsByIdKeys201 } }
        400: { content: { 'application/json': ErrorBody } }
        401: { content: { 'application/json': ErrorBody } }
        403: { content: { 'application/json': ErrorBody } }
        404: { content: { 'application/json': ErrorBody } }
        409: { content: { 'application/json': ErrorBody } }
        413: { content: { 'application/json': ErrorBody } }
        415: { content: { 'application/json': ErrorBody } }
        429: { content: { 'application/json': ErrorBody } }
        503: { content: { 'application/json': ErrorBody } }
        default: { content: { 'application/json': ErrorBody } }
      }
    }
  }
  '/api/admin/accounts/{id}/keys/{keyId}': {
    delete: {
      parameters: { path: DeleteAdminAccountsByIdKeysByKeyIdPath; query?: never; header?: never }
      responses: {
        200: { content: { 'application/json': DeleteAdminAccountsByIdKeysByKeyId200 } }
        400: { content: { 'application/json': ErrorBody } }
        401: { content: { 'application/json': ErrorBody } }
        403: { content: { 'application/json': ErrorBody } }
        404: { content: { 'application/json': ErrorBody } }
        413: { content: { 'application/json': ErrorBody } }
        415: { content: { 'application/json': ErrorBody } }
        429: { content: { 'application/json': ErrorBody } }
        503: { content: { 'application/json': ErrorBody } }
        default: { content: { 'application/json': ErrorBody } }
      }
    }
  }
  '/api/admin/accounts/{id}/credits': {
    post: {
      parameters: { path: PostAdminAccountsByIdCreditsPath; query?: never; header?: PostAdminAccountsByIdCreditsHeader }
      requestBody: { content: { 'application/json': CreditCreate } }
      responses: {
        201: { content: { 'application/json': PostAdminAccountsByIdCredits201 } }
        400: { content: { 'application/json': ErrorBody } }
        401: { content: { 'application/json': ErrorBody } }
        403: { content: { 'application/json': ErrorBody } }
        404: { content: { 'application/json': ErrorBody } }
        409: { content: { 'application/json': ErrorBody } }
        413: { content: { 'application/json': ErrorBody } }
        415: { content: { 'application/json': ErrorBody } }
        429: { content: { 'application/json': ErrorBody } }
        503: { content: { 'application/json': ErrorBody } }
        default: { content: { 'application/json': ErrorBody } }
      }
    }
  }
  '/api/admin/accounts/{id}/wallet': {
    patch: {
      parameters: { path: PatchAdminAccountsByIdWalletPath; query?: never; header?: never }
      requestBody: { content: { 'application/json': WalletUpdate } }
      responses: {
        200: { content: { 'application/json': PatchAdminAccountsByIdWallet200 } }
        400: { content: { 'application/json': ErrorBody } }
        401: { content: { 'application/json': ErrorBody } }
        403: { content: { 'application/json': ErrorBody } }
        404: { content: { 'application/json': ErrorBody } }
        413: { content: { 'application/json': ErrorBody } }
        415: { content: { 'application/json': ErrorBody } }
        429: { content: { 'application/json': ErrorBody } }
        503: { content: { 'application/json': ErrorBody } }
        default: { content: { 'application/json': ErrorBody } }
      }
    }
  }
  '/api/admin/fraud': {
    get: {
      parameters: { path?: never; query?: never; header?: never }
      responses: {
        200: { content: { 'application/json': GetAdminFraud200 } }
        401: { content: { 'application/json': ErrorBody } }
        403: { content: { 'application/json': ErrorBody } }
        429: { content: { 'application/json': ErrorBody } }
        503: { content: { 'application/json': ErrorBody } }
        default: { content: { 'application/json': ErrorBody } }
      }
    }
    put: {
      parameters: { path?: never; query?: never; header?: never }
      requestBody: { content: { 'application/json': FraudSettings } }
      responses: {
        200: { content: { 'application/json': PutAdminFraud200 } }
        400: { content: { 'application/json': ErrorBody } }
        401: { content: { 'application/json': ErrorBody } }
        403: { content: { 'application/json': ErrorBody } }
        413: { content: { 'application/json': ErrorBody } }
        415: { content: { 'application/json': ErrorBody } }
        429: { content: { 'application/json': ErrorBody } }
        503: { content: { 'application/json': ErrorBody } }
        default: { content: { 'application/json': ErrorBody } }
      }
    }
  }
  '/api/admin/prices': {
    get: {
      parameters: { path?: never; query?: GetAdminPricesQuery; header?: never }
      responses: {
        200: { content: { 'application/json': GetAdminPrices200 } }
        400: { content: { 'application/json': ErrorBody } }
        401: { content: { 'application/json': ErrorBody } }
        403: { content: { 'application/json': ErrorBody } }
        429: { content: { 'application/json': ErrorBody } }
        503: { content: { 'application/json': ErrorBody } }
        default: { content: { 'application/json': ErrorBody } }
      }
    }
    put: {
      parameters: { path?: never; query?: never; header?: never }
      requestBody: { content: { 'application/json': PricesReplace } }
      responses: {
        200: { content: { 'application/json': PutAdminPrices200 } }
        400: { content: { 'application/json': ErrorBody } }
        401: { content: { 'application/json': ErrorBody } }
        403: { content: { 'application/json': ErrorBody } }
        413: { content: { 'application/json': ErrorBody } }
        415: { content: { 'application/json': ErrorBody } }
        429: { content: { 'application/json': ErrorBody } }
        503: { content: { 'application/json': ErrorBody } }
        default: { content: { 'application/json': ErrorBody } }
      }
    }
  }
  '/api/admin/sms-senders': {
    get: {
      parameters: { path?: never; query?: GetAdminSmsSendersQuery; header?: never }
      responses: {
        200: { content: { 'application/json': GetAdminSmsSenders200 } }
        400: { content: { 'application/json': ErrorBody } }
        401: { content: { 'application/json': ErrorBody } }
        403: { content: { 'application/json': ErrorBody } }
        404: { content: { 'application/json': ErrorBody } }
        429: { content: { 'application/json': ErrorBody } }
        503: { content: { 'application/json': ErrorBody } }
        default: { content: { 'application/json': ErrorBody } }
      }
    }
    post: {
      parameters: { path?: never; query?: never; header?: never }
      requestBody: { content: { 'application/json': SenderCreate } }
      responses: {
        201: { content: { 'application/json': PostAdminSmsSenders201 } }
        400: { content: { 'application/json': ErrorBody } }
        401: { content: { 'application/json': ErrorBody } }
        403: { content: { 'application/json': ErrorBody } }
        413: { content: { 'application/json': ErrorBody } }
        415: { content: { 'application/json': ErrorBody } }
        429: { content: { 'application/json': ErrorBody } }
        503: { content: { 'application/json': ErrorBody } }
        default: { content: { 'application/json': ErrorBody } }
      }
    }
  }
  '/api/admin/sms-senders/{id}': {
    get: {
      parameters: { path: GetAdminSmsSendersByIdPath; query?: never; header?: never }
      responses: {
        200: { content: { 'application/json': GetAdminSmsSendersById200 } }
        400: { content: { 'application/json': ErrorBody } }
        401: { content: { 'application/json': ErrorBody } }
        403: { content: { 'application/json': ErrorBody } }
        404: { content: { 'application/json': ErrorBody } }
        429: { content: { 'application/json': ErrorBody } }
        503: { content: { 'application/json': ErrorBody } }
        default: { content: { 'application/json': ErrorBody } }
      }
    }
  }
  '/api/admin/sms-senders/{id}/approve': {
    post: {
      parameters: { path: PostAdminSmsSendersByIdApprovePath; query?: never; header?: never }
      responses: {
        200: { content: { 'application/json': PostAdminSmsSendersByIdApprove200 } }
        400: { content: { 'application/json': ErrorBody } }
        401: { content: { 'application/json': ErrorBody } }
        403: { content: { 'application/json': ErrorBody } }
        404: { content: { 'application/json': ErrorBody } }
        409: { content: { 'application/json': ErrorBody } }
        413: { content: { 'application/json': ErrorBody } }
        415: { content: { 'application/json': ErrorBody } }
        429: { content: { 'application/json': ErrorBody } }
        503: { content: { 'application/json': ErrorBody } }
        default: { content: { 'application/json': ErrorBody } }
      }
    }
  }
  '/api/admin/sms-senders/{id}/reject': {
    post: {
      parameters: { path: PostAdminSmsSendersByIdRejectPath; query?: never; header?: never }
      requestBody: { content: { 'application/json': SenderReject } }
      responses: {
        200: { content: { 'application/json': PostAdminSmsSendersByIdReject200 } }
        400: { content: { 'application/json': ErrorBody } }
        401: { content: { 'application/json': ErrorBody } }
        403: { content: { 'application/json': ErrorBody } }
        404: { content: { 'application/json': ErrorBody } }
        409: { content: { 'application/json': ErrorBody } }
        413: { content: { 'application/json': ErrorBody } }
        415: { content: { 'application/json': ErrorBody } }
        429: { content: { 'application/json': ErrorBody } }
        503: { content: { 'application/json': ErrorBody } }
        default: { content: { 'application/json': ErrorBody } }
      }
    }
  }
  '/api/admin/inbound': {
    get: {
      parameters: { path?: never; query?: GetAdminInboundQuery; header?: never }
      responses: {
        200: { content: { 'application/json': GetAdminInbound200 } }
        400: { content: { 'application/json': ErrorBody } }
        401: { content: { 'application/json': ErrorBody } }
        403: { content: { 'application/json': ErrorBody } }
        429: { content: { 'application/json': ErrorBody } }
        503: { content: { 'application/json': ErrorBody } }
        default: { content: { 'application/json': ErrorBody } }
      }
    }
  }
  '/api/admin/suppressions': {
    get: {
      parameters: { path?: never; query?: GetAdminSuppressionsQuery; header?: never }
      responses: {
        200: { content: { 'application/json': GetAdminSuppressions200 } }
        400: { content: { 'application/json': ErrorBody } }
        401: { content: { 'application/json': ErrorBody } }
        403: { content: { 'application/json': ErrorBody } }
        429: { content: { 'application/json': ErrorBody } }
        503: { content: { 'application/json': ErrorBody } }
        default: { content: { 'application/json': ErrorBody } }
      }
    }
  }
  '/api/admin/suppressions/{id}': {
    delete: {
      parameters: { path: DeleteAdminSuppressionsByIdPath; query?: never; header?: never }
      responses: {
        200: { content: { 'application/json': DeleteAdminSuppressionsById200 } }
        400: { content: { 'application/json': ErrorBody } }
        401: { content: { 'application/json': ErrorBody } }
        403: { content: { 'application/json': ErrorBody } }
        404: { content: { 'application/json': ErrorBody } }
        413: { content: { 'application/json': ErrorBody } }
        415: { content: { 'application/json': ErrorBody } }
        429: { content: { 'application/json': ErrorBody } }
        503: { content: { 'application/json': ErrorBody } }
        default: { content: { 'application/json': ErrorBody } }
      }
    }
  }
  '/api/admin/templates': {
    get: {
      parameters: { path?: never; query?: GetAdminTemplatesQuery; header?: never }
      responses: {
        200: { content: { 'application/json': GetAdminTemplates200 } }
        400: { content: { 'application/json': ErrorBody } }
        401: { content: { 'application/json': ErrorBody } }
        403: { content: { 'application/json': ErrorBody } }
        404: { content: { 'application/json': ErrorBody } }
        429: { content: { 'application/json': ErrorBody } }
        503: { content: { 'application/json': ErrorBody } }
        default: { content: { 'application/json': ErrorBody } }
      }
    }
    post: {
      parameters: { path?: never; query?: never; header?: never }
      requestBody: { content: { 'application/json': PlatformTemplateCreate } }
      responses: {
        201: { content: { 'application/json': PostAdminTemplates201 } }
        400: { content: { 'application/json': ErrorBody } }
        401: { content: { 'application/json': ErrorBody } }
        403: { content: { 'application/json': ErrorBody } }
        409: { content: { 'application/json': ErrorBody } }
        413: { content: { 'application/json': ErrorBody } }
        415: { content: { 'application/json': ErrorBody } }
        429: { content: { 'application/json': ErrorBody } }
        503: { content: { 'application/json': ErrorBody } }
        default: { content: { 'application/json': ErrorBody } }
      }
    }
  }
  '/api/admin/templates/{id}': {
    delete: {
      parameters: { path: DeleteAdminTemplatesByIdPath; query?: never; header?: never }
      responses: {
        200: { content: { 'application/json': DeleteAdminTemplatesById200 } }
        400: { content: { 'application/json': ErrorBody } }
        401: { content: { 'application/json': ErrorBody } }
        403: { content: { 'application/json': ErrorBody } }
        404: { content: { 'application/json': ErrorBody } }
        413: { content: { 'application/json': ErrorBody } }
        415: { content: { 'application/json': ErrorBody } }
        429: { content: { 'application/json': ErrorBody } }
        503: { content: { 'application/json': ErrorBody } }
        default: { content: { 'application/json': ErrorBody } }
      }
    }
  }
  '/api/admin/templates/media': {
    post: {
      parameters: { path?: never; query?: never; header?: never }
      requestBody: { content: { 'multipart/form-data': FormData } }
      responses: {
        201: { content: { 'application/json': PostAdminTemplatesMedia201 } }
        400: { content: { 'application/json': ErrorBody } }
        401: { content: { 'application/json': ErrorBody } }
        403: { content: { 'application/json': ErrorBody } }
        409: { content: { 'application/json': ErrorBody } }
        413: { content: { 'application/json': ErrorBody } }
        415: { content: { 'application/json': ErrorBody } }
        429: { content: { 'application/json': ErrorBody } }
        503: { content: { 'application/json': ErrorBody } }
        default: { content: { 'application/json': ErrorBody } }
      }
    }
  }
  '/api/admin/connections': {
    get: {
      parameters: { path?: never; query?: GetAdminConnectionsQuery; header?: never }
      responses: {
        200: { content: { 'application/json': GetAdminConnections200 } }
        400: { content: { 'application/json': ErrorBody } }
        401: { content: { 'application/json': ErrorBody } }
        403: { content: { 'application/json': ErrorBody } }
        429: { content: { 'application/json': ErrorBody } }
        503: { content: { 'application/json': ErrorBody } }
        default: { content: { 'application/json': ErrorBody } }
      }
    }
    post: {
      parameters: { path?: never; query?: never; header?: never }
      requestBody: { content: { 'application/json': ConnectionCreate } }
      responses: {
        201: { content: { 'application/json': PostAdminConnections201 } }
        400: { content: { 'application/json': ErrorBody } }
        401: { content: { 'application/json': ErrorBody } }
        403: { content: { 'application/json': ErrorBody } }
        404: { content: { 'application/json': ErrorBody } }
        413: { content: { 'application/json': ErrorBody } }
        415: { content: { 'application/json': ErrorBody } }
        429: { content: { 'application/json': ErrorBody } }
        503: { content: { 'application/json': ErrorBody } }
        default: { content: { 'application/json': ErrorBody } }
      }
    }
  }
  '/api/admin/connections/{id}': {
    patch: {
      parameters: { path: PatchAdminConnectionsByIdPath; query?: never; header?: never }
      requestBody: { content: { 'application/json': ConnectionUpdate } }
      responses: {
        200: { content: { 'application/json': PatchAdminConnectionsById200 } }
        400: { content: { 'application/json': ErrorBody } }
        401: { content: { 'application/json': ErrorBody } }
        403: { content: { 'application/json': ErrorBody } }
        404: { content: { 'application/json': ErrorBody } }
        413: { content: { 'application/json': ErrorBody } }
        415: { content: { 'application/json': ErrorBody } }
        429: { content: { 'application/json': ErrorBody } }
        503: { content: { 'application/json': ErrorBody } }
        default: { content: { 'application/json': ErrorBody } }
      }
    }
    delete: {
      parameters: { path: DeleteAdminConnectionsByIdPath; query?: never; header?: never }
      responses: {
        200: { content: { 'application/json': DeleteAdminConnectionsById200 } }
        400: { content: { 'application/json': ErrorBody } }
        401: { content: { 'application/json': ErrorBody } }
        403: { content: { 'application/json': ErrorBody } }
        404: { content: { 'application/json': ErrorBody } }
        409: { content: { 'application/json': ErrorBody } }
        413: { content: { 'application/json': ErrorBody } }
        415: { content: { 'application/json': ErrorBody } }
        429: { content: { 'application/json': ErrorBody } }
        503: { content: { 'application/json': ErrorBody } }
        default: { content: { 'application/json': ErrorBody } }
      }
    }
  }
  '/api/admin/connections/{id}/test': {
    post: {
      parameters: { path: PostAdminConnectionsByIdTestPath; query?: never; header?: never }
      responses: {
        200: { content: { 'application/json': PostAdminConnectionsByIdTest200 } }
        400: { content: { 'application/json': ErrorBody } }
        401: { content: { 'application/json': ErrorBody } }
        403: { content: { 'application/json': ErrorBody } }
        404: { content: { 'application/json': ErrorBody } }
        413: { content: { 'application/json': ErrorBody } }
        415: { content: { 'application/json': ErrorBody } }
        429: { content: { 'application/json': ErrorBody } }
        503: { content: { 'application/json': ErrorBody } }
        default: { content: { 'application/json': ErrorBody } }
      }
    }
  }
  '/api/admin/connections/{id}/webhook': {
    get: {
      parameters: { path: GetAdminConnectionsByIdWebhookPath; query?: never; header?: never }
      responses: {
        200: { content: { 'application/json': GetAdminConnectionsByIdWebhook200 } }
        400: { content: { 'application/json': ErrorBody } }
        401: { content: { 'application/json': ErrorBody } }
        403: { content: { 'application/json': ErrorBody } }
        404: { content: { 'application/json': ErrorBody } }
        429: { content: { 'application/json': ErrorBody } }
        503: { content: { 'application/json': ErrorBody } }
        default: { content: { 'application/json': ErrorBody } }
      }
    }
  }
  '/api/console/setup': {
    get: {
      parameters: { path?: never; query?: never; header?: never }
      responses: {
        200: { content: { 'application/json': GetConsoleSetup200 } }
        default: { content: { 'application/json': ErrorBody } }
      }
    }
    post: {
      parameters: { path?: never; query?: never; header?: never }
      requestBody: { content: { 'application/json': SetupBody } }
      responses: {
        201: { content: { 'application/json': PostConsoleSetup201 } }
        400: { content: { 'application/json': ErrorBody } }
        401: { content: { 'application/json': ErrorBody } }
        403: { content: { 'application/json': ErrorBody } }
        409: { content: { 'application/json': ErrorBody } }
        413: { content: { 'application/json': ErrorBody } }
        415: { content: { 'application/json': ErrorBody } }
        429: { content: { 'application/json': ErrorBody } }
        default: { content: { 'application/json': ErrorBody } }
      }
    }
  }
  '/api/console/login': {
    post: {
      parameters: { path?: never; query?: never; header?: never }
      requestBody: { content: { 'application/json': LoginBody } }
      responses: {
        200: { content: { 'application/json': PostConsoleLogin200 } }
        400: { content: { 'application/json': ErrorBody } }
        401: { content: { 'application/json': ErrorBody } }
        403: { content: { 'application/json': ErrorBody } }
        413: { content: { 'application/json': ErrorBody } }
        415: { content: { 'application/json': ErrorBody } }
        429: { content: { 'application/json': ErrorBody } }
        default: { content: { 'application/json': ErrorBody } }
      }
    }
  }
  '/api/console/logout': {
    post: {
      parameters: { path?: never; query?: never; header?: never }
      responses: {
        200: { content: { 'application/json': PostConsoleLogout200 } }
        400: { content: { 'application/json': ErrorBody } }
        401: { content: { 'application/json': ErrorBody } }
        403: { content: { 'application/json': ErrorBody } }
        413: { content: { 'application/json': ErrorBody } }
        415: { content: { 'application/json': ErrorBody } }
        429: { content: { 'application/json': ErrorBody } }
        503: { content: { 'application/json': ErrorBody } }
        default: { content: { 'application/json': ErrorBody } }
      }
    }
  }
  '/api/console/session': {
    get: {
      parameters: { path?: never; query?: never; header?: never }
      responses: {
        200: { content: { 'application/json': GetConsoleSession200 } }
        401: { content: { 'application/json': ErrorBody } }
        403: { content: { 'application/json': ErrorBody } }
        503: { content: { 'application/json': ErrorBody } }
        default: { content: { 'application/json': ErrorBody } }
      }
    }
  }
  '/api/console/sessions': {
    get: {
      parameters: { path?: never; query?: never; header?: never }
      responses: {
        200: { content: { 'application/json': GetConsoleSessions200 } }
        401: { content: { 'application/json': ErrorBody } }
        403: { content: { 'application/json': ErrorBody } }
        503: { content: { 'application/json': ErrorBody } }
        default: { content: { 'application/json': ErrorBody } }
      }
    }
  }
  '/api/console/sessions/{id}': {
    delete: {
      parameters: { path: DeleteConsoleSessionsByIdPath; query?: never; header?: never }
      responses: {
        200: { content: { 'application/json': DeleteConsoleSessionsById200 } }
        400: { content: { 'application/json': ErrorBody } }
        401: { content: { 'application/json': ErrorBody } }
        403: { content: { 'application/json': ErrorBody } }
        404: { content: { 'application/json': ErrorBody } }
        413: { content: { 'application/json': ErrorBody } }
        415: { content: { 'application/json': ErrorBody } }
        429: { content: { 'application/json': ErrorBody } }
        503: { content: { 'application/json': ErrorBody } }
        default: { content: { 'application/json': ErrorBody } }
      }
    }
  }
  '/api/console/user': {
    patch: {
      parameters: { path?: never; query?: never; header?: never }
      requestBody: { content: { 'application/json': UserUpdate } }
      responses: {
        200: { content: { 'application/json': PatchConsoleUser200 } }
        400: { content: { 'application/json': ErrorBody } }
        401: { content: { 'application/json': ErrorBody } }
        403: { content: { 'application/json': ErrorBody } }
        413: { content: { 'application/json': ErrorBody } }
        415: { content: { 'application/json': ErrorBody } }
        429: { content: { 'application/json': ErrorBody } }
        503: { content: { 'application/json': ErrorBody } }
        default: { content: { 'application/json': ErrorBody } }
      }
    }
  }
  '/api/console/password': {
    post: {
      parameters: { path?: never; query?: never; header?: never }
      requestBody: { content: { 'application/json': PasswordChange } }
      responses: {
        200: { content: { 'application/json': PostConsolePassword200 } }
        400: { content: { 'application/json': ErrorBody } }
        401: { content: { 'application/json': ErrorBody } }
        403: { content: { 'application/json': ErrorBody } }
        413: { content: { 'application/json': ErrorBody } }
        415: { content: { 'application/json': ErrorBody } }
        429: { content: { 'application/json': ErrorBody } }
        503: { content: { 'application/json': ErrorBody } }
        default: { content: { 'application/json': ErrorBody } }
      }
    }
  }
  '/api/console/totp': {
    post: {
      parameters: { path?: never; query?: never; header?: never }
      requestBody: { content: { 'application/json': PasswordProof } }
      responses: {
        200: { content: { 'application/json': PostConsoleTotp200 } }
        400: { content: { 'application/json': ErrorBody } }
        401: { content: { 'application/json': ErrorBody } }
        403: { content: { 'application/json': ErrorBody } }
        409: { content: { 'application/json': ErrorBody } }
        413: { content: { 'application/json': ErrorBody } }
        415: { content: { 'application/json': ErrorBody } }
        429: { content: { 'application/json': ErrorBody } }
        503: { content: { 'application/json': ErrorBody } }
        default: { content: { 'application/json': ErrorBody } }
      }
    }
    delete: {
      parameters: { path?: never; query?: never; header?: never }
      requestBody: { content: { 'application/json': PasswordProof } }
      responses: {
        200: { content: { 'application/json': DeleteConsoleTotp200 } }
        400: { content: { 'application/json': ErrorBody } }
        401: { content: { 'application/json': ErrorBody } }
        403: { content: { 'application/json': ErrorBody } }
        413: { content: { 'application/json': ErrorBody } }
        415: { content: { 'application/json': ErrorBody } }
        429: { content: { 'application/json': ErrorBody } }
        503: { content: { 'application/json': ErrorBody } }
        default: { content: { 'application/json': ErrorBody } }
      }
    }
  }
  '/api/console/totp/confirm': {
    post: {
      parameters: { path?: never; query?: never; header?: never }
      requestBody: { content: { 'application/json': TotpConfirm } }
      responses: {
        200: { content: { 'application/json': PostConsoleTotpConfirm200 } }
        400: { content: { 'application/json': ErrorBody } }
        401: { content: { 'application/json': ErrorBody } }
        403: { content: { 'application/json': ErrorBody } }
        409: { content: { 'application/json': ErrorBody } }
        413: { content: { 'application/json': ErrorBody } }
        415: { content: { 'application/json': ErrorBody } }
        429: { content: { 'application/json': ErrorBody } }
        503: { content: { 'application/json': ErrorBody } }
        default: { content: { 'application/json': ErrorBody } }
      }
    }
  }
  '/api/console/invitations/read': {
    post: {
      parameters: { path?: never; query?: never; header?: never }
      requestBody: { content: { 'application/json': InvitationRead } }
      responses: {
        200: { content: { 'application/json': PostConsoleInvitationsRead200 } }
        400: { content: { 'application/json': ErrorBody } }
        403: { content: { 'application/json': ErrorBody } }
        404: { content: { 'application/json': ErrorBody } }
        413: { content: { 'application/json': ErrorBody } }
        415: { content: { 'application/json': ErrorBody } }
        429: { content: { 'application/json': ErrorBody } }
        default: { content: { 'application/json': ErrorBody } }
      }
    }
  }
  '/api/console/invitations/accept': {
    post: {
      parameters: { path?: never; query?: never; header?: never }
      requestBody: { content: { 'application/json': InvitationAccept } }
      responses: {
        200: { content: { 'application/json': PostConsoleInvitationsAccept200 } }
        400: { content: { 'application/json': ErrorBody } }
        401: { content: { 'application/json': ErrorBody } }
        403: { content: { 'application/json': ErrorBody } }
        404: { content: { 'application/json': ErrorBody } }
        413: { content: { 'application/json': ErrorBody } }
        415: { content: { 'application/json': ErrorBody } }
        429: { content: { 'application/json': ErrorBody } }
        default: { content: { 'application/json': ErrorBody } }
      }
    }
  }
  '/api/v2/members': {
    get: {
      parameters: { path?: never; query?: GetMembersQuery; header?: never }
      responses: {
        200: { content: { 'application/json': GetMembers200 } }
        400: { content: { 'application/json': ErrorBody } }
        401: { content: { 'application/json': ErrorBody } }
        403: { content: { 'application/json': ErrorBody } }
        429: { content: { 'application/json': ErrorBody } }
        503: { content: { 'application/json': ErrorBody } }
        default: { content: { 'application/json': ErrorBody } }
      }
    }
  }
  '/api/v2/members/{id}': {
    patch: {
      parameters: { path: PatchMembersByIdPath; query?: never; header?: never }
      requestBody: { content: { 'application/json': MemberUpdate } }
      responses: {
        200: { content: { 'application/json': PatchMembersById200 } }
        400: { content: { 'application/json': ErrorBody } }
        401: { content: { 'application/json': ErrorBody } }
        403: { content: { 'application/json': ErrorBody } }
        404: { content: { 'application/json': ErrorBody } }
        409: { content: { 'application/json': ErrorBody } }
        413: { content: { 'application/json': ErrorBody } }
        415: { content: { 'application/json': ErrorBody } }
        429: { content: { 'application/json': ErrorBody } }
        503: { content: { 'application/json': ErrorBody } }
        default: { content: { 'application/json': ErrorBody } }
      }
    }
    delete: {
      parameters: { path: DeleteMembersByIdPath; query?: never; header?: never }
      responses: {
        200: { content: { 'application/json': DeleteMembersById200 } }
        400: { content: { 'application/json': ErrorBody } }
        401: { content: { 'application/json': ErrorBody } }
        403: { content: { 'application/json': ErrorBody } }
        404: { content: { 'application/json': ErrorBody } }
        409: { content: { 'application/json': ErrorBody } }
        413: { content: { 'application/json': ErrorBody } }
        415: { content: { 'application/json': ErrorBody } }
        429: { content: { 'application/json': ErrorBody } }
        503: { content: { 'application/json': ErrorBody } }
        default: { content: { 'application/json': ErrorBody } }
      }
    }
  }
  '/api/v2/members/invitations': {
    get: {
      parameters: { path?: never; query?: GetMembersInvitationsQuery; header?: never }
      responses: {
        200: { content: { 'application/json': GetMembersInvitations200 } }
        400: { content: { 'application/json': ErrorBody } }
        401: { content: { 'application/json': ErrorBody } }
        403: { content: { 'application/json': ErrorBody } }
        429: { content: { 'application/json': ErrorBody } }
        503: { content: { 'application/json': ErrorBody } }
        default: { content: { 'application/json': ErrorBody } }
      }
    }
    post: {
      parameters: { path?: never; query?: never; header?: never }
      requestBody: { content: { 'application/json': InvitationCreate } }
      responses: {
        201: { content: { 'application/json': PostMembersInvitations201 } }
        400: { content: { 'application/json': ErrorBody } }
        401: { content: { 'application/json': ErrorBody } }
        403: { content: { 'application/json': ErrorBody } }
        409: { content: { 'application/json': ErrorBody } }
        413: { content: { 'application/json': ErrorBody } }
        415: { content: { 'application/json': ErrorBody } }
        429: { content: { 'application/json': ErrorBody } }
        503: { content: { 'application/json': ErrorBody } }
        default: { content: { 'application/json': ErrorBody } }
      }
    }
  }
  '/api/v2/members/invitations/{id}': {
    delete: {
      parameters: { path: DeleteMembersInvitationsByIdPath; query?: never; header?: never }
      responses: {
        200: { content: { 'application/json': DeleteMembersInvitationsById200 } }
        400: { content: { 'application/json': ErrorBody } }
        401: { content: { 'application/json': ErrorBody } }
        403: { content: { 'application/json': ErrorBody } }
        404: { content: { 'application/json': ErrorBody } }
        413: { content: { 'application/json': ErrorBody } }
        415: { content: { 'application/json': ErrorBody } }
        429: { content: { 'application/json': ErrorBody } }
        503: { content: { 'application/json': ErrorBody } }
        default: { content: { 'application/json': ErrorBody } }
      }
    }
  }
  '/api/v2/api-keys': {
    get: {
      parameters: { path?: never; query?: GetApiKeysQuery; header?: never }
      responses: {
        200: { content: { 'application/json': GetApiKeys200 } }
        400: { content: { 'application/json': ErrorBody } }
        401: { content: { 'application/json': ErrorBody } }
        403: { content: { 'application/json': ErrorBody } }
        429: { content: { 'application/json': ErrorBody } }
        503: { content: { 'application/json': ErrorBody } }
        default: { content: { 'application/json': ErrorBody } }
      }
    }
    post: {
      parameters: { path?: never; query?: never; header?: never }
      requestBody: { content: { 'application/json': ApiKeyCreate } }
      responses: {
        201: { content: { 'application/json': PostApiKeys201 } }
        400: { content: { 'application/json': ErrorBody } }
        401: { content: { 'application/json': ErrorBody } }
        403: { content: { 'application/json': ErrorBody } }
        409: { content: { 'application/json': ErrorBody } }
        413: { content: { 'application/json': ErrorBody } }
        415: { content: { 'application/json': ErrorBody } }
        429: { content: { 'application/json': ErrorBody } }
        503: { content: { 'application/json': ErrorBody } }
        default: { content: { 'application/json': ErrorBody } }
      }
    }
  }
  '/api/v2/api-keys/{id}': {
    delete: {
      parameters: { path: DeleteApiKeysByIdPath; query?: never; header?: never }
      responses: {
        200: { content: { 'application/json': DeleteApiKeysById200 } }
        400: { content: { 'application/json': ErrorBody } }
        401: { content: { 'application/json': ErrorBody } }
        403: { content: { 'application/json': ErrorBody } }
        404: { content: { 'application/json': ErrorBody } }
        413: { content: { 'application/json': ErrorBody } }
        415: { content: { 'application/json': ErrorBody } }
        429: { content: { 'application/json': ErrorBody } }
        503: { content: { 'application/json': ErrorBody } }
        default: { content: { 'application/json': ErrorBody } }
      }
    }
  }
  '/api/v2/api-keys/{id}/rotate': {
    post: {
      parameters: { path: PostApiKeysByIdRotatePath; query?: never; header?: never }
      requestBody: { content: { 'application/json': ApiKeyRotate } }
      responses: {
        201: { content: { 'application/json': PostApiKeysByIdRotate201 } }
        400: { content: { 'application/json': ErrorBody } }
        401: { content: { 'application/json': ErrorBody } }
        403: { content: { 'application/json': ErrorBody } }
        404: { content: { 'application/json': ErrorBody } }
        409: { content: { 'application/json': ErrorBody } }
        413: { content: { 'application/json': ErrorBody } }
        415: { content: { 'application/json': ErrorBody } }
        429: { content: { 'application/json': ErrorBody } }
        503: { content: { 'application/json': ErrorBody } }
        default: { content: { 'application/json': ErrorBody } }
      }
    }
  }
  '/api/v2/audit': {
    get: {
      parameters: { path?: never; query?: GetAuditQuery; header?: never }
      responses: {
        200: { content: { 'application/json': GetAudit200 } }
        400: { content: { 'application/json': ErrorBody } }
        401: { content: { 'application/json': ErrorBody } }
        403: { content: { 'application/json': ErrorBody } }
        429: { content: { 'application/json': ErrorBody } }
        503: { content: { 'application/json': ErrorBody } }
        default: { content: { 'application/json': ErrorBody } }
      }
    }
  }
  '/api/v2/stats': {
    get: {
      parameters: { path?: never; query?: GetStatsQuery; header?: never }
      responses: {
        200: { content: { 'application/json': GetStats200 } }
        400: { content: { 'application/json': ErrorBody } }
        401: { content: { 'application/json': ErrorBody } }
        403: { content: { 'application/json': ErrorBody } }
        429: { content: { 'application/json': ErrorBody } }
        503: { content: { 'application/json': ErrorBody } }
        default: { content: { 'application/json': ErrorBody } }
      }
    }
  }
  '/api/admin/members': {
    get: {
      parameters: { path?: never; query?: GetAdminMembersQuery; header?: never }
      responses: {
        200: { content: { 'application/json': GetAdminMembers200 } }
        400: { content: { 'application/json': ErrorBody } }
        401: { content: { 'application/json': ErrorBody } }
        403: { content: { 'application/json': ErrorBody } }
        404: { content: { 'application/json': ErrorBody } }
        429: { content: { 'application/json': ErrorBody } }
        503: { content: { 'application/json': ErrorBody } }
        default: { content: { 'application/json': ErrorBody } }
      }
    }
    post: {
      parameters: { path?: never; query?: never; header?: never }
      requestBody: { content: { 'application/json': MembershipCreate } }
      responses: {
        201: { content: { 'application/json': PostAdminMembers201 } }
        400: { content: { 'application/json': ErrorBody } }
        401: { content: { 'application/json': ErrorBody } }
        403: { content: { 'application/json': ErrorBody } }
        404: { content: { 'application/json': ErrorBody } }
        409: { content: { 'application/json': ErrorBody } }
        413: { content: { 'application/json': ErrorBody } }
        415: { content: { 'application/json': ErrorBody } }
        429: { content: { 'application/json': ErrorBody } }
        503: { content: { 'application/json': ErrorBody } }
        default: { content: { 'application/json': ErrorBody } }
      }
    }
  }
  '/api/admin/members/{id}': {
    get: {
      parameters: { path: GetAdminMembersByIdPath; query?: never; header?: never }
      responses: {
        200: { content: { 'application/json': GetAdminMembersById200 } }
        400: { content: { 'application/json': ErrorBody } }
        401: { content: { 'application/json': ErrorBody } }
        403: { content: { 'application/json': ErrorBody } }
        404: { content: { 'application/json': ErrorBody } }
        429: { content: { 'application/json': ErrorBody } }
        503: { content: { 'application/json': ErrorBody } }
        default: { content: { 'application/json': ErrorBody } }
      }
    }
    patch: {
      parameters: { path: PatchAdminMembersByIdPath; query?: never; header?: never }
      requestBody: { content: { 'application/json': PersonUpdate } }
      responses: {
        200: { content: { 'application/json': PatchAdminMembersById200 } }
        400: { content: { 'application/json': ErrorBody } }
        401: { content: { 'application/json': ErrorBody } }
        403: { content: { 'application/json': ErrorBody } }
        404: { content: { 'application/json': ErrorBody } }
        409: { content: { 'application/json': ErrorBody } }
        413: { content: { 'application/json': ErrorBody } }
        415: { content: { 'application/json': ErrorBody } }
        429: { content: { 'application/json': ErrorBody } }
        503: { content: { 'application/json': ErrorBody } }
        default: { content: { 'application/json': ErrorBody } }
      }
    }
    delete: {
      parameters: { path: DeleteAdminMembersByIdPath; query?: DeleteAdminMembersByIdQuery; header?: never }
      responses: {
        200: { content: { 'application/json': DeleteAdminMembersById200 } }
        400: { content: { 'application/json': ErrorBody } }
        401: { content: { 'application/json': ErrorBody } }
        403: { content: { 'application/json': ErrorBody } }
        404: { content: { 'application/json': ErrorBody } }
        409: { content: { 'application/json': ErrorBody } }
        413: { content: { 'application/json': ErrorBody } }
        415: { content: { 'application/json': ErrorBody } }
        429: { content: { 'application/json': ErrorBody } }
        503: { content: { 'application/json': ErrorBody } }
        default: { content: { 'application/json': ErrorBody } }
      }
    }
  }
  '/api/admin/members/{id}/reset': {
    post: {
      parameters: { path: PostAdminMembersByIdResetPath; query?: never; header?: never }
      responses: {
        201: { content: { 'application/json': PostAdminMembersByIdReset201 } }
        400: { content: { 'application/json': ErrorBody } }
        401: { content: { 'application/json': ErrorBody } }
        403: { content: { 'application/json': ErrorBody } }
        404: { content: { 'application/json': ErrorBody } }
        413: { content: { 'application/json': ErrorBody } }
        415: { content: { 'application/json': ErrorBody } }
        429: { content: { 'application/json': ErrorBody } }
        503: { content: { 'application/json': ErrorBody } }
        default: { content: { 'application/json': ErrorBody } }
      }
    }
  }
  '/api/admin/members/invitations': {
    get: {
      parameters: { path?: never; query?: GetAdminMembersInvitationsQuery; header?: never }
      responses: {
        200: { content: { 'application/json': GetAdminMembersInvitations200 } }
        400: { content: { 'application/json': ErrorBody } }
        401: { content: { 'application/json': ErrorBody } }
        403: { content: { 'application/json': ErrorBody } }
        429: { content: { 'application/json': ErrorBody } }
        503: { content: { 'application/json': ErrorBody } }
        default: { content: { 'application/json': ErrorBody } }
      }
    }
    post: {
      parameters: { path?: never; query?: never; header?: never }
      requestBody: { content: { 'application/json': AdminInvitationCreate } }
      responses: {
        201: { content: { 'application/json': PostAdminMembersInvitations201 } }
        400: { content: { 'application/json': ErrorBody } }
        401: { content: { 'application/json': ErrorBody } }
        403: { content: { 'application/json': ErrorBody } }
        404: { content: { 'application/json': ErrorBody } }
        409: { content: { 'application/json': ErrorBody } }
        413: { content: { 'application/json': ErrorBody } }
        415: { content: { 'application/json': ErrorBody } }
        429: { content: { 'application/json': ErrorBody } }
        503: { content: { 'application/json': ErrorBody } }
        default: { content: { 'application/json': ErrorBody } }
      }
    }
  }
  '/api/admin/members/invitations/{id}': {
    delete: {
      parameters: { path: DeleteAdminMembersInvitationsByIdPath; query?: never; header?: never }
      responses: {
        200: { content: { 'application/json': DeleteAdminMembersInvitationsById200 } }
        400: { content: { 'application/json': ErrorBody } }
        401: { content: { 'application/json': ErrorBody } }
        403: { content: { 'application/json': ErrorBody } }
        404: { content: { 'application/json': ErrorBody } }
        413: { content: { 'application/json': ErrorBody } }
        415: { content: { 'application/json': ErrorBody } }
        429: { content: { 'application/json': ErrorBody } }
        503: { content: { 'application/json': ErrorBody } }
        default: { content: { 'application/json': ErrorBody } }
      }
    }
  }
  '/api/admin/accounts/{id}/keys/{keyId}/rotate': {
    post: {
      parameters: { path: PostAdminAccountsByIdKeysByKeyIdRotatePath; query?: never; header?: never }
      requestBody: { content: { 'application/json': ApiKeyRotate } }
      responses: {
        201: { content: { 'application/json': PostAdminAccountsByIdKeysByKeyIdRotate201 } }
        400: { content: { 'application/json': ErrorBody } }
        401: { content: { 'application/json': ErrorBody } }
        403: { content: { 'application/json': ErrorBody } }
        404: { content: { 'application/json': ErrorBody } }
        409: { content: { 'application/json': ErrorBody } }
        413: { content: { 'application/json': ErrorBody } }
        415: { content: { 'application/json': ErrorBody } }
        429: { content: { 'application/json': ErrorBody } }
        503: { content: { 'application/json': ErrorBody } }
        default: { content: { 'application/json': ErrorBody } }
      }
    }
  }
  '/api/admin/nodes': {
    get: {
      parameters: { path?: never; query?: never; header?: never }
      responses: {
        200: { content: { 'application/json': GetAdminNodes200 } }
        401: { content: { 'application/json': ErrorBody } }
        403: { content: { 'application/json': ErrorBody } }
        429: { content: { 'application/json': ErrorBody } }
        503: { content: { 'application/json': ErrorBody } }
        default: { content: { 'application/json': ErrorBody } }
      }
    }
  }
  '/api/admin/queues': {
    get: {
      parameters: { path?: never; query?: never; header?: never }
      responses: {
        200: { content: { 'application/json': GetAdminQueues200 } }
        401: { content: { 'application/json': ErrorBody } }
        403: { content: { 'application/json': ErrorBody } }
        429: { content: { 'application/json': ErrorBody } }
        503: { content: { 'application/json': ErrorBody } }
        default: { content: { 'application/json': ErrorBody } }
      }
    }
  }
  '/api/admin/unknown': {
    get: {
      parameters: { path?: never; query?: GetAdminUnknownQuery; header?: never }
      responses: {
        200: { content: { 'application/json': GetAdminUnknown200 } }
        400: { content: { 'application/json': ErrorBody } }
        401: { content: { 'application/json': ErrorBody } }
        403: { content: { 'application/json': ErrorBody } }
        429: { content: { 'application/json': ErrorBody } }
        503: { content: { 'application/json': ErrorBody } }
        default: { content: { 'application/json': ErrorBody } }
      }
    }
  }
  '/api/admin/policies': {
    get: {
      parameters: { path?: never; query?: never; header?: never }
      responses: {
        200: { content: { 'application/json': GetAdminPolicies200 } }
        401: { content: { 'application/json': ErrorBody } }
        403: { content: { 'application/json': ErrorBody } }
        429: { content: { 'application/json': ErrorBody } }
        503: { content: { 'application/json': ErrorBody } }
        default: { content: { 'application/json': ErrorBody } }
      }
    }
  }
  '/api/admin/providers': {
    get: {
      parameters: { path?: never; query?: never; header?: never }
      responses: {
        200: { content: { 'application/json': GetAdminProviders200 } }
        401: { content: { 'application/json': ErrorBody } }
        403: { content: { 'application/json': ErrorBody } }
        429: { content: { 'application/json': ErrorBody } }
        503: { content: { 'application/json': ErrorBody } }
        default: { content: { 'application/json': ErrorBody } }
      }
    }
  }
  '/api/admin/audit': {
    get: {
      parameters: { path?: never; query?: GetAdminAuditQuery; header?: never }
      responses: {
        200: { content: { 'application/json': GetAdminAudit200 } }
        400: { content: { 'application/json': ErrorBody } }
        401: { content: { 'application/json': ErrorBody } }
        403: { content: { 'application/json': ErrorBody } }
        404: { content: { 'application/json': ErrorBody } }
        429: { content: { 'application/json': ErrorBody } }
        503: { content: { 'application/json': ErrorBody } }
        default: { content: { 'application/json': ErrorBody } }
      }
    }
  }
  '/media/{assetId}': {
    get: {
      parameters: { path: GetMediaByAssetIdPath; query: GetMediaByAssetIdQuery; header?: GetMediaByAssetIdHeader }
      responses: {
        200: { content: { '*/*': string } }
        206: { content: { '*/*': string } }
        304: { content?: never }
        400: { content: { 'application/json': ErrorBody } }
        404: { content: { 'application/json': ErrorBody } }
        416: { content: { 'application/json': ErrorBody } }
        503: { content: { 'application/json': ErrorBody } }
        default: { content: { 'application/json': ErrorBody } }
      }
    }
  }
  '/webhooks/{provider}/{connectionId}': {
    post: {
      parameters: { path: PostWebhooksByProviderByConnectionIdPath; query?: never; header?: never }
      responses: {
        200: { content: { '*/*': string } }
        400: { content: { 'application/json': ErrorBody } }
        401: { content: { 'application/json': ErrorBody } }
        403: { content: { 'application/json': ErrorBody } }
        404: { content: { 'application/json': ErrorBody } }
        413: { content: { 'application/json': ErrorBody } }
        503: { content: { 'application/json': ErrorBody } }
        default: { content: { 'application/json': ErrorBody } }
      }
    }
    get: {
      parameters: { path: GetWebhooksByProviderByConnectionIdPath; query?: never; header?: never }
      responses: {
        200: { content: { '*/*': string } }
        400: { content: { 'application/json': ErrorBody } }
        401: { content: { 'application/json': ErrorBody } }
        403: { content: { 'application/json': ErrorBody } }
        404: { content: { 'application/json': ErrorBody } }
        413: { content: { 'application/json': ErrorBody } }
        503: { content: { 'application/json': ErrorBody } }
        default: { content: { 'application/json': ErrorBody } }
      }
    }
  }
  '/healthz': {
    get: {
      parameters: { path?: never; query?: never; header?: never }
      responses: {
        200: { content: { 'application/json': GetHealthz200 } }
        default: { content: { 'application/json': ErrorBody } }
      }
    }
  }
  '/readyz': {
    get: {
      parameters: { path?: never; query?: never; header?: never }
      responses: {
        200: { content: { 'application/json': GetReadyz200 } }
        503: { content: { 'application/json': ErrorBody } }
        default: { content: { 'application/json': ErrorBody } }
      }
    }
  }
  '/metrics': {
    get: {
      parameters: { path?: never; query?: never; header?: never }
      responses: {
        200: { content: { 'text/plain': string } }
        default: { content: { 'application/json': ErrorBody } }
      }
    }
  }
  '/openapi.json': {
    get: {
      parameters: { path?: never; query?: never; header?: never }
      responses: {
        200: { content: { 'application/json': GetOpenapiJson200 } }
        default: { content: { 'application/json': ErrorBody } }
      }
    }
  }
}
