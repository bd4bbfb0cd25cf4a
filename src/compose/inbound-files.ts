import type { Links } from '../channels/links.ts'
import { FileUnavailable, type Provider } from '../channels/provider.ts'
import { createInboundFiles, type InboundFiles, type InboundFilesDeps } from '../core/inbound/media.ts'
import type { Foundation } from './foundation.ts'

/** The files of inbound messages, from the links or the providers that have them. */
export function createInboundFileRoom(
  { db }: Foundation,
  links: Links,
  providers: ReadonlyMap<string, Provider>,
): InboundFiles {
  return createInboundFiles({ db, ask: askOf(links, providers), timeout: AbortSignal.timeout })
}

function askOf(links: Links, providers: ReadonlyMap<string, Provider>): InboundFilesDeps['ask'] {
  return async ({ connectionId, provider }, request, signal) => {
    const source = links.get(connectionId)?.link.openMedia ?? providers.get(provider)?.openMedia
    if (!source) return { kind: 'unavailable', cause: 'the connection is not open' }
    try {
      return { kind: 'opened', bytes: await source(request, signal) }
    } catch (cause) {
      const gone = cause instanceof FileUnavailable && !cause.retryable
      return { kind: gone ? 'gone' : 'unavailable', cause }
    }
  }
}
