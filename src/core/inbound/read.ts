import type { Caller } from '../../contract/caller.ts'
import { type Page, pageOf, readCursor, writeCursor } from '../../contract/cursor.ts'
import { invalid, Problem } from '../../contract/errors.ts'
import type { InboundMessageQuery, InboundMessageView } from '../../contract/inbound-message.ts'
import type { Db } from '../../infra/db.ts'
import { type AccountId, isId } from '../../lib/ids.ts'
import { parseIsoTime } from '../../lib/iso-time.ts'
import type { Phones } from '../../lib/phone.ts'
import { PLATFORM } from '../accounts/platform.ts'
import { type InboundFilter, type InboundId, type InboundRow, listInbound, selectInbound } from './store.ts'
import { viewInbound } from './view.ts'

/** What people wrote to us, the newest first. */
export type InboundMessages = {
  list(caller: Caller, query: InboundMessageQuery): Promise<Page<InboundMessageView>>
  /** Throws NOT_FOUND for one of another account. */
  read(caller: Caller, inboundId: string): Promise<InboundMessageView>
  /** What was written to numbers that are no account's own. */
  listShared(query: InboundMessageQuery): Promise<Page<InboundMessageView>>
}

export function createInboundMessages({ db, phones }: { db: Db; phones: Phones }): InboundMessages {
  async function list(accountId: AccountId, query: InboundMessageQuery): Promise<Page<InboundMessageView>> {
    const before = query.cursor === undefined ? null : (readCursor(query.cursor, fits)[0] as InboundId)
    const rows = await listInbound(db, accountId, toFilter(query), before, query.limit + 1)
    return pageOf(rows, query.limit, viewInbound, row => writeCursor(row.id))
  }

  function toFilter(query: InboundMessageQuery): InboundFilter {
    const { from, to, channel, accountId, conversationKey, createdAfter, createdBefore } = query
    return {
      ...(from !== undefined && { from: asStored(from) }),
      ...(to !== undefined && { to: withPlus(to) }),
      ...(channel && { channel }),
      ...(accountId !== undefined && { contextAccount: accountId }),
      ...(conversationKey !== undefined && { conversationKey: withPlus(conversationKey) }),
      ...(createdAfter !== undefined && { createdAfterMs: readTime(createdAfter, 'createdAfter') }),
      ...(createdBefore !== undefined && { createdBeforeMs: readTime(createdBefore, 'createdBefore') }),
    }
  }

  function asStored(address: string): string {
    const text = withPlus(address)
    return phones.parse(text)?.e164 ?? text
  }

  return {
    list: (caller, query) => list(caller.account.id, query),
    read: async (caller, inboundId) => viewInbound(await findInbound(db, caller.account.id, inboundId)),
    listShared: query => list(PLATFORM, query),
  }
}

/** A plus that nobody escaped arrives as a space: before a number, or in a key. */
function withPlus(text: string): string {
  return text.replace(/(^|:) (?=\d)/, '$1+')
}

function readTime(text: string, path: string): number {
  const atMs = parseIsoTime(text)
  if (atMs === null) throw invalid(path, 'must be an ISO 8601 time')
  return atMs
}

/** Throws NOT_FOUND for what is no message of the account. */
export async function findInbound(db: Db, accountId: AccountId, inboundId: string): Promise<InboundRow> {
  const row = isId('inb', inboundId) ? await selectInbound(db, accountId, inboundId) : null
  if (!row) throw new Problem('NOT_FOUND', 'Inbound message not found')
  return row
}

function fits(words: string[]): boolean {
  return words.length === 1 && isId('inb', words[0]!)
}
