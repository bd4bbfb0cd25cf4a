import type { OpenLink } from '../channels/links.ts'
import type { OutboxItem } from '../core/outbox/dispatch-port.ts'
import type { Clock } from '../lib/clock.ts'
import type { AccountId } from '../lib/ids.ts'

/** The queue in front of one connection: concurrency, rate limit and pauses. */
export type Lane = {
  open: OpenLink
  /**
   * Admits a message: it may be accepted with its first attempt recorded, since it will get a slot. False where others
   * wait, the lane is paused, or no slot or rate is left.
   */
  tryEnter(accountId: AccountId): boolean
  /** An admitted message was not accepted, and does not arrive. */
  cancelEntry(): void
  /** An admitted message is accepted: true where it has its slot, false where it waits for one. */
  arrive(item: OutboxItem): boolean
  /** The next arrived message that waits for a slot, with a slot taken for it, or null. */
  nextArrived(): OutboxItem | null
  /** The next held message, with a slot taken for it, or null. */
  next(): OutboxItem | null
  leave(): void
  hold(item: OutboxItem): void
  /** The messages that wait here. */
  held(): readonly OutboxItem[]
  /** How many more may be held here. */
  room(): number
  /**
   * How many may be admitted at once. Infinite where they would wait not for slots but for a pause or the
   * rate, and where slots are few: there the held messages keep them busy.
   */
  freeSlots(): number
  /** How many messages may be claimed for it from the outbox: 0 until half of its room is free, so that each call fetches many. */
  claimLimit(): number
  /** Until when this account is paused (wall clock, ms), or 0. */
  pausedUntil(accountId: AccountId): number
  /** Until when all accounts are paused, likewise. */
  allPausedUntil(): number
  /** Pauses one account, or all; never shortens a pause. */
  pause(forMs: number, accountId: AccountId | null): void
  /** Removes the held messages, or those of them that match, and returns them. */
  drain(matches?: (item: OutboxItem) => boolean): OutboxItem[]
  /** Removes and returns the arrived messages that wait for a slot. */
  drainArrived(): OutboxItem[]
  /** The link was replaced: the queue continues with the new one. */
  relink(open: OpenLink): void
  stats(): { busy: number; held: number; resting: boolean }
}

/** Held in memory beyond what is in flight: enough to keep a lane full between two polls. */
const HELD_PER_SLOT = 4
const MIN_HELD = 100
/** A lane with fewer slots is kept busy by the messages that it holds. */
const WIDE_LANE_SLOTS = 50
/**
 * Messages admitted per slot of a wide lane: storing a message takes longer than most providers do, so admitting
 * only as many as there are slots would leave most of them empty. None is admitted while others wait.
 */
const ADMITTED_PER_SLOT = 4
/** Accounts that may be paused at once before the oldest pause is forgotten. */
const MAX_PAUSED_ACCOUNTS = 10_000
/** A burst of a tenth of a second evens out the batches of polling. */
const BURST_SECONDS = 0.1

