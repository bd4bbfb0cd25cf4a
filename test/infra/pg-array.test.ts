import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  boolArray,
  byteaArray,
  float8Array,
  int2Array,
  int4Array,
  int8Array,
  jsonArray,
  textArray,
  timeArray,
  uuidArray,
} from '../../src/infra/pg-array.ts'
import { fromUuid } from '../../src/lib/ids.ts'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'

let database: TestDatabase

beforeAll(async () => {
  database = await createTestDatabase()
})
afterAll(() => database.drop())

/** What the database reads, element by element as text; the length of the array is read as well. */
async function readBack(type: string, array: Buffer): Promise<(string | null)[]> {
  const { rows } = await database.db.query<{ size: number; texts: (string | null)[] }>({
    name: `read_back_${type}`,
    text: `select cardinality($1::${type}[]) as size, array(select e::text from unnest($1::${type}[]) with ordinality as u (e, n) order by n) as texts`,
    values: [array],
  })
  expect(rows[0]!.texts).toHaveLength(rows[0]!.size)
  return rows[0]!.texts
}

const same = <T>(value: T) => value
const orNull = <T>(values: fc.Arbitrary<T>) => fc.array(fc.option(values, { freq: 4 }), { maxLength: 40 })

async function holds<T>(
  type: string,
  values: fc.Arbitrary<T>,
  encode: (values: (T | null)[]) => Buffer,
  asText: (value: T) => string,
): Promise<void> {
  await fc.assert(
    fc.asyncProperty(orNull(values), async given => {
      expect(await readBack(type, encode(given))).toEqual(
        given.map(value => (value === null ? null : asText(value))),
      )
    }),
    { numRuns: 50 },
  )
}

test('uuids arrive, from ids and from texts', async () => {
  await holds('uuid', fc.uuid(), given => uuidArray(given, same), same)
  await holds('uuid', fc.uuid(), given => uuidArray(given, uuid => uuid && fromUuid('msg', uuid)), same)
})

test('numbers and booleans arrive', async () => {
  await holds('boolean', fc.boolean(), given => boolArray(given, same), String)
  await holds('smallint', fc.integer({ min: -32_768, max: 32_767 }), given => int2Array(given, same), String)
  await holds('integer', fc.integer(), given => int4Array(given, same), String)
  await holds(
    'bigint',
    fc.maxSafeInteger(),
    given => int8Array(given, same),
    value => String(value + 0),
  )
  const fractions = fc.integer().map(number => number / 1_024)
  await holds('double precision', fractions, given => float8Array(given, same), String)
})

test('times arrive to the millisecond, from the years 1 to 9999', async () => {
  const times = fc.integer({ min: -62_135_596_800_000, max: 253_402_300_799_999 })
  await fc.assert(
    fc.asyncProperty(orNull(times), async given => {
      const { rows } = await database.db.query<{ read: (number | null)[] }>({
        name: 'read_times',
        text: `select array(select (extract(epoch from e) * 1000)::bigint from unnest($1::timestamptz[]) with ordinality as u (e, n) order by n)::text[] as read`,
        values: [timeArray(given, same)],
      })
      expect(rows[0]!.read).toEqual(given.map(value => (value === null ? null : String(value))))
    }),
    { numRuns: 50 },
  )
})

test('texts arrive with every character, and bytes', async () => {
  const texts = fc.oneof(
    fc.string({ unit: 'binary' }).map(text => text.replaceAll('\0', '')),
    fc.constantFrom('', 'NULL', '{}', '"', '\\', ',', ' ', 'é', '👩‍👩‍👧', 'a\nb'),
  )
  await holds('text', texts, given => textArray(given, same), same)
  await holds('json', fc.json(), given => jsonArray(given, same), same)
  await holds(
    'bytea',
    fc.uint8Array({ maxLength: 300 }).map(Buffer.from),
    given => byteaArray(given, same),
    bytes => `\\x${bytes.toString('hex')}`,
  )
})

test('an array larger than the shared buffer arrives, and the one before it stays as it was', async () => {
  const small = textArray(['before'], same)
  const large = ['ü'.repeat(200_000), null, 'after']
  expect(await readBack('text', textArray(large, same))).toEqual(large)
  expect(await readBack('text', small)).toEqual(['before'])
})

test('a text that the database cannot store is refused', async () => {
  await expect(readBack('text', textArray(['a\0b'], same))).rejects.toMatchObject({ code: '22021' })
  await expect(readBack('json', jsonArray(['{'], same))).rejects.toMatchObject({ code: '22P02' })
})

test('numbers that are no integers or too large are refused', () => {
  for (const encode of [int2Array, int4Array, int8Array]) {
    expect(() => encode([1.5], same)).toThrow(RangeError)
    expect(() => encode([Number.NaN], same)).toThrow(RangeError)
    expect(() => encode([2 ** 53], same)).toThrow(RangeError)
  }
  expect(() => int2Array([32_768], same)).toThrow(RangeError)
  expect(() => int4Array([2 ** 31], same)).toThrow(RangeError)
  expect(() => timeArray([Number.NaN], same)).toThrow(RangeError)
})
