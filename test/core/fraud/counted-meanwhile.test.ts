import { afterAll, beforeAll, expect, test } from 'vitest'
import { countDue, countNewest, sumTotals } from '../../../src/core/fraud/total-store.ts'
import { type AccountId, fromUuid } from '../../../src/lib/ids.ts'
import { createTestDatabase, type TestDatabase } from '../../support/database.ts'
import { lookUntil } from '../../support/look-until.ts'

const UUID = '01890a5d-ac96-774b-bcce-b302099a8057'
const ACCOUNT: AccountId = fromUuid('acc', UUID)
const NOW = Date.UTC(2026, 4, 4)
const HALF_A_DAY_MS = 12 * 3_600_000

let database: TestDatabase
/** Stores a code that was sent and not confirmed in time. */
beforeAll(async () => {
  database = await createTestDatabase()
  for (const text of [
    `insert into verifications (account_id, id, live, validity_minutes, recipient, recipient_key, message_id, channel,
        started_at, expires_at, resend_at, code_hash, messages, started_with)
      select '${UUID}', i.id, true, 10, '+1', '+1', i.id, 'local_sms', '2026-05-03', '2026-05-03', '2026-05-03', 'a', array[i.id], 1
        from (select uuid_at('2026-05-03') as id) i`,
    `insert into messages (account_id, id, live, status, channel, message_type, recipient, provider, connection_id,
        sender_source, candidates, amount, funding, money)
      select account_id, id, true, 'sent', 'local_sms', 'otp', '+1', 'x', id, 'x', 'x', 1, 'wallet', 'captured'
        from verifications`,
    `insert into verification_looks (id, accounts, ids, started_at, look_at)
      select id, array[account_id], array[id], started_at, started_at from verifications`,
  ]) {
    await database.db.query({ name: text.slice(0, 40), text })
  }
})
afterAll(() => database.drop())

test('a due verification is counted with its new state if a concurrent count holds its lock', async () => {
  const { db } = database
  let counted: Promise<number> | undefined
  await db.transaction(async reader => {
    await countNewest(reader, ACCOUNT, NOW, 0, 10)
    await db.query({ name: 'counted_receipt', text: "update messages set status = 'delivered'" })
    counted = countDue(db, NOW, 10)
    await lookUntil(waiting, n => n === 1, 10_000)
  })
  expect(await counted).toBe(1)
  await countDue(db, NOW + HALF_A_DAY_MS, 10)
  const days = { accountId: ACCOUNT, live: true, fromDay: '2026-05-03', toDay: '2026-05-03' }
  expect(await sumTotals(db, days, new Set(['day']), null, 10)).toMatchObject([
    { started: 1, sent: 1, delivered: 1, verified: 0, cost: 1 },
  ])
  const { rowCount } = await db.query({ name: 'counted_looks', text: 'select 1 from verification_looks' })
  expect(rowCount).toBe(0)
})

async function waiting(): Promise<number> {
  const { rows } = await database.db.query<{ n: number }>({
    name: 'counted_waiting',
    text: `select count(*)::integer as n from pg_stat_activity
            where datname = current_database() and wait_event_type = 'Lock'`,
  })
  return rows[0]!.n
}
