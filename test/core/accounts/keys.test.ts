import type pg from 'pg'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { Caller } from '../../../src/contract/caller.ts'
import { hashApiKey, makeApiKey } from '../../../src/core/accounts/api-key.ts'
import { createDatabase, type Database, type Query } from '../../../src/infra/db.ts'
import { createRandom } from '../../../src/lib/random.ts'
import { startDatabaseProxy } from '../../faults/support/database-proxy.ts'
import { createTestDatabase, type TestDatabase } from '../../support/database.ts'
import { createFakeClock } from '../../support/fake-clock.ts'
import { BASIC_ACCOUNT, openRooms, type Rooms } from '../../support/rooms.ts'

let database: TestDatabase
let open: Rooms[] = []

beforeAll(async () => {
  database = await createTestDatabase()
})
afterEach(async () => {
  await Promise.all(open.map(rooms => rooms.stop()))
  open = []
})
afterAll(() => database.drop())

const node = async (...options: Parameters<typeof openRooms>) => {
  const rooms = await openRooms(...options)
  open.push(rooms)
  return rooms
}

/** Wraps a database and records the names of its statements. */
function counted(db: Database): { db: Database; asked: string[] } {
  const asked: string[] = []
  const query = ((request: Query) => {
    asked.push(request.name)
    return db.query(request)
  }) as Database['query']
  return { db: { ...db, query }, asked }
}

describe('the lookup of a key', () => {
  test('returns the caller, and the same object synchronously the second time', async () => {
    const rooms = await node(database.db)
    const { account, liveKey } = await rooms.accountAdmin.create(BASIC_ACCOUNT)
    await rooms.caughtUp()
    const first = await rooms.keys.lookup(liveKey)
    expect(first).toMatchObject({
      keyName: 'Owner (live)',
      keyPrefix: liveKey.slice(0, 12),
      mode: 'live',
      role: 'owner',
      account: { id: account.id, status: 'active', homeCountry: 'US', plan: { pools: [] } },
    })
    expect(rooms.keys.lookup(liveKey)).toBe(first)
  })

  test('queries the database once for many concurrent requests', async () => {
    const { db, asked } = counted(database.db)
    const rooms = await node(db)
    const { liveKey } = await rooms.accountAdmin.create(BASIC_ACCOUNT)
    await rooms.caughtUp()
    const callers = await Promise.all(Array.from({ length: 50 }, () => rooms.keys.lookup(liveKey)))
    expect(new Set(callers).size).toBe(1)
    expect(asked.filter(name => name === 'key_by_hash')).toHaveLength(1)
    expect(asked.filter(name => name === 'account_snapshot')).toHaveLength(1)
  })

  test('rejects a malformed key without a query, and an unknown one from memory the second time', async () => {
    const { db, asked } = counted(database.db)
    const rooms = await node(db)
    expect(rooms.keys.lookup('ph_live_nonsense')).toBeNull()
    expect(asked).toEqual([])
    const unknown = makeApiKey('live', createRandom())
    expect(await rooms.keys.lookup(unknown)).toBeNull()
    expect(rooms.keys.lookup(unknown)).toBeNull()
    expect(asked.filter(name => name === 'key_by_hash')).toHaveLength(1)
  })

  test('rejects a key that has expired, although it is cached', async () => {
    const clock = createFakeClock(Date.UTC(2030, 0, 1))
    const rooms = await node(database.db, { clock })
    const { account } = await rooms.accountAdmin.create(BASIC_ACCOUNT)
    const short = {
      name: 'Short',
      mode: 'live' as const,
      role: 'member' as const,
      permissions: ['messages:read' as const],
      expiresAt: '2030-01-01T00:00:00.500Z',
    }
    const by = { type: 'operator_token' as const, id: null, name: 'Operator token' }
    const { apiKey, key } = await rooms.accountAdmin.createKey(account.id, short, by)
    expect(key.createdBy).toEqual(by)
    expect(key.expiresAt).toBe('2030-01-01T00:00:00.500Z')
    expect(await rooms.keys.lookup(apiKey)).toMatchObject({ role: 'member' })
    await clock.advance(499)
    expect(await rooms.keys.lookup(apiKey)).not.toBeNull()
    await clock.advance(1)
    expect(await rooms.keys.lookup(apiKey)).toBeNull()
  })

  test('returns the account as it was changed on another node', async () => {
    const [one, other] = [await node(database.db), await node(database.db)]
    const { account, liveKey } = await one.accountAdmin.create(BASIC_ACCOUNT)
    await other.caughtUp()
    const before = (await other.keys.lookup(liveKey)) as Caller
    expect(other.keys.lookup(liveKey)).toBe(before)
    await one.accountAdmin.update(account.id, { status: 'suspended', plan: { rateLimitPerSecond: 7 } })
    await other.caughtUp()
    const after = (await other.keys.lookup(liveKey)) as Caller
    expect(after.account).toMatchObject({ status: 'suspended', plan: { rateLimitPerSecond: 7 } })
    expect(after.account.revision).toBeGreaterThan(before.account.revision)
  })
})

