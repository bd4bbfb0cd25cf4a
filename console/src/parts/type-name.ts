import { inWords } from './status-badge.tsx'

/** A type of messages, as people write it; `*` is any. */
export function typeName(messageType: string): string {
  if (messageType === '*') return 'All types'
  return messageType === 'otp' ? 'OTP' : inWords(messageType)
}
