import type { Readable } from 'node:stream'
import type { Caller } from '../../contract/caller.ts'
import { Problem } from '../../contract/errors.ts'
import type { InboundMediaRequest } from '../../contract/reported-message.ts'
import type { Db } from '../../infra/db.ts'
import type { Clock } from '../../lib/clock.ts'
import { createPlaces } from '../../lib/places.ts'
import { bounded } from './bounded.ts'
import { findInbound } from './read.ts'
import type { InboundRow } from './store.ts'

/** Files of inbound messages: not stored here, but streamed from their provider when a client asks for them. */
export type InboundFiles = {
  /**
   * Opens the nth file of a message, from 0. Throws NOT_FOUND where there is none or the provider
   * no longer has it, RATE_LIMITED while too many are open on this node, PROVIDER_UNAVAILABLE where it cannot be read now.
   * `gone` aborts when the client has left.
   */
  open(caller: Caller, inboundId: string, index: number, gone: AbortSignal): Promise<InboundFile>
}

/** The caller must read or destroy `bytes`; the stream fails with PROVIDER_UNAVAILABLE where it is cut, too long or too slow. */
export type InboundFile = { mimetype: string | null; fileName: string | null; bytes: Readable }

/** `gone`: the provider no longer has it; `unavailable`: a later try may succeed. */
export type ProviderFile =
  | { kind: 'opened'; bytes: NodeJS.ReadableStream }
  | { kind: 'gone' | 'unavailable'; cause: unknown }

export type MediaSource = Pick<InboundRow, 'connectionId' | 'provider'>

export type InboundFilesDeps = {
  db: Db
  /** Asks the provider; never rejects. */
  ask(from: MediaSource, request: InboundMediaRequest, signal: AbortSignal): Promise<ProviderFile>
  clock: Pick<Clock, 'after'>
}

/** Files open at once on this node, in all and per account, so that one account's slow readers do not shut out others. */
const MAX_OPEN = 64
const MAX_OF_ONE = 8
/** How long the first byte may take. */
const OPEN_MS = 15_000
/** How long the whole file may take: 100 MB at 3 Mbit/s. */
const READ_MS = 300_000
/** WhatsApp's documents are the largest. */
const MAX_BYTES = 100 * 1_048_576

export function createInboundFiles({ db, ask, clock }: InboundFilesDeps): InboundFiles {
  const places = createPlaces({ total: MAX_OPEN, perOwner: MAX_OF_ONE })

  async function openOne(
    caller: Caller,
    inboundId: string,
    index: number,
    gone: AbortSignal,
  ): Promise<InboundFile> {
    const message = await findInbound(db, caller.account.id, inboundId)
    const file = message.media[index]
    if (!file || file.reference === null) throw new Problem('NOT_FOUND', 'The message has no such file')
    const late = new AbortController()
    const giveUp = () => late.abort()
    const { accountId, to } = message
    const cancelOpening = clock.after(OPEN_MS, giveUp)
    const signal = AbortSignal.any([late.signal, gone])
    const asked = await ask(message, { accountId, to, reference: file.reference }, signal)
    cancelOpening()
    if (asked.kind !== 'opened') throw problemOf(asked)
    const bytes = bounded(asked.bytes, MAX_BYTES, signal, unavailable)
    bytes.once('close', clock.after(READ_MS, giveUp))
    return { mimetype: file.mimetype, fileName: file.fileName, bytes }
  }

  return {
    async open(caller, inboundId, index, gone) {
      const leave = places.take(caller.account.id)
      if (!leave) throw new Problem('RATE_LIMITED', 'Too many files are being read at once.')
      try {
        const file = await openOne(caller, inboundId, index, gone)
        file.bytes.once('close', leave)
        return file
      } catch (error) {
        leave()
        throw error
      }
    },
  }
}

function problemOf({ kind, cause }: Exclude<ProviderFile, { kind: 'opened' }>): Problem {
  return kind === 'gone'
    ? new Problem('NOT_FOUND', 'The provider no longer has this file.', { cause })
    : unavailable(cause)
}

function unavailable(cause: unknown): Problem {
  return new Problem('PROVIDER_UNAVAILABLE', 'The provider cannot deliver the file at the moment.', { cause })
}
