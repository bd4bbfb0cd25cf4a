import type { Caller } from '../../contract/caller.ts'
import { pageOf, readCursor, writeCursor } from '../../contract/cursor.ts'
import { invalid, Problem } from '../../contract/errors.ts'
import type { Message, MessageQuery, MessageWithTimeline } from '../../contract/message.ts'
import type { Db } from '../../infra/db.ts'
import type { Clock } from '../../lib/clock.ts'
import { type AccountId, type ConnectionId, type Id, isId, type MessageId } from '../../lib/ids.ts'
import { parseIsoTime } from '../../lib/iso-time.ts'
import { endOfLook, listMessages, type MessageFilter, type MessageRow, readMessage } from './message-store.ts'
import { type ExplainCode, viewMessage, viewWithTimeline } from './view.ts'
import { cancelMessage } from './withdraw-store.ts'

export type Messages = {
  list(
    caller: Caller,
    query: MessageQuery,
  ): Promise<{ success: true; data: Message[]; nextCursor: string | null }>
  /** Throws NOT_FOUND for a message of another account. */
  read(caller: Caller, messageId: string): Promise<MessageWithTimeline>
  /** Throws MESSAGE_STATE_CONFLICT once it has begun to leave. */
  cancel(caller: Caller, messageId: string): Promise<MessageWithTimeline>
}

export type MessagesDeps = {
  db: Db
  clock: Clock
  explain: ExplainCode
  /** Who messages of the official chat app come from: there the connection is the sender. */
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

  return {
    async list(caller, query) {
      const limit = query.limit ?? 50
      const before = query.cursor === undefined ? null : (readCursor(query.cursor, fits)[0] as MessageId)
      const { account } = caller
      const filter = toFilter(query)
      const downTo = isSelective(filter) ? await endOfLook(db, account.id, filter, before) : null
      const found = await listMessages(db, account.id, filter, before, limit + 1, downTo)
      const rows = await withSenders(account.id, found)
      const page = pageOf(
        rows,
        limit,
        row => viewMessage(row, account.currency),
        last => writeCursor(last.id),
      )
      // What is older is looked at by the next one.
      return page.nextCursor === null && downTo ? { ...page, nextCursor: writeCursor(downTo) } : page
    },
    read,
    async cancel(caller, messageId) {
      const row = await find(caller, messageId)
      if (!(await cancelMessage(db, clock.now(), caller.account.id, row.id))) {
        const { status } = await find(caller, messageId)
        throw new Problem(
          'MESSAGE_STATE_CONFLICT',
          `The message is ${status}: only a scheduled or queued one can be cancelled.`,
        )
      }
      return read(caller, messageId)
    },
  }
}

/** It may pass over many before it finds one. */
function isSelective({ createdAfterMs: _, createdBeforeMs: __, ...rest }: MessageFilter): boolean {
  return Object.keys(rest).length > 0
}

function isOfficial({ channel, sender }: MessageRow): boolean {
  return channel === 'official_chatapp' && sender === null
}

function fits(words: string[]): boolean {
  return words.length === 1 && isId('msg', words[0]!)
}

function toFilter(query: MessageQuery): MessageFilter {
  return {
    ...(query.status && { status: query.status }),
    ...(query.channel && { channel: query.channel }),
    ...(query.messageType && { messageType: query.messageType }),
    ...(query.to !== undefined && { to: withPlus(query.to) }),
    ...(query.templateId !== undefined && { templateId: readId('tpl', query.templateId, 'templateId') }),
    ...(query.bulkJobId !== undefined && { bulkJobId: readId('job', query.bulkJobId, 'bulkJobId') }),
    ...(query.createdAfter !== undefined && { createdAfterMs: readTime(query.createdAfter, 'createdAfter') }),
    ...(query.createdBefore !== undefined && {
      createdBeforeMs: readTime(query.createdBefore, 'createdBefore'),
    }),
  }
}

/** A plus that nobody escaped arrives as a space. */
function withPlus(to: string): string {
  return to.replace(/^ (?=\d)/, '+')
}

function readId<P extends 'tpl' | 'job'>(prefix: P, text: string, path: string): Id<P> {
  if (!isId(prefix, text)) throw invalid(path, `must be an id, as in ${prefix}_…`)
  return text
}

function readTime(text: string, path: string): number {
  const atMs = parseIsoTime(text)
  if (atMs === null) throw invalid(path, 'must be an ISO 8601 time')
  return atMs
}
