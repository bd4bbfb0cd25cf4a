import type { SenderId } from './store.ts'

/** The context that binds the sealed secret of a callback to its sender. */
export function callbackContext(id: SenderId): string {
  return `sms_sender:${id}`
}
