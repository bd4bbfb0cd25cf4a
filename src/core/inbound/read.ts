import type { Caller } from '../../contract/caller.ts'
import { type Page, pageById, readIdCursor } from '../../contract/cursor.ts'
import { Problem } from '../../contract/errors.ts'
import type {
  InboundMessageFilters,
  InboundMessageQuery,
  InboundMessageView,
} from '../../contract/inbound-message.ts'
import type { Db } from '../../infra/db.ts'
import { boundedScan } from '../../lib/bounded-scan.ts'
import type { Clock } from '../../lib/clock.ts'
import { type AccountId, isId } from '../../lib/ids.ts'
import type { Phones } from '../../lib/phone.ts'
import { PLATFORM } from '../accounts/platform.ts'
import { readFilter } from './filter.ts'
import {
  findInboundScanEnd,
  type InboundFilter,
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
    const filter = readFilter(query, phones)
    const { rows, stoppedAt } = await boundedScan(
      clock,
      { before, limit: query.limit + 1 },
      {
        isSelective: isSelective(filter),
        findEnd: below => findInboundScanEnd(db, accountId, filter, below),
        read: stretch => listInbound(db, accountId, filter, stretch),
      },
    )
    return pageById(rows, query.limit, viewInbound, stoppedAt)
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
