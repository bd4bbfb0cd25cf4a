import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createAccept, SENDS } from '../../../src/core/messages/accept.ts'
import { type AcceptRow, acceptSends } from '../../../src/core/messages/hot-store.ts'
import { type Database, DatabaseUnavailable, type Query } from '../../../src/infra/db.ts'
import { type AccountId, createIds, type MessageId, toUuid } from '../../../src/lib/ids.ts'
import { createRandom } from '../../../src/lib/random.ts'
import { createTestDatabase, type TestDatabase } from '../../support/database.ts'
import { createFakeClock, type FakeClock } from '../../support/fake-clock.ts'
import { lookUntil } from '../../support/look-until.ts'
import { acceptRow } from '../../support/message-rows.ts'

let database: TestDatabase
beforeAll(async () => {
  database = await createTestDatabase()
})
afterAll(() => database.drop())

/**
 * What happens to the n-th call of accept_sends. With 'answer lost' it commits; 'cut off' and 'hangs' never reach the
 * database, which the program cannot know.
 */
type Fate = 'works' | 'never arrives' | 'cut off' | 'answer lost' | 'hangs' | 'hangs in its commit'

function setUp(fates: readonly Fate[], beforeUnmade?: () => Promise<void>) {
  const clock: FakeClock = createFakeClock(Date.UTC(2026, 3, 1))
  const ids = createIds(clock, createRandom())
  const connectionId = ids.next('cnn')
  let calls = 0
  let looks = 0
  let asking: Promise<unknown> | null = null
  const committing = Promise.withResolvers<{ end(): Promise<void> }>()
  const query = (request: Query) => {
    const answering = answer(request)
    if (fates[calls - 1] !== 'hangs') asking = answering.catch(() => {}).finally(() => (asking = null))
    return answering
  }
  async function answer(request: Query) {
    if (request.name !== 'accept_sends') return database.db.query(request)
    const fate = fates[calls++] ?? 'works'
    if (fate === 'hangs') return new Promise(() => {})
    if (fate === 'hangs in its commit') return hangInCommit(request)
    if (fate === 'never arrives') throw new DatabaseUnavailable(new Error('refused'), { wasSent: false })
    const lost = new DatabaseUnavailable(new Error('Connection terminated unexpectedly'))
    if (fate === 'cut off') throw lost
    const done = await database.db.query(request)
    if (fate === 'answer lost') throw lost
    return done
  }
  async function hangInCommit(request: Query): Promise<never> {
    const client = await database.db.dedicated()
    await client.query('begin')
    await client.query(request as never)
    committing.resolve({
      async end() {
        await client.query('commit')
        await client.end()
      },
    })
    return new Promise<never>(() => {})
  }
  const transaction: Database['transaction'] = work => {
    looks++
    return database.db.transaction(tx =>
      work({
        ...tx,
        query: (async (request: Query) => {
          if (request.name === 'find_unmade') await beforeUnmade?.()
          return tx.query(request)
        }) as typeof tx.query,
      }),
    )
  }
  const db = { ...database.db, query, transaction } as Database
  const accept = createAccept({ db, clock, store: SENDS, node: () => 1 })

  async function addAccount(balance: number): Promise<AccountId> {
    const id = ids.next('acc')
    await database.db.query({
      name: 'accept_wallet',
      text: 'insert into wallets (account_id, balance, credited) values ($1, $2, $2)',
      values: [toUuid(id), balance],
    })
    return id
  }

  return {
    clock,
    accept,
    addAccount,
    calls: () => calls,
    looks: () => looks,
    committing: committing.promise,
    row: (accountId: AccountId, more: Partial<AcceptRow> = {}): AcceptRow => {
      const id = ids.next('msg')
      const claim = { operation: 1, key: id, bodyHash: Buffer.of(1) }
      return acceptRow({ accountId, id, connectionId, dueAt: clock.now() }, { claim, ...more })
    },
    /** Advances the clock until the work is done, but not while a query is running. */
    async during<T>(work: Promise<T>): Promise<T> {
      let done = false
      const end = () => {
        done = true
      }
      work.then(end, end)
      while (!done) {
        if (asking) await asking
        else await clock.advance(50)
      }
      return work
    },
  }
}

