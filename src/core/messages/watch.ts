import type { Caller } from '../../contract/caller.ts'
import { Problem } from '../../contract/errors.ts'
import type { Message } from '../../contract/message.ts'
import type { Db } from '../../infra/db.ts'
import type { ListEvent } from '../../infra/list-events.ts'
import { createListStreams, type ListFollower } from '../../infra/list-streams.ts'
import type { Clock } from '../../lib/clock.ts'
import type { AccountId, MessageId } from '../../lib/ids.ts'
import { matchesFilter } from './filter.ts'
import { type MessageFilter, selectMessages } from './list-store.ts'
import type { MessageRow } from './message-store.ts'
import { readStreamCursor, type StreamCursor, writeStreamCursor } from './watch-cursor.ts'
import { deleteOldMoves, lastMoveId, type Move, selectMoves, watchAccounts } from './watch-store.ts'

export type MessageNews = ListEvent<Message>

export type MessageWatch = {
  /**
   * Yields the account's messages at each change, from now on or from `cursor` on, until `gone` is aborted.
   * Throws RATE_LIMITED if too many streams are open.
   */
  follow(watcher: Watcher, gone: AbortSignal): Promise<AsyncGenerator<MessageNews>>
  /** Deletes old moves and watches; any node may call it at any time. */
  sweep(): Promise<void>
  /** Ends all streams, at shutdown. */
  close(): void
}

export type Watcher = { account: Caller['account']; filter: MessageFilter; cursor: string | undefined }

export type MessageWatchDeps = {
  db: Db
  clock: Clock
  view(account: Caller['account'], rows: readonly MessageRow[]): Promise<Message[]>
}

/** How often moves are read, with one query for all streams of this node. */
const POLL_EVERY_MS = 1_000
/** How long a watch lasts without renewal, so that a stream that reconnects finds the changes meanwhile. */
const WATCH_LEASE_MS = 90_000
const RENEW_EVERY_MS = 15_000
/** After an older cursor, moves may be missing. */
const RESUME_WITHIN_MS = 60_000
const MOVE_RETENTION_MS = 150_000
/** Moves get their ids before they are committed: how long a lower id may become visible after a higher one. */
const LATE_COMMIT_MS = 5_000
/** Limits per account and poll; beyond them, its streams get a `reset` and read their lists anew. */
const MAX_MOVES = 2_000
const MAX_MESSAGES = 300
/** Limits of the queue for a slow reader. */
const MAX_WAITING = 300
const MAX_WAITING_CHARACTERS = 4_000_000

type Watching = ListFollower<Watcher, Message>
/** Which of an account's moves were sent to its streams. */
type Tail = {
  accountId: AccountId
  /** All up to here. */
  afterId: number
  /** And these, with the time at which they were read. */
  seen: Map<number, number>
  /** When all streams get a `reset`: by then calls that did not see the watch have ended. */
  resetAtMs: number | null
}
type Moves = ReadonlyMap<AccountId, readonly Move[]>

