import type { SenderId } from './store.ts'

/** The place for which the secret of a sender's callback is sealed. */
export function callbackContext(id: SenderId): string {
  return `sms_sender:${id}`
}
