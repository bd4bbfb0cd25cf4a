import type { Caller } from '../../contract/caller.ts'
import {
  DEFAULT_LIMIT,
  type Page,
  type PageQuery,
  pageOf,
  readIdCursor,
  writeCursor,
} from '../../contract/cursor.ts'
import { invalid, Problem } from '../../contract/errors.ts'
import type { SmsSenderRequest, SmsSenderView } from '../../contract/sender.ts'
import type { Database } from '../../infra/db.ts'
import type { Seal } from '../../infra/seal.ts'
import { type AccountId, type Ids, isId } from '../../lib/ids.ts'
import { lockAccount } from '../accounts/store.ts'
import { callbackContext } from './callback.ts'
import { checkSenderName } from './name.ts'
import {
  clearDefault,
  countOwnSenders,
  insertSender,
  pageOwnSenders,
  type SenderCallback,
  type SenderId,
  type SenderRow,
  selectOwnSender,
  setDefault,
} from './store.ts'
import { unknownSender, viewSender } from './view.ts'

/** The SMS sender names that an account asks for and uses. */
export type OwnSenders = {
  /**
   * Pending until the operator decides. VALIDATION_ERROR for a name that is none or stands already, CONFLICT
   * where an account has as many as it may.
   */
  request(caller: Caller, body: SmsSenderRequest): Promise<SmsSenderView>
  /** The newest first. */
  list(caller: Caller, query: PageQuery): Promise<Page<SmsSenderView>>
  /** NOT_FOUND for one that is not the account's own, CONFLICT for one that is not approved. */
  makeDefault(caller: Caller, id: string): Promise<SmsSenderView>
}

export type OwnSendersDeps = {
  db: Database
  ids: Ids
  seal: Pick<Seal, 'seal'>
  /** Why a callback URL may not be used, or null. */
  checkUrl(url: string): string | null
  /** So that this node knows at once. */
  applied(accountId: AccountId): void
}

/** All of them are shown with the account, and held in memory by each node that it sends over. */
const MOST_SENDERS = 500

export function createOwnSenders({ db, ids, seal, checkUrl, applied }: OwnSendersDeps): OwnSenders {
  /** Both or neither; the secret sealed for this sender alone. */
  function readCallback(id: SenderId, body: SmsSenderRequest): SenderCallback | null {
    const { webhookUrl, webhookSecret } = body
    if (webhookUrl === undefined && webhookSecret === undefined) return null
    if (webhookUrl === undefined) throw invalid('webhookUrl', 'is required with webhookSecret')
    if (webhookSecret === undefined) throw invalid('webhookSecret', 'is required with webhookUrl')
    const fault = checkUrl(webhookUrl)
    if (fault !== null) throw invalid('webhookUrl', fault)
    return { url: webhookUrl, secret: seal.seal(webhookSecret, callbackContext(id)) }
  }

  return {
    async request(caller, body) {
      checkSenderName(body.name)
      const id = ids.next('snd')
      const callback = readCallback(id, body)
      const sender: SenderRow = {
        id,
        accountId: caller.account.id,
        name: body.name,
        status: 'pending',
        isDefault: false,
        reason: null,
        webhookConfigured: callback !== null,
      }
      await db.transaction(async tx => {
        // One after the other, for the last place.
        await lockAccount(tx, sender.accountId)
        if (!(await insertSender(tx, sender, callback))) throw invalid('name', 'stands already')
        if ((await countOwnSenders(tx, sender.accountId)) > MOST_SENDERS) {
          throw new Problem('CONFLICT', `An account has at most ${MOST_SENDERS} SMS sender names.`)
        }
      })
      applied(sender.accountId)
      return viewSender(sender)
    },

    async list(caller, { limit = DEFAULT_LIMIT, cursor }) {
      const rows = await pageOwnSenders(db, caller.account.id, readIdCursor('snd', cursor), limit + 1)
      return pageOf(rows, limit, viewSender, row => writeCursor(row.id))
    },

    async makeDefault(caller, id) {
      const accountId = caller.account.id
      const chosen = await db.transaction(async tx => {
        if (!isId('snd', id)) throw unknownSender()
        // Or of two who choose at once one would meet the other's at the unique index.
        await lockAccount(tx, accountId)
        const row = await selectOwnSender(tx, accountId, id)
        if (!row) throw unknownSender()
        if (row.status !== 'approved') {
          throw new Problem('CONFLICT', `The SMS sender is ${row.status}, not approved.`)
        }
        await clearDefault(tx, accountId)
        await setDefault(tx, accountId, id)
        return { ...row, isDefault: true }
      })
      applied(accountId)
      return viewSender(chosen)
    },
  }
}
