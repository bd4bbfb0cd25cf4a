import { createHash } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Caller } from '../../../src/contract/caller.ts'
import { Problem } from '../../../src/contract/errors.ts'
import type { BulkPart, BulkPiece } from '../../../src/core/bulk/body-reader.ts'
import { createBulkIntake, IntakeCut } from '../../../src/core/bulk/intake.ts'
import { listJobs, sweepRows } from '../../../src/core/bulk/store.ts'
import { createSeal } from '../../../src/infra/seal.ts'
import { canonicalize } from '../../../src/lib/canonical-json.ts'
import { systemClock } from '../../../src/lib/clock.ts'
import { createIds } from '../../../src/lib/ids.ts'
import { createRandom } from '../../../src/lib/random.ts'
import { createTestDatabase, type TestDatabase } from '../../support/database.ts'
import { createFakeClock } from '../../support/fake-clock.ts'

let database: TestDatabase
const ids = createIds(systemClock, createRandom())
const seal = createSeal(Buffer.alloc(32), createRandom())
const NODE = 7

beforeAll(async () => {
  database = await createTestDatabase()
  await database.db.query({
    name: 't_node',
    text: `insert into nodes (id, host, started_at) overriding system value values (${NODE}, 'here', now())`,
  })
})
afterAll(() => database.drop())

const createIntake = (clock = systemClock) =>
  createBulkIntake({ db: database.db, clock, ids, seal, node: () => NODE })

function createCaller(): Caller {
  return {
    keyId: ids.next('key'),
    mode: 'test',
    account: { id: ids.next('acc'), plan: { status: 'active' } },
  } as Caller
}

async function* feed(...pieces: (BulkPart[] | Error)[]): AsyncGenerator<BulkPiece> {
  for (const piece of pieces) {
    if (piece instanceof Error) throw piece
    yield { parts: piece, bytes: 1_000 }
  }
}

const rows = (count: number, text = 'hi') => ({
  kind: 'rows' as const,
  rows: Array.from({ length: count }, (_, at) => ({ to: `+1202555${2_000 + at}`, text })),
})
const RATE: BulkPart = { kind: 'perSecond', value: 5 }
const CUT = new IntakeCut(new Problem('VALIDATION_ERROR', 'The body ended too soon.'))

async function countRows(): Promise<number> {
  const { rows } = await database.db.query<{ n: number }>({
    name: 't_count',
    text: 'select count(*)::integer as n from bulk_rows',
  })
  return rows[0]!.n
}

test('a body that is cut off before any row is stored leaves a rejected job', async () => {
  const caller = createCaller()
  const taking = createIntake().receive({ caller, key: 'k', pieces: feed([RATE, rows(3)], CUT) })
  await expect(taking).rejects.toBe(CUT.problem)
  expect(await listJobs(database.db, caller.account.id, {}, null, 10)).toMatchObject([
    { status: 'rejected', errorCode: 'INTAKE_INCOMPLETE', total: 0 },
  ])
})

test('pieces of any size are stored in order, and the rows of an invalid body are swept', async () => {
  const caller = createCaller()
  const before = await countRows()
  const long = 'ü\\"'.repeat(20_000)
  const { job } = await createIntake().receive({
    caller,
    key: 'k',
    pieces: feed([rows(40, long)], [rows(2), RATE], [rows(1, 'x'.repeat(2_000_000))], [rows(60, long)]),
  })
  expect(job).toMatchObject({ status: 'validating', total: 103 })
  const { rows: stored } = await database.db.query<{ n: number; body: string }>({
    name: 't_bodies',
    text: 'select n, body from bulk_rows where account_id in (select account_id from bulk_jobs where total = 103) order by n',
  })
  expect(stored.map(row => row.n)).toEqual(Array.from({ length: 103 }, (_, at) => at))
  expect((JSON.parse(stored[0]!.body) as { text: string }).text).toBe(long)
  expect((JSON.parse(stored[42]!.body) as { text: string }).text).toHaveLength(2_000_000)

  const refused = createIntake().receive({
    caller,
    key: 'other',
    pieces: feed([RATE, rows(40, long)], [{ kind: 'rows', rows: [null] }]),
  })
  await expect(refused).rejects.toMatchObject({ code: 'INVALID_MESSAGE' })
  expect(await listJobs(database.db, caller.account.id, {}, null, 10)).toHaveLength(1)
  while ((await sweepRows(database.db, 7)) > 0);
  expect(await countRows()).toBe(before + 103)
})

