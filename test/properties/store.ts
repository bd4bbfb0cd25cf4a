import type { Database } from '../../src/infra/db.ts'
import { uuidArray } from '../../src/infra/pg-array.ts'
import { toIso } from '../../src/lib/clock.ts'
import { type AccountId, fromUuid, type Ids, toUuid } from '../../src/lib/ids.ts'
import { type Account, keyOf, type State } from './model.ts'

/** Empties the tables of the hot path; faster than a new database. */
export async function emptyStore(db: Database): Promise<void> {
  for (const table of ['outbox', 'idempotency', 'provider_refs', 'parked_receipts', 'messages', 'nodes']) {
    await db.query({ name: `empty_${table}`, text: `delete from ${table}` })
  }
}

/** Inserts an account with its wallet and pools, and nothing else that the hot path reads. */
export async function addAccount(db: Database, account: Account): Promise<void> {
  const { id, wallet, pools } = account
  await db.query({
    name: 'add_account',
    text: `insert into accounts (id, name, home_country, currency, plan_name, plan_status, allows_scheduling,
             bulk_ceiling_per_second, rate_limit_per_second, verification_rate_limit_per_second)
           values ($1, 'model', 'US', 'USD', 'default', 'active', true, 10, 1000, 1000)`,
    values: [toUuid(id)],
  })
  await db.query({
    name: 'add_wallet',
    text: 'insert into wallets (account_id, balance, credited) values ($1, $2, $2)',
    values: [toUuid(id), wallet.balance],
  })
  for (const pool of pools) {
    await db.query({
      name: 'add_pool',
      text: 'insert into pools (account_id, id, channels, included, used, resets_at) values ($1,$2,$3,$4,$5,$6)',
      values: [toUuid(id), pool.id, pool.channels, pool.included, pool.used, toIso(pool.resetsAt)],
    })
  }
}

/** Credits a wallet, as an operator's credit does. */
export async function credit(db: Database, ids: Ids, accountId: AccountId, amount: number): Promise<void> {
  await db.query({
    name: 'credit',
    text: `with entry as (insert into ledger (account_id, id, kind, amount) values ($1, $2, 'credit', $3))
           update wallets set balance = balance + $3, credited = credited + $3 where account_id = $1`,
    values: [toUuid(accountId), toUuid(ids.next('crd')), amount],
  })
}

/** Reads the state that the model describes; `wallets` also with the sums of the columns of messages. */
export async function readStore(db: Database, accounts: Iterable<AccountId>) {
  const { rows } = await db.query<{ state: Raw }>({
    name: 'read_store',
    text: READ,
    values: [uuidArray([...accounts], id => id)],
  })
  return rows[0]!.state
}

type Raw = {
  wallets: {
    id: string
    balance: number
    held: number
    captured: number
    credited: number
    sumHeld: number
    sumCaptured: number
  }[]
  pools: { account: string; id: number; used: number; resetsAt: number }[]
  messages: Record<string, string | number | boolean | null>[]
  outbox: { id: string; owner: number | null; begun: boolean; dueAt: number }[]
  keys: { account: string; key: string; message: string | null; status: number | null }[]
  refs: { id: string; message: string }[]
  parked: { id: string; status: string }[]
}

const MS = (column: string) => `(extract(epoch from ${column}) * 1000)::bigint`
const list = (fields: string, from: string) =>
  `coalesce((select json_agg(json_build_object(${fields})) from ${from}), '[]')`
const READ = `select json_build_object(
  'wallets', ${list(
    `'id', w.account_id, 'balance', w.balance, 'held', w.held, 'captured', w.captured, 'credited', w.credited,
     'sumHeld', (select coalesce(sum(amount), 0) from messages m where m.account_id = w.account_id and m.funding = 'wallet' and m.money = 'held'),
     'sumCaptured', (select coalesce(sum(amount), 0) from messages m where m.account_id = w.account_id and m.funding = 'wallet' and m.money = 'captured')`,
    `wallets w where w.account_id = any ($1::uuid[])`,
  )},
  'pools', ${list(`'account', account_id, 'id', id, 'used', used, 'resetsAt', ${MS('resets_at')}`, 'pools where account_id = any ($1::uuid[])')},
  'messages', ${list(
    `'accountId', account_id, 'id', id, 'live', live, 'status', status, 'channel', channel, 'attempt', attempt, 'amount', amount,
     'funding', funding, 'pool', pool_id, 'money', money, 'answer', answer,
     'attemptAt', ${MS('attempt_at')}, 'settledAt', ${MS('settled_at')}`,
    'messages',
  )},
  'outbox', ${list(`'id', message_id, 'owner', owner, 'begun', begun, 'dueAt', ${MS('due_at')}`, 'outbox')},
  'keys', ${list(`'account', account_id, 'key', key, 'message', message_id, 'status', status`, 'idempotency')},
  'refs', ${list(`'id', provider_id, 'message', message_id`, 'provider_refs')},
  'parked', ${list(`'id', provider_id, 'status', status`, '(select * from parked_receipts order by id) p')}
) as state`

/** The state of the database as a plain value, to compare with that of `fromModel`. */
export function fromStore(raw: Awaited<ReturnType<typeof readStore>>) {
  return {
    wallets: sorted(
      raw.wallets.map(({ id, balance, held, captured, credited }) => [
        fromUuid('acc', id),
        balance,
        held,
        captured,
        credited,
      ]),
    ),
    pools: sorted(raw.pools.map(pool => [fromUuid('acc', pool.account), pool.id, pool.used, pool.resetsAt])),
    messages: sorted(
      raw.messages.map(row => [
        fromUuid('msg', row['id'] as string),
        row['status'],
        row['channel'],
        row['attempt'],
        row['amount'],
        row['funding'],
        row['pool'],
        row['money'],
        row['answer'],
        row['attemptAt'],
        row['settledAt'],
      ]),
    ),
    outbox: sorted(raw.outbox.map(row => [fromUuid('msg', row.id), row.owner, row.begun, row.dueAt])),
    keys: sorted(
      raw.keys.map(row => [
        keyOf(fromUuid('acc', row.account), row.key),
        row.message && fromUuid('msg', row.message),
        row.status,
      ]),
    ),
    refs: sorted(raw.refs.map(row => [row.id, fromUuid('msg', row.message)])),
    parked: sorted(raw.parked.map(row => [row.id, row.status])),
  }
}

export function fromModel(state: State): ReturnType<typeof fromStore> {
  const accounts = [...state.accounts.values()]
  return {
    wallets: sorted(accounts.map(({ id, wallet: w }) => [id, w.balance, w.held, w.captured, w.credited])),
    pools: sorted(
      accounts.flatMap(({ id, pools }) => pools.map(pool => [id, pool.id, pool.used, pool.resetsAt])),
    ),
    messages: sorted(
      [...state.messages.values()].map(m => [
        m.id,
        m.status,
        m.channel,
        m.attempt,
        m.amount,
        m.funding,
        m.pool,
        m.money,
        m.answer,
        m.attemptAt,
        m.settledAt,
      ]),
    ),
    outbox: sorted([...state.outbox.values()].map(row => [row.id, row.owner, row.begun, row.dueAt])),
    keys: sorted([...state.keys].map(([key, held]) => [key, held.messageId, held.status])),
    refs: sorted([...state.refs].map(([id, message]) => [id, message])),
    parked: sorted(state.parked.map(each => [each.providerId, each.status])),
  }
}

type Cell = string | number | boolean | null | undefined

function sorted(rows: Cell[][]): string[] {
  return rows.map(row => JSON.stringify(row)).sort()
}
