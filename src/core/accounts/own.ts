import type { OwnAccountUpdate } from '../../contract/account.ts'
import type { Caller } from '../../contract/caller.ts'
import { Problem } from '../../contract/errors.ts'
import { createFaults, type Faults } from '../../contract/faults.ts'
import type { Database } from '../../infra/db.ts'
import type { AccountId } from '../../lib/ids.ts'
import { quietFields, verificationField } from './fields.ts'
import { selectAccount, updateAccount } from './store.ts'

/** What an account's owner changes of it; the rest is the operator's. */
export type OwnAccount = {
  /** What is absent stays. VALIDATION_ERROR for quiet hours that end when they start, and for a template that is none. */
  update(caller: Caller, input: OwnAccountUpdate): Promise<void>
}

export type OwnAccountDeps = {
  db: Database
  /** This node works by what was committed: the others hear of it. */
  applied(id: AccountId): void
  isCodeTemplate: IsCodeTemplate
}

/** Whether the account may use such a template, and a code alone fills it in. */
export type IsCodeTemplate = (accountId: AccountId, templateId: string) => Promise<boolean>

/** What stands may be said again, with the rest of the settings, when its template is gone. */
export async function checkTemplate(
  accountId: AccountId,
  templateId: string | null | undefined,
  standing: string | null,
  isCodeTemplate: IsCodeTemplate,
  faults: Faults,
): Promise<void> {
  if (!templateId || templateId === standing || (await isCodeTemplate(accountId, templateId))) return
  faults.add('verification.templateId', 'there is no such template of subType otp, with one placeholder')
}

export function createOwnAccount({ db, applied, isCodeTemplate }: OwnAccountDeps): OwnAccount {
  return {
    async update(caller, { quietHours, verification }) {
      if (quietHours === undefined && verification === undefined) return
      const { id, verification: standing } = caller.account
      const faults = createFaults()
      const quiet = quietHours === undefined ? {} : quietFields(quietHours, faults)
      await checkTemplate(id, verification?.templateId, standing.templateId, isCodeTemplate, faults)
      faults.check()
      await db.transaction(async tx => {
        const before = await selectAccount(tx, id, true)
        if (!before) throw new Problem('NOT_FOUND', 'Account not found')
        const fields = { ...quiet, verification: verificationField(before.verification, verification) }
        await updateAccount(tx, id, { ...before, ...fields })
      })
      applied(id)
    },
  }
}
