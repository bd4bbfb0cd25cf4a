import type { Cancel, Clock } from '../../lib/clock.ts'
import { createShortLivedMap } from '../../lib/short-lived-map.ts'
import { COMMAND, responseTo } from './pdu.ts'
import type { Pdu } from './pdu-read.ts'
import { STATUS } from './status.ts'

/** The result of one submit_sm. */
export type SubmitResult =
  | { kind: 'answer'; status: number; messageId: string }
  /** Not written to the socket: safe to send again. */
  | { kind: 'unwritten'; detail: string }
  /** Written, but no readable response came back: the SMSC may have taken it. */
  | { kind: 'unknown'; detail: string }

export type InFlightDeps = {
  clock: Clock
  timeoutMs: number
  /** Reading is paused, so responses may be waiting unread in the socket: no submit times out meanwhile. */
  isReadingPaused(): boolean
}

/** The submits of one session that wait for their submit_sm_resp, by sequence number. */
export type InFlight = {
  size(): number
  has(number: number): boolean
  /** `settled` is called exactly once; `late` at most once, with a response that came after the submit was abandoned. */
  add(number: number, signal: AbortSignal, settled: Settled, late?: Settled): void
  settle(number: number, answer: SubmitResult): void
  /** All submits added so far have been written to the socket. */
  markWritten(): void
  /** Passes a late response on; false where no submit had this sequence number. */
  settleLate(number: number, answer: SubmitResult): boolean
  /** Settles all that wait: as `unknown` where the submit was written, else as `unwritten`. */
  end(reason: string): void
}

type Settled = (answer: SubmitResult) => void

type Waiting = {
  /** Counts from the session's start; sequence numbers wrap. */
  ordinal: number
  deadlineMs: number
  signal: AbortSignal
  settle: Settled
  late: Settled | undefined
}

/** Sequence numbers of abandoned submits, kept to recognise a late response. */
const MAX_ABANDONED = 10_000

export function createInFlight({ clock, timeoutMs, isReadingPaused }: InFlightDeps): InFlight {
  const waiting = createShortLivedMap<number, Waiting>()
  const abandoned = new Map<number, Settled | undefined>()
  /** Signals that have our listener already: submits that begin together share a signal. */
  const watchedSignals = new WeakSet<AbortSignal>()
  let added = 0
  let written = 0
  let cancelSweep: Cancel | null = null

  function add(number: number, signal: AbortSignal, settled: Settled, late?: Settled): void {
    listenTo(signal)
    const deadlineMs = clock.monotonic() + timeoutMs
    waiting.set(number, { ordinal: ++added, deadlineMs, signal, settle: settled, late })
    cancelSweep ??= clock.after(timeoutMs, sweep)
  }

  /** One listener per signal, not per submit: adding and removing a listener scans all listeners of the signal. */
  function listenTo(signal: AbortSignal): void {
    if (watchedSignals.has(signal)) return
    watchedSignals.add(signal)
    const onAbort = (): void => {
      for (const [number, entry] of [...waiting.entries()]) {
        if (entry.signal === signal) abandon(number, 'cancelled before the response came')
      }
    }
    signal.addEventListener('abort', onAbort, { once: true })
  }

  /** One timer is enough: all submits wait equally long, so they time out in the order in which they began. */
  function sweep(): void {
    cancelSweep = null
    if (isReadingPaused()) {
      cancelSweep = clock.after(timeoutMs, sweep)
      return
    }
    const nowMs = clock.monotonic()
    for (const [number, { deadlineMs }] of waiting.entries()) {
      if (deadlineMs > nowMs) {
        cancelSweep = clock.after(deadlineMs - nowMs, sweep)
        return
      }
      abandon(number, `no response within ${timeoutMs} ms`)
    }
  }

  function abandon(number: number, detail: string): void {
    if (abandoned.size >= MAX_ABANDONED) abandoned.clear()
    abandoned.set(number, waiting.get(number)?.late)
    settle(number, { kind: 'unknown', detail })
  }

  function settle(number: number, answer: SubmitResult): void {
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
    markWritten() {
      written = added
    },
    settleLate(number, answer) {
      if (!abandoned.has(number)) return false
      abandoned.get(number)?.(answer)
      return abandoned.delete(number)
    },
    end,
  }
}

const SUBMIT_RESPONSE = responseTo(COMMAND.submitSm)

/** What a response says of its submit; null where it is no response to a submit. */
export function readSubmitResponse(pdu: Pdu): SubmitResult | null {
  if (pdu.kind === 'message_resp' && pdu.command === SUBMIT_RESPONSE) {
    return { kind: 'answer', status: pdu.status, messageId: pdu.messageId }
  }
  if (pdu.command === COMMAND.genericNack && pdu.status !== STATUS.ok) {
    return { kind: 'answer', status: pdu.status, messageId: '' }
  }
  return null
}
