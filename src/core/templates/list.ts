import { DEFAULT_LIMIT, pageOf, readIdCursor, writeCursor } from '../../contract/cursor.ts'
import { invalid, Problem } from '../../contract/errors.ts'
import {
  PLATFORM_SENDER,
  TEMPLATE_STATUSES,
  type TemplateQuery,
  type TemplateView,
} from '../../contract/template.ts'
import { createBatcher } from '../../infra/batch.ts'
import type { Database } from '../../infra/db.ts'
import { type AccountId, type ConnectionId, isId } from '../../lib/ids.ts'
import { splitByWeight } from '../../lib/split-by-weight.ts'
import type { AccountSenders, OfficialSenders } from './official-connection.ts'
import { type ListedTemplate, listTemplates, selectListed, type TemplateFilter } from './store.ts'
import { isUsable } from './transitions.ts'
import { type ViewContext, viewTemplate } from './view.ts'

/**
 * `pieces` are read one after the other, as they are asked for: a whole list may have 32 MB, and is neither in memory as a
 * whole nor the answer of one query, which would not come in time where several are read at once.
 */
export type TemplateList = { pieces: AsyncGenerator<TemplateView[], void>; nextCursor?: string | null }

export type TemplateListDeps = {
  db: Database
  senders: OfficialSenders
  viewContext(accountId: AccountId): Promise<ViewContext>
}

/** Of the texts of one piece; a template that has more is a piece of its own. */
const PIECE_BYTES = 1_000_000
/** Reads of whole lists on this node at once: on all database connections they would block everything else, including sends. */
const MAX_WHOLE_READS = 2

const USABLE = TEMPLATE_STATUSES.filter(isUsable)

/** Lists the templates that an account may use, the newest first: a page with `limit` or `cursor`, else all. */
export function createTemplateList({ db, senders, viewContext }: TemplateListDeps) {
  const reads = createBatcher<() => Promise<unknown>, unknown>({
    flush: works => Promise.all(works.map(work => work())),
    maxItems: 1,
    maxConcurrentFlushes: MAX_WHOLE_READS,
  })
  const inTurn: Reader = work => reads.add(work) as never

  async function list(accountId: AccountId, query: TemplateQuery): Promise<TemplateList> {
    const filter = readFilter(query, await senders.forAccount(accountId))
    const before = readIdCursor('tpl', query.cursor)
    // A cursor without a limit also asks for a page.
    const limit = query.limit ?? (before === null ? null : DEFAULT_LIMIT)
    if (limit === null) {
      const all = await inTurn(() => listTemplates(db, accountId, filter, null, null))
      return { pieces: readPieces(accountId, all, inTurn) }
    }
    const listed = await listTemplates(db, accountId, filter, before, limit + 1)
    const { data, nextCursor } = pageOf(
      listed,
      limit,
      each => each,
      ({ id }) => writeCursor(id),
    )
    return { pieces: readPieces(accountId, data, atOnce), nextCursor }
  }

  async function* readPieces(
    accountId: AccountId,
    listed: readonly ListedTemplate[],
    read: Reader,
  ): AsyncGenerator<TemplateView[], void> {
    const context = await viewContext(accountId)
    for (const piece of splitByWeight(listed, ({ bytes }) => bytes, PIECE_BYTES)) {
      const ids = piece.map(({ id }) => id)
      const rows = await read(() => selectListed(db, accountId, ids))
      yield rows.map(row => viewTemplate(row, context))
    }
  }

  return list
}

type Reader = <T>(work: () => Promise<T>) => Promise<T>

const atOnce: Reader = work => work()

function readFilter(query: TemplateQuery, senders: AccountSenders): TemplateFilter {
  return {
    category: query.category ?? null,
    statuses: query.status === undefined ? USABLE : [query.status],
    provider: query.provider ?? null,
    sender: readSender(query, senders),
  }
}

function readSender(query: TemplateQuery, { own }: AccountSenders): ConnectionId | 'platform' | null {
  const path = query.officialSenderId === undefined ? 'sender.officialId' : 'officialSenderId'
  const asked = query[path]
  if (asked === undefined) return null
  if (asked !== (query['sender.officialId'] ?? asked)) {
    throw invalid('officialSenderId', 'must be the same as sender.officialId')
  }
  if (asked === PLATFORM_SENDER) return PLATFORM_SENDER
  if (isId('cnn', asked) && own.has(asked)) return asked
  throw new Problem('NOT_FOUND', 'Official sender not found', {
    details: [{ path, message: 'Official sender not found' }],
  })
}
