import { type AddressInfo, createServer } from 'node:net'
import { expect, test } from 'vitest'
import { createClockCheck } from '../../src/infra/clock-check.ts'
import { createDatabase, DatabaseUnavailable, mayHaveBeenExecuted } from '../../src/infra/db.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { startDatabaseProxy } from '../faults/support/database-proxy.ts'
import { createTestDatabase, UNHURRIED } from '../support/database.ts'

/** A message of the PostgreSQL protocol: its type letter, the length including itself, and the body. */
function message(letter: string, body: Buffer): Buffer {
  const head = Buffer.alloc(5)
  head.write(letter, 'latin1')
  head.writeUInt32BE(body.length + 4, 1)
  return Buffer.concat([head, body])
}

const AUTHENTICATED = message('R', Buffer.alloc(4))
const READY = message('Z', Buffer.from('I'))
const TERMINATED = message(
  'E',
  Buffer.from('SFATAL\0C57P02\0Mterminating connection due to unexpected postmaster exit\0\0'),
)

/** An unhandled error event would end the process, and this test run with it. */
test('a connection lost between two statements of a transaction fails the next one, and only that transaction', async () => {
  const database = await createTestDatabase()
  const db = createDatabase({ connectionString: database.url })
  try {
    const begun = Promise.withResolvers<void>()
    const cut = Promise.withResolvers<void>()
    const work = db.transaction(async tx => {
      await tx.query({ name: 'before', text: 'select 1' })
      begun.resolve()
      await cut.promise
      await tx.query({ name: 'after', text: 'select 1' })
    })
    await begun.promise
    await db.query({
      name: 'cut',
      text: `select pg_terminate_backend(pid, 10000) from pg_stat_activity
              where datname = current_database() and state = 'idle in transaction'`,
    })
    // The server’s termination message has arrived once another query is answered.
    await db.query({ name: 'before', text: 'select 1' })
    cut.resolve()
    await expect(work).rejects.toThrow(DatabaseUnavailable)
    expect((await db.query({ name: 'before', text: 'select 1' })).rows).toHaveLength(1)
  } finally {
    await db.close()
    await database.drop()
  }
})

