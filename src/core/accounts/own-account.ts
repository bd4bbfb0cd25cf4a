import type { OwnAccountUpdate } from '../../contract/account.ts'
import type { Caller } from '../../contract/caller.ts'
import { Problem } from '../../contract/errors.ts'
import { createFaults, type Faults } from '../../contract/faults.ts'
import type { Database } from '../../infra/db.ts'
import type { AccountId } from '../../lib/ids.ts'
import { mergeVerificationSettings, parseQuietHours } from './fields.ts'
import { selectAccountForUpdate, updateAccount } from './store.ts'

/** The settings that an account changes itself; the operator changes the others. */
export type OwnAccount = {
  /** Absent fields stay. VALIDATION_ERROR for quiet hours that end when they start, and for an unusable template. */
  update(caller: Caller, input: OwnAccountUpdate): Promise<void>
}

export type OwnAccountDeps = {
  db: Database
  /** Called after the commit, so that this node uses the new settings. */
  applied(id: AccountId): void
  isCodeTemplate: IsCodeTemplate
}

/** Whether the account may use the template, which has only the code as its placeholder, for verification. */
export type IsCodeTemplate = (accountId: AccountId, templateId: string) => Promise<boolean>

/** The template that is set now is accepted even if it was deleted, so that it can be sent along with other settings. */
export async function checkVerificationTemplate(
  accountId: AccountId,
  templateId: string | null | undefined,
  currentTemplateId: string | null,
  isCodeTemplate: IsCodeTemplate,
  faults: Faults,
): Promise<void> {
  if (!templateId || templateId === currentTemplateId || (await isCodeTemplate(accountId, templateId))) return
  faults.add(
    'verification.templateId',
    'must be a template of subType otp whose only placeholder is the code, on a channel for verification',
  )
}

export function createOwnAccount({ db, applied, isCodeTemplate }: OwnAccountDeps): OwnAccount {
  return {
    async update(caller, { quietHours, verification }) {
      if (quietHours === undefined && verification === undefined) return
      const { id, verification: standing } = caller.account
      const faults = createFaults()
      const quiet = quietHours === undefined ? {} : parseQuietHours(quietHours, faults)
      await checkVerificationTemplate(
        id,
        verification?.templateId,
        standing.templateId,
        isCodeTemplate,
        faults,
      )
      faults.check()
      await db.transaction(async tx => {
        const before = await selectAccountForUpdate(tx, id)
        if (!before) throw new Problem('NOT_FOUND', 'Account not found')
        const fields = {
          ...quiet,
          verification: mergeVerificationSettings(before.verification, verification),
        }
        await updateAccount(tx, id, { ...before, ...fields })
      })
      applied(id)
    },
  }
}
