import type { AdminSender, SenderCreate } from '../../contract/admin.ts'
import {
  DEFAULT_LIMIT,
  type Page,
  type PageQuery,
  pageOf,
  readIdCursor,
  writeCursor,
} from '../../contract/cursor.ts'
import { invalid, Problem } from '../../contract/errors.ts'
import type { SenderStatus, SmsSenderView } from '../../contract/sender.ts'
import type { Database, Db } from '../../infra/db.ts'
import { toIso } from '../../lib/clock.ts'
import { type AccountId, type Ids, isId, timeOf } from '../../lib/ids.ts'
import { readAccountId } from '../accounts/admin.ts'
import { PLATFORM } from '../accounts/platform.ts'
import { checkSenderName } from './name.ts'
import {
  clearDefault,
  decideSender,
  insertSender,
  listSenders,
  lockPlatformDefault,
  type SenderRow,
  selectOwnSenders,
  selectSender,
} from './store.ts'
import { unknownSender, viewSender } from './view.ts'

/** The operator's review of SMS sender names, and the platform's own names. */
export type SenderReview = {
  /** Of every account or of one, the newest first. */
  list(query: PageQuery & { status?: SenderStatus; accountId?: string }): Promise<Page<AdminSender>>
  read(id: string): Promise<AdminSender>
  /** An account's own. */
  ofAccount(accountId: AccountId): Promise<SmsSenderView[]>
  /** The platform's own name, approved as it is made. VALIDATION_ERROR for one that stands already. */
  createPlatform(input: SenderCreate): Promise<AdminSender>
  createPlatformIn(db: Db, input: SenderCreate): Promise<AdminSender>
  /** Again is no error; NOT_FOUND for no such sender, CONFLICT for one that was decided otherwise. */
  approve(id: string): Promise<AdminSender>
  reject(id: string, reason: string): Promise<AdminSender>
}

export type SenderReviewDeps = {
  db: Database
  ids: Ids
  /** Tells the account of a decision, within the transaction that takes it. */
  tellDecision(tx: Db, sender: SenderRow): Promise<void>
  /** So that this node knows at once. */
  applied(accountId: AccountId): void
}

export function createSenderReview({ db, ids, tellDecision, applied }: SenderReviewDeps): SenderReview {
  async function createPlatformIn(tx: Db, input: SenderCreate): Promise<AdminSender> {
    checkSenderName(input.name)
    const sender: SenderRow = {
      id: ids.next('snd'),
      accountId: PLATFORM,
      name: input.name,
      status: 'approved',
      isDefault: input.isDefault ?? false,
      reason: null,
      webhookConfigured: false,
    }
    if (sender.isDefault) {
      await lockPlatformDefault(tx)
      await clearDefault(tx, PLATFORM)
    }
    if (!(await insertSender(tx, sender))) throw invalid('name', 'stands already')
    return viewForAdmin(sender)
  }

  async function decide(id: string, status: 'approved' | 'rejected', reason: string | null) {
    if (!isId('snd', id)) throw unknownSender()
    const decided = await db.transaction(async tx => {
      const row = await decideSender(tx, id, status, reason)
      if (row) await tellDecision(tx, row)
      return row
    })
    if (decided) {
      applied(decided.accountId)
      return viewForAdmin(decided)
    }
    const before = await selectSender(db, id)
    if (!before) throw unknownSender()
    if (before.status !== status) throw new Problem('CONFLICT', `The sender is ${before.status} already.`)
    return viewForAdmin(before)
  }

  return {
    async list({ limit = DEFAULT_LIMIT, cursor, status, accountId }) {
      const filter = {
        status: status ?? null,
        accountId: accountId === undefined ? null : readAccountId(accountId),
      }
      const rows = await listSenders(db, filter, readIdCursor('snd', cursor), limit + 1)
      return pageOf(rows, limit, viewForAdmin, row => writeCursor(row.id))
    },
    async read(id) {
      const row = isId('snd', id) ? await selectSender(db, id) : null
      if (!row) throw unknownSender()
      return viewForAdmin(row)
    },
    ofAccount: async accountId => (await selectOwnSenders(db, accountId)).map(viewSender),
    async createPlatform(input) {
      const sender = await db.transaction(tx => createPlatformIn(tx, input))
      applied(PLATFORM)
      return sender
    },
    createPlatformIn,
    approve: id => decide(id, 'approved', null),
    reject: (id, reason) => decide(id, 'rejected', reason),
  }
}

function viewForAdmin(row: SenderRow): AdminSender {
  return {
    ...viewSender(row),
    accountId: row.accountId === PLATFORM ? null : row.accountId,
    reason: row.reason,
    createdAt: toIso(timeOf(row.id)),
  }
}
