import type { Links } from '../channels/links.ts'
import { FileUnavailable } from '../channels/provider.ts'
import { createInboundFiles, type InboundFiles, type InboundFilesDeps } from '../core/inbound/media.ts'
import type { Foundation } from './foundation.ts'

/** The files of inbound messages, from the links that have them. */
export function createInboundFileRoom({ db }: Foundation, links: Links): InboundFiles {
  return createInboundFiles({ db, ask: askOf(links), timeout: AbortSignal.timeout })
}

function askOf(links: Links): InboundFilesDeps['ask'] {
  return async (connectionId, request, signal) => {
    const link = links.get(connectionId)?.link
    if (!link?.openMedia) return { kind: 'unavailable', cause: 'the connection is not open' }
    try {
      return { kind: 'opened', bytes: await link.openMedia(request, signal) }
    } catch (cause) {
      const gone = cause instanceof FileUnavailable && !cause.retryable
      return { kind: gone ? 'gone' : 'unavailable', cause }
    }
  }
}