async function stateOf(accountId: AccountId) {
  const { rows } = await database.db.query<{
    state: {
      held: number
      balance: number
      messages: { id: string; status: string }[]
      keys: number
      outbox: number
    }
  }>({
    name: 'accept_state',
    text: `select json_build_object('held', w.held, 'balance', w.balance,
             'messages', (select coalesce(json_agg(status order by id), '[]') from messages m where m.account_id = w.account_id),
             'keys', (select count(*) from idempotency k where k.account_id = w.account_id),
             'outbox', (select count(*) from outbox o where o.account_id = w.account_id)) as state
           from wallets w where account_id = $1`,
    values: [toUuid(accountId)],
  })
  return rows[0]!.state
}

describe('a flush', () => {
  test('accepts items of several accounts in one call, with a verdict for each item', async () => {
    const { accept, addAccount, row, calls } = setUp([])
    const [rich, poor] = [await addAccount(1_000), await addAccount(15)]
    const same = row(rich)
    const verdicts = await Promise.all([
      accept.add(row(poor)),
      accept.add(row(rich)),
      accept.add(row(poor)),
      accept.add(same),
      accept.add(row(rich, { claim: same.claim })),
      accept.add(row(rich, { candidates: 'no\u0000text' })),
    ])
    expect(verdicts.map(verdict => verdict.kind)).toEqual([
      'accepted',
      'accepted',
      'insufficient',
      'accepted',
      'exists',
      'faulty',
    ])
    // One call for all items, and a few more to isolate the faulty one.
    expect(calls()).toBeLessThanOrEqual(1 + 2 * 3)
    expect(await stateOf(rich)).toMatchObject({ held: 20, balance: 980, outbox: 2, keys: 2 })
    expect(await stateOf(poor)).toMatchObject({ held: 10, balance: 5, outbox: 1, keys: 2 })
  })
})

describe('when the response of the database is lost', () => {
  test.each<[Fate[]]>([
    [['answer lost']],
    [['never arrives', 'answer lost', 'answer lost']],
    [['never arrives']],
  ])('after %j each send is accepted once', async fates => {
    const { accept, addAccount, row, during, calls } = setUp(fates)
    const account = await addAccount(100)
    const items = [row(account), row(account, { claim: null }), row(account)]
    const verdicts = await during(Promise.all(items.map(accept.add)))
    expect(verdicts).toEqual([{ kind: 'accepted' }, { kind: 'accepted' }, { kind: 'accepted' }])
    expect(calls()).toBe(fates.length + 1)
    expect(await stateOf(account)).toEqual({
      held: 30,
      balance: 70,
      messages: ['sending', 'sending', 'sending'],
      keys: 2,
      outbox: 3,
    })
  })
})

test('a send whose id is taken is refused at once, not repeated', async () => {
  const { accept, addAccount, row } = setUp([])
  const account = await addAccount(100)
  const item = row(account, { claim: null })
  expect(await accept.add(item)).toMatchObject({ kind: 'accepted' })
  expect(await accept.add(item)).toMatchObject({ kind: 'faulty', cause: { code: '23505' } })
  expect(await stateOf(account)).toMatchObject({ held: 10, outbox: 1 })
})

test('in a repeated flush, too, a recipient of a batch that an earlier request has stored fails alone', async () => {
  const { accept, addAccount, row, during, clock } = setUp(['works', 'cut off'])
  const account = await addAccount(100)
  const stored = row(account, { claim: null })
  expect(await accept.add(stored)).toMatchObject({ kind: 'accepted' })
  const other = row(account)
  const repeat = { ...stored, takenUpAt: clock.now() }
  expect(await during(Promise.all([accept.add(other), accept.add(repeat)]))).toMatchObject([
    { kind: 'accepted' },
    { kind: 'faulty', cause: { code: '23505' } },
  ])
  expect(await stateOf(account)).toMatchObject({ held: 20, outbox: 2 })
})

