/** The API's enums, with the values of the API. */
export const CHANNELS = [
  'local_sms',
  'int_sms',
  'official_chatapp',
  'user_chatapp_session',
  'botapp_bot',
  'email_user',
] as const
export type Channel = (typeof CHANNELS)[number]

/** The channels for verification codes. */
export const VERIFICATION_CHANNELS = ['local_sms', 'int_sms', 'official_chatapp', 'email_user'] as const
export type VerificationChannel = (typeof VERIFICATION_CHANNELS)[number]

/** How the channels of a verification are ordered if routing chooses. */
export const CHANNEL_ORDERS = ['policy', 'learned'] as const
export type ChannelOrderSetting = (typeof CHANNEL_ORDERS)[number]

export const MESSAGE_TYPES = ['otp', 'utility', 'marketing', 'free_text'] as const
export type MessageType = (typeof MESSAGE_TYPES)[number]

/** How a connection sends a message type: as plain text only, or also by a template. */
export const SEND_MODES = ['plain_text', 'template_optional'] as const
export type SendMode = (typeof SEND_MODES)[number]

/** In the order in which a message may reach them; drawn in `docs/states.md`. */
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
] as const
export type MessageStatus = (typeof MESSAGE_STATUSES)[number]

export const PERMISSIONS = ['messages:create', 'messages:read', 'api_keys:read', 'api_keys:write'] as const
export type Permission = (typeof PERMISSIONS)[number]

export const KEY_MODES = ['live', 'test'] as const
export type KeyMode = (typeof KEY_MODES)[number]

export const KEY_ROLES = ['owner', 'member'] as const
export type KeyRole = (typeof KEY_ROLES)[number]

export const ATTACHMENT_TYPES = ['image', 'video', 'audio', 'document'] as const
export type AttachmentType = (typeof ATTACHMENT_TYPES)[number]

export function isVerificationChannel(channel: Channel): channel is VerificationChannel {
  return VERIFICATION_CHANNELS.some(each => each === channel)
}

export function isSms(channel: Channel): boolean {
  return channel === 'local_sms' || channel === 'int_sms'
}
