import type { Cancel, Clock } from '../lib/clock.ts'

/** Somebody who follows something. */
export type Follower<Subject, Event> = {
  subject: Subject
  /** What happens; null where nothing did for a while. Ends with its last event, when they leave, and at the close. */
  events: AsyncGenerator<Event | null>
  tell(event: Event): void
  leave(): void
}

/** All who follow things of one kind in this process, and the one look that serves them. */
export type Followers<Subject, Event> = {
  /** Null when too many follow already. They leave once they are `gone`. */
  enter(subject: Subject, gone: AbortSignal): Follower<Subject, Event> | null
  all(): Iterable<Follower<Subject, Event>>
  /** Looks at once, and once more for what changes while a look is at work. */
  lookNow(): void
  /** Ends all that follow, since the server goes. */
  close(): void
}

export type FollowersOptions<Subject, Event> = {
  clock: Clock
  accountOf(subject: Subject): string
  /** Reads what has changed, once for all, and tells it. */
  look(): Promise<void>
  /** From one look to the next, while anybody follows; in ms. */
  lookEveryMs: number
  /** What waits for one who reads slowly, with one event more: it must stay bounded. */
  queue(waiting: readonly Event[], next: Event): Event[]
  /** Nothing comes behind this one. */
  isLast?(event: Event): boolean
}

/** A line on which nothing is said for longer is cut by some proxies. */
const BEAT_EVERY_MS = 15_000
const MOST = 1_000
const MOST_OF_AN_ACCOUNT = 50

type Entry<S, E> = Follower<S, E> & { waiting: E[]; left: boolean; wake(): void }

export function createFollowers<Subject, Event>(
  options: FollowersOptions<Subject, Event>,
): Followers<Subject, Event> {
  type Mine = Entry<Subject, Event>
  const { clock, accountOf, queue, isLast = () => false } = options
  const entries = new Set<Mine>()
  let cancelLook: Cancel = () => {}
  let looking = false
  let again = false
  let closed = false

  function enter(subject: Subject, gone: AbortSignal): Follower<Subject, Event> | null {
    if (isFull(accountOf(subject))) return null
    const entry: Mine = {
      subject,
      events: null as never,
      waiting: [],
      left: gone.aborted,
      wake: () => {},
      tell(event) {
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
    // At once: whoever reads may never ask for the next.
    gone.addEventListener('abort', entry.leave, { once: true })
    if (entries.size === 1) lookLater()
    return entry
  }

  function isFull(account: string): boolean {
    if (entries.size >= MOST) return true
    let ofAccount = 0
    for (const { subject } of entries) if (accountOf(subject) === account) ofAccount++
    return ofAccount >= MOST_OF_AN_ACCOUNT
  }

  async function* read(entry: Mine): AsyncGenerator<Event | null> {
    try {
      while (!closed && !entry.left) {
        const next = entry.waiting.shift()
        if (next === undefined) {
          if (!(await untilTold(entry))) yield null
          continue
        }
        yield next
        if (isLast(next)) return
      }
    } finally {
      entry.leave()
    }
  }

  /** False when nothing was told for a while. */
  function untilTold(entry: Mine): Promise<boolean> {
    return new Promise(resolve => {
      const cancel = clock.after(BEAT_EVERY_MS, () => resolve(false))
      entry.wake = () => {
        cancel()
        resolve(true)
      }
    })
  }

  function lookLater(): void {
    cancelLook()
    if (!closed && entries.size > 0) cancelLook = clock.after(options.lookEveryMs, () => void look())
  }

  async function look(): Promise<void> {
    again = true
    if (looking) return
    looking = true
    while (again && entries.size > 0 && !closed) {
      again = false
      // A look that fails told nothing, and the next one finds it all.
      await options.look().catch(() => {})
    }
    looking = false
    lookLater()
  }

  return {
    enter,
    all: () => entries,
    lookNow: () => void look(),
    close() {
      closed = true
      cancelLook()
      for (const entry of entries) entry.wake()
    },
  }
}
