import type { OwnAccountUpdate } from '../../contract/account.ts'
import type { Caller } from '../../contract/caller.ts'
import { Problem } from '../../contract/errors.ts'
import { createFaults } from '../../contract/faults.ts'
import type { Database } from '../../infra/db.ts'
import type { AccountId } from '../../lib/ids.ts'
import { quietFields } from './fields.ts'
import { selectAccount, updateAccount } from './store.ts'

/** What an account's owner changes of it; the rest is the operator's. */
export type OwnAccount = {
  /** What is absent stays. VALIDATION_ERROR for quiet hours that end when they start. */
  update(caller: Caller, input: OwnAccountUpdate): Promise<void>
}

export type OwnAccountDeps = {
  db: Database
  /** This node works by what was committed: the others hear of it. */
  applied(id: AccountId): void
}

export function createOwnAccount({ db, applied }: OwnAccountDeps): OwnAccount {
  return {
    async update(caller, { quietHours }) {
      if (quietHours === undefined) return
      const { id } = caller.account
      const faults = createFaults()
      const fields = quietFields(quietHours, faults)
      faults.check()
      await db.transaction(async tx => {
        const before = await selectAccount(tx, id, true)
        if (!before) throw new Problem('NOT_FOUND', 'Account not found')
        await updateAccount(tx, id, { ...before, ...fields })
      })
      applied(id)
    },
  }
}
