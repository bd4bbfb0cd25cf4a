import { humanize } from './status-badge.tsx'

/** The name of a message type; `*` means all types. */
export function typeName(messageType: string): string {
  if (messageType === '*') return 'All types'
  return messageType === 'otp' ? 'OTP' : humanize(messageType)
}
