import type { Caller } from '../../contract/caller.ts'
import { type Page, pageOf, readCursor, writeCursor } from '../../contract/cursor.ts'
import type { Channel, MessageStatus } from '../../contract/enums.ts'
import { invalid } from '../../contract/errors.ts'
import type { StatsQuery, StatsRow } from '../../contract/verification-stats.ts'
import type { Database, Db } from '../../infra/db.ts'
import { type Clock, toIso } from '../../lib/clock.ts'
import { parseIsoTime } from '../../lib/iso-time.ts'
import { fromMicros } from '../../lib/money.ts'
import {
  addTotals,
  type Counts,
  type Dimension,
  emptyShare,
  noteCounted,
  sumTotals,
  type TotalRow,
  type TotalShare,
  takeDue,
  takeNewest,
  type Uncounted,
} from './total-store.ts'

/** How verifications went, kept as totals: reading them costs the same however many there were. */
export type Totals = {
  /** Counts what changed and is due; how many verifications were looked at. */
  round(): Promise<number>
  /** Of the key's own mode, live or test. VALIDATION_ERROR for days and words that are none. */
  read(caller: Caller, query: StatsQuery): Promise<Page<StatsRow>>
}

const PAGE = 500
const MOST_PAGES = 20
const SECOND_MS = 1_000
const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
/** No receipt comes later, and nobody sends a code anew. */
const CLOSED_MS = 8 * DAY_MS
/** The older a verification, the longer until it is looked at again: a part of its age. */
const AGAIN_PART = 1 / 4
const AGAIN = { leastMs: SECOND_MS, mostMs: 6 * HOUR_MS }
const DEFAULT_DAYS = 30
const MOST_DAYS = 400
const DIMENSIONS: readonly Dimension[] = ['day', 'channel', 'country']
const NOTHING: TotalRow = {
  ...{ day: '', channel: '', country: '' },
  ...{ started: 0, sent: 0, delivered: 0, verified: 0, cost: 0, blocked: 0 },
}
const DAY = /^\d{4}-\d{2}-\d{2}$/

export function createTotals({ db, clock }: { db: Database; clock: Clock }): Totals {
  function countPage(take: (tx: Db) => Promise<Uncounted[]>): Promise<number> {
    return db.transaction(async tx => {
      const rows = await take(tx)
      if (rows.length === 0) return 0
      await addTotals(tx, rows.flatMap(differenceOf))
      await noteCounted(tx, rows.map(noteOf))
      return rows.length
    })
  }

  function noteOf(row: Uncounted) {
    const { accountId, uuid, verification } = row
    const ageMs = verification ? clock.now() - verification.startedAtMs : 0
    const open = verification !== null && !isFinal(verification) && ageMs < CLOSED_MS
    const waitMs = Math.min(Math.max(ageMs * AGAIN_PART, AGAIN.leastMs), AGAIN.mostMs)
    return { accountId, uuid, counted: countsOf(row), lookAtMs: open ? clock.now() + waitMs : null }
  }

  return {
    async round() {
      let looked = 0
      for (let page = 0; page < MOST_PAGES; page++) {
        const some = await countPage(tx => takeDue(tx, clock.now(), PAGE))
        looked += some
        if (some < PAGE) break
      }
      return looked
    },

    async read({ account, mode }, query) {
      const by = readDimensions(query.groupBy)
      const range = readRange(query, clock.now())
      const after = query.cursor === undefined ? null : readAfter(query.cursor)
      // What happened a moment ago is in it, save on accounts that are too busy to notice.
      await countPage(tx => takeNewest(tx, account.id, PAGE))
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

/** What is to be added so that the totals have what is true now. */
function differenceOf(row: Uncounted): TotalShare[] {
  const { accountId, verification } = row
  if (!verification) return []
  const { live, country, startedAtMs } = verification
  const shares = new Map<Channel, TotalShare>()
  const add = (counts: Counts & { channel: Channel }, sign: 1 | -1) => {
    const { channel } = counts
    const share = shares.get(channel) ?? emptyShare({ accountId, live, atMs: startedAtMs, channel, country })
    shares.set(channel, share)
    for (const name of ['started', 'sent', 'delivered', 'verified', 'cost'] as const)
      share[name] += sign * counts[name]
  }
  for (const counts of row.counted) add(counts, -1)
  for (const counts of countsOf(row)) add(counts, 1)
  return [...shares.values()].filter(
    share => share.started || share.sent || share.delivered || share.verified || share.cost,
  )
}

const TAKEN: ReadonlySet<MessageStatus> = new Set(['sent', 'delivered', 'read', 'undelivered'])
const DELIVERED: ReadonlySet<MessageStatus> = new Set(['delivered', 'read'])
const ENDED: ReadonlySet<MessageStatus> = new Set([
  'delivered',
  'read',
  'undelivered',
  'failed',
  'cancelled',
  'expired',
])

/** A verification's part in the totals: codes by the channel of each, the verification itself by its present one. */
export function countsOf({
  verification,
  counted,
}: Pick<Uncounted, 'verification' | 'counted'>): Uncounted['counted'] {
  if (!verification) return counted
  const counts = new Map<Channel, Counts & { channel: Channel }>()
  const at = (channel: Channel) => {
    const found = counts.get(channel) ?? { channel, started: 0, sent: 0, delivered: 0, verified: 0, cost: 0 }
    counts.set(channel, found)
    return found
  }
  for (const { channel, status, cost } of verification.messages) {
    const count = at(channel)
    count.sent += Number(TAKEN.has(status))
    count.delivered += Number(DELIVERED.has(status))
    count.cost += cost
  }
  const verified = verification.status === 'verified'
  const whole = at(verification.channel)
  whole.verified = Number(verified)
  whole.started = Number(verified || verification.messages.some(({ status }) => TAKEN.has(status)))
  return [...counts.values()]
}

/** Nothing of it can change any more. */
function isFinal({ status, messages }: NonNullable<Uncounted['verification']>): boolean {
  return status !== 'pending' && messages.every(message => ENDED.has(message.status))
}

function readDimensions(text: string | undefined): Set<Dimension> {
  const words = text === undefined || text === '' ? [] : text.split(',').map(word => word.trim())
  for (const word of words) {
    if (!DIMENSIONS.includes(word as Dimension)) {
      throw invalid('groupBy', 'must be some of day, channel and country, parted by commas')
    }
  }
  return new Set(words as Dimension[])
}

/** Days, both included: the last thirty where nothing is said. */
function readRange({ from, to }: StatsQuery, nowMs: number): { fromDay: string; toDay: string } {
  const toDayMs = to === undefined ? nowMs : readDay('to', to)
  const fromDayMs = from === undefined ? toDayMs - (DEFAULT_DAYS - 1) * DAY_MS : readDay('from', from)
  if (fromDayMs > toDayMs) throw invalid('from', 'must not be after to')
  if (toDayMs - fromDayMs > MOST_DAYS * DAY_MS)
    throw invalid('from', `must be at most ${MOST_DAYS} days before to`)
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