test('a sweep on another node rejects the unfinished job of a dead node', async () => {
  const caller = createCaller()
  const { promise: gone, reject: cut } = Promise.withResolvers<never>()
  async function* hanging(): AsyncGenerator<BulkPiece> {
    yield { parts: [RATE, rows(40, 'x'.repeat(60_000))], bytes: 1_000 }
    await gone
  }
  const dead = createBulkIntake({ db: database.db, clock: systemClock, ids, seal, node: () => 99 })
  const taking = dead.receive({ caller, key: 'k', pieces: hanging() })
  taking.catch(() => {})
  const read = async () => (await listJobs(database.db, caller.account.id, {}, null, 10))[0]
  while ((await read())?.total === undefined || (await read())!.total === 0);
  await createIntake().sweep()
  expect(await read()).toMatchObject({ status: 'rejected', errorCode: 'INTAKE_INCOMPLETE' })
  // The node was alive after all: its request fails, and the job stays rejected.
  cut(CUT)
  await expect(taking).rejects.toBe(CUT.problem)
  expect(await read()).toMatchObject({ status: 'rejected' })
})

test('a job that begins while a sweep waits for the database is not rejected', async () => {
  const caller = createCaller()
  const { promise: answers, resolve: answer } = Promise.withResolvers<void>()
  let waits: Promise<void> | null = answers
  const busy: TestDatabase['db'] = {
    ...database.db,
    async query(query) {
      const turn = waits
      waits = null
      await turn
      return database.db.query(query)
    },
  }
  const intake = createBulkIntake({ db: busy, clock: systemClock, ids, seal, node: () => NODE })
  const swept = intake.sweep()
  const { promise: rest, resolve: goOn } = Promise.withResolvers<void>()
  async function* slow(): AsyncGenerator<BulkPiece> {
    yield { parts: [RATE, rows(40, 'x'.repeat(60_000))], bytes: 1_000 }
    await rest
  }
  const taking = intake.receive({ caller, key: 'k', pieces: slow() })
  const read = async () => (await listJobs(database.db, caller.account.id, {}, null, 10))[0]
  while (((await read())?.total ?? 0) === 0);
  answer()
  await swept
  goOn()
  expect((await taking).job).toMatchObject({ status: 'validating', total: 40 })
})

/** A body that comes in two steps: its first row when the test says so, and its end. */
function createSlowBody() {
  const { promise: isAwaited, resolve: awaited } = Promise.withResolvers<void>()
  const { promise: begins, resolve: begin } = Promise.withResolvers<void>()
  const { promise: hasBegun, resolve: begun } = Promise.withResolvers<void>()
  const { promise: ends, resolve: end } = Promise.withResolvers<void>()
  async function* pieces(): AsyncGenerator<BulkPiece> {
    yield { parts: [RATE], bytes: 100 }
    awaited()
    await begins
    yield { parts: [rows(1)], bytes: 100 }
    begun()
    await ends
  }
  return { pieces: pieces(), isAwaited, begin, hasBegun, end }
}

test('a slow body can be seen a quarter of a second after its first row, however late that comes', async () => {
  const caller = createCaller()
  const clock = createFakeClock(Date.now())
  const body = createSlowBody()
  const taking = createIntake(clock).receive({ caller, key: 'k', pieces: body.pieces })
  await body.isAwaited
  await clock.advance(1_000)
  body.begin()
  await body.hasBegun
  await clock.advance(250)
  const read = () => listJobs(database.db, caller.account.id, {}, null, 10)
  while ((await read())[0]?.total !== 1);
  expect(await read()).toMatchObject([{ status: 'accepting' }])
  body.end()
  expect((await taking).job).toMatchObject({ status: 'validating', total: 1 })
})

test('a job whose insertion was stored but not answered is still the one that its request stores', async () => {
  const caller = createCaller()
  const clock = createFakeClock(Date.now())
  const body = createSlowBody()
  const { promise: isLost, resolve: lose } = Promise.withResolvers<void>()
  let inserts = 0
  const db: TestDatabase['db'] = {
    ...database.db,
    async query(query) {
      const result = await database.db.query(query)
      if (query.name !== 'bulk_insert' || inserts++ > 0) return result as never
      lose()
      throw new Problem('SERVICE_UNAVAILABLE')
    },
  }
  const intake = createBulkIntake({ db, clock, ids, seal, node: () => NODE })
  const taking = intake.receive({ caller, key: 'k', pieces: body.pieces })
  body.begin()
  await body.hasBegun
  await clock.advance(250)
  await isLost
  body.end()
  expect(await taking).toMatchObject({ job: { status: 'validating', total: 1 }, replayed: false })
})

