import type { Caller } from '../../contract/caller.ts'
import { type Page, pageOf, readCursor, writeCursor } from '../../contract/cursor.ts'
import { invalid } from '../../contract/errors.ts'
import type { InboundMessageQuery, InboundMessageView } from '../../contract/inbound-message.ts'
import type { Db } from '../../infra/db.ts'
import { type AccountId, isId } from '../../lib/ids.ts'
import { parseIsoTime } from '../../lib/iso-time.ts'
import type { Phones } from '../../lib/phone.ts'
import { PLATFORM } from '../accounts/platform.ts'
import { type InboundFilter, type InboundId, listInbound } from './store.ts'
import { viewInbound } from './view.ts'

/** What people wrote to us, the newest first. */
export type InboundMessages = {
  list(caller: Caller, query: InboundMessageQuery): Promise<Page<InboundMessageView>>
  /** What was written to numbers that are no account's own. */
  listShared(query: InboundMessageQuery): Promise<Page<InboundMessageView>>
}

export function createInboundMessages({ db, phones }: { db: Db; phones: Phones }): InboundMessages {
  async function list(accountId: AccountId, query: InboundMessageQuery): Promise<Page<InboundMessageView>> {
    const before = query.cursor === undefined ? null : (readCursor(query.cursor, fits)[0] as InboundId)
    const rows = await listInbound(db, accountId, toFilter(query), before, query.limit + 1)
    return pageOf(rows, query.limit, viewInbound, row => writeCursor(row.id))
  }

  function toFilter({ from, channel, createdAfter, createdBefore }: InboundMessageQuery): InboundFilter {
    return {
      ...(from !== undefined && { from: asStored(from) }),
      ...(channel && { channel }),
      ...(createdAfter !== undefined && { createdAfterMs: readTime(createdAfter, 'createdAfter') }),
      ...(createdBefore !== undefined && { createdBeforeMs: readTime(createdBefore, 'createdBefore') }),
    }
  }

  /** A plus that nobody escaped arrives as a space. */
  function asStored(from: string): string {
    const text = from.replace(/^ (?=\d)/, '+')
    return phones.parse(text)?.e164 ?? text
  }

  return {
    list: (caller, query) => list(caller.account.id, query),
    listShared: query => list(PLATFORM, query),
  }
}

function readTime(text: string, path: string): number {
  const atMs = parseIsoTime(text)
  if (atMs === null) throw invalid(path, 'must be an ISO 8601 time')
  return atMs
}

function fits(words: string[]): boolean {
  return words.length === 1 && isId('inb', words[0]!)
}