export function createLane(first: OpenLink, clock: Clock, wake: () => void): Lane {
  let open = first
  let busy = 0
  let admitted = 0
  /** Admitted messages whose slots were taken by others. */
  let arrived: OutboxItem[] = []
  let queue: OutboxItem[] = []
  let head = 0
  // By the monotonic clock: a wall clock that is set back must not prolong a pause.
  let allPausedUntilMs = 0
  const pausedAccounts = new Map<AccountId, number>()
  let tokens = 1
  let refilledMs = clock.monotonic()
  let timer = false

  /** Takes a token of the rate limit; without a limit there is always one. */
  function takeToken(): boolean {
    const perSecond = open.link.messagesPerSecond
    if (perSecond === undefined) return true
    const nowMs = clock.monotonic()
    tokens = Math.min(
      Math.max(1, perSecond * BURST_SECONDS),
      tokens + ((nowMs - refilledMs) / 1_000) * perSecond,
    )
    refilledMs = nowMs
    if (tokens >= 1) {
      tokens -= 1
      return true
    }
    wakeIn(((1 - tokens) / perSecond) * 1_000)
    return false
  }

  const isWide = () => open.link.concurrency >= WIDE_LANE_SLOTS

  /** How many more may be admitted, as far as slots go. */
  function admissible(): number {
    if (arrived.length > 0) return 0
    return open.link.concurrency * (isWide() ? ADMITTED_PER_SLOT : 1) - busy - admitted
  }

  function hasFreeSlot(): boolean {
    return arrived.length === 0 && busy + (isWide() ? 0 : admitted) < open.link.concurrency
  }

  /** Whether neither a pause nor the rate limit prevents it. */
  function canSubmit(): boolean {
    const restMs = allPausedUntilMs - clock.monotonic()
    if (restMs > 0) {
      wakeIn(restMs)
      return false
    }
    return takeToken()
  }

  function wakeIn(delayMs: number): void {
    if (timer) return
    timer = true
    clock.after(Math.max(1, delayMs), () => {
      timer = false
      wake()
    })
  }

  function pausedUntil(accountId: AccountId): number {
    const until = pausedAccounts.get(accountId)
    if (until === undefined) return 0
    const restMs = until - clock.monotonic()
    if (restMs > 0) return clock.now() + restMs
    pausedAccounts.delete(accountId)
    return 0
  }

  const capacity = () => Math.max(MIN_HELD, open.link.concurrency * HELD_PER_SLOT)
  const room = () => capacity() - (queue.length - head)

  return {
    get open() {
      return open
    },
    tryEnter(accountId) {
      if (head < queue.length || admissible() <= 0 || pausedUntil(accountId) > 0 || !canSubmit()) return false
      admitted++
      return true
    },
    // At least 0: a lane that was created anew meanwhile has not counted it.
    cancelEntry() {
      admitted = Math.max(0, admitted - 1)
    },
    arrive(item) {
      admitted = Math.max(0, admitted - 1)
      if (arrived.length === 0 && busy < open.link.concurrency) {
        busy++
        return true
      }
      arrived.push(item)
      return false
    },
    nextArrived() {
      if (arrived.length === 0 || busy >= open.link.concurrency) return null
      busy++
      return arrived.shift()!
    },
    next() {
      if (head >= queue.length || !hasFreeSlot() || !canSubmit()) return null
      const item = queue[head]!
      head++
      if (head > 1_000 && head * 2 > queue.length) {
        queue = queue.slice(head)
        head = 0
      }
      busy++
      return item
    },
    leave() {
      busy--
    },
    hold(item) {
      queue.push(item)
    },
    held: () => queue.slice(head),
    room,
    freeSlots() {
      const isOpen = open.link.messagesPerSecond === undefined && allPausedUntilMs <= clock.monotonic()
      if (!isWide() || !isOpen) return Number.POSITIVE_INFINITY
      return head < queue.length ? 0 : Math.max(0, admissible())
    },
    claimLimit: () => (room() * 2 >= capacity() ? room() : 0),
    pausedUntil,
    allPausedUntil() {
      const restMs = allPausedUntilMs - clock.monotonic()
      return restMs > 0 ? clock.now() + restMs : 0
    },
    pause(forMs, accountId) {
      const until = clock.monotonic() + forMs
      if (accountId === null) {
        allPausedUntilMs = Math.max(allPausedUntilMs, until)
        return
      }
      const longest = Math.max(pausedAccounts.get(accountId) ?? 0, until)
      // A renewed pause is no longer the oldest.
      if (!pausedAccounts.delete(accountId) && pausedAccounts.size >= MAX_PAUSED_ACCOUNTS)
        pausedAccounts.delete(pausedAccounts.keys().next().value!)
      pausedAccounts.set(accountId, longest)
    },
    drain(matches = () => true) {
      const held = queue.slice(head)
      head = 0
      queue = held.filter(item => !matches(item))
      return held.filter(matches)
    },
    drainArrived() {
      const items = arrived
      arrived = []
      return items
    },
    relink(next) {
      open = next
    },
    stats: () => ({
      busy: busy + admitted + arrived.length,
      held: queue.length - head,
      resting: allPausedUntilMs > clock.monotonic(),
    }),
  }
}
