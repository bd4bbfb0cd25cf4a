import type { Channel } from '../../../sdk/index.ts'

/** Names for people; the documentation has the API's values. */
const NAMES: Readonly<Record<Channel, string>> = {
  local_sms: 'Local SMS',
  int_sms: 'International SMS',
  official_chatapp: 'WhatsApp Business',
  user_chatapp_session: 'WhatsApp session',
  botapp_bot: 'Telegram bot',
  email_user: 'E-mail',
}

export const CHANNELS = Object.keys(NAMES) as Channel[]

export function channelName(channel: Channel): string {
  return NAMES[channel]
}
