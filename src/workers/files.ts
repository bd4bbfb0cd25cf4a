import { FileUnavailable } from '../channels/provider.ts'
import { readAttachment } from '../core/outbox/store.ts'
import type { Db } from '../infra/db.ts'
import { type GuardedFetch, GuardedFetchError } from '../infra/guarded-fetch.ts'
import type { FileSources } from './outgoing.ts'

/** Where the files of messages come from: the store, or the user's address through the guarded client. */
export function createFileSources(db: Db, guarded: GuardedFetch): FileSources {
  return {
    stored: (accountId, id) => readAttachment(db, accountId, id),
    async fetched(url, signal) {
      try {
        const response = await guarded.fetch({ url, signal })
        if (response.status === 200) return response.body
        response.body.destroy()
        const later = response.status >= 500 || response.status === 429
        throw new FileUnavailable(`the attachment's address answered ${response.status}`, later)
      } catch (error) {
        if (error instanceof GuardedFetchError) {
          throw new FileUnavailable(`the attachment could not be fetched: ${error.reason}`, error.retryable)
        }
        throw error
      }
    },
  }
}
