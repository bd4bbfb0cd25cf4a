import type { InboundMessage } from '../../channels/provider.ts'
import { isSms } from '../../contract/enums.ts'
import { createBatcher } from '../../infra/batch.ts'
import { type Database, DatabaseUnavailable, type Db } from '../../infra/db.ts'
import type { Clock } from '../../lib/clock.ts'
import type { ConnectionId, Ids } from '../../lib/ids.ts'
import type { Phones } from '../../lib/phone.ts'
import { PLATFORM } from '../accounts/platform.ts'
import { insertHeardEvents } from '../callbacks/event-store.ts'
import { readKeyword } from '../consent/keywords.ts'
import type { Decision, OptOuts } from '../consent/opt-outs.ts'
import { findOwners } from '../consent/store.ts'
import { claimRefs, type InboundRow, insertInbound } from './store.ts'
import { viewInbound } from './view.ts'

/** Takes what people write to us. */
export type TakeInbound = (
  connection: { id: ConnectionId; provider: string },
  messages: readonly InboundMessage[],
) => Promise<void>

export type TakeInboundDeps = { db: Database; clock: Clock; ids: Ids; phones: Phones; optOuts: OptOuts }

/** The database is waited for this long: less than providers wait for their answer. */
const PATIENCE_MS = 8_000
const RETRY_EVERY_MS = 200
/** More than any SMS has; what else comes is cut to it. */
const LONGEST_TEXT = 40_000
const LONGEST_ADDRESS = 100
const LONGEST_ID = 200

type Written = Omit<InboundRow, 'accountId'>
type Failure = { error: unknown }

/**
 * Stores messages and what follows from them in one transaction, many at once:
 * whose they are, what a STOP or START among them ends, and the events. Resolves
 * when all of it is stored, so that the provider may be told that we have it; a
 * message that was told before changes nothing. Rejects with DatabaseUnavailable
 * where it could not be stored in time: then the provider must tell it again.
 */
export function createTakeInbound(deps: TakeInboundDeps): TakeInbound {
  const { db, clock, ids, phones, optOuts } = deps
  const batcher = createBatcher<Written, Failure | null>({
    flush: writeOrSplit,
    // A STOP and a START of one person are two decisions, in their order.
    conflict: message => message.from,
  })

  function toWritten(connection: { id: ConnectionId; provider: string }, message: InboundMessage): Written {
    const text = message.text === null ? null : clean(message.text, LONGEST_TEXT)
    const from = clean(message.from, LONGEST_ADDRESS)
    return {
      id: ids.next('inb'),
      connectionId: connection.id,
      provider: connection.provider,
      providerId: clean(message.eventId, LONGEST_ID),
      channel: message.channel,
      from: phones.parse(from)?.e164 ?? from,
      to: clean(message.to, LONGEST_ADDRESS),
      text,
      button: message.button === null ? null : clean(message.button, LONGEST_TEXT),
      keyword: isSms(message.channel) ? readKeyword(text) : null,
      sentAtMs: message.atMs,
    }
  }

  /** What the database refuses fails by itself, and its neighbours are stored without it. */
  async function writeOrSplit(messages: Written[]): Promise<(Failure | null)[]> {
    try {
      await writePatiently(messages)
      return messages.map(() => null)
    } catch (error) {
      if (error instanceof DatabaseUnavailable || messages.length === 1)
        return messages.map(() => ({ error }))
      const half = messages.length >> 1
      return [...(await writeOrSplit(messages.slice(0, half))), ...(await writeOrSplit(messages.slice(half)))]
    }
  }

  /** A repeat whose first try was stored after all finds its messages told already. */
  async function writePatiently(messages: readonly Written[]): Promise<void> {
    const untilMs = clock.monotonic() + PATIENCE_MS
    for (;;) {
      try {
        return await db.transaction(tx => write(tx, messages))
      } catch (error) {
        if (!(error instanceof DatabaseUnavailable) || clock.monotonic() >= untilMs) throw error
        await new Promise<void>(resolve => clock.after(RETRY_EVERY_MS, resolve))
      }
    }
  }

  async function write(tx: Db, messages: readonly Written[]): Promise<void> {
    const fresh = await claimRefs(tx, clock.now(), messages)
    const taken = messages.filter((_, at) => fresh.has(at))
    if (taken.length === 0) return
    const owners = await findOwners(
      tx,
      taken.map(message => ({ connectionId: message.connectionId, number: message.to })),
    )
    const rows: InboundRow[] = taken.map((message, at) => ({ ...message, accountId: owners[at]! }))
    await insertInbound(tx, rows)
    await optOuts.stop(tx, decisionsOf(rows, 'stop'), 'stop', 'The recipient asked for it by a message.')
    await optOuts.start(tx, decisionsOf(rows, 'start'))
    await tell(tx, rows)
  }

  /** By those whom an answer could reach: a short code or a name gets no marketing. */
  function decisionsOf(rows: readonly InboundRow[], keyword: InboundRow['keyword']): Decision[] {
    return rows
      .filter(row => row.keyword === keyword && phones.parse(row.from)?.possible)
      .map(row => ({ ...row, recipient: row.from }))
  }

  async function tell(tx: Db, rows: readonly InboundRow[]): Promise<void> {
    const events = rows
      .filter(row => row.accountId !== PLATFORM)
      .map(row => ({
        accountId: row.accountId,
        id: ids.next('evt'),
        type: 'inbound.message' as const,
        atMs: clock.now(),
        data: viewInbound(row),
      }))
    await insertHeardEvents(tx, events)
  }

  return async (connection, messages) => {
    const results = await Promise.all(messages.map(each => batcher.add(toWritten(connection, each))))
    const failure = results.find(result => result !== null)
    if (failure) throw failure.error
  }
}

/** NUL is nothing that a text can hold in the store. */
function clean(text: string, longest: number): string {
  return text.replaceAll('\0', '').slice(0, longest).toWellFormed()
}
