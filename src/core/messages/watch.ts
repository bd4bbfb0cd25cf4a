import type { Caller } from '../../contract/caller.ts'
import { Problem } from '../../contract/errors.ts'
import type { Message } from '../../contract/message.ts'
import type { Db } from '../../infra/db.ts'
import { createFollowers, type Follower } from '../../infra/followers.ts'
import { type ListNews, withBeats } from '../../infra/list-news.ts'
import type { Clock } from '../../lib/clock.ts'
import type { AccountId, MessageId } from '../../lib/ids.ts'
import { fits } from './filter.ts'
import { type MessageFilter, selectMessages } from './list-store.ts'
import type { MessageRow } from './message-store.ts'
import { type Mark, readMark, writeMark } from './watch-mark.ts'
import { forgetMoves, lastMove, type Move, selectMoves, watchAccounts } from './watch-store.ts'

export type MessageNews = ListNews<Message>

export type MessageWatch = {
  /**
   * The account's messages at each change, from now on or from `mark` on, until whoever follows is
   * `gone`. Throws RATE_LIMITED when too many watch.
   */
  follow(watcher: Watcher, gone: AbortSignal): Promise<AsyncGenerator<MessageNews>>
  /** Forgets what nobody will ask for; any node may, at any time. */
  forget(): Promise<void>
  /** Ends all that follow, since the server goes. */
  close(): void
}

export type Watcher = { account: Caller['account']; filter: MessageFilter; mark: string | undefined }

export type MessageWatchDeps = {
  db: Db
  clock: Clock
  view(account: Caller['account'], rows: readonly MessageRow[]): Promise<Message[]>
}

/** One look a second serves all who watch on this node, whatever their number. */
const LOOK_EVERY_MS = 1_000
/** A watch lasts so long without being renewed, so that one who comes back finds what happened meanwhile. */
const WATCH_FOR_MS = 90_000
const RENEW_EVERY_MS = 15_000
/** A mark that is older may have a gap behind it. */
const RESUME_WITHIN_MS = 60_000
const KEEP_MOVES_MS = 150_000
/** Calls are numbered before they are committed: one that is seen later than those behind it is waited for so long. */
const LATE_MS = 5_000
/** Of one account and look; where there is more, its watchers read their lists anew. */
const MOST_MOVES = 2_000
const MOST_MESSAGES = 300
/** What waits for a slow reader: so many messages, and what they say. */
const MOST_WAITING = 300
const MOST_WAITING_CHARACTERS = 4_000_000

type Watching = Follower<Watcher, MessageNews>
/** What of an account's moves was told. */
type Tail = {
  accountId: AccountId
  /** All up to here. */
  behind: number
  /** And these, at the time at which they were seen. */
  seen: Map<number, number>
  /** When all are told to read anew, once calls are through that did not see the watch. */
  resetAtMs: number | null
}

