import { afterAll, beforeAll, expect, test } from 'vitest'
import { PLATFORM } from '../../../src/core/accounts/platform.ts'
import { createOptOuts, type OptOuts } from '../../../src/core/consent/opt-outs.ts'
import {
  deleteByRecipient,
  insertSuppressions,
  parkOptOuts,
  type SuppressionRow,
} from '../../../src/core/consent/store.ts'
import { acceptSends } from '../../../src/core/messages/hot-store.ts'
import type { Db } from '../../../src/infra/db.ts'
import { systemClock } from '../../../src/lib/clock.ts'
import { type AccountId, type ConnectionId, createIds, toUuid } from '../../../src/lib/ids.ts'
import { createRandom } from '../../../src/lib/random.ts'
import { crossLocks } from '../../support/cross-locks.ts'
import { createTestDatabase, type TestDatabase } from '../../support/database.ts'
import { acceptRow } from '../../support/message-rows.ts'

const ids = createIds(systemClock, createRandom())
let database: TestDatabase
let optOuts: OptOuts
const account = ids.next('acc')

beforeAll(async () => {
  database = await createTestDatabase()
  optOuts = createOptOuts({ db: database.db, clock: systemClock, ids })
})
afterAll(() => database.drop())

function suppression(accountId: AccountId, key: string): SuppressionRow {
  const id = ids.next('sup')
  return {
    accountId,
    id,
    recipient: key,
    key,
    channel: 'email_user',
    connectionId: null,
    source: 'stop',
    reason: null,
  }
}

/** An opt-out at a connection whose number accounts share. */
function shared(connectionId: ConnectionId, recipient: string): SuppressionRow {
  return { ...suppression(PLATFORM, recipient), channel: 'local_sms', connectionId }
}

const lock = (accountId: AccountId, key: string) => (tx: Db) =>
  tx.query({
    name: 'order_suppression',
    text: 'select 1 from suppressions where account_id = $1 and recipient_key = $2 for update nowait',
    values: [toUuid(accountId), key],
  })

test('suppressions are deleted in the order of their keys, whatever order they are given and stored in', async () => {
  const accountId = ids.next('acc')
  const all = ['c', 'a', 'b'].map(key => suppression(accountId, key))
  for (const each of all) await insertSuppressions(database.db, [each])
  const remove = async () => {
    expect(await deleteByRecipient(database.db, all)).toHaveLength(3)
  }
  await crossLocks(database.db, lock(accountId, 'a'), remove, lock(accountId, 'c'))
})

test('parked reports of several reasons store their suppressions in the order of their keys', async () => {
  const connectionId = ids.next('cnn')
  const reports = [
    { recipient: '+12025550109', providerId: 'first', providerCode: '21610' },
    { recipient: '+12025550101', providerId: 'second', providerCode: '131050' },
  ]
  await database.db.query({
    name: 'order_wallet',
    text: 'insert into wallets (account_id, balance, credited) values ($1, 1000, 1000)',
    values: [toUuid(account)],
  })
  for (const { recipient, providerId } of reports) {
    const row = acceptRow({ accountId: account, id: ids.next('msg'), connectionId, dueAt: 0 }, { recipient })
    await acceptSends(database.db, 1, systemClock.now(), [row], false)
    await database.db.query({
      name: 'order_ref',
      text: 'insert into provider_refs values ($1, $2, $3, $4)',
      values: [toUuid(connectionId), providerId, toUuid(account), toUuid(row.id)],
    })
  }
  await parkOptOuts(
    database.db,
    systemClock.now(),
    reports.map(report => ({ ...report, connectionId })),
  )
  const store = (at: number) => (tx: Db) =>
    insertSuppressions(tx, [shared(connectionId, reports[at]!.recipient)])
  await crossLocks(database.db, store(1), () => optOuts.applyParked(), store(0))
  const { rows } = await database.db.query<{ reason: string }>({
    name: 'order_reasons',
    text: `select reason from suppressions where connection_id = $1 and channel = 'int_sms' order by recipient_key`,
    values: [toUuid(connectionId)],
  })
  expect(rows.map(({ reason }) => reason)).toEqual([
    expect.stringContaining('(131050)'),
    expect.stringContaining('(21610)'),
  ])
})
