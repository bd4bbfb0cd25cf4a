import type { Caller } from '../../contract/caller.ts'
import { type Page, pageOf, readCursor, writeCursor } from '../../contract/cursor.ts'
import type { Channel } from '../../contract/enums.ts'
import { invalid } from '../../contract/errors.ts'
import type { StatsQuery, StatsRow } from '../../contract/verification-stats.ts'
import type { Database } from '../../infra/db.ts'
import { type Clock, toIso } from '../../lib/clock.ts'
import { DAY_MS } from '../../lib/durations.ts'
import { parseIsoTime } from '../../lib/iso-time.ts'
import { fromMicros } from '../../lib/money.ts'
import { countDue, countNewest, type Dimension, sumTotals, type TotalRow } from './total-store.ts'

/** Statistics of verifications, kept as totals: reading them costs the same however many verifications there were. */
export type Totals = {
  /** Counts the verifications that are due. */
  round(): Promise<void>
  /** For the mode of the key, live or test. VALIDATION_ERROR for invalid days and dimensions. */
  read(caller: Caller, query: StatsQuery): Promise<Page<StatsRow>>
}

/** How many rows one statement counts (each has the verifications that were accepted together), and how many statements a round runs. */
const PAGE = 20
const MAX_PAGES = 100
/** Verifications of an account that a read counts first. */
const NEWEST = 2_000
/** After this, neither receipts nor resends change a verification. */
const CLOSED_MS = 8 * DAY_MS
const DEFAULT_DAYS = 30
const MAX_DAYS = 400
/** The first day that may be asked for. */
const FIRST_DAY = '0001-01-01'
const DIMENSIONS: readonly Dimension[] = ['day', 'channel', 'country']
const NOTHING: TotalRow = {
  ...{ day: '', channel: '', country: '' },
  ...{ started: 0, sent: 0, delivered: 0, verified: 0, cost: 0, blocked: 0 },
}
const DAY = /^\d{4}-\d{2}-\d{2}$/

export function createTotals({ db, clock }: { db: Database; clock: Clock }): Totals {
  return {
    async round() {
      for (let page = 0; page < MAX_PAGES; page++) {
        if ((await countDue(db, clock.now(), PAGE)) < PAGE) return
      }
    },

    async read({ account, mode }, query) {
      const by = readDimensions(query.groupBy)
      const range = readRange(query, clock.now())
      const after = query.cursor === undefined ? null : readAfter(query.cursor)
      // Includes what happened a moment ago, except on busy accounts: only their NEWEST are counted here.
      const nowMs = clock.now()
      await countNewest(db, account.id, nowMs, nowMs - CLOSED_MS, NEWEST)
      const of = { accountId: account.id, live: mode === 'live', ...range }
      const found = await sumTotals(db, of, by, after, query.limit + 1)
      const rows = found.length === 0 && by.size === 0 && !after ? [NOTHING] : found
      return pageOf(
        rows,
        query.limit,
        row => view(row, by, account.currency),
        row => writeCursor(...DIMENSIONS.map(name => row[name] || '-')),
      )
    },
  }
}

function readDimensions(text: string | undefined): Set<Dimension> {
  const words = text === undefined || text === '' ? [] : text.split(',').map(word => word.trim())
  for (const word of words) {
    if (!DIMENSIONS.includes(word as Dimension)) {
      throw invalid('groupBy', 'must be any of day, channel and country, separated by commas')
    }
  }
  return new Set(words as Dimension[])
}

/** The days, both included; the last thirty by default. */
function readRange({ from, to }: StatsQuery, nowMs: number): { fromDay: string; toDay: string } {
  const toDayMs = to === undefined ? nowMs - (nowMs % DAY_MS) : readDay('to', to)
  const fromDayMs =
    from === undefined
      ? Math.max(toDayMs - (DEFAULT_DAYS - 1) * DAY_MS, Date.parse(FIRST_DAY))
      : readDay('from', from)
  if (fromDayMs > toDayMs) throw invalid('from', 'must not be after to')
  if (toDayMs - fromDayMs > MAX_DAYS * DAY_MS)
    throw invalid('from', `must be at most ${MAX_DAYS} days before to`)
  return { fromDay: toIso(fromDayMs).slice(0, 10), toDay: toIso(toDayMs).slice(0, 10) }
}

function readDay(path: string, text: string): number {
  const atMs = DAY.test(text) ? parseIsoTime(`${text}T00:00:00Z`) : null
  if (atMs === null) throw invalid(path, 'must be a day of the UTC calendar, as in 2030-01-31')
  return atMs
}

function readAfter(cursor: string): [string, string, string] {
  const fits = (words: string[]) => words.length === 3 && words.every(word => /^(-|[\w-]{1,30})$/.test(word))
  return readCursor(cursor, fits).map(word => (word === '-' ? '' : word)) as [string, string, string]
}

function view(row: TotalRow, by: ReadonlySet<Dimension>, currency: string): StatsRow {
  return {
    day: by.has('day') ? row.day : null,
    channel: by.has('channel') ? (row.channel as Channel) : null,
    country: by.has('country') && row.country !== '' ? row.country : null,
    started: row.started,
    sent: row.sent,
    delivered: row.delivered,
    verified: row.verified,
    conversion: row.started === 0 ? null : row.verified / row.started,
    cost: fromMicros(row.cost),
    currency,
    blocked: row.blocked,
  }
}
