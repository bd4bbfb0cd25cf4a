import type { InboundMessage, InboundPart } from '../../contract/reported-message.ts'
import { createBatcher } from '../../infra/batch.ts'
import type { Database, Db } from '../../infra/db.ts'
import { retryWhileUnavailable } from '../../infra/retry-unavailable.ts'
import { type Failure, writeOrSplit } from '../../infra/write-or-split.ts'
import type { Clock } from '../../lib/clock.ts'
import { MINUTE_MS } from '../../lib/durations.ts'
import type { ConnectionId } from '../../lib/ids.ts'
import { groupParts, isPart, joinedText } from './parts.ts'
import { joinParts, type PartRow, takeStaleParts } from './parts-store.ts'
import { MAX_TEXT_LENGTH, type ReceivedMessage, toReceived } from './received.ts'
import { withoutRepeatedParts, withoutRepeats } from './repeats.ts'
import { claimRefs } from './store.ts'
import type { StoreInbound } from './store-inbound.ts'

export type Inbox = {
  /**
   * Resolves when all messages are stored, so that the provider's call may be answered with
   * success; repeats change nothing. Rejects with DatabaseUnavailable
   * where they could not be stored in time: the provider must then repeat them.
   */
  receive(
    connection: { id: ConnectionId; provider: string },
    messages: readonly InboundMessage[],
  ): Promise<void>
  /** Ends the wait for parts that did not arrive in time, and stores their messages without them; returns of how many, at most MAX_INCOMPLETE. */
  storeIncomplete(): Promise<number>
}

export type InboxDeps = {
  db: Database
  clock: Clock
  keep: StoreInbound
  /** Called when events for webhooks were stored, so that they are delivered at once and not at the next poll. */
  wake(): void
}

/** A message, or a part of one. */
type Item = ReceivedMessage & { part: InboundPart | null }

/** How long to wait for the database: less than providers wait for the response to their call. */
const PATIENCE_MS = 8_000
/** How long to wait for missing parts: they follow within seconds, unless the phone was out of reach in between. */
const PARTS_WAIT_MS = 10 * MINUTE_MS
/** Most messages that one call of `storeIncomplete` stores, in one transaction. */
export const MAX_INCOMPLETE = 500

/** Takes inbound messages: stores many in one transaction, with all that follows from them. */
export function createInbox({ db, clock, keep, wake }: InboxDeps): Inbox {
  const batcher = createBatcher<Item, Failure | null>({
    flush: items =>
      writeOrSplit(items, async some => {
        if ((await writePatiently(some)) > 0) wake()
        return some.map(() => null)
      }),
  })

  /** Safe to repeat: if an earlier try was stored after all, its messages are recognised as repeats. */
  function writePatiently(items: readonly Item[]): Promise<number> {
    const untilMs = clock.monotonic() + PATIENCE_MS
    return retryWhileUnavailable(
      clock,
      () => clock.monotonic() < untilMs,
      () => db.transaction(tx => write(tx, items)),
    )
  }

  /** Returns the number of events stored. */
  async function write(tx: Db, items: readonly Item[]): Promise<number> {
    const claimed = await claimRefs(tx, clock.now(), items)
    const taken = items.filter((_, at) => claimed.has(at))
    const parts = taken.flatMap(({ part, ...told }) => (part ? [toPartRow(told, part, clock.now())] : []))
    const whole = parts.length === 0 ? [] : groupParts(await joinParts(tx, parts))
    const fresh = await withoutRepeats(tx, clock.now(), whole)
    const alone = taken.flatMap(({ part, ...told }) => (part ? [] : [told]))
    return keep(tx, [...alone, ...fresh.map(joined)])
  }

  return {
    async receive(connection, messages) {
      const items = messages.map(message => ({
        ...toReceived(connection, message),
        part: isPart(message.part) ? message.part : null,
      }))
      const results = await Promise.all(items.map(batcher.add))
      const failure = results.find(result => result !== null)
      if (failure) throw failure.error
    },
    storeIncomplete: () =>
      db.transaction(async tx => {
        const left = groupParts(await takeStaleParts(tx, clock.now() - PARTS_WAIT_MS, MAX_INCOMPLETE))
        await keep(tx, (await withoutRepeatedParts(tx, left)).map(joined))
        return left.length
      }),
  }
}

function toPartRow(told: ReceivedMessage, part: InboundPart, nowMs: number): PartRow {
  const { reference, number, total, unnamed = false } = part
  const { connectionId, provider, providerId, channel, from, to, text } = told
  return {
    connectionId,
    provider,
    providerId,
    channel,
    from,
    to,
    // References wrap: another total means another message.
    reference: `${reference}/${total}`,
    number,
    total,
    body: Buffer.from(text ?? '', 'utf16le'),
    unnamed,
    receivedAtMs: nowMs,
  }
}

/** The message joined from these parts; its id is that of its first part. Only SMS arrives in parts. */
function joined(parts: readonly PartRow[]): ReceivedMessage {
  const { connectionId, provider, providerId, channel, from, to, total } = parts[0]!
  return {
    accountId: null,
    connectionId,
    provider,
    providerId,
    channel,
    from,
    to,
    chatId: null,
    contact: null,
    text: joinedText(parts).slice(0, MAX_TEXT_LENGTH),
    button: null,
    buttonTitle: null,
    media: [],
    location: null,
    contacts: [],
    replyTo: null,
    sentAtMs: null,
    isIncomplete: parts.length < total,
  }
}
