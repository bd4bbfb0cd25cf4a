import type { AccountView } from '../../contract/account.ts'
import type { Caller } from '../../contract/caller.ts'
import { Problem } from '../../contract/errors.ts'
import type { OfficialSender } from '../../contract/official.ts'
import type { SmsSenderView } from '../../contract/sender.ts'
import type { Db } from '../../infra/db.ts'
import type { Clock } from '../../lib/clock.ts'
import type { AccountId } from '../../lib/ids.ts'
import { fromMicros } from '../../lib/money.ts'
import { selectAccount } from './store.ts'
import { viewPool, viewQuietHours, viewVerification } from './views.ts'

/** The answer of `GET /api/v2/account`: the account as stored now, and the caller's key. */
export type AccountReader = { read(caller: Caller): Promise<AccountView> }

export function createAccountReader(deps: {
  db: Db
  clock: Clock
  sendersOf(accountId: AccountId): Promise<SmsSenderView[]>
  officialSendersOf(caller: Caller): Promise<OfficialSender[]>
}): AccountReader {
  return {
    async read(caller) {
      const [row, smsSenders, officialSenders] = await Promise.all([
        selectAccount(deps.db, caller.account.id),
        deps.sendersOf(caller.account.id),
        deps.officialSendersOf(caller),
      ])
      if (!row) throw new Problem('NOT_FOUND', 'Account not found')
      const nowMs = deps.clock.now()
      return {
        id: row.id,
        name: row.name,
        status: row.status,
        homeCountry: row.homeCountry,
        phone: { number: row.phoneNumber, verified: row.phoneVerified },
        currency: row.currency,
        quietHours: viewQuietHours(row),
        verification: viewVerification(row),
        wallet: { balance: fromMicros(row.wallet.balance), held: fromMicros(row.wallet.held) },
        plan: {
          name: row.planName,
          status: row.planStatus,
          allowsScheduling: row.allowsScheduling,
          pool: row.pools.map(pool => viewPool(pool, nowMs)),
        },
        key: {
          id: caller.keyId,
          name: caller.keyName,
          prefix: caller.keyPrefix,
          mode: caller.mode,
          permissions: [...caller.permissions],
        },
        smsSenders,
        officialSenders,
      }
    },
  }
}
