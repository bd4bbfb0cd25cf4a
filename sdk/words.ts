// Made by "npm run sdk" from the table of routes, and never by hand.

import type { AccountStatus, Actor, AttachmentType, BlockAction, BotProblem, BotState, BulkError, BulkStatus, ButtonType, Channel, ChatKind, DeliveryStatus, DisabledReason, EventType, FraudRule, GuardedType, HeaderType, KeyMode, KeyRole, LedgerType, Listened, MessageError, MessageStatus, MessageType, ModuleType, OtpType, PauseReason, Permission, PlanStatus, RowStatus, RuleMode, SendMode, SenderSource, SenderStatus, SessionState, SuppressionSource, TemplateCategory, TemplateProvider, TemplateStatus, TemplateSubType, VerificationChannel, VerificationStatus } from './api.ts'

export const ACCOUNT_STATUSES = [
  'active',
  'suspended',
] as const satisfies readonly AccountStatus[]

export const ACTORS = [
  'user',
  'api_key',
  'operator_token',
] as const satisfies readonly Actor[]

export const ATTACHMENT_TYPES = [
  'image',
  'video',
  'audio',
  'document',
] as const satisfies readonly AttachmentType[]

export const BLOCK_ACTIONS = [
  'blocked',
  'monitored',
] as const satisfies readonly BlockAction[]

export const BOT_PROBLEMS = [
  'taken_back',
  'taken',
  'shared',
  'unreachable',
] as const satisfies readonly BotProblem[]

export const BOT_STATES = [
  'active',
  'unauthorized',
] as const satisfies readonly BotState[]

export const BULK_ERRORS = [
  'VALIDATION_FAILED',
  'INSUFFICIENT_BALANCE',
  'INTAKE_INCOMPLETE',
] as const satisfies readonly BulkError[]

export const BULK_STATUSES = [
  'accepting',
  'validating',
  'rejected',
  'queued',
  'running',
  'paused',
  'completed',
  'cancelled',
] as const satisfies readonly BulkStatus[]

export const BUTTON_TYPES = [
  'url',
  'phone',
  'quick_reply',
  'copy_code',
] as const satisfies readonly ButtonType[]

export const CHANNELS = [
  'local_sms',
  'int_sms',
  'official_chatapp',
  'user_chatapp_session',
  'botapp_bot',
  'email_user',
] as const satisfies readonly Channel[]

export const CHAT_KINDS = [
  'user',
  'group',
] as const satisfies readonly ChatKind[]

export const DELIVERY_STATUSES = [
  'pending',
  'delivered',
  'failed',
  'cancelled',
] as const satisfies readonly DeliveryStatus[]

export const DISABLED_REASONS = [
  'request',
  'failing',
  'gone',
] as const satisfies readonly DisabledReason[]

export const EVENT_TYPES = [
  'message.sent',
  'message.delivered',
  'message.read',
  'message.undelivered',
  'message.failed',
  'message.unknown',
  'message.cancelled',
  'message.expired',
  'verification.sent',
  'verification.verified',
  'verification.failed',
  'verification.superseded',
  'verification.blocked',
  'bulk.queued',
  'bulk.rejected',
  'bulk.running',
  'bulk.paused',
  'bulk.completed',
  'bulk.cancelled',
  'inbound.message',
  'bot.subscriber.started',
  'bot.subscriber.blocked',
  'bot.subscriber.returned',
  'bot.unauthorized',
  'bot.problem',
  'suppression.created',
  'suppression.deleted',
  'sms_sender.approved',
  'sms_sender.rejected',
  'template.pending',
  'template.approved',
  'template.rejected',
  'template.disabled',
  'session.pairing',
  'session.open',
  'session.closed',
  'session.logged_out',
  'wallet.low',
  'webhook.disabled',
  'webhook.test',
] as const satisfies readonly EventType[]

export const FRAUD_RULES = [
  'allowedCountries',
  'numberType',
  'prefix',
  'country',
  'conversion',
  'clientIp',
  'spend',
  'recipient',
] as const satisfies readonly FraudRule[]

export const GUARDED_TYPES = [
  'premium',
  'shared_cost',
  'unallocated',
  'voip',
  'toll_free',
  'fixed',
  'pager',
  'personal',
  'uan',
  'voicemail',
] as const satisfies readonly GuardedType[]

export const HEADER_TYPES = [
  'text',
  'image',
  'video',
  'document',
] as const satisfies readonly HeaderType[]

export const KEY_MODES = [
  'live',
  'test',
] as const satisfies readonly KeyMode[]

export const KEY_ROLES = [
  'owner',
  'member',
] as const satisfies readonly KeyRole[]

export const LEDGER_TYPES = [
  'credit',
  'debit',
  'refund',
  'hold',
  'capture',
  'release',
] as const satisfies readonly LedgerType[]

