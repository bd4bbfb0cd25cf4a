import type { InboundMessage, InboundPart } from '../../channels/provider.ts'
import { createBatcher } from '../../infra/batch.ts'
import { type Database, DatabaseUnavailable, type Db } from '../../infra/db.ts'
import { patiently } from '../../infra/patiently.ts'
import type { Clock } from '../../lib/clock.ts'
import { MINUTE_MS } from '../../lib/durations.ts'
import type { ConnectionId } from '../../lib/ids.ts'
import type { KeepInbound } from './keep.ts'
import { groupParts, isPart, joinedText } from './parts.ts'
import { joinParts, type PartRow, takeStaleParts } from './parts-store.ts'
import { claimRefs } from './store.ts'
import { LONGEST_TEXT, type Told, toTold } from './told.ts'

export type Inbox = {
  /**
   * Resolves when all of it is stored, so that the provider may be told that we
   * have it; what was told before changes nothing. Rejects with DatabaseUnavailable
   * where it could not be stored in time: then the provider must tell it again.
   */
  take(connection: { id: ConnectionId; provider: string }, messages: readonly InboundMessage[]): Promise<void>
  /** Keeps long messages whose other parts never came, as far as they are there; how many, at most MOST_GIVEN_UP. */
  giveUpParts(): Promise<number>
}

export type InboxDeps = {
  db: Database
  clock: Clock
  keep: KeepInbound
  /** Called when events were stored that somebody listens to, so that nobody waits for the next look at them. */
  wake(): void
}

/** A message that was told, or a part of one. */
type Item = Told & { part: InboundPart | null }
type Failure = { error: unknown }

/** The database is waited for this long: less than providers wait for their answer. */
const PATIENCE_MS = 8_000
/** Parts come within seconds; a telephone that was out of reach in between may take longer. */
const PARTS_WAIT_MS = 10 * MINUTE_MS
/** One transaction keeps no more. */
export const MOST_GIVEN_UP = 500

/** Takes what people write to us, many messages in one transaction with all that follows from them. */
export function createInbox({ db, clock, keep, wake }: InboxDeps): Inbox {
  const batcher = createBatcher<Item, Failure | null>({ flush: writeOrSplit })

  /** What the database refuses fails by itself, and its neighbours are stored without it. */
  async function writeOrSplit(items: Item[]): Promise<(Failure | null)[]> {
    try {
      if ((await writePatiently(items)) > 0) wake()
      return items.map(() => null)
    } catch (error) {
      if (error instanceof DatabaseUnavailable || items.length === 1) return items.map(() => ({ error }))
      const half = items.length >> 1
      return [...(await writeOrSplit(items.slice(0, half))), ...(await writeOrSplit(items.slice(half)))]
    }
  }

  /** A repeat whose first try was stored after all finds its messages told already. */
  function writePatiently(items: readonly Item[]): Promise<number> {
    const untilMs = clock.monotonic() + PATIENCE_MS
    return patiently(
      clock,
      () => clock.monotonic() < untilMs,
      () => db.transaction(tx => write(tx, items)),
    )
  }

  /** How many events were stored. */
  async function write(tx: Db, items: readonly Item[]): Promise<number> {
    const fresh = await claimRefs(tx, clock.now(), items)
    const taken = items.filter((_, at) => fresh.has(at))
    const parts = taken.flatMap(({ part, ...told }) => (part ? [toPartRow(told, part, clock.now())] : []))
    const whole = parts.length === 0 ? [] : await joinParts(tx, parts)
    const alone = taken.flatMap(({ part, ...told }) => (part ? [] : [told]))
    return keep(tx, [...alone, ...groupParts(whole).map(joined)])
  }

  return {
    async take(connection, messages) {
      const items = messages.map(message => ({
        ...toTold(connection, message),
        part: isPart(message.part) ? message.part : null,
      }))
      const results = await Promise.all(items.map(batcher.add))
      const failure = results.find(result => result !== null)
      if (failure) throw failure.error
    },
    giveUpParts: () =>
      db.transaction(async tx => {
        const left = groupParts(await takeStaleParts(tx, clock.now() - PARTS_WAIT_MS, MOST_GIVEN_UP))
        await keep(tx, left.map(joined))
        return left.length
      }),
  }
}

function toPartRow(told: Told, { reference, number, total }: InboundPart, nowMs: number): PartRow {
  const { connectionId, provider, providerId, channel, from, to, text } = told
  return {
    connectionId,
    provider,
    providerId,
    channel,
    from,
    to,
    // Another number of parts is another message.
    reference: `${reference}/${total}`,
    number,
    total,
    body: Buffer.from(text ?? '', 'utf16le'),
    receivedAtMs: nowMs,
  }
}

/** The message that these parts are; it goes by the id of the first of them. Only SMS comes in parts. */
function joined(parts: readonly PartRow[]): Told {
  const { connectionId, provider, providerId, channel, from, to } = parts[0]!
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
    text: joinedText(parts).slice(0, LONGEST_TEXT),
    button: null,
    buttonTitle: null,
    media: [],
    location: null,
    contacts: [],
    replyTo: null,
    sentAtMs: null,
  }
}