describe('a key revoked on another node', () => {
  test('stops working when the change notification arrives', async () => {
    const [one, other] = [await node(database.db), await node(database.db)]
    const { account, liveKey } = await one.accountAdmin.create(BASIC_ACCOUNT)
    await other.caughtUp()
    const caller = (await other.keys.lookup(liveKey)) as Caller
    expect(other.keys.lookup(liveKey)).toBe(caller)
    await one.accountAdmin.revokeKey(account.id, caller.keyId)
    await other.caughtUp()
    // No time has passed on the clocks of either node: a notification, not a later check, invalidated the key.
    expect(await other.keys.lookup(liveKey)).toBeNull()
  })

  test('stops working at once on a node whose listening connection was killed, and caching resumes later', async () => {
    const clock = createFakeClock()
    const listeners: pg.Client[] = []
    const other = await node(database.db, {
      clock,
      connect: async () => {
        const client = await database.db.dedicated()
        listeners.push(client)
        return client
      },
    })
    const one = await node(database.db)
    const { account, liveKey, testKey } = await one.accountAdmin.create(BASIC_ACCOUNT)
    await other.caughtUp()
    const caller = (await other.keys.lookup(liveKey)) as Caller

    const { processID } = listeners[0] as pg.Client & { processID: number }
    await database.db.query({ name: 'kill', text: 'select pg_terminate_backend($1)', values: [processID] })
    await other.heard.until(() => !other.changes.fresh())
    await one.accountAdmin.revokeKey(account.id, caller.keyId)
    expect(await other.keys.lookup(liveKey)).toBeNull()

    const callerOfTest = await other.keys.lookup(testKey)
    expect(other.keys.lookup(testKey)).toBeInstanceOf(Promise)
    await clock.advance(200)
    await other.heard.until(other.changes.fresh)
    expect(listeners).toHaveLength(2)
    await other.caughtUp()
    expect(await other.keys.lookup(testKey)).toEqual({ ...callerOfTest, account: expect.anything() })
    expect(other.keys.lookup(testKey)).not.toBeInstanceOf(Promise)
    expect(await other.keys.lookup(liveKey)).toBeNull()
  })

  test('stops working within a second on a node whose listening connection is half-open', async () => {
    const clock = createFakeClock()
    const proxy = await startDatabaseProxy(database.url)
    const through = createDatabase({ connectionString: proxy.url })
    try {
      const other = await node(database.db, { clock, connect: through.dedicated })
      const one = await node(database.db)
      const { account, liveKey } = await one.accountAdmin.create(BASIC_ACCOUNT)
      await other.caughtUp()
      const caller = (await other.keys.lookup(liveKey)) as Caller
      expect(other.keys.lookup(liveKey)).toBe(caller)

      proxy.killHalfway()
      await one.accountAdmin.revokeKey(account.id, caller.keyId)
      await clock.advance(800)
      expect(other.changes.fresh()).toBe(true)
      await clock.advance(1)
      expect(other.changes.fresh()).toBe(false)
      expect(await other.keys.lookup(liveKey)).toBeNull()

      // The silent connection is abandoned and replaced.
      await clock.advance(2_000)
      await other.heard.until(other.changes.fresh)
      expect(other.log.filter(text => text === 'listening for changes')).toHaveLength(2)
    } finally {
      await through.close()
      await proxy.close()
    }
  })

  test('is not cached by a lookup that began before the revocation', async () => {
    let release = () => {}
    const held = new Promise<void>(resolve => {
      release = resolve
    })
    let arrived = () => {}
    const read = new Promise<void>(resolve => {
      arrived = resolve
    })
    const slow: Database = {
      ...database.db,
      query: (async (request: Query) => {
        const result = await database.db.query(request)
        if (request.name !== 'key_by_hash') return result
        arrived()
        await held
        return result
      }) as Database['query'],
    }
    const other = await node(slow)
    const one = await node(database.db)
    const { account, liveKey } = await one.accountAdmin.create(BASIC_ACCOUNT)
    const { id } = (await one.accountAdmin.read(account.id)).keys.find(key => key.mode === 'live')!

    await other.caughtUp()
    const early = other.keys.lookup(liveKey)
    await read
    await one.accountAdmin.revokeKey(account.id, id)
    await other.caughtUp()
    release()
    expect(await early).not.toBeNull()
    expect(await other.keys.lookup(liveKey)).toBeNull()
  })
})

