import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { PLATFORM } from '../../../src/core/accounts/platform.ts'
import { fileKey } from '../../../src/core/media/asset.ts'
import { createMedia, type Media } from '../../../src/core/media/media.ts'
import { type AssetRef, insertUse, sweepUses } from '../../../src/core/media/store.ts'
import { createMediaSweep } from '../../../src/core/media/sweep.ts'
import { type Database, DatabaseUnavailable, type Db } from '../../../src/infra/db.ts'
import { type FileStore, FileStoreUnavailable } from '../../../src/infra/file-store.ts'
import { type AccountId, createIds, type Ids, toUuid } from '../../../src/lib/ids.ts'
import { createRandom } from '../../../src/lib/random.ts'
import { disableAutovacuum } from '../../support/autovacuum.ts'
import { createTestDatabase, type TestDatabase } from '../../support/database.ts'
import { createFakeClock, type FakeClock } from '../../support/fake-clock.ts'
import { png } from '../../support/files.ts'
import { lookUntil } from '../../support/look-until.ts'

const HOUR_MS = 3_600_000
const KEEP_MS = 24 * HOUR_MS

describe('the sweep of media', () => {
  let database: TestDatabase
  let clock: FakeClock
  let media: Media
  let sweep: () => Promise<number>
  let owner: AccountId
  let files: Map<string, Buffer>
  let away: boolean
  /** Files that the store does not delete. */
  let stuck: Set<string>
  let ids: Ids

  beforeEach(async () => {
    database = await createTestDatabase()
    clock = createFakeClock(Date.now())
    ids = createIds(clock, createRandom())
    owner = ids.next('acc')
    files = new Map()
    away = false
    stuck = new Set()
    open(Number.POSITIVE_INFINITY)
  })
  afterEach(() => database.drop())

  function open(accountBytes: number, db: Database = database.db): void {
    const deps = { db, clock, ids, files: memoryStore(), log: { warn() {} } }
    media = createMedia({
      ...deps,
      accountBytes,
      previews: { urlOf: () => '', read: () => null },
      guarded: { check: () => null, fetch: () => Promise.reject(new Error('nobody fetches here')) },
    })
    sweep = createMediaSweep({ ...deps, keepMs: KEEP_MS })
  }

  function memoryStore(): FileStore {
    const reach = () => {
      if (away) throw new FileStoreUnavailable(new Error('away'))
    }
    return {
      async write(key, bytes) {
        reach()
        const chunks: Buffer[] = []
        for await (const chunk of bytes) {
          chunks.push(chunk)
          files.set(key, Buffer.concat(chunks))
        }
      },
      read: () => Promise.reject(new Error('nobody reads here')),
      async remove(key) {
        reach()
        if (stuck.has(key)) throw new FileStoreUnavailable(new Error('read-only'))
        files.delete(key)
      },
    }
  }

  async function* bytes() {
    yield png()
  }
  const take = (accountId = owner, source: AsyncIterable<Buffer> = bytes()) =>
    media.store(accountId, { path: 'file', fileName: 'a.png', declared: '', bytes: source })

  async function rows(): Promise<string[]> {
    const { rows } = await database.db.query<{ state: string }>({
      name: 'states',
      text: 'select state from media order by id',
    })
    return rows.map(({ state }) => state)
  }

  const message = () => ({ accountId: owner, id: ids.next('msg') })

  async function inOutbox({ accountId, id }: ReturnType<typeof message>): Promise<void> {
    await database.db.query({
      name: 'in_outbox',
      text: `insert into outbox (account_id, message_id, connection_id, due_at, begun)
             values ($1, $2, $3, now(), false)`,
      values: [toUuid(accountId), toUuid(id), toUuid(ids.next('cnn'))],
    })
  }

  async function insertTemplate(db: Db, { accountId, id }: AssetRef): Promise<void> {
    await db.query({
      name: 'template',
      text: `insert into templates (account_id, id, name, category, sub_type, language, provider, status,
                                    spec, compiled, header_asset_id)
             values ($1, $2, 'a', 'message', 'free', '', 'internal', 'active', '{}', '{}', $3)`,
      values: [toUuid(accountId), toUuid(ids.next('tpl')), toUuid(id)],
    })
  }

  it('has nothing to clean up after an upload that failed because its commit response was lost', async () => {
    const transaction: Database['transaction'] = async work => {
      await database.db.transaction(work)
      throw new DatabaseUnavailable(new Error('its answer was lost'))
    }
    open(Number.POSITIVE_INFINITY, { ...database.db, transaction })
    await expect(take()).rejects.toThrow(DatabaseUnavailable)
    expect(files.size).toBe(0)
    expect(await rows()).toEqual([])
    await clock.advance(KEEP_MS + 1_000)
    expect(await sweep()).toBe(0)
  })

  it('keeps a recent upload, and deletes it after the retention period', async () => {
    const asset = await take()
    await clock.advance(KEEP_MS - 1_000)
    expect(await sweep()).toBe(0)
    expect(files.has(fileKey(asset.id))).toBe(true)
    await clock.advance(2_000)
    expect(await sweep()).toBe(1)
    expect([await rows(), files.size]).toEqual([[], 0])
  })

  it('deletes all due uploads, however many', async () => {
    for (let upload = 0; upload < 120; upload++) await take()
    await clock.advance(KEEP_MS + 1_000)
    expect(await sweep()).toBe(120)
    expect([await rows(), files.size]).toEqual([[], 0])
  })

  it('frees space for an account that has reached its limit', async () => {
    open(2 * 65_536)
    for (let upload = 0; upload < 2; upload++) await take()
    await expect(take()).rejects.toMatchObject({ code: 'CONFLICT' })
    expect([await rows(), files.size]).toEqual([['stored', 'stored'], 2])
    expect(await take(ids.next('acc'))).toBeDefined()
    await clock.advance(KEEP_MS + 1_000)
    expect(await sweep()).toBe(3)
    expect(await take()).toBeDefined()
  })

  it('keeps the file of a waiting message; its retention period begins when the message is done', async () => {
    const asset = await take()
    const waiting = message()
    expect(await media.addUse(asset.id, waiting)).toBe(true)
    await inOutbox(waiting)
    await clock.advance(10 * KEEP_MS)
    expect(await sweep()).toBe(0)
    await database.db.query({ name: 'done', text: 'delete from outbox' })
    expect(await sweep()).toBe(0)
    await clock.advance(KEEP_MS + 1_000)
    expect(await sweep()).toBe(1)
  })

  it('keeps the file of a template', async () => {
    const asset = await take(PLATFORM)
    await insertTemplate(database.db, asset)
    await clock.advance(KEEP_MS + 1_000)
    expect(await sweep()).toBe(0)
    await media.discard(asset)
    expect(await rows()).toEqual(['stored'])
  })

  it('removes the use of a file by a message that was never accepted', async () => {
    const asset = await take()
    await media.addUse(asset.id, message())
    await clock.advance(2 * HOUR_MS)
    await sweep()
    const { rows } = await database.db.query({ name: 'uses', text: 'select 1 from media_uses' })
    expect(rows).toEqual([])
    await media.discard(asset)
    expect(files.size).toBe(0)
  })

  it('deletes an unfinished upload of a dead node after an hour', async () => {
    let died!: () => void
    const reached = new Promise<void>(resolve => {
      died = resolve
    })
    async function* endless() {
      yield Buffer.concat([png(), Buffer.alloc(70_000)])
      died()
      await new Promise(() => {})
    }
    void take(owner, endless())
    await reached
    expect([await rows(), files.size]).toEqual([['storing'], 1])
    expect(await sweep()).toBe(0)
    await clock.advance(HOUR_MS + 1_000)
    expect(await sweep()).toBe(1)
    expect([await rows(), files.size]).toEqual([[], 0])
  })

  it('hides a file first, and deletes it later if the file store was unavailable', async () => {
    const asset = await take()
    await clock.advance(KEEP_MS + 1_000)
    away = true
    await expect(sweep()).rejects.toThrow(FileStoreUnavailable)
    expect(await rows()).toEqual(['leaving'])
    expect((await media.find(owner, [asset.id])).size).toBe(0)
    expect(await media.addUse(asset.id, message())).toBe(false)
    away = false
    expect(await sweep()).toBe(1)
    expect([await rows(), files.size]).toEqual([[], 0])
  })

  it('deletes files behind those that the store does not delete, however many, and these once it does', async () => {
    for (let upload = 0; upload < 50; upload++) stuck.add(fileKey((await take()).id))
    await clock.advance(1_000)
    for (let upload = 0; upload < 10; upload++) await take()
    await clock.advance(KEEP_MS + 1_000)
    for (let run = 0; run < 3; run++) await expect(sweep()).rejects.toThrow(FileStoreUnavailable)
    expect(new Set(files.keys())).toEqual(stuck)
    stuck.clear()
    await clock.advance(1_000)
    expect(await sweep()).toBe(50)
    expect([await rows(), files.size]).toEqual([[], 0])
  })

  /** Sweeps while a transaction is open that has done this work: the sweep waits for it. */
  async function sweepDuring(work: (tx: Db) => Promise<unknown>): Promise<number> {
    let sweeping: Promise<number> | undefined
    await database.db.transaction(async tx => {
      await work(tx)
      sweeping = sweep()
      await lookUntil(waitersForLocks, n => n === 1, 10_000)
    })
    return sweeping!
  }

  async function waitersForLocks(): Promise<number> {
    const { rows } = await database.db.query<{ n: number }>({
      name: 'waiters_for_locks',
      text: `select count(*)::integer as n from pg_stat_activity
              where datname = current_database() and wait_event_type = 'Lock'`,
    })
    return rows[0]!.n
  }

  it('never deletes a file that a message starts to use at the same time', async () => {
    const asset = await take()
    await clock.advance(KEEP_MS + 1_000)
    expect(await sweepDuring(tx => insertUse(tx, asset.id, message()))).toBe(0)
    expect([await rows(), files.has(fileKey(asset.id))]).toEqual([['stored'], true])
  })

  it('never deletes a file that a template retains at the same time', async () => {
    const asset = await take()
    await clock.advance(KEEP_MS + 1_000)
    const deleted = await sweepDuring(async tx => {
      expect(await media.retain(tx, asset)).toBe(true)
      await insertTemplate(tx, asset)
    })
    expect(deleted).toBe(0)
    expect([await rows(), files.has(fileKey(asset.id))]).toEqual([['stored'], true])
  })

  it('deletes a file that was retained at the same time by a transaction that stored no template', async () => {
    const asset = await take()
    await clock.advance(KEEP_MS + 1_000)
    expect(await sweepDuring(tx => media.retain(tx, asset))).toBe(1)
    expect([await rows(), files.size]).toEqual([[], 0])
  })

  it('is like a discard, which never deletes a file that a message starts to use at the same time', async () => {
    for (let round = 0; round < 20; round++) {
      const asset = await take()
      const [used] = await Promise.all([media.addUse(asset.id, message()), media.discard(asset)])
      expect(files.has(fileKey(asset.id))).toBe(used)
    }
  })

  it('is like a discard, which never deletes a file that a template retains at the same time', async () => {
    for (let round = 0; round < 20; round++) {
      const asset = await take()
      const kept = database.db.transaction(async tx => {
        const stays = await media.retain(tx, asset)
        if (stays) await media.addUse(asset.id, message())
        return stays
      })
      const [stays] = await Promise.all([kept, media.discard(asset)])
      expect(files.has(fileKey(asset.id))).toBe(stays)
    }
  })

  it('lets an account use the platform’s files, and not those of other accounts', async () => {
    const platforms = await take(PLATFORM)
    const others = await take(ids.next('acc'))
    expect([...(await media.find(owner, [platforms.id, others.id])).keys()]).toEqual([platforms.id])
    expect(await media.addUse(platforms.id, message())).toBe(true)
    expect(await media.addUse(others.id, message())).toBe(false)
  })

  async function outboxRowsRead(tx: Db): Promise<number> {
    const { rows } = await tx.query<{ n: number }>({
      name: 'outbox_reads',
      text: `select (seq_tup_read + coalesce(idx_tup_fetch, 0))::integer as n
               from pg_stat_xact_user_tables where relname = 'outbox'`,
    })
    return rows[0]!.n
  }

  it('looks each use up in the outbox, also where autovacuum came after a backlog had gone', async () => {
    const { db } = database
    const fill = () =>
      db.query({
        name: 'fill_outbox',
        text: `insert into outbox (account_id, message_id, connection_id, due_at, begun)
               select $1, gen_random_uuid(), gen_random_uuid(), now(), false from generate_series(1, 5000)`,
        values: [toUuid(owner)],
      })
    await disableAutovacuum(db, ['outbox', 'media_uses'])
    await fill()
    await db.query({ name: 'empty_outbox', text: 'delete from outbox' })
    await db.query({ name: 'as_autovacuum', text: 'vacuum (analyze, truncate false) outbox' })
    const { id } = await take()
    for (let nth = 0; nth < 5; nth++) {
      const used = message()
      await insertUse(db, id, used)
      await inOutbox(used)
    }
    await fill()
    const read = await db.transaction(async tx => {
      const before = await outboxRowsRead(tx)
      expect(await sweepUses(tx, clock.now() + HOUR_MS, clock.now(), 100)).toBe(0)
      return (await outboxRowsRead(tx)) - before
    })
    expect(read).toBeLessThan(100)
  })
})
