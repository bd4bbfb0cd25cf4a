import type { Caller } from '../../contract/caller.ts'
import { DEFAULT_LIMIT, type Page, type PageQuery, pageById, readIdCursor } from '../../contract/cursor.ts'
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

/** The SMS sender names of an account. */
export type OwnSenders = {
  /**
   * The new name is pending until the operator decides. VALIDATION_ERROR for a name that is invalid or exists
   * already, CONFLICT at `MAX_SENDERS`.
   */
  request(caller: Caller, body: SmsSenderRequest): Promise<SmsSenderView>
  /** The newest first. */
  list(caller: Caller, query: PageQuery): Promise<Page<SmsSenderView>>
  /** NOT_FOUND unless the sender is the account's own, CONFLICT unless it is approved. */
  makeDefault(caller: Caller, id: string): Promise<SmsSenderView>
}

export type OwnSendersDeps = {
  db: Database
  ids: Ids
  seal: Pick<Seal, 'seal'>
  /** Why a callback URL may not be used; null if it may. */
  checkUrl(url: string): string | null
  /** Called after a change, so that it takes effect on this node at once. */
  applied(accountId: AccountId): void
}

/** All of an account's names are shown with it, and cached by each node that sends for it. */
const MAX_SENDERS = 500

export function createOwnSenders({ db, ids, seal, checkUrl, applied }: OwnSendersDeps): OwnSenders {
  /** Null without a callback. URL and secret are needed together; the secret is sealed for this sender. */
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
        // Serialized, so that concurrent requests cannot exceed the limit.
        await lockAccount(tx, sender.accountId)
        if (!(await insertSender(tx, sender, callback))) throw invalid('name', 'exists already')
        if ((await countOwnSenders(tx, sender.accountId)) > MAX_SENDERS) {
          throw new Problem('CONFLICT', `An account has at most ${MAX_SENDERS} SMS sender names.`)
        }
      })
      applied(sender.accountId)
      return viewSender(sender)
    },

    async list(caller, { limit = DEFAULT_LIMIT, cursor }) {
      const rows = await pageOwnSenders(db, caller.account.id, readIdCursor('snd', cursor), limit + 1)
      return pageById(rows, limit, viewSender)
    },

    async makeDefault(caller, id) {
      const accountId = caller.account.id
      const chosen = await db.transaction(async tx => {
        if (!isId('snd', id)) throw unknownSender()
        // Without this lock, one of two concurrent choices would violate the unique index.
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
