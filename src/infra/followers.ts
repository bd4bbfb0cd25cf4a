import type { Cancel, Clock } from '../lib/clock.ts'

/** A client that follows a subject by an event stream. */
export type Follower<Subject, Event> = {
  subject: Subject
  /** The events; null as a heartbeat. Ends after the last event, when the client leaves, and at close. */
  events: AsyncGenerator<Event | null>
  push(event: Event): void
  leave(): void
}

/** All clients of this process that follow subjects of one kind, with one database query for all of them. */
export type Followers<Subject, Event> = {
  /** Null if there are too many clients. The client leaves when `gone` aborts. */
  add(subject: Subject, gone: AbortSignal): Follower<Subject, Event> | null
  all(): Iterable<Follower<Subject, Event>>
  /** Deletes from `byAccount` what is kept for accounts that no client follows any more. */
  dropUnfollowed(byAccount: Map<string, unknown>): void
  /** Queries at once; if a query is running, once more after it. */
  pollNow(): void
  /** Ends all streams, for a shutdown. */
  close(): void
}

export type FollowersOptions<Subject, Event> = {
  clock: Clock
  accountOf(subject: Subject): string
  /** Reads what has changed for all clients, and calls their `push`. */
  poll(): Promise<void>
  /** Interval between queries while there are clients, in ms. */
  pollIntervalMs: number
  /** The queue of a slow client with one more event; must stay bounded. */
  queue(waiting: readonly Event[], next: Event): Event[]
  /** Whether no event follows this one. */
  isLast?(event: Event): boolean
}

/** Some proxies close connections without traffic for longer than this. */
const HEARTBEAT_MS = 15_000
const MAX_FOLLOWERS = 1_000
const MAX_PER_ACCOUNT = 50

type Entry<S, E> = Follower<S, E> & { waiting: E[]; left: boolean; wake(): void }

export function createFollowers<Subject, Event>(
  options: FollowersOptions<Subject, Event>,
): Followers<Subject, Event> {
  type Mine = Entry<Subject, Event>
  const { clock, accountOf, queue, isLast = () => false } = options
  const entries = new Set<Mine>()
  let cancelPoll: Cancel = () => {}
  let polling = false
  let pollAgain = false
  let closed = false

  function add(subject: Subject, gone: AbortSignal): Follower<Subject, Event> | null {
    if (isFull(accountOf(subject))) return null
    const entry: Mine = {
      subject,
      events: null as never,
      waiting: [],
      left: gone.aborted,
      wake: () => {},
      push(event) {
        entry.waiting = queue(entry.waiting, event)
        entry.wake()
      },
      leave() {
        entry.left = true
        entries.delete(entry)
        entry.wake()
      },
    }
    entry.events = read(entry)
    if (entry.left) return entry
    entries.add(entry)
    // Not only in `read`: its generator may never be asked for the next event.
    gone.addEventListener('abort', entry.leave, { once: true })
    if (entries.size === 1) schedulePoll()
    return entry
  }

  function isFull(account: string): boolean {
    if (entries.size >= MAX_FOLLOWERS) return true
    let ofAccount = 0
    for (const { subject } of entries) if (accountOf(subject) === account) ofAccount++
    return ofAccount >= MAX_PER_ACCOUNT
  }

  function dropUnfollowed(byAccount: Map<string, unknown>): void {
    const followed = new Set(Array.from(entries, ({ subject }) => accountOf(subject)))
    for (const account of byAccount.keys()) if (!followed.has(account)) byAccount.delete(account)
  }

  async function* read(entry: Mine): AsyncGenerator<Event | null> {
    try {
      while (!closed && !entry.left) {
        const next = entry.waiting.shift()
        if (next === undefined) {
          if (!(await waitForEvent(entry))) yield null
          continue
        }
        yield next
        if (isLast(next)) return
      }
    } finally {
      entry.leave()
    }
  }

  /** Waits for the next event; false if there was none for HEARTBEAT_MS. */
  function waitForEvent(entry: Mine): Promise<boolean> {
    return new Promise(resolve => {
      const cancel = clock.after(HEARTBEAT_MS, () => resolve(false))
      entry.wake = () => {
        cancel()
        resolve(true)
      }
    })
  }

  function schedulePoll(): void {
    cancelPoll()
    if (!closed && entries.size > 0) cancelPoll = clock.after(options.pollIntervalMs, () => void poll())
  }

  async function poll(): Promise<void> {
    pollAgain = true
    if (polling) return
    polling = true
    while (pollAgain && entries.size > 0 && !closed) {
      pollAgain = false
      // A failed query told no one anything; the next one finds the same changes.
      await options.poll().catch(() => {})
    }
    polling = false
    schedulePoll()
  }

  return {
    add,
    all: () => entries,
    dropUnfollowed,
    pollNow: () => void poll(),
    close() {
      closed = true
      cancelPoll()
      for (const entry of entries) entry.wake()
    },
  }
}
