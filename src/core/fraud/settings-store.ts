import type { FraudSettings } from '../../contract/fraud.ts'
import type { Db } from '../../infra/db.ts'
import { type AccountId, toUuid } from '../../lib/ids.ts'

/** The settings of an account, or of `PLATFORM`; null where there are none. */
export async function selectFraudSettings(db: Db, id: AccountId): Promise<FraudSettings | null> {
  const { rows } = await db.query<{ settings: FraudSettings }>({
    name: 'fraud_settings_by_account',
    text: 'select settings from fraud_settings where account_id = $1',
    values: [toUuid(id)],
  })
  return rows[0]?.settings ?? null
}

export async function putFraudSettings(db: Db, id: AccountId, settings: FraudSettings): Promise<void> {
  await db.query({
    name: 'fraud_settings_put',
    text: `insert into fraud_settings (account_id, settings) values ($1, $2)
           on conflict (account_id) do update set settings = excluded.settings`,
    values: [toUuid(id), JSON.stringify(settings)],
  })
}