export function createMessageWatch({ db, clock, view }: MessageWatchDeps): MessageWatch {
  let renewAtMs = 0
  const streams = createListStreams<Watcher, Message, Tail, Moves>({
    clock,
    pollIntervalMs: POLL_EVERY_MS,
    accountOf: ({ account }) => account.id,
    queue,
    openTail,
    cursorOf,
    begin: sendFirstEvent,
    read: readMoves,
    send,
  })

  async function follow(watcher: Watcher, gone: AbortSignal): Promise<AsyncGenerator<MessageNews>> {
    const events = await streams.follow(watcher, gone)
    if (events) return events
    throw new Problem('RATE_LIMITED', 'Too many streams of messages are open.', { retryAfterSeconds: 5 })
  }

  /** Sends the first event: what happened since the cursor, or a `reset` to the list as it is now. */
  async function sendFirstEvent(follower: Watching): Promise<void> {
    const { account, cursor } = follower.subject
    const nowMs = clock.now()
    const since = readStreamCursor(cursor, nowMs - RESUME_WITHIN_MS)
    const known = await watchAccounts(db, [account.id], nowMs, nowMs + WATCH_LEASE_MS)
    const tail = await streams.tailOf(account.id)
    if (!known.has(account.id)) tail.resetAtMs = clock.monotonic() + LATE_COMMIT_MS
    if (since && known.has(account.id)) await catchUp(follower, tail, since)
    else follower.push({ kind: 'reset', cursor: cursorOf(tail) })
  }

  async function openTail(accountId: AccountId): Promise<Tail> {
    const afterId = await lastMoveId(db, accountId, clock.now() - LATE_COMMIT_MS)
    return { accountId, afterId, seen: new Map(), resetAtMs: null }
  }

  async function catchUp(follower: Watching, tail: Tail, since: StreamCursor): Promise<void> {
    const { account } = follower.subject
    follower.push({ kind: 'beat', cursor: cursorAt(since.afterId) })
    const moves = await selectMoves(db, [{ accountId: account.id, afterId: since.afterId }], MAX_MOVES)
    const ids = new Set(moves.flatMap(({ messageIds }) => messageIds))
    const isSent =
      !isTooMuch(moves, ids) && (await sendMessages(account.id, ids, [follower], cursorAt(since.afterId)))
    follower.push({ kind: isSent ? 'beat' : 'reset', cursor: cursorOf(tail) })
  }

  async function readMoves(tails: readonly Tail[]): Promise<Moves> {
    await renew(tails)
    return Map.groupBy(await selectMoves(db, tails, MAX_MOVES), ({ accountId }) => accountId)
  }

  async function renew(tails: readonly Tail[]): Promise<void> {
    if (clock.monotonic() < renewAtMs) return
    const nowMs = clock.now()
    const accountIds = tails.map(({ accountId }) => accountId)
    const known = await watchAccounts(db, accountIds, nowMs, nowMs + WATCH_LEASE_MS)
    renewAtMs = clock.monotonic() + RENEW_EVERY_MS
    // The watch expired while the database was unavailable, so changes may be missing.
    for (const tail of tails) if (!known.has(tail.accountId)) tail.resetAtMs = clock.monotonic()
  }

  async function send(tail: Tail, moves: Moves, all: readonly Watching[]): Promise<void> {
    await sendMoves(tail, moves.get(tail.accountId) ?? [], all)
    sendDueReset(tail, all)
  }

  /** Sends the moves that were not sent yet, and advances the tail. */
  async function sendMoves(tail: Tail, moves: readonly Move[], all: readonly Watching[]): Promise<void> {
    const fresh = moves.filter(({ id }) => !tail.seen.has(id))
    const ids = new Set(fresh.flatMap(({ messageIds }) => messageIds))
    const at = cursorOf(tail)
    if (isTooMuch(moves, ids) || !(await sendMessages(tail.accountId, ids, all, at)))
      await resetToEnd(tail, all)
    const nowMs = clock.monotonic()
    for (const { id } of fresh) tail.seen.set(id, nowMs)
    advance(tail, nowMs)
  }

  async function resetToEnd(tail: Tail, all: readonly Watching[]): Promise<void> {
    tail.afterId = Math.max(tail.afterId, await lastMoveId(db, tail.accountId, clock.now()))
    for (const { push } of all) push({ kind: 'reset', cursor: cursorOf(tail) })
    tail.resetAtMs = clock.monotonic() + LATE_COMMIT_MS
  }

  /** False if their content is too large to be read at once; then nothing was sent. */
  async function sendMessages(
    accountId: AccountId,
    ids: ReadonlySet<MessageId>,
    all: readonly Watching[],
    at: string,
  ): Promise<boolean> {
    const [first] = all
    if (ids.size === 0 || !first) return true
    const rows = await selectMessages(
      db,
      [...ids].map(id => ({ accountId, id })),
    )
    if (!rows) return false
    const messages = await view(first.subject.account, rows)
    for (const { subject, push } of all) {
      for (const [place, row] of rows.entries()) {
        if (matchesFilter(subject.filter, row))
          push({ kind: 'message', cursor: at, message: messages[place]! })
      }
    }
    return true
  }

  function sendDueReset(tail: Tail, all: readonly Watching[]): void {
    if (tail.resetAtMs === null || clock.monotonic() < tail.resetAtMs) return
    tail.resetAtMs = null
    for (const { push } of all) push({ kind: 'reset', cursor: cursorOf(tail) })
  }

  function cursorAt(afterId: number): string {
    return writeStreamCursor({ afterId, atMs: clock.now() })
  }

  function cursorOf(tail: Tail): string {
    return cursorAt(tail.afterId)
  }

  return {
    follow,
    sweep: () => deleteOldMoves(db, clock.now() - MOVE_RETENTION_MS, clock.now()),
    close: streams.close,
  }
}

function isTooMuch(moves: readonly Move[], ids: ReadonlySet<MessageId>): boolean {
  return moves.length >= MAX_MOVES || ids.size > MAX_MESSAGES
}

/** Advances past moves that were seen long enough ago: no lower id can still become visible. */
function advance(tail: Tail, nowMs: number): void {
  for (const [id, seenMs] of tail.seen) {
    if (seenMs + LATE_COMMIT_MS <= nowMs) tail.afterId = Math.max(tail.afterId, id)
  }
  for (const id of tail.seen.keys()) if (id <= tail.afterId) tail.seen.delete(id)
}

/** Keeps only the last state of each message; replaces the queue by a `reset` if it becomes too long. */
function queue(waiting: readonly MessageNews[], next: MessageNews): MessageNews[] {
  if (next.kind === 'reset') return [next]
  if (waiting.length >= MAX_WAITING || charactersOf(waiting) > MAX_WAITING_CHARACTERS) {
    return [{ kind: 'reset', cursor: next.cursor }]
  }
  if (next.kind === 'beat') return [...waiting, next]
  return [...waiting.filter(news => !isAbout(news, next.message)), next]
}

function charactersOf(waiting: readonly MessageNews[]): number {
  return waiting.reduce(
    (sum, news) => sum + (news.kind === 'message' ? (news.message.text?.length ?? 0) : 0),
    0,
  )
}

function isAbout(news: MessageNews, { messageId }: Message): boolean {
  return news.kind === 'message' && news.message.messageId === messageId
}