describe('the time of the last use of a key', () => {
  test('is written by one statement for many uses, and never moves back', async () => {
    const clock = createFakeClock(Date.UTC(2031, 4, 1))
    const { db, asked } = counted(database.db)
    const rooms = await node(db, { clock })
    const { account, liveKey, testKey } = await rooms.accountAdmin.create(BASIC_ACCOUNT)
    await rooms.keys.lookup(liveKey)
    await rooms.keys.lookup(testKey)
    await clock.advance(60)
    await rooms.keys.lookup(liveKey)
    expect(asked).not.toContain('keys_used')
    await rooms.keys.flushUsed()
    await rooms.keys.flushUsed()
    expect(asked.filter(name => name === 'keys_used')).toHaveLength(1)

    const late = createFakeClock(Date.UTC(2031, 3, 1))
    const behind = await node(database.db, { clock: late })
    await behind.keys.lookup(liveKey)
    await behind.keys.flushUsed()
    const { keys } = await rooms.accountAdmin.read(account.id)
    expect(keys.find(key => key.mode === 'live')!.lastUsedAt).toBe('2031-05-01T00:00:00.060Z')
    expect(keys.find(key => key.mode === 'test')!.lastUsedAt).toBe('2031-05-01T00:00:00.000Z')
  })

  test('is written by the next flush if the database failed', async () => {
    let gone = true
    const failing: Database = {
      ...database.db,
      query: (async (request: Query) => {
        if (gone && request.name === 'keys_used') throw new Error('gone')
        return database.db.query(request)
      }) as Database['query'],
    }
    const rooms = await node(failing)
    const { account, liveKey } = await rooms.accountAdmin.create(BASIC_ACCOUNT)
    await rooms.keys.lookup(liveKey)
    await expect(rooms.keys.flushUsed()).rejects.toThrow('gone')
    gone = false
    await rooms.keys.flushUsed()
    const { keys } = await rooms.accountAdmin.read(account.id)
    expect(keys.find(key => key.mode === 'live')!.lastUsedAt).not.toBeNull()
  })
})

test('the database stores a hash of the key and never the key', async () => {
  const rooms = await node(database.db)
  const { liveKey } = await rooms.accountAdmin.create(BASIC_ACCOUNT)
  const { rows } = await database.db.query<{ row: string; hash: string }>({
    name: 'keys_as_text',
    text: `select k::text as row, encode(hash, 'hex') as hash from api_keys k`,
  })
  expect(rows.some(({ hash }) => hash === hashApiKey(liveKey))).toBe(true)
  expect(rows.every(({ row }) => !row.includes(liveKey.slice(12)))).toBe(true)
})
