import type { Links } from '../channels/links.ts'
import { FileUnavailable, type Io, type Link, type Provider } from '../channels/provider.ts'
import {
  createInboundFiles,
  type InboundFiles,
  type InboundFilesDeps,
  type MediaSource,
} from '../core/inbound/media.ts'
import type { Foundation } from './foundation.ts'

/** The files of inbound messages, which are read from links or providers. */
export function createInboundFileRoom(
  { db, log, clock }: Foundation,
  links: Links,
  providers: ReadonlyMap<string, Provider>,
): InboundFiles {
  return createInboundFiles({
    db,
    ask: askOf(openerOf(links, providers, { log, clock })),
    clock,
  })
}

type Open = NonNullable<Link['openMedia']>

/** From the link that received the message, else from its provider: a web session's link is open on one node only. */
function openerOf(links: Links, providers: ReadonlyMap<string, Provider>, io: Pick<Io, 'log' | 'clock'>) {
  return ({ connectionId, provider }: MediaSource): Open | null => {
    const own = links.get(connectionId)?.link.openMedia
    const supplier = providers.get(provider)
    if (own) return own
    return supplier?.openMedia ? (request, signal) => supplier.openMedia!(request, io, signal) : null
  }
}

function askOf(openerOf: (from: MediaSource) => Open | null): InboundFilesDeps['ask'] {
  return async (from, request, signal) => {
    const open = openerOf(from)
    if (!open) return { kind: 'unavailable', cause: 'the connection is not open' }
    try {
      return { kind: 'opened', bytes: await open(request, signal) }
    } catch (cause) {
      const gone = cause instanceof FileUnavailable && !cause.retryable
      return { kind: gone ? 'gone' : 'unavailable', cause }
    }
  }
}
