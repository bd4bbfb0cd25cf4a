import type { Random } from '../../lib/random.ts'
import { retryDelayMs } from './schedule.ts'

/** The result of one attempt. */
export type Reply =
  | { kind: 'answered'; status: number }
  /** No HTTP answer; `detail` contains no address. */
  | { kind: 'failed'; detail: string }
  /** The request cannot be made: its event or its target is no longer stored. */
  | { kind: 'void'; detail: string }

/** The delivery's state after an attempt. */
export type Verdict = {
  status: 'delivered' | 'pending' | 'failed'
  /** When it is due again, in ms since the epoch; null when it is over. */
  dueAtMs: number | null
  httpStatus: number | null
  error: string | null
}

const GONE = 410

/** A 2xx is success; 410 is final; everything else is tried again until the schedule ends. */
export function judge(reply: Reply, failedBefore: number, nowMs: number, random: Random): Verdict {
  if (reply.kind === 'answered' && reply.status >= 200 && reply.status < 300) {
    return { status: 'delivered', dueAtMs: null, httpStatus: reply.status, error: null }
  }
  const httpStatus = reply.kind === 'answered' ? reply.status : null
  const error = reply.kind === 'answered' ? `The receiver answered ${reply.status}.` : reply.detail
  const final = reply.kind === 'void' || isGone(reply)
  const delayMs = final ? null : retryDelayMs(failedBefore + 1, random)
  return {
    status: delayMs === null ? 'failed' : 'pending',
    dueAtMs: delayMs === null ? null : nowMs + delayMs,
    httpStatus,
    error,
  }
}

/** Whether the receiver asked not to be called again. */
export function isGone(reply: Reply): boolean {
  return reply.kind === 'answered' && reply.status === GONE
}

/** Whether the receiver is overloaded: it says so, or did not answer in time. */
export function isOverwhelmed(reply: Reply): boolean {
  return reply.kind === 'failed' || (reply.kind === 'answered' && [429, 502, 503, 504].includes(reply.status))
}
