import type { Caller } from '../../contract/caller.ts'
import { pageById, readIdCursor } from '../../contract/cursor.ts'
import { Problem } from '../../contract/errors.ts'
import type { Message, MessageFilters, MessageQuery, MessageWithTimeline } from '../../contract/message.ts'
import type { Db } from '../../infra/db.ts'
import { boundedScan } from '../../lib/bounded-scan.ts'
import type { Clock } from '../../lib/clock.ts'
import { type AccountId, type ConnectionId, isId } from '../../lib/ids.ts'
import type { Phones } from '../../lib/phone.ts'
import { requireLiveAccess } from '../accounts/rights.ts'
import { readFilter } from './filter.ts'
import {
  findMessageScanEnd,
  jobEndedAt,
  listMessages,
  MAX_CLOCK_SKEW_MS,
  type MessageFilter,
} from './list-store.ts'
import { type MessageRow, readMessage } from './message-store.ts'
import { type ExplainCode, viewMessage, viewWithTimeline } from './view.ts'
import { cancelMessage } from './withdraw-store.ts'

export type Messages = {
  /** A page may have fewer rows than `limit`, or none, and still have a next one, since the search is limited in time. */
  list(
    caller: Caller,
    query: MessageQuery,
  ): Promise<{ success: true; data: Message[]; nextCursor: string | null }>
  /** The filter of a stream. Throws VALIDATION_ERROR. */
  filterOf(query: MessageFilters): MessageFilter
  /** Rows of one account as lists show them. */
  view(account: Caller['account'], rows: readonly MessageRow[]): Promise<Message[]>
  /** Throws NOT_FOUND for a message of another account. */
  read(caller: Caller, messageId: string): Promise<MessageWithTimeline>
  /** Throws MESSAGE_STATE_CONFLICT if its attempt has begun, FORBIDDEN for a live message with a test key. */
  cancel(caller: Caller, messageId: string): Promise<MessageWithTimeline>
}

export type MessagesDeps = {
  db: Db
  clock: Clock
  phones: Phones
  explain: ExplainCode
  /** The names of official senders, by connection, since there the connection is the sender. */
  officialNames(accountId: AccountId): Promise<(connectionId: ConnectionId) => string | null>
}

export function createMessages(deps: MessagesDeps): Messages {
  const { db, clock, explain, officialNames } = deps

  async function find(caller: Caller, messageId: string) {
    const row = isId('msg', messageId) ? await readMessage(db, caller.account.id, messageId) : null
    if (!row) throw new Problem('NOT_FOUND', 'Message not found')
    return row
  }

  async function read(caller: Caller, messageId: string) {
    const [row] = await withSenders(caller.account.id, [await find(caller, messageId)])
    return viewWithTimeline(row!, caller.account.currency, explain)
  }

  async function withSenders<R extends MessageRow>(accountId: AccountId, rows: readonly R[]): Promise<R[]> {
    if (!rows.some(isOfficial)) return [...rows]
    const nameOf = await officialNames(accountId)
    return rows.map(row => (isOfficial(row) ? { ...row, sender: nameOf(row.connectionId) } : row))
  }

  async function view(account: Caller['account'], rows: readonly MessageRow[]): Promise<Message[]> {
    const named = await withSenders(account.id, rows)
    return named.map(row => viewMessage(row, account.currency))
  }

  /** Limits a search for a job's messages to the time before the job's end. */
  async function limitToJobTime(accountId: AccountId, filter: MessageFilter): Promise<MessageFilter> {
    if (filter.bulkJobId === undefined) return filter
    const endedMs = await jobEndedAt(db, accountId, filter.bulkJobId)
    if (endedMs === null) return filter
    const latestMs = endedMs + MAX_CLOCK_SKEW_MS
    return { ...filter, createdBeforeMs: Math.min(filter.createdBeforeMs ?? latestMs, latestMs) }
  }

  return {
    filterOf: query => readFilter(query, deps.phones),
    async list(caller, query) {
      const { limit } = query
      const before = readIdCursor('msg', query.cursor)
      const { account } = caller
      const asked = readFilter(query, deps.phones)
      if (asked.matchesNothing) return { success: true, data: [], nextCursor: null }
      const filter = await limitToJobTime(account.id, asked)
      const { rows, stoppedAt } = await boundedScan(
        clock,
        { before, limit: limit + 1 },
        {
          isSelective: isSelective(filter),
          findEnd: below => findMessageScanEnd(db, account.id, filter, below),
          read: stretch => listMessages(db, account.id, filter, stretch),
        },
      )
      const { nextCursor } = pageById(rows, limit, row => row, stoppedAt)
      const data = await view(account, rows.slice(0, limit))
      return { success: true, data, nextCursor }
    },
    view,
    read,
    async cancel(caller, messageId) {
      let row = await find(caller, messageId)
      requireLiveAccess(caller, row)
      for (let tries = 0; tries < MAX_TRIES; tries++) {
        if (await cancelMessage(db, clock.now(), caller.account.id, row.id)) return read(caller, messageId)
        row = await find(caller, messageId)
        // Its attempt was retried later, so it is queued again, and can be cancelled.
        if (row.status !== 'queued') break
      }
      throw new Problem(
        'MESSAGE_STATE_CONFLICT',
        `The message is ${row.status}: only a scheduled or queued one can be cancelled.`,
      )
    },
  }
}

/** A further try is needed if an attempt ended at the same moment. */
const MAX_TRIES = 3

/** Whether the filter may skip many messages before one that matches. */
function isSelective({ createdAfterMs: _, createdBeforeMs: __, ...rest }: MessageFilter): boolean {
  return Object.keys(rest).length > 0
}

function isOfficial({ channel, sender }: MessageRow): boolean {
  return channel === 'official_chatapp' && sender === null
}
