import type { Caller } from '../../contract/caller.ts'
import { invalid } from '../../contract/errors.ts'
import { readTime } from '../../contract/filters.ts'
import type { MessageStats, MessageStatsQuery, MessageStatsRow } from '../../contract/stats.ts'
import type { Db } from '../../infra/db.ts'
import { type Clock, toIso } from '../../lib/clock.ts'
import { DAY_MS, HOUR_MS } from '../../lib/durations.ts'
import { fromMicros } from '../../lib/money.ts'
import { type Counts, countWaiting, foldDeltas, sumTotals, type TotalRow } from './total-store.ts'

/** Statistics of messages. What reading costs does not depend on how many messages there are. */
export type MessageTotals = {
  /** Folds new deltas into the totals; called by a chore. Returns how many. */
  fold(): Promise<number>
  /** VALIDATION_ERROR for invalid times, and for times that are too far apart. */
  read(caller: Caller, query: MessageStatsQuery): Promise<MessageStats>
}

/** Keeps an answer below about 5,000 rows with six channels. */
const MAX_DAYS = { hour: 31, day: 731 } as const
/** Beyond these, rounding could give a year outside 1 to 9999. */
const EARLIEST_MS = Date.parse('0001-01-01T00:00:00.000Z')
const LATEST_MS = Date.parse('9999-12-31T00:00:00.000Z')
const FOLD_PAGE = 5_000
const MAX_PAGES = 10
const MAX_COUNTED = 10_000
/** Each costs a look-up of its message, about 5 µs. */
const MAX_SCANNED = 20_000
const NAMES = ['sent', 'delivered', 'undelivered', 'failed', 'unknown', 'cancelled', 'cost'] as const

export function createMessageTotals({ db, clock }: { db: Db; clock: Clock }): MessageTotals {
  return {
    async fold() {
      let folded = 0
      for (let page = 0; page < MAX_PAGES; page++) {
        const some = await foldDeltas(db, FOLD_PAGE)
        folded += some
        if (some < FOLD_PAGE) break
      }
      return folded
    },

    async read({ account, mode: ownMode }, query) {
      const { interval, groupBy } = query
      const mode = query.mode ?? ownMode
      const live = mode === 'live'
      const { fromMs, toMs } = readRange(query, clock.now())
      const of = { accountId: account.id, live, fromMs, toMs, interval }
      const [rows, now] = await Promise.all([
        sumTotals(db, { ...of, byChannel: groupBy === 'channel' }),
        countWaiting(db, account.id, live, MAX_COUNTED, MAX_SCANNED),
      ])
      return {
        from: toIso(fromMs),
        to: toIso(toMs),
        interval,
        mode,
        currency: account.currency,
        total: viewCounts(sumOf(rows)),
        now,
        rows: rows.map(viewRow),
      }
    },
  }
}

/** Whole hours or days (UTC): from the one that contains `from` up to the last one that begins before `to`. */
function readRange(
  { from, to, interval }: MessageStatsQuery,
  nowMs: number,
): { fromMs: number; toMs: number } {
  const stepMs = interval === 'hour' ? HOUR_MS : DAY_MS
  const endMs = Math.min(to === undefined ? nowMs + 1 : readTime(to, 'to'), LATEST_MS)
  const toMs = Math.ceil(endMs / stepMs) * stepMs
  const beginMs = Math.max(from === undefined ? toMs - DAY_MS : readTime(from, 'from'), EARLIEST_MS)
  const fromMs = Math.floor(beginMs / stepMs) * stepMs
  if (fromMs >= toMs) throw invalid('from', 'must be before to')
  const most = MAX_DAYS[interval]
  if (toMs - fromMs > (most + 1) * DAY_MS) {
    throw invalid('from', `must be at most ${most} days before to with interval ${interval}`)
  }
  return { fromMs, toMs }
}

function sumOf(rows: readonly TotalRow[]): Counts {
  const sum = { sent: 0, delivered: 0, undelivered: 0, failed: 0, unknown: 0, cancelled: 0, cost: 0 }
  for (const row of rows) for (const name of NAMES) sum[name] += row[name]
  return sum
}

function viewRow({ atMs, channel, ...counts }: TotalRow): MessageStatsRow {
  return { at: toIso(atMs), channel, ...viewCounts(counts) }
}

function viewCounts({ sent, delivered, undelivered, failed, unknown, cancelled, cost }: Counts) {
  return { sent, delivered, undelivered, failed, unknown, cancelled, cost: fromMicros(cost) }
}
