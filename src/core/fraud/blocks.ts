import type { Caller } from '../../contract/caller.ts'
import { readCountry } from '../../contract/country-currency.ts'
import { type Page, pageById, readIdCursor } from '../../contract/cursor.ts'
import { readTime, toStoredAddress } from '../../contract/filters.ts'
import type { BlockAction, BlockQuery, BlockView } from '../../contract/fraud.ts'
import { createBatcher } from '../../infra/batch.ts'
import type { Database, Db } from '../../infra/db.ts'
import type { Metrics } from '../../infra/metrics.ts'
import { boundedScan } from '../../lib/bounded-scan.ts'
import { type Clock, toIso } from '../../lib/clock.ts'
import { type Ids, timeOf } from '../../lib/ids.ts'
import type { Log } from '../../lib/log.ts'
import type { Phones } from '../../lib/phone.ts'
import { insertSubscribedEvents } from '../callbacks/event-store.ts'
import { type BlockRow, findBlockScanEnd, insertBlocks, isSelective, listBlocks } from './block-store.ts'
import type { Breach, GuardedSend } from './guard.ts'
import { addTotals, emptyShare, type TotalShare } from './total-store.ts'

/** The list of blocks: sends that the guard refused, or in monitor mode would have refused. */
export type Blocks = {
  /** Resolves when the block is stored. Never rejects: a send is refused even if its block cannot be stored. */
  record(send: GuardedSend, breach: Breach, action: BlockAction): Promise<void>
  /**
   * The newest first. A page may have few rows or none although more follow, since one request looks at a bounded number
   * of rows. VALIDATION_ERROR for an invalid country, time or cursor.
   */
  list(caller: Caller, query: BlockQuery): Promise<Page<BlockView>>
}

export type BlocksDeps = {
  db: Database
  clock: Pick<Clock, 'monotonic'>
  ids: Ids
  phones: Phones
  metrics: Pick<Metrics, 'verificationBlock'>
  log: Pick<Log, 'warn'>
}

/** Blocks that may wait for the database at once; further ones are only counted in the metrics. */
const MAX_WAITING = 10_000

export function createBlocks({ db, clock, ids, phones, metrics, log }: BlocksDeps): Blocks {
  const batcher = createBatcher<BlockRow, true>({
    async flush(rows) {
      await db.transaction(tx => store(tx, rows))
      return rows.map(() => true)
    },
  })

  /** Stores the blocks, adds them to the totals, and stores their events for webhooks. */
  async function store(tx: Db, rows: readonly BlockRow[]): Promise<void> {
    await insertBlocks(tx, rows)
    const blocked = rows.filter(({ action }) => action === 'blocked')
    await addTotals(tx, blocked.map(shareOf))
    await insertSubscribedEvents(
      tx,
      blocked.map(row => ({
        accountId: row.accountId,
        id: ids.next('evt'),
        type: 'verification.blocked',
        atMs: timeOf(row.id),
        data: view(row),
      })),
    )
  }

  async function record(send: GuardedSend, breach: Breach, action: BlockAction): Promise<void> {
    metrics.verificationBlock(breach.rule, action)
    if (batcher.size() >= MAX_WAITING) return
    try {
      await batcher.add({
        accountId: send.accountId,
        id: ids.next('blk'),
        action,
        rule: breach.rule,
        reason: breach.reason,
        recipient: send.recipient,
        country: send.country,
        channel: send.channel,
        clientIp: send.clientIp,
        retryAtMs: send.nowMs + breach.retryAfterMs,
      })
    } catch (error) {
      log.warn({ err: error }, 'a block of a verification could not be stored')
    }
  }

  async function list(caller: Caller, query: BlockQuery): Promise<Page<BlockView>> {
    const before = readIdCursor('blk', query.cursor)
    const filter = {
      ...(query.action && { action: query.action }),
      ...(query.rule && { rule: query.rule }),
      ...(query.to !== undefined && { recipient: toStoredAddress(query.to, phones) }),
      ...(query.country !== undefined && { country: readCountry(query.country, 'country') }),
      ...(query.createdAfter !== undefined && { afterMs: readTime(query.createdAfter, 'createdAfter') }),
      ...(query.createdBefore !== undefined && { beforeMs: readTime(query.createdBefore, 'createdBefore') }),
    }
    const { id: accountId } = caller.account
    const { rows, stoppedAt } = await boundedScan(
      clock,
      { before, limit: query.limit + 1 },
      {
        isSelective: isSelective(filter),
        findEnd: below => findBlockScanEnd(db, accountId, filter, below),
        read: async stretch => ({ rows: await listBlocks(db, accountId, filter, stretch) }),
      },
    )
    return pageById(rows, query.limit, view, stoppedAt)
  }

  return { record, list }
}

function shareOf({ accountId, id, channel, country }: BlockRow): TotalShare {
  return { ...emptyShare({ accountId, live: true, atMs: timeOf(id), channel, country }), blocked: 1 }
}

function view(row: BlockRow): BlockView {
  return {
    id: row.id,
    action: row.action,
    rule: row.rule,
    reason: row.reason,
    to: row.recipient,
    country: row.country,
    channel: row.channel,
    clientIp: row.clientIp,
    retryAt: toIso(row.retryAtMs),
    createdAt: toIso(timeOf(row.id)),
  }
}
