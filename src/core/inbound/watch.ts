import type { Caller } from '../../contract/caller.ts'
import { Problem } from '../../contract/errors.ts'
import type { InboundMessageView } from '../../contract/inbound-message.ts'
import type { Db } from '../../infra/db.ts'
import type { ListEvent } from '../../infra/list-events.ts'
import { createListStreams, type ListFollower } from '../../infra/list-streams.ts'
import type { Clock } from '../../lib/clock.ts'
import { type AccountId, timeOf } from '../../lib/ids.ts'
import { matchesFilter } from './filter.ts'
import { type InboundFilter, type InboundId, selectInboundOf, selectInboundSince } from './store.ts'
import { viewInbound } from './view.ts'

export type InboundNews = ListEvent<InboundMessageView>

export type InboundWatch = {
  /**
   * Yields the account's inbound messages from now on, or from `cursor` on, until `gone` is aborted. Throws
   * RATE_LIMITED if too many streams are open.
   */
  follow(watcher: InboundWatcher, gone: AbortSignal): Promise<AsyncGenerator<InboundNews>>
  /** Ends all streams, at shutdown. */
  close(): void
}

export type InboundWatcher = {
  account: Pick<Caller['account'], 'id'>
  filter: InboundFilter
  cursor: string | undefined
}

/** How often new messages are looked for, with one query for all streams of this node. */
const SCAN_EVERY_MS = 1_000
/** A message gets its id, by its node's clock, before it is stored; so it may become visible this much later. */
const LATE_MS = 15_000
/** Older cursors cannot be resumed from; reading the list is cheaper then. */
const RESUME_WITHIN_MS = 60_000
/** New messages of an account per look; if there are more, its streams get a reset, and read the list again. */
const MAX_MESSAGES = 300
/** Messages of an account that are remembered while others may still come late. */
const MAX_RECENT = 5_000
/** News that may wait for a slow reader. */
const MAX_WAITING = 300

type Watching = ListFollower<InboundWatcher, InboundMessageView>
/** Which of an account's messages were sent to its streams. */
type Tail = {
  accountId: AccountId
  /** When the last complete look began. */
  scannedMs: number
  /** Messages that were sent, as far as a look may find them again. */
  seen: Set<InboundId>
}
/** The recent messages of all accounts with streams, and when the look for them began. */
type Scan = { atMs: number; inSight: ReadonlyMap<AccountId, readonly InboundId[]> }

/** Inbound messages never change, so each look sends those that the looks before did not find. */
export function createInboundWatch({ db, clock }: { db: Db; clock: Clock }): InboundWatch {
  const streams = createListStreams<InboundWatcher, InboundMessageView, Tail, Scan>({
    clock,
    pollIntervalMs: SCAN_EVERY_MS,
    accountOf: ({ account }) => account.id,
    queue,
    openTail,
    cursorOf,
    begin,
    read: scan,
    send: sendNew,
  })

  async function follow(watcher: InboundWatcher, gone: AbortSignal): Promise<AsyncGenerator<InboundNews>> {
    const events = await streams.follow(watcher, gone)
    if (events) return events
    const words = 'Too many streams of inbound messages are open.'
    throw new Problem('RATE_LIMITED', words, { retryAfterSeconds: 5 })
  }

  /** The first item says where the stream begins: after its cursor, or at the list as it is now (`reset`). */
  async function begin(follower: Watching): Promise<void> {
    const { account, cursor } = follower.subject
    const sinceMs = readCursor(cursor, clock.now())
    const tail = await streams.tailOf(account.id)
    if (sinceMs === null) follower.push({ kind: 'reset', cursor: cursorOf(tail) })
    else await catchUp(follower, tail, sinceMs)
  }

  async function openTail(accountId: AccountId): Promise<Tail> {
    const nowMs = clock.now()
    const inSight = await selectInboundSince(db, [{ accountId, sinceMs: nowMs - LATE_MS }], MAX_RECENT)
    return { accountId, scannedMs: nowMs, seen: new Set(inSight.get(accountId)) }
  }

  async function catchUp(follower: Watching, tail: Tail, sinceMs: number): Promise<void> {
    const { accountId } = tail
    // Until all of it is sent, a reader that breaks off resumes from its old cursor.
    follower.push({ kind: 'beat', cursor: String(sinceMs) })
    const since = [{ accountId, sinceMs: sinceMs - LATE_MS }]
    const ids = (await selectInboundSince(db, since, MAX_MESSAGES + 1)).get(accountId) ?? []
    if (ids.length > MAX_MESSAGES) return follower.push({ kind: 'reset', cursor: cursorOf(tail) })
    await sendMessages(accountId, ids, [follower], String(sinceMs))
    follower.push({ kind: 'beat', cursor: cursorOf(tail) })
  }

  async function scan(tails: readonly Tail[]): Promise<Scan> {
    const atMs = clock.now()
    const since = tails.map(({ accountId, scannedMs }) => ({ accountId, sinceMs: scannedMs - LATE_MS }))
    return { atMs, inSight: await selectInboundSince(db, since, MAX_RECENT) }
  }

  /** Sends messages that were not sent yet, and moves the tail on. */
  async function sendNew(tail: Tail, { atMs, inSight }: Scan, all: readonly Watching[]): Promise<void> {
    const recent = inSight.get(tail.accountId) ?? []
    const fresh = recent.filter(id => !tail.seen.has(id))
    const cursor = String(atMs)
    if (fresh.length > MAX_MESSAGES) for (const { push } of all) push({ kind: 'reset', cursor })
    else await sendMessages(tail.accountId, fresh, all, cursor)
    tail.scannedMs = atMs
    tail.seen = new Set(recent.filter(id => timeOf(id) >= atMs - LATE_MS))
  }

  async function sendMessages(
    accountId: AccountId,
    ids: readonly InboundId[],
    all: readonly Watching[],
    cursor: string,
  ): Promise<void> {
    if (ids.length === 0) return
    for (const row of await selectInboundOf(db, accountId, ids)) {
      const message = viewInbound(row)
      for (const { subject, push } of all) {
        if (matchesFilter(subject.filter, row)) push({ kind: 'message', cursor, message })
      }
    }
  }

  return { follow, close: streams.close }
}

function cursorOf({ scannedMs }: Tail): string {
  return String(scannedMs)
}

/** A cursor in ms since the epoch; null if it is invalid, too old, or in the future. */
function readCursor(text: string | undefined, nowMs: number): number | null {
  if (text === undefined || !/^\d{1,15}$/.test(text)) return null
  const atMs = Number(text)
  return atMs >= nowMs - RESUME_WITHIN_MS && atMs <= nowMs + LATE_MS ? atMs : null
}

/** Beyond `MAX_WAITING`, a `reset` replaces all waiting items. */
function queue(waiting: readonly InboundNews[], next: InboundNews): InboundNews[] {
  if (next.kind === 'reset') return [next]
  return waiting.length >= MAX_WAITING ? [{ kind: 'reset', cursor: next.cursor }] : [...waiting, next]
}
