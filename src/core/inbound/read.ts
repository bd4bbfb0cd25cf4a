import type { Caller } from '../../contract/caller.ts'
import { type Page, pageOf, readIdCursor, writeCursor } from '../../contract/cursor.ts'
import { Problem } from '../../contract/errors.ts'
import type {
  InboundMessageFilters,
  InboundMessageQuery,
  InboundMessageView,
} from '../../contract/inbound-message.ts'
import type { Db } from '../../infra/db.ts'
import { boundedScan, SCAN_TIME_MS } from '../../lib/bounded-scan.ts'
import type { Clock } from '../../lib/clock.ts'
import { type AccountId, isId } from '../../lib/ids.ts'
import type { Phones } from '../../lib/phone.ts'
import { PLATFORM } from '../accounts/platform.ts'
import { readFilter } from './filter.ts'
import {
  endOfInboundScan,
  type InboundFilter,
  type InboundId,
  type InboundRow,
  isSelective,
  listInbound,
  selectInbound,
} from './store.ts'
import { viewInbound } from './view.ts'

/** Inbound messages, the newest first. */
export type InboundMessages = {
  list(caller: Caller, query: InboundMessageQuery): Promise<Page<InboundMessageView>>
  /** Throws NOT_FOUND for an unknown message, or one of another account. */
  read(caller: Caller, inboundId: string): Promise<InboundMessageView>
  /** Messages to numbers that belong to no single account. */
  listShared(query: InboundMessageQuery): Promise<Page<InboundMessageView>>
  /** The filter of a stream. Throws VALIDATION_ERROR. */
  filterOf(query: InboundMessageFilters): InboundFilter
}

export type InboundMessagesDeps = { db: Db; clock: Pick<Clock, 'monotonic'>; phones: Phones }

export function createInboundMessages({ db, clock, phones }: InboundMessagesDeps): InboundMessages {
  async function list(accountId: AccountId, query: InboundMessageQuery): Promise<Page<InboundMessageView>> {
    const before = readIdCursor('inb', query.cursor)
    const { rows, stoppedAt } = await scan(accountId, readFilter(query, phones), before, query.limit + 1)
    const lookedTo = stoppedAt && writeCursor(stoppedAt)
    return pageOf(rows, query.limit, viewInbound, row => writeCursor(row.id), lookedTo)
  }

  /** Up to `limit` rows, and the id down to which was looked if that is not the end. */
  async function scan(accountId: AccountId, filter: InboundFilter, before: InboundId | null, limit: number) {
    if (!isSelective(filter)) {
      const { rows, cut } = await listInbound(db, accountId, filter, before, limit)
      return { rows, stoppedAt: cut ? rows.at(-1)!.id : null }
    }
    return boundedScan(clock, { before, limit, timeMs: SCAN_TIME_MS }, async (below, left) => {
      const stoppedAt = await endOfInboundScan(db, accountId, filter, below)
      const { rows, cut } = await listInbound(db, accountId, filter, below, left, stoppedAt)
      return { rows, stoppedAt: cut ? rows.at(-1)!.id : stoppedAt, cut }
    })
  }

  return {
    list: (caller, query) => list(caller.account.id, query),
    read: async (caller, inboundId) => viewInbound(await findInbound(db, caller.account.id, inboundId)),
    listShared: query => list(PLATFORM, query),
    filterOf: query => readFilter(query, phones),
  }
}

/** Throws NOT_FOUND where the account has no such message. */
export async function findInbound(db: Db, accountId: AccountId, inboundId: string): Promise<InboundRow> {
  const row = isId('inb', inboundId) ? await selectInbound(db, accountId, inboundId) : null
  if (!row) throw new Problem('NOT_FOUND', 'Inbound message not found')
  return row
}
