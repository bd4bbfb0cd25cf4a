import { afterAll, beforeAll, expect, test } from 'vitest'
import { failOver } from '../../src/core/messages/failover-store.ts'
import {
  acceptSends,
  applyReceipts,
  beginAttempts,
  type SettleRow,
  settleAttempts,
} from '../../src/core/messages/hot-store.ts'
import { cancelMessage } from '../../src/core/messages/withdraw-store.ts'
import { registerNode, removeNode } from '../../src/core/outbox/node-store.ts'
import { closeUnknown } from '../../src/core/outbox/reconcile-store.ts'
import { claimDue, reclaimFromDead } from '../../src/core/outbox/store.ts'
import { createDatabase, type Database, DatabaseUnavailable } from '../../src/infra/db.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { type AccountId, createIds, type MessageId } from '../../src/lib/ids.ts'
import { createRandom } from '../../src/lib/random.ts'
import { createDice, type Dice } from '../faults/support/random.ts'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'
import { acceptRow, settleRow } from '../support/message-rows.ts'
import { startOfMonth } from './model.ts'
import { addAccount, readStore } from './store.ts'

const NODES = 3
const ROUNDS = 60
const ACCOUNTS = 8

let database: TestDatabase
let pools: Database[]
const ids = createIds(systemClock, createRandom())
const connectionId = ids.next('cnn')

beforeAll(async () => {
  database = await createTestDatabase()
  pools = Array.from({ length: NODES }, () => createDatabase({ connectionString: database.url, poolSize: 3 }))
})
afterAll(async () => {
  await Promise.all(pools.map(pool => pool.close()))
  await database.drop()
})

const byLockOrder = (a: { accountId: string; id: string }, b: { accountId: string; id: string }) =>
  a.accountId + a.id < b.accountId + b.id ? -1 : 1

/** Runs one node: batches, their outcomes, cancels and sweeps, concurrently with the other nodes. */
async function runNode(
  db: Database,
  dice: Dice,
  accounts: AccountId[],
  seen: MessageId[],
  refused: string[],
) {
  let node = await registerNode(db, 'concurrent', Date.now(), false)
  /** Callers repeat after a deadlock; here it is recorded. */
  const tolerant = async <T>(work: Promise<T>): Promise<T | null> => {
    try {
      return await work
    } catch (error) {
      if (!(error instanceof DatabaseUnavailable)) throw error
      const { message, detail, where } = error.cause as Error & { detail?: string; where?: string }
      refused.push(`${message} ${detail} ${where}`)
      return null
    }
  }
  const pick = () => accounts[dice.roll(accounts.length)]!

  async function acceptAndSettle(): Promise<void> {
    const rows = Array.from({ length: 1 + dice.roll(20) }, () => {
      const accountId = pick()
      const pooled = accounts.indexOf(accountId) % 2 === 0
      const key = dice.roll(3) === 0 ? `key ${dice.roll(40)}` : null
      const claim = key === null ? null : { operation: 1, key, bodyHash: Buffer.of(1) }
      const begun = dice.roll(3) > 0
      return acceptRow(
        { accountId, id: ids.next('msg'), connectionId, dueAt: Date.now() },
        {
          claim,
          pooled,
          amount: dice.roll(30),
          begun,
          status: begun ? 'sending' : 'queued',
          owned: begun || dice.roll(2) === 0,
        },
      )
    }).sort(byLockOrder)
    const verdicts = await tolerant(acceptSends(db, node, Date.now(), rows, false))
    if (!verdicts) return
    const accepted = rows.filter((_, at) => verdicts[at]!.kind === 'accepted')
    seen.push(...accepted.map(row => row.id))
    const begun = accepted.filter(row => row.begun)
    const going = dice.roll(2) === 0 ? begun.slice(0, 1) : []
    const done = begun.slice(going.length).map(outcomeOf)
    await Promise.all([tolerant(settleAttempts(db, Date.now(), done, false)), ...going.map(sendElsewhere)])
  }

  /** Fails a message over to another connection: of its channel, or of another one at another price. */
  async function sendElsewhere(row: { accountId: AccountId; id: MessageId }): Promise<void> {
    const left = { ...row, attempt: 1, outcome: 'retry' as const, code: null, providerCode: null, detail: '' }
    const to = {
      connectionId,
      provider: 'model',
      channel: dice.roll(2) === 0 ? ('email_user' as const) : ('local_sms' as const),
      sender: null,
      senderSource: 'platform' as const,
      amount: dice.roll(30),
      parts: null,
      newContent: null,
      secret: null,
    }
    await tolerant(failOver(db, node, Date.now(), left, to, false))
    const [attempt] = (await tolerant(beginAttempts(db, node, Date.now(), [row], false))) ?? []
    if (attempt == null) return
    await tolerant(settleAttempts(db, Date.now(), [{ ...outcomeOf(row), attempt }], false))
  }

  function outcomeOf(row: { accountId: AccountId; id: MessageId }): SettleRow {
    const kind = (['sent', 'sent', 'failed', 'queued', 'unknown'] as const)[dice.roll(5)]!
    return settleRow(
      { ...row, connectionId, eventId: ids.next('evt') },
      { kind, providerId: kind === 'sent' ? row.id : null, dueAt: Date.now() - 1, answer: null },
    )
  }

  async function sendWaiting(): Promise<void> {
    const claimed = await tolerant(claimDue(db, node, Date.now(), [{ connectionId, limit: 10 }]))
    const items = (claimed ?? []).toSorted(byLockOrder)
    const attempts = (await tolerant(beginAttempts(db, node, Date.now(), items, false))) ?? []
    const begun = items.flatMap((item, at) =>
      attempts[at] == null ? [] : [{ ...outcomeOf(item), attempt: attempts[at] }],
    )
    await tolerant(settleAttempts(db, Date.now(), begun, false))
  }

  async function report(): Promise<void> {
    const some = new Set(
      Array.from({ length: 5 }, () => seen[dice.roll(seen.length || 1)]).filter(id => id !== undefined),
    )
    const rows = [...some].map(providerId => {
      const refused = dice.roll(4) === 0
      return {
        connectionId,
        providerId,
        status: refused ? ('failed' as const) : ('delivered' as const),
        atMs: null,
        providerCode: null,
        errorCode: refused ? ('CHATAPP_NOT_REGISTERED' as const) : null,
        detail: null,
        eventId: ids.next('evt'),
      }
    })
    await tolerant(
      applyReceipts(
        db,
        Date.now(),
        rows.toSorted((a, b) => (a.providerId < b.providerId ? -1 : 1)),
      ),
    )
  }

  async function end(): Promise<void> {
    const id = seen[dice.roll(seen.length || 1)]
    if (id) for (const account of accounts) await tolerant(cancelMessage(db, Date.now(), account, id))
    await tolerant(closeUnknown(db, Date.now(), 5))
  }

  async function restart(): Promise<void> {
    await removeNode(db, node)
    await tolerant(reclaimFromDead(db, Date.now(), Date.now() - 1, 1_000))
    node = await registerNode(db, 'concurrent', Date.now(), false)
  }

  for (let round = 0; round < ROUNDS; round++) {
    await Promise.all([acceptAndSettle(), acceptAndSettle(), sendWaiting(), report(), end()])
    if (dice.roll(20) === 0) await restart()
  }
}