describe('when a send stops waiting for the database', () => {
  test('a message that was stored is withdrawn, and one that never arrived is not looked for', async () => {
    const away: Fate[] = Array.from({ length: 100 }, (_, at) => (at === 3 ? 'answer lost' : 'never arrives'))
    const { accept, addAccount, row, during, looks, clock } = setUp(away)
    const account = await addAccount(100)
    const item = row(account)
    await expect(during(accept.add(item))).rejects.toThrow(DatabaseUnavailable)
    expect(await stateOf(account)).toMatchObject({ held: 10, outbox: 1, keys: 1 })
    await accept.withdrawUnconfirmed()
    expect(await stateOf(account)).toEqual({
      held: 0,
      balance: 100,
      messages: ['cancelled'],
      keys: 0,
      outbox: 0,
    })

    await clock.advance(100_000)
    expect(looks()).toBe(1)
    const never = row(account)
    await expect(during(accept.add(never))).rejects.toThrow(DatabaseUnavailable)
    await accept.withdrawUnconfirmed()
    expect(looks()).toBe(1)
    expect(await stateOf(account)).toMatchObject({ messages: ['cancelled'] })
  })

  test('a message whose commit hangs is withdrawn once the commit ends', async () => {
    const { accept, addAccount, row, committing, clock } = setUp(['hangs in its commit'])
    const account = await addAccount(100)
    const refused = expect(accept.add(row(account))).rejects.toThrow(DatabaseUnavailable)
    const commit = await committing
    await clock.advance(3_300)
    await refused
    for (let minutes = 0; minutes < 10; minutes++) {
      await accept.withdrawUnconfirmed()
      await clock.advance(60_000)
    }
    expect(await stateOf(account)).toMatchObject({ held: 0, outbox: 0 })

    await commit.end()
    expect(await stateOf(account)).toMatchObject({ held: 10, outbox: 1 })
    await accept.withdrawUnconfirmed()
    expect(await stateOf(account)).toEqual({
      held: 0,
      balance: 100,
      messages: ['cancelled'],
      keys: 0,
      outbox: 0,
    })
  })

  test('a message that no transaction can store any more is not looked for again', async () => {
    const { accept, addAccount, row, looks, clock } = setUp(['hangs'])
    const account = await addAccount(100)
    const refused = expect(accept.add(row(account))).rejects.toThrow(DatabaseUnavailable)
    await clock.advance(3_300)
    await refused
    for (let look = 0; look < 10; look++) await accept.withdrawUnconfirmed()
    expect(looks()).toBe(10)

    await clock.advance(70_000)
    // Other tests on the same server may have open transactions.
    await lookUntil(
      async () => {
        const before = looks()
        await accept.withdrawUnconfirmed()
        return looks() - before
      },
      more => more === 0,
      20_000,
    )
  })

  test('the items of a flush that hangs, and those behind it, are refused in time', async () => {
    const { accept, addAccount, row, clock } = setUp(['hangs'])
    const account = await addAccount(100)
    const ended: string[] = []
    const add = (name: string) =>
      accept.add(row(account)).catch(error => ended.push(`${name}: ${error.name}`))
    void add('hanging')
    await clock.advance(1_000)
    void add('behind it')
    await clock.advance(2_251)
    expect(ended).toEqual(['hanging: DatabaseUnavailable'])
    await clock.advance(1_000)
    expect(ended).toEqual(['hanging: DatabaseUnavailable', 'behind it: DatabaseUnavailable'])
  })

  test('a message that a repeat of its batch has accepted since is neither withdrawn nor made due again', async () => {
    const { accept, addAccount, row, clock } = setUp(['hangs'])
    const account = await addAccount(100)
    const item = row(account, { claim: null })
    const refused = expect(accept.add(item)).rejects.toThrow(DatabaseUnavailable)
    await clock.advance(3_300)
    await refused
    await acceptSends(database.db, 2, clock.now(), [{ ...item, takenUpAt: clock.now() }], false)
    await accept.withdrawUnconfirmed()
    expect(await stateOf(account)).toMatchObject({ held: 10, messages: ['sending'], outbox: 1 })
  })

  test('a message of a repeated batch is withdrawn by the request that stored it', async () => {
    const { accept, addAccount, row, during, clock } = setUp(
      Array.from({ length: 100 }, () => 'answer lost' as const),
    )
    const account = await addAccount(100)
    const item = row(account, { claim: null, takenUpAt: clock.now() })
    await expect(during(accept.add(item))).rejects.toThrow(DatabaseUnavailable)
    await accept.withdrawUnconfirmed()
    expect(await stateOf(account)).toMatchObject({ held: 0, messages: ['cancelled'], outbox: 0 })
  })

  test('a message that is committed while it is withdrawn is not made due, and is withdrawn at the next look', async () => {
    const set = setUp(['hangs in its commit'], async () => (await set.committing).end())
    const account = await set.addAccount(100)
    const refused = expect(set.accept.add(set.row(account, { claim: null }))).rejects.toThrow(
      DatabaseUnavailable,
    )
    await set.committing
    await set.clock.advance(3_300)
    await refused
    await set.accept.withdrawUnconfirmed()
    expect(await stateOf(account)).toMatchObject({ held: 10, messages: ['sending'], outbox: 1 })
    await set.accept.withdrawUnconfirmed()
    expect(await stateOf(account)).toMatchObject({ held: 0, messages: ['cancelled'], outbox: 0 })
  })

  test('a repeated call of a repeated batch takes only what it stored itself for accepted', async () => {
    const { addAccount, row, clock } = setUp([])
    const account = await addAccount(100)
    const item = row(account, { claim: null })
    const again = (takenUpAt: number) =>
      acceptSends(database.db, 2, clock.now(), [{ ...item, takenUpAt }], true)
    await acceptSends(database.db, 1, clock.now(), [item], false)
    await expect(again(clock.now())).rejects.toMatchObject({ code: '23505' })
    const other = row(account, { claim: null, takenUpAt: clock.now() })
    await acceptSends(database.db, 1, clock.now(), [other], false)
    expect(await acceptSends(database.db, 1, clock.now(), [other], true)).toEqual([{ kind: 'accepted' }])
    expect(await stateOf(account)).toMatchObject({ held: 20, outbox: 2 })
  })

  test('a message that another node has begun is not withdrawn and keeps its key', async () => {
    const { accept, addAccount, row, during } = setUp(
      Array.from({ length: 100 }, () => 'answer lost' as const),
    )
    const account = await addAccount(100)
    const item = row(account, { owned: false, begun: false, status: 'queued' })
    await expect(during(accept.add(item))).rejects.toThrow(DatabaseUnavailable)
    await begin(account, item.id)
    await accept.withdrawUnconfirmed()
    expect(await stateOf(account)).toEqual({
      held: 10,
      balance: 90,
      messages: ['sending'],
      keys: 1,
      outbox: 1,
    })
  })
})

async function begin(accountId: AccountId, id: MessageId): Promise<void> {
  const values = [toUuid(accountId), toUuid(id)]
  await database.db.query({
    name: 'begin_elsewhere',
    text: 'update outbox set owner = 2, begun = true where account_id = $1 and message_id = $2',
    values,
  })
  await database.db.query({
    name: 'sending_elsewhere',
    text: `update messages set status = 'sending', attempt = 1 where account_id = $1 and id = $2`,
    values,
  })
}