test('a dedicated connection that the server closes right after the greeting fails its query, not the process', async () => {
  const server = createServer(socket => {
    socket.on('error', () => {})
    socket.once('data', () => socket.end(Buffer.concat([AUTHENTICATED, READY, TERMINATED])))
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const db = createDatabase({ connectionString: `postgresql://posthorn@127.0.0.1:${port}/posthorn` })
  try {
    const client = await db.dedicated()
    await expect(client.query('select 1')).rejects.toThrow()
  } finally {
    await db.close()
    await new Promise(resolve => server.close(resolve))
  }
})

test('a COPY that fails at its start, or in the midst of its data, leaves its connection in order', async () => {
  const database = await createTestDatabase()
  const db = createDatabase({ connectionString: database.url, poolSize: 1 })
  const ask = async (name: string, text: string) => (await db.query<{ value: string }>({ name, text })).rows
  try {
    await ask('make', 'create table copied (n integer not null, text text not null)')
    const pid = await ask('pid', 'select pg_backend_pid()::text as value')
    // More than the socket takes at once.
    const lines = Array.from({ length: 50_000 }, (_, n) => `${n}\t${'ü'.repeat(50)}\n`)
    const good = Buffer.from(lines.join(''))
    const bad = Buffer.from(lines.with(30_000, 'none\t\n').join(''))
    const copyIntoNothing = () => db.copy('copy missing (n, text) from stdin', good)
    const copy = (data: Buffer) => db.copy('copy copied (n, text) from stdin', data)

    await expect(copyIntoNothing()).rejects.toThrow('relation "missing" does not exist')
    await expect(copy(bad)).rejects.toThrow('invalid input syntax for type integer: "none"')
    // As soon as one has failed, the next statement is sent, behind what is left of its data.
    const [first, second] = await Promise.allSettled([copyIntoNothing(), copy(good)])
    expect([first.status, second.status]).toEqual(['rejected', 'fulfilled'])
    expect(await ask('sum', 'select sum(n)::text as value from copied')).toEqual([{ value: '1249975000' }])
    expect(await ask('pid', 'select pg_backend_pid()::text as value')).toEqual(pid)
  } finally {
    await db.close()
    await database.drop()
  }
})

/** Settings that a database may have for other users of its server. */
const FOREIGN_SETTINGS = [
  `datestyle to 'SQL, DMY'`,
  `timezone to 'America/St_Johns'`,
  'intervalstyle to sql_standard',
  'standard_conforming_strings to off',
  'array_nulls to off',
  'bytea_output to escape',
  'extra_float_digits to -10',
  `default_transaction_isolation to 'repeatable read'`,
  'statement_timeout to 50',
  'lock_timeout to 50',
  'idle_session_timeout to 50',
  'synchronous_commit to off',
  'jit to on',
]

test('a connection that cannot be made fails with DatabaseUnavailable, and nothing was executed', async () => {
  const database = await createTestDatabase()
  const role = new URL(database.url).pathname.slice(1)
  const url = new URL(database.url)
  url.username = role
  url.password = 'let-me-in'
  await database.db.query({ name: '', text: `create role ${role} nologin password 'let-me-in'` })
  const db = createDatabase({ connectionString: url.href })
  try {
    const asks = [
      () => db.query({ name: 'one', text: 'select 1' }),
      () => db.transaction(tx => tx.query({ name: 'one', text: 'select 1' })),
      () => db.copy('copy nothing from stdin', Buffer.alloc(0)),
    ]
    for (const ask of asks) {
      const error = await ask().then(
        () => null,
        thrown => thrown as DatabaseUnavailable,
      )
      expect(error).toBeInstanceOf(DatabaseUnavailable)
      expect(error!.cause).toMatchObject({ code: expect.stringMatching(/^28/) })
      expect(mayHaveBeenExecuted(error!)).toBe(false)
    }
    await database.db.query({ name: '', text: `alter role ${role} login` })
    expect((await db.query({ name: 'one', text: 'select 1 as one' })).rows).toEqual([{ one: 1 }])
  } finally {
    await db.close()
    await database.db.query({ name: '', text: `drop role ${role}` })
    await database.drop()
  }
})

test('settings of the database do not change how queries behave', async () => {
  const database = await createTestDatabase()
  const { pathname } = new URL(database.url)
  for (const setting of FOREIGN_SETTINGS) {
    await database.db.query({ name: '', text: `alter database ${pathname.slice(1)} set ${setting}` })
  }
  const url = new URL(database.url)
  url.searchParams.set('options', '-c search_path=public -c work_mem=8MB')
  const db = createDatabase({ connectionString: url.href })
  try {
    const { rows } = await db.query({
      name: 'settings',
      text: String.raw`select '2026-11-23T10:00:00.5+01'::timestamptz as at, '\n' = chr(92) || 'n' as literal,
        '{1,null}'::int[] as list, '\x00ff'::bytea::text as bytes, 0.1::float8 + 0.2::float8 as sum,
        date_trunc('day', '2026-11-23T01:00:00Z'::timestamptz) as day, interval '25 hours'::text as span,
        current_setting('transaction_isolation') as isolation, current_setting('work_mem') as given,
        current_setting('synchronous_commit') as durable, current_setting('jit') as compiles`,
    })
    expect(rows).toEqual([
      {
        at: new Date('2026-11-23T09:00:00.500Z'),
        literal: true,
        list: [1, null],
        bytes: String.raw`\x00ff`,
        sum: 0.1 + 0.2,
        day: new Date('2026-11-23T00:00:00Z'),
        span: '25:00:00',
        isolation: 'read committed',
        given: '8MB',
        durable: 'on',
        compiles: 'off',
      },
    ])
  } finally {
    await db.close()
    await database.drop()
  }
})

test.each([
  ['options=-c synchronous_commit=remote_write', 'remote_write'],
  ['', 'on'],
])('only the URL sets synchronous_commit: %s', async (query, durable) => {
  const database = await createTestDatabase()
  const url = new URL(database.url)
  for (const [name, value] of new URLSearchParams(query)) url.searchParams.set(name, value)
  const db = createDatabase({ connectionString: url.href })
  try {
    expect((await db.query({ name: 'durable', text: 'show synchronous_commit' })).rows).toEqual([
      { synchronous_commit: durable },
    ])
  } finally {
    await db.close()
    await database.drop()
  }
})

test('a dedicated connection has no timeouts, whatever the settings of the database', async () => {
  const database = await createTestDatabase()
  const { pathname } = new URL(database.url)
  for (const setting of FOREIGN_SETTINGS) {
    await database.db.query({ name: '', text: `alter database ${pathname.slice(1)} set ${setting}` })
  }
  const client = await database.db.dedicated()
  try {
    const { rows } = await client.query(
      `select name from pg_settings where name ~ '^(statement|lock|idle.*)_timeout$' and setting <> '0'`,
    )
    expect(rows).toEqual([])
  } finally {
    await client.end()
    await database.drop()
  }
})

test('a session ended by the transaction timeout fails its query with DatabaseUnavailable', async () => {
  const server = createServer(socket => {
    socket.on('error', () => {})
    socket.once('data', () => {
      socket.write(Buffer.concat([AUTHENTICATED, READY]))
      const cut = 'SFATAL\0C25P04\0Mterminating connection due to transaction timeout\0\0'
      socket.once('data', () => socket.end(message('E', Buffer.from(cut))))
    })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const db = createDatabase({ connectionString: `postgresql://posthorn@127.0.0.1:${port}/posthorn` })
  try {
    await expect(db.query({ name: 'cut', text: 'select 1' })).rejects.toThrow(DatabaseUnavailable)
  } finally {
    await db.close()
    await new Promise(resolve => server.close(resolve))
  }
})

test('the clock check fails when the machine’s clock is ahead of or behind the database’s', async () => {
  const database = await createTestDatabase()
  try {
    const check = (aheadMs: number) =>
      createClockCheck({ db: database.db, clock: { now: () => systemClock.now() + aheadMs } })()
    await check(0)
    await expect(check(86_400_000)).rejects.toThrow('1440 min ahead of')
    await expect(check(-600_000)).rejects.toThrow('10 min behind')
  } finally {
    await database.drop()
  }
})

test('a statement whose plan a migration made stale fails with DatabaseUnavailable, and works when repeated', async () => {
  const database = await createTestDatabase()
  const db = createDatabase({ connectionString: database.url, poolSize: 1 })
  const look = { name: 't_look', text: 'select * from t_outdated' }
  const column = (name: string) =>
    database.db.query({ name: `t_${name}`, text: `alter table t_outdated add column ${name} integer` })
  try {
    await database.db.query({ name: 't_table', text: 'create table t_outdated (id integer)' })
    await db.query(look)
    await column('one')
    const refused = await db.query(look).catch(error => error)
    expect(refused).toBeInstanceOf(DatabaseUnavailable)
    expect(mayHaveBeenExecuted(refused)).toBe(false)
    await db.query(look)
    await column('two')
    const inTransaction = () => db.transaction(tx => tx.query(look))
    await expect(inTransaction()).rejects.toThrow(DatabaseUnavailable)
    await inTransaction()
  } finally {
    await db.close()
    await database.drop()
  }
})

/** An unhandled rejection would end the process as well. */
test('a statement still unanswered when the pool closes fails with DatabaseUnavailable', async () => {
  const database = await createTestDatabase()
  const proxy = await startDatabaseProxy(database.url)
  const db = createDatabase({ connectionString: proxy.url, ...UNHURRIED, queryTimeoutMs: 500 })
  try {
    const arrived = proxy.loseAt('silent', 'before')
    const asked = db.query({ name: 'silent', text: 'select 1' }).catch((error: unknown) => error)
    await arrived
    await db.close()
    expect(await asked).toBeInstanceOf(DatabaseUnavailable)
  } finally {
    await proxy.close()
    await database.drop()
  }
})

test.each(['by itself', 'in a transaction'])(
  'a statement with a longer time limit, %s, fails with DatabaseUnavailable once long waits are ended, and others still work',
  async how => {
    const database = await createTestDatabase()
    const proxy = await startDatabaseProxy(database.url)
    const db = createDatabase({ connectionString: proxy.url, ...UNHURRIED })
    const silent = { name: 'silent', text: 'select 1', timeoutMs: 600_000 }
    const ask = () =>
      how === 'by itself' ? db.query(silent) : db.transaction(async tx => void (await tx.query(silent)))
    try {
      const arrived = proxy.loseAt('silent', 'before')
      const asked = ask().catch((error: unknown) => error)
      await arrived
      db.endLongWaits()
      expect(await asked).toBeInstanceOf(DatabaseUnavailable)
      await ask()
    } finally {
      await db.close()
      await proxy.close()
      await database.drop()
    }
  },
)
