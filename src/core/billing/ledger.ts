import { type Page, readCursor, writeCursor } from '../../contract/cursor.ts'
import { readTime } from '../../contract/filters.ts'
import type { LedgerEntry, LedgerQuery, LedgerType } from '../../contract/wallet.ts'
import type { Db } from '../../infra/db.ts'
import { toIso } from '../../lib/clock.ts'
import { type AccountId, firstUuidAt, fromUuid, timeOf } from '../../lib/ids.ts'
import { fromMicros } from '../../lib/money.ts'
import { type LedgerSpan, selectHorizon, selectUsages, type Usage } from './ledger-store.ts'

export type Ledger = {
  /**
   * Movements of the wallet: the newest usage first, and within a usage the latest
   * movement first. A page may be short or empty and still have a next one,
   * since messages that a pool paid for are skipped.
   */
  list(account: { id: AccountId; currency: string }, query: LedgerQuery): Promise<Page<LedgerEntry>>
}

/** Where a page starts: at this usage, whose `left` oldest entries are still to be shown; 0 for all of them. */
type LedgerPosition = { uuid: string | null; left: number }

/** Messages that one page looks at, so that it costs the same on any history. */
const MAX_SCANNED = 5_000
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

export function createLedger({ db }: { db: Db }): Ledger {
  async function list(
    account: { id: AccountId; currency: string },
    query: LedgerQuery,
  ): Promise<Page<LedgerEntry>> {
    const { limit, cursor } = query
    const place = cursor === undefined ? { uuid: null, left: 0 } : readPosition(cursor)
    const { usages, horizon } = await read(account.id, spanOf(query, place.uuid), limit + 1)
    const entries = usages.flatMap(usage => remainingEntries(expand(usage, account.currency), place))
    const data = entries.slice(0, limit)
    return {
      success: true,
      data: data.map(each => each.entry),
      nextCursor: nextCursorOf(entries[limit]) ?? (horizon && writeCursor(horizon, '0')),
    }
  }

  /** The next usages without a gap, and the id from which to go on if the search stopped early. */
  async function read(accountId: AccountId, span: LedgerSpan, limit: number) {
    const usages = await selectUsages(db, accountId, span, limit, MAX_SCANNED)
    if (usages.filter(usage => usage.kind === null).length === limit) return { usages, horizon: null }
    const horizon = await selectHorizon(db, accountId, span, MAX_SCANNED)
    // Credits below the horizon wait for a later page: there may be unread messages between the two.
    return { usages: usages.filter(usage => horizon === null || usage.uuid > horizon), horizon }
  }

  return { list }
}

/** The span of the query, from where the previous page ended. */
function spanOf({ source, createdAfter, createdBefore }: LedgerQuery, upTo: string | null): LedgerSpan {
  const fromMs = createdAfter === undefined ? null : readTime(createdAfter, 'createdAfter')
  const beforeMs = createdBefore === undefined ? null : readTime(createdBefore, 'createdBefore')
  return {
    from: fromMs === null ? null : firstUuidAt(fromMs + 1),
    upTo: upTo ?? (beforeMs === null ? null : firstUuidAt(beforeMs)),
    source: source ?? null,
  }
}

type Expanded = { entry: LedgerEntry; place: LedgerPosition }

/** The movements of one usage, the latest first. */
function expand(usage: Usage, currency: string): Expanded[] {
  const entry = (type: LedgerType, amount: number, createdAtMs: number): LedgerEntry => ({
    id: fromUuid(usage.kind === null ? 'usg' : 'crd', usage.uuid),
    type,
    amount: fromMicros(amount),
    currency,
    messageId: usage.messageUuid && fromUuid('msg', usage.messageUuid),
    note: usage.note,
    createdAt: toIso(createdAtMs),
  })
  const entries = movementsOf(usage).map(([type, amount, atMs]) => entry(type, amount, atMs))
  return entries.map((each, at) => ({ entry: each, place: { uuid: usage.uuid, left: entries.length - at } }))
}

/** Counted from the oldest, so that a movement that is added between two pages does not make an entry appear twice. */
function remainingEntries(entries: Expanded[], { uuid, left }: LedgerPosition): Expanded[] {
  return left > 0 && entries[0]?.place.uuid === uuid ? entries.slice(-left) : entries
}

type Movement = [type: LedgerType, amount: number, atMs: number]

/** What a pool paid moves no money. A message that failed over released its hold before it took the next one. */
function movementsOf(usage: Usage): Movement[] {
  const startedAtMs = timeOf(fromUuid('usg', usage.uuid))
  if (usage.kind !== null) return [[usage.kind, usage.amount, startedAtMs]]
  const movements: Movement[] = []
  let heldAtMs = startedAtMs
  for (const { amount, funding, until } of usage.pastHolds ?? []) {
    const untilMs = Date.parse(until)
    if (funding === 'wallet') movements.unshift(['release', amount, untilMs], ['hold', amount, heldAtMs])
    heldAtMs = untilMs
  }
  if (usage.funding !== 'wallet') return movements
  return [...outcomeOf(usage), ['hold', usage.amount, heldAtMs], ...movements]
}

/** The latest first. A message that was sent and then released was captured in between: the release is a refund. */
function outcomeOf({ money, amount, moneyAtMs, sentAtMs }: Usage): Movement[] {
  if (moneyAtMs === null) return []
  if (money === 'captured') return [['capture', amount, moneyAtMs]]
  if (money !== 'released') return []
  return sentAtMs === null
    ? [['release', amount, moneyAtMs]]
    : [
        ['refund', amount, moneyAtMs],
        ['capture', amount, sentAtMs],
      ]
}

function nextCursorOf(next: Expanded | undefined): string | null {
  return next ? writeCursor(next.place.uuid!, String(next.place.left)) : null
}

function readPosition(cursor: string): LedgerPosition {
  const fits = ([uuid, left, ...rest]: string[]) =>
    UUID.test(uuid ?? '') && /^[0-9]{1,3}$/.test(left ?? '') && rest.length === 0
  const [uuid, left] = readCursor(cursor, fits)
  return { uuid: uuid!, left: Number(left) }
}