export const LISTENED = [
  'message.sent',
  'message.delivered',
  'message.read',
  'message.undelivered',
  'message.failed',
  'message.unknown',
  'message.cancelled',
  'message.expired',
  'verification.sent',
  'verification.verified',
  'verification.failed',
  'verification.superseded',
  'verification.blocked',
  'bulk.queued',
  'bulk.rejected',
  'bulk.running',
  'bulk.paused',
  'bulk.completed',
  'bulk.cancelled',
  'inbound.message',
  'bot.subscriber.started',
  'bot.subscriber.blocked',
  'bot.subscriber.returned',
  'bot.unauthorized',
  'bot.problem',
  'suppression.created',
  'suppression.deleted',
  'sms_sender.approved',
  'sms_sender.rejected',
  'template.pending',
  'template.approved',
  'template.rejected',
  'template.disabled',
  'session.pairing',
  'session.open',
  'session.closed',
  'session.logged_out',
  'wallet.low',
  'webhook.disabled',
  'webhook.test',
  'message.*',
  'verification.*',
  'bulk.*',
  'inbound.*',
  'bot.*',
  'bot.subscriber.*',
  'suppression.*',
  'sms_sender.*',
  'template.*',
  'session.*',
  'wallet.*',
  'webhook.*',
  '*',
] as const satisfies readonly Listened[]

export const MESSAGE_ERRORS = [
  'RECIPIENT_REJECTED',
  'RECIPIENT_SUPPRESSED',
  'CHATAPP_NOT_REGISTERED',
  'MESSAGE_REJECTED',
  'PROVIDER_UNAVAILABLE',
  'VERIFICATION_EXPIRED',
  'INTERNAL_ERROR',
] as const satisfies readonly MessageError[]

export const MESSAGE_STATUSES = [
  'scheduled',
  'queued',
  'sending',
  'unknown',
  'sent',
  'delivered',
  'read',
  'undelivered',
  'failed',
  'cancelled',
  'expired',
] as const satisfies readonly MessageStatus[]

export const MESSAGE_TYPES = [
  'otp',
  'utility',
  'marketing',
  'free_text',
] as const satisfies readonly MessageType[]

export const MODULE_TYPES = [
  'chatapp_web',
  'chatapp_official',
  'botapp_bot',
] as const satisfies readonly ModuleType[]

export const OTP_TYPES = [
  'copy_code',
  'one_tap',
  'zero_tap',
] as const satisfies readonly OtpType[]

export const PAUSE_REASONS = [
  'insufficient_balance',
  'provider_rate_limit',
  'user',
] as const satisfies readonly PauseReason[]

export const PERMISSIONS = [
  'messages:create',
  'messages:read',
  'api_keys:read',
  'api_keys:write',
] as const satisfies readonly Permission[]

export const PLAN_STATUSES = [
  'active',
  'inactive',
] as const satisfies readonly PlanStatus[]

export const ROW_STATUSES = [
  'pending',
  'sent',
  'failed',
  'cancelled',
  'invalid',
] as const satisfies readonly RowStatus[]

export const RULE_MODES = [
  'off',
  'monitor',
  'block',
] as const satisfies readonly RuleMode[]

export const SENDER_SOURCES = [
  'request',
  'account_default',
  'platform',
  'official_default',
  'session',
  'bot',
] as const satisfies readonly SenderSource[]

export const SENDER_STATUSES = [
  'pending',
  'approved',
  'rejected',
] as const satisfies readonly SenderStatus[]

export const SEND_MODES = [
  'plain_text',
  'template_optional',
] as const satisfies readonly SendMode[]

export const SESSION_STATES = [
  'connecting',
  'qr',
  'pairing_code',
  'open',
  'closed',
  'logged_out',
] as const satisfies readonly SessionState[]

export const SUPPRESSION_SOURCES = [
  'api',
  'stop',
  'provider',
] as const satisfies readonly SuppressionSource[]

export const TEMPLATE_CATEGORIES = [
  'chatapp',
  'sms',
  'message',
  'email',
] as const satisfies readonly TemplateCategory[]

export const TEMPLATE_PROVIDERS = [
  'user_session',
  'official_provider',
  'internal',
] as const satisfies readonly TemplateProvider[]

export const TEMPLATE_STATUSES = [
  'pending',
  'approved',
  'rejected',
  'active',
  'disabled',
] as const satisfies readonly TemplateStatus[]

export const TEMPLATE_SUB_TYPES = [
  'utility',
  'otp',
  'marketing',
  'free',
] as const satisfies readonly TemplateSubType[]

export const VERIFICATION_CHANNELS = [
  'local_sms',
  'int_sms',
  'official_chatapp',
  'email_user',
] as const satisfies readonly VerificationChannel[]

export const VERIFICATION_STATUSES = [
  'pending',
  'verified',
  'expired',
  'exhausted',
  'superseded',
  'failed',
] as const satisfies readonly VerificationStatus[]