export function createMessageWatch({ db, clock, view }: MessageWatchDeps): MessageWatch {
  const tails = new Map<AccountId, Tail>()
  let renewAtMs = 0
  const followers = createFollowers<Watcher, MessageNews>({
    clock,
    look,
    lookEveryMs: LOOK_EVERY_MS,
    accountOf: ({ account }) => account.id,
    queue,
  })

  async function follow(watcher: Watcher, gone: AbortSignal): Promise<AsyncGenerator<MessageNews>> {
    const follower = followers.enter(watcher, gone)
    if (!follower) {
      throw new Problem('RATE_LIMITED', 'Too many streams of messages are open.', { retryAfterSeconds: 5 })
    }
    try {
      await begin(follower)
    } catch (error) {
      follower.leave()
      throw error
    }
    return withBeats(follower, ({ account }) => standingOf(account.id))
  }

  /** Their first word says where they stand: behind their mark, or at the list as it is now. */
  async function begin(follower: Watching): Promise<void> {
    const { account, mark } = follower.subject
    const nowMs = clock.now()
    const since = readMark(mark, nowMs - RESUME_WITHIN_MS)
    const known = await watchAccounts(db, [account.id], nowMs, nowMs + WATCH_FOR_MS)
    const tail = tails.get(account.id) ?? (await openTail(account.id, nowMs))
    if (!known.has(account.id)) tail.resetAtMs = clock.monotonic() + LATE_MS
    if (since && known.has(account.id)) await catchUp(follower, tail, since)
    else follower.tell({ kind: 'reset', mark: markOf(tail) })
  }

  async function openTail(accountId: AccountId, nowMs: number): Promise<Tail> {
    const behind = await lastMove(db, accountId, nowMs - LATE_MS)
    const tail = tails.get(accountId) ?? { accountId, behind, seen: new Map(), resetAtMs: null }
    tails.set(accountId, tail)
    return tail
  }

  async function catchUp(follower: Watching, tail: Tail, since: Mark): Promise<void> {
    const { account } = follower.subject
    follower.tell({ kind: 'beat', mark: mark(since.behind) })
    const moves = await selectMoves(db, [{ accountId: account.id, behind: since.behind }], MOST_MOVES)
    const ids = new Set(moves.flatMap(({ messageIds }) => messageIds))
    const isTold = !isTooMuch(moves, ids) && (await tellOf(account.id, ids, [follower], mark(since.behind)))
    follower.tell({ kind: isTold ? 'beat' : 'reset', mark: markOf(tail) })
  }

  function standingOf(accountId: AccountId): string | null {
    const tail = tails.get(accountId)
    return tail ? markOf(tail) : null
  }

  async function look(): Promise<void> {
    const watching = Map.groupBy(followers.all(), ({ subject }) => subject.account.id)
    for (const accountId of tails.keys()) if (!watching.has(accountId)) tails.delete(accountId)
    await renew([...watching.keys()])
    const found = await selectMoves(db, [...tails.values()], MOST_MOVES)
    const moves = Map.groupBy(found, ({ accountId }) => accountId)
    for (const tail of tails.values()) {
      const all = watching.get(tail.accountId) ?? []
      await take(tail, moves.get(tail.accountId) ?? [], all)
      remindOf(tail, all)
    }
  }

  async function renew(accountIds: readonly AccountId[]): Promise<void> {
    if (clock.monotonic() < renewAtMs || accountIds.length === 0) return
    const nowMs = clock.now()
    const known = await watchAccounts(db, accountIds, nowMs, nowMs + WATCH_FOR_MS)
    renewAtMs = clock.monotonic() + RENEW_EVERY_MS
    // It lapsed while the database was away: nobody knows what happened.
    for (const [accountId, tail] of tails) {
      if (!known.has(accountId)) tail.resetAtMs = clock.monotonic()
    }
  }

  /** Tells of what was not told yet, and goes on behind it. */
  async function take(tail: Tail, moves: readonly Move[], all: readonly Watching[]): Promise<void> {
    const fresh = moves.filter(({ id }) => !tail.seen.has(id))
    const ids = new Set(fresh.flatMap(({ messageIds }) => messageIds))
    const at = markOf(tail)
    if (isTooMuch(moves, ids) || !(await tellOf(tail.accountId, ids, all, at))) await skip(tail, all)
    const nowMs = clock.monotonic()
    for (const { id } of fresh) tail.seen.set(id, nowMs)
    advance(tail, nowMs)
  }

  async function skip(tail: Tail, all: readonly Watching[]): Promise<void> {
    tail.behind = Math.max(tail.behind, await lastMove(db, tail.accountId, clock.now()))
    for (const { tell } of all) tell({ kind: 'reset', mark: markOf(tail) })
    tail.resetAtMs = clock.monotonic() + LATE_MS
  }

  /** False where they say too much to be read at once; then nothing was told. */
  async function tellOf(
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
    for (const { subject, tell } of all) {
      for (const [place, row] of rows.entries()) {
        if (fits(subject.filter, row)) tell({ kind: 'message', mark: at, message: messages[place]! })
      }
    }
    return true
  }

  function remindOf(tail: Tail, all: readonly Watching[]): void {
    if (tail.resetAtMs === null || clock.monotonic() < tail.resetAtMs) return
    tail.resetAtMs = null
    for (const { tell } of all) tell({ kind: 'reset', mark: markOf(tail) })
  }

  function mark(behind: number): string {
    return writeMark({ behind, atMs: clock.now() })
  }

  function markOf(tail: Tail): string {
    return mark(tail.behind)
  }

  return {
    follow,
    forget: () => forgetMoves(db, clock.now() - KEEP_MOVES_MS, clock.now()),
    close: followers.close,
  }
}

function isTooMuch(moves: readonly Move[], ids: ReadonlySet<MessageId>): boolean {
  return moves.length >= MOST_MOVES || ids.size > MOST_MESSAGES
}

/** What was seen long enough ago has nothing behind it that could still come before it. */
function advance(tail: Tail, nowMs: number): void {
  for (const [id, seenMs] of tail.seen) {
    if (seenMs + LATE_MS <= nowMs) tail.behind = Math.max(tail.behind, id)
  }
  for (const id of tail.seen.keys()) if (id <= tail.behind) tail.seen.delete(id)
}

/** Of one message the last word alone; and when it becomes too much, none but that it did. */
function queue(waiting: readonly MessageNews[], next: MessageNews): MessageNews[] {
  if (next.kind === 'reset') return [next]
  if (waiting.length >= MOST_WAITING || charactersOf(waiting) > MOST_WAITING_CHARACTERS) {
    return [{ kind: 'reset', mark: next.mark }]
  }
  if (next.kind === 'beat') return [...waiting, next]
  return [...waiting.filter(news => !isOf(news, next.message)), next]
}

function charactersOf(waiting: readonly MessageNews[]): number {
  return waiting.reduce(
    (sum, news) => sum + (news.kind === 'message' ? (news.message.text?.length ?? 0) : 0),
    0,
  )
}

function isOf(news: MessageNews, { messageId }: Message): boolean {
  return news.kind === 'message' && news.message.messageId === messageId
}