test('nodes that do everything concurrently neither create nor lose money, and do not deadlock', async () => {
  const accounts = Array.from({ length: ACCOUNTS }, (_, at) => ({
    id: ids.next('acc'),
    wallet: {
      balance: at % 3 === 0 ? 60 : 20_000,
      held: 0,
      captured: 0,
      credited: at % 3 === 0 ? 60 : 20_000,
    },
    pools:
      at % 2 === 0
        ? [{ id: 1, channels: ['local_sms'], included: 40, used: 0, resetsAt: startOfMonth(Date.now(), 1) }]
        : [],
  }))
  for (const account of accounts) await addAccount(database.db, account)
  const seen: MessageId[] = []
  const refused: string[] = []
  const accountIds = accounts.map(account => account.id)
  await Promise.all(pools.map((db, at) => runNode(db, createDice(7 + at), accountIds, seen, refused)))

  expect(seen.length).toBeGreaterThan(500)
  expect(refused).toEqual([])
  const raw = await readStore(database.db, accountIds)
  expect(raw.wallets).toHaveLength(ACCOUNTS)
  expect(raw.pools).toHaveLength(Math.ceil(ACCOUNTS / 2))
  expect(raw.wallets.some(({ captured }) => captured > 0)).toBe(true)
  expect(raw.pools.some(({ used }) => used > 0)).toBe(true)
  for (const wallet of raw.wallets) {
    expect(wallet.balance + wallet.held + wallet.captured).toBe(wallet.credited)
    expect([wallet.held, wallet.captured]).toEqual([wallet.sumHeld, wallet.sumCaptured])
  }
  for (const pool of raw.pools) {
    const taken = raw.messages.filter(
      row => row['accountId'] === pool.account && row['funding'] === 'pool' && row['money'] !== 'released',
    )
    expect(pool.used).toBe(taken.length)
    expect(pool.used).toBeLessThanOrEqual(40)
  }
}, 60_000)
