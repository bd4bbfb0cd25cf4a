import type { Cancel, Clock } from '../../lib/clock.ts'
import { createPassingMap } from '../../lib/passing-map.ts'

/** What became of one submit_sm on the wire. */
export type SubmitAnswer =
  | { kind: 'answer'; status: number; messageId: string }
  /** Its bytes never left this process. */
  | { kind: 'unwritten'; detail: string }
  /** Its bytes left, and no answer that can be read came back. */
  | { kind: 'unknown'; detail: string }

export type InFlightDeps = {
  clock: Clock
  timeoutMs: number
  /** Answers may be waiting in a socket that is not read: nobody is late then. */
  onHold(): boolean
}

/** The submits of one session that wait for their answers, by sequence number. */
export type InFlight = {
  size(): number
  has(number: number): boolean
  /** `settled` is called exactly once; `late` at most once, with an answer that came after it had been given up. */
  add(number: number, signal: AbortSignal, settled: Settled, late?: Settled): void
  settle(number: number, answer: SubmitAnswer): void
  /** All that was added so far has been handed to the network. */
  noteWritten(): void
  /** Hands over an answer that came too late; false when nobody ever waited for it. */
  settleLate(number: number, answer: SubmitAnswer): boolean
  /** Settles the rest: unknown what was written, unwritten what was not. */
  end(reason: string): void
}

type Settled = (answer: SubmitAnswer) => void

type Waiting = {
  /** Counts from the session's start; sequence numbers wrap. */
  ordinal: number
  deadlineMs: number
  signal: AbortSignal
  settle: Settled
  late: Settled | undefined
}

/** Numbers kept so that a late answer is recognised. */
const MOST_GIVEN_UP = 10_000

export function createInFlight({ clock, timeoutMs, onHold }: InFlightDeps): InFlight {
  const waiting = createPassingMap<number, Waiting>()
  const givenUp = new Map<number, Settled | undefined>()
  /** Signals that are listened to: submits that begin together share one. */
  const heard = new WeakSet<AbortSignal>()
  let added = 0
  let written = 0
  let cancelSweep: Cancel | null = null

  function add(number: number, signal: AbortSignal, settled: Settled, late?: Settled): void {
    listenTo(signal)
    const deadlineMs = clock.monotonic() + timeoutMs
    waiting.set(number, { ordinal: ++added, deadlineMs, signal, settle: settled, late })
    cancelSweep ??= clock.after(timeoutMs, sweep)
  }

  /** Once for all submits of a signal: it looks through its listeners for each one that comes or goes. */
  function listenTo(signal: AbortSignal): void {
    if (heard.has(signal)) return
    heard.add(signal)
    const onAbort = (): void => {
      for (const [number, entry] of [...waiting.entries()]) {
        if (entry.signal === signal) giveUp(number, 'given up before the answer came')
      }
    }
    signal.addEventListener('abort', onAbort, { once: true })
  }

  /** One timer for all of them: they were begun in order, and all wait equally long. */
  function sweep(): void {
    cancelSweep = null
    if (onHold()) {
      cancelSweep = clock.after(timeoutMs, sweep)
      return
    }
    const nowMs = clock.monotonic()
    for (const [number, { deadlineMs }] of waiting.entries()) {
      if (deadlineMs > nowMs) {
        cancelSweep = clock.after(deadlineMs - nowMs, sweep)
        return
      }
      giveUp(number, `no answer within ${timeoutMs} ms`)
    }
  }

  function giveUp(number: number, detail: string): void {
    if (givenUp.size >= MOST_GIVEN_UP) givenUp.clear()
    givenUp.set(number, waiting.get(number)?.late)
    settle(number, { kind: 'unknown', detail })
  }

  function settle(number: number, answer: SubmitAnswer): void {
    const entry = waiting.get(number)
    if (!entry) return
    waiting.delete(number)
    entry.settle(answer)
  }

  function end(reason: string): void {
    cancelSweep?.()
    for (const [number, { ordinal }] of waiting.entries()) {
      settle(number, { kind: ordinal <= written ? 'unknown' : 'unwritten', detail: reason })
    }
  }

  return {
    size: () => waiting.size(),
    has: number => waiting.has(number),
    add,
    settle,
    noteWritten() {
      written = added
    },
    settleLate(number, answer) {
      if (!givenUp.has(number)) return false
      givenUp.get(number)?.(answer)
      return givenUp.delete(number)
    },
    end,
  }
}
