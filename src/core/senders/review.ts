import type { AdminSender, SenderCreate } from '../../contract/admin.ts'
import { DEFAULT_LIMIT, type Page, type PageQuery, pageById, readIdCursor } from '../../contract/cursor.ts'
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
  /** Of all accounts or of one, the newest first. */
  list(query: PageQuery & { status?: SenderStatus; accountId?: string }): Promise<Page<AdminSender>>
  read(id: string): Promise<AdminSender>
  /** The account's own names. */
  ofAccount(accountId: AccountId): Promise<SmsSenderView[]>
  /** Creates a name of the platform, approved at once. VALIDATION_ERROR for a name that is invalid or exists already. */
  createPlatform(input: SenderCreate): Promise<AdminSender>
  createPlatformIn(db: Db, input: SenderCreate): Promise<AdminSender>
  /** Idempotent. NOT_FOUND if there is no such sender, CONFLICT if the other decision was made before. */
  approve(id: string): Promise<AdminSender>
  reject(id: string, reason: string): Promise<AdminSender>
}

export type SenderReviewDeps = {
  db: Database
  ids: Ids
  /** Notifies the account of a decision, within its transaction. */
  notifyDecision(tx: Db, sender: SenderRow): Promise<void>
  /** Called after a change, so that it takes effect on this node at once. */
  applied(accountId: AccountId): void
}

export function createSenderReview({ db, ids, notifyDecision, applied }: SenderReviewDeps): SenderReview {
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
    if (!(await insertSender(tx, sender))) throw invalid('name', 'exists already')
    return viewForAdmin(sender)
  }

  async function decide(id: string, status: 'approved' | 'rejected', reason: string | null) {
    if (!isId('snd', id)) throw unknownSender()
    const decided = await db.transaction(async tx => {
      const row = await decideSender(tx, id, status, reason)
      if (row) await notifyDecision(tx, row)
      return row
    })
    if (decided) {
      applied(decided.accountId)
      return viewForAdmin(decided)
    }
    const before = await selectSender(db, id)
    if (!before) throw unknownSender()
    if (before.status !== status) throw new Problem('CONFLICT', `The SMS sender is ${before.status} already.`)
    return viewForAdmin(before)
  }

  return {
    async list({ limit = DEFAULT_LIMIT, cursor, status, accountId }) {
      const filter = {
        status: status ?? null,
        accountId: accountId === undefined ? null : readAccountId(accountId),
      }
      const rows = await listSenders(db, filter, readIdCursor('snd', cursor), limit + 1)
      return pageById(rows, limit, viewForAdmin)
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
