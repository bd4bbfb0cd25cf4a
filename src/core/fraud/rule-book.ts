import {
  FRAUD_RULES,
  type FraudRules,
  type FraudSettings,
  type FraudSettingsView,
} from '../../contract/fraud.ts'
import type { Changes } from '../../infra/changes.ts'
import type { Db } from '../../infra/db.ts'
import type { Clock } from '../../lib/clock.ts'
import type { AccountId } from '../../lib/ids.ts'
import { createAccountCache } from '../accounts/account-cache.ts'
import { readAccountId, throwUnknownAccount } from '../accounts/admin.ts'
import { PLATFORM } from '../accounts/platform.ts'
import { accountExists } from '../accounts/store.ts'
import { checkSettings, DEFAULT_RULES, rulesOf } from './settings.ts'
import { putFraudSettings, selectFraudSettings } from './settings-store.ts'

/** The rules of the guard: the platform's, and over them each account's. */
export type RuleBook = {
  /** Synchronous when cached. */
  rulesFor(id: AccountId): FraudRules | Promise<FraudRules>
  /** The platform's settings where `id` is null. NOT_FOUND for an unknown account. */
  read(id: string | null): Promise<FraudSettingsView>
  /** Replaces all settings. VALIDATION_ERROR, NOT_FOUND. */
  replace(id: string | null, settings: FraudSettings): Promise<FraudSettingsView>
}

export type RuleBookDeps = { db: Db; clock: Clock; changes: Pick<Changes, 'fresh' | 'subscribe' | 'publish'> }

const TABLE = 'fraud_settings'

export function createRuleBook({ db, clock, changes }: RuleBookDeps): RuleBook {
  const rulesFor = createAccountCache(
    { clock, changes },
    [TABLE],
    async accountId => (await lookUp(accountId)).effective,
  )

  async function lookUp(id: AccountId): Promise<FraudSettingsView> {
    const [platform, own] = await Promise.all([
      selectFraudSettings(db, PLATFORM),
      id === PLATFORM ? null : selectFraudSettings(db, id),
    ])
    const below = rulesOf(DEFAULT_RULES, platform)
    return id === PLATFORM
      ? { settings: platform ?? {}, effective: below }
      : { settings: own ?? {}, effective: rulesOf(below, own) }
  }

  async function find(id: string | null): Promise<AccountId> {
    if (id === null) return PLATFORM
    const accountId = readAccountId(id)
    return (await accountExists(db, accountId)) ? accountId : throwUnknownAccount()
  }

  return {
    rulesFor,
    read: async id => lookUp(await find(id)),
    async replace(id, given) {
      const settings = cleanSettings(given)
      checkSettings(settings)
      const accountId = await find(id)
      await putFraudSettings(db, accountId, settings)
      changes.publish(TABLE, accountId)
      return lookUp(accountId)
    },
  }
}

/** Drops unknown fields, and nulls that mean the same as absence. */
function cleanSettings(given: FraudSettings): FraudSettings {
  const kept: Record<string, unknown> = {}
  for (const rule of FRAUD_RULES) {
    const fields = Object.entries(given[rule] ?? {}).filter(([name]) =>
      Object.hasOwn(DEFAULT_RULES[rule], name),
    )
    if (fields.length > 0) kept[rule] = Object.fromEntries(fields)
  }
  if (given.safe) kept['safe'] = [...new Set(given.safe)]
  return kept
}