test('rows that are stored after the sweep that rejected their job are swept too', async () => {
  const caller = createCaller()
  while ((await sweepRows(database.db, 10_000)) > 0);
  const before = await countRows()
  const { promise: swept, resolve: goOn } = Promise.withResolvers<void>()
  async function* slow(): AsyncGenerator<BulkPiece> {
    const parts = [RATE, rows(40, 'x'.repeat(60_000))]
    yield { parts, bytes: 1_000 }
    await swept
    yield { parts: parts.slice(1), bytes: 1_000 }
  }
  const dead = createBulkIntake({ db: database.db, clock: systemClock, ids, seal, node: () => 99 })
  const taking = dead.receive({ caller, key: 'k', pieces: slow() })
  taking.catch(() => {})
  const read = async () => (await listJobs(database.db, caller.account.id, {}, null, 10))[0]
  while (((await read())?.total ?? 0) === 0);
  await createIntake().sweep()
  while ((await sweepRows(database.db, 10_000)) > 0);
  goOn()
  await expect(taking).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' })
  while ((await sweepRows(database.db, 10_000)) > 0);
  expect(await countRows()).toBe(before)
})

test('a long invalid body is rejected early, not at its end', async () => {
  let read = 0
  async function* endless(): AsyncGenerator<BulkPiece> {
    yield { parts: [RATE, { kind: 'rows', rows: [null] }], bytes: 100 }
    for (;;) {
      yield { parts: [rows(10)], bytes: 100_000 }
      read += 100_000
    }
  }
  const taking = createIntake().receive({ caller: createCaller(), key: 'k', pieces: endless() })
  await expect(taking).rejects.toMatchObject({ code: 'INVALID_MESSAGE' })
  expect(read).toBeLessThan(1_200_000)
})

test('one account cannot use all capacity for request bodies; its further requests wait, then get a 503', async () => {
  const caller = createCaller()
  const { promise: gone, reject: cut } = Promise.withResolvers<never>()
  async function* hanging(): AsyncGenerator<BulkPiece> {
    yield { parts: [RATE], bytes: 100 }
    await gone
  }
  const clock = createFakeClock(Date.now())
  const intake = createIntake(clock)
  const one = (who: Caller, key: string) =>
    intake.receive({ caller: who, key, pieces: feed([RATE, rows(1)]) })
  const taking = Array.from({ length: 8 }, (_, at) =>
    intake.receive({ caller, key: `hanging ${at}`, pieces: hanging() }).catch(() => {}),
  )
  const ninth = one(caller, 'ninth').catch(error => error)
  expect((await one(createCaller(), 'k')).job.status).toBe('validating')
  await clock.advance(5_000)
  expect(await ninth).toMatchObject({ code: 'SERVICE_UNAVAILABLE', retryAfterSeconds: 5 })
  const line = Array.from({ length: 64 }, (_, at) => one(caller, `in line ${at}`))
  await expect(one(caller, 'too many')).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' })
  cut(CUT)
  await Promise.all(taking)
  expect((await Promise.all(line)).every(({ job }) => job.status === 'validating')).toBe(true)
})

test('keeps a hash of the body that does not tell the code of its row to who reads the database', async () => {
  const row = { to: '+12025552000', content: { otpCode: '0417' } }
  const code = { kind: 'rows' as const, rows: [row] }
  const request = { caller: createCaller(), key: 'a code' }
  const pieces = () => feed([RATE, { kind: 'messages' }, code])
  const { job } = await createIntake().receive({ ...request, pieces: pieces() })
  const sha256 = (...parts: (string | Buffer)[]) =>
    parts.reduce((hash, part) => hash.update(part), createHash('sha256')).digest()
  const codes = Array.from({ length: 10_000 }, (_, each) => String(each).padStart(4, '0'))
  const found = codes.filter(otpCode => {
    const text = canonicalize({ ...row, content: { otpCode } })
    return sha256(canonicalize({ name: '', perSecond: 5 }), sha256(`${text}\n`)).equals(job.bodyHash!)
  })
  expect(found).toEqual([])
  expect((await createIntake().receive({ ...request, pieces: pieces() })).replayed).toBe(true)
})
