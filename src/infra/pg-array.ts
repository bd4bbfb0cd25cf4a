import pg from 'pg'
import { type Id, UUID_BYTES, writeUuid } from '../lib/ids.ts'

/**
 * Batches are passed to the database as parallel arrays, one for each column, in PostgreSQL's binary format
 * (`array_send` in its src/backend/utils/adt/arrayfuncs.c): reading it takes the server a third of the time of array
 * literals, and writing it takes half. The type of the elements must be exactly the parameter's.
 *
 * Each function takes rows, and how to get the column's value from one.
 */

const OID = pg.types.builtins

/** Dimensions, whether there are nulls, the type, and the length and lower bound of the only dimension. */
const HEADER_BYTES = 20
const EMPTY_HEADER_BYTES = 12
const LENGTH_BYTES = 4
const NULL_LENGTH = -1
/** UTF-8 takes at most three bytes for one unit of UTF-16. */
const MAX_BYTES_PER_UNIT = 3
const EPOCH_2000_MS = Date.UTC(2000, 0, 1)
const TWO_TO_32 = 2 ** 32

/** From ids, or from uuids as text. */
export function uuidArray<T>(rows: readonly T[], of: (row: T) => Id | string | null): Buffer {
  return fixedArray(OID.UUID, UUID_BYTES, rows, of, writeUuid)
}

export function boolArray<T>(rows: readonly T[], of: (row: T) => boolean | null): Buffer {
  return fixedArray(OID.BOOL, 1, rows, of, (value, into, at) => into.writeUInt8(value ? 1 : 0, at))
}

export function int2Array<T>(rows: readonly T[], of: (row: T) => number | null): Buffer {
  return fixedArray(OID.INT2, 2, rows, of, (value, into, at) => into.writeInt16BE(whole(value), at))
}

export function int4Array<T>(rows: readonly T[], of: (row: T) => number | null): Buffer {
  return fixedArray(OID.INT4, 4, rows, of, (value, into, at) => into.writeInt32BE(whole(value), at))
}

export function int8Array<T>(rows: readonly T[], of: (row: T) => number | null): Buffer {
  return fixedArray(OID.INT8, 8, rows, of, writeInt8)
}

export function float8Array<T>(rows: readonly T[], of: (row: T) => number | null): Buffer {
  return fixedArray(OID.FLOAT8, 8, rows, of, (value, into, at) => into.writeDoubleBE(value, at))
}

/** An array of timestamptz, from milliseconds since the epoch. */
export function timeArray<T>(rows: readonly T[], of: (row: T) => number | null): Buffer {
  return fixedArray(OID.TIMESTAMPTZ, 8, rows, of, writeTime)
}

export function textArray<T>(rows: readonly T[], of: (row: T) => string | null): Buffer {
  return variableArray(OID.TEXT, rows.map(of))
}

/** An array of json, from JSON texts. */
export function jsonArray<T>(rows: readonly T[], of: (row: T) => string | null): Buffer {
  return variableArray(OID.JSON, rows.map(of))
}

export function byteaArray<T>(rows: readonly T[], of: (row: T) => Buffer | null): Buffer {
  return variableArray(OID.BYTEA, rows.map(of))
}

function fixedArray<T, Value>(
  oid: number,
  size: number,
  rows: readonly T[],
  of: (row: T) => Value | null,
  write: (value: Value, into: Buffer, at: number) => unknown,
): Buffer {
  const into = Buffer.allocUnsafe(HEADER_BYTES + rows.length * (LENGTH_BYTES + size))
  let at = writeHeader(into, oid, rows.length)
  for (const row of rows) {
    const value = of(row)
    if (value === null) {
      at = into.writeInt32BE(NULL_LENGTH, at)
    } else {
      at = into.writeInt32BE(size, at)
      write(value, into, at)
      at += size
    }
  }
  return into.subarray(0, at)
}

/** Texts and bytes. The values are read before anything is written, since they are written to a shared buffer. */
function variableArray(oid: number, values: readonly (string | Buffer | null)[]): Buffer {
  let mostBytes = HEADER_BYTES
  for (const value of values) mostBytes += LENGTH_BYTES + mostBytesOf(value)
  const into = mostBytes <= shared.length ? shared : Buffer.allocUnsafe(mostBytes)
  let at = writeHeader(into, oid, values.length)
  for (const value of values) {
    if (value === null) {
      at = into.writeInt32BE(NULL_LENGTH, at)
    } else {
      const from = at + LENGTH_BYTES
      const length = typeof value === 'string' ? into.write(value, from) : value.copy(into, from)
      into.writeInt32BE(length, at)
      at = from + length
    }
  }
  return into === shared ? Buffer.from(shared.subarray(0, at)) : into.subarray(0, at)
}

/** Most arrays fit. */
const shared = Buffer.allocUnsafe(1 << 18)

function mostBytesOf(value: string | Buffer | null): number {
  if (value === null) return 0
  return typeof value === 'string' ? value.length * MAX_BYTES_PER_UNIT : value.length
}

/** Returns where the elements begin. The header says that there may be nulls: without any it means the same. */
function writeHeader(into: Buffer, oid: number, length: number): number {
  into.writeInt32BE(length === 0 ? 0 : 1, 0)
  into.writeInt32BE(length === 0 ? 0 : 1, 4)
  into.writeInt32BE(oid, 8)
  if (length === 0) return EMPTY_HEADER_BYTES
  into.writeInt32BE(length, 12)
  into.writeInt32BE(1, 16)
  return HEADER_BYTES
}

/** As its upper and lower halves. */
function writeInt8(value: number, into: Buffer, at: number): void {
  whole(value)
  const upper = Math.floor(value / TWO_TO_32)
  into.writeInt32BE(upper, at)
  into.writeUInt32BE(value - upper * TWO_TO_32, at + 4)
}

/** As microseconds since 2000. From the year 2285 on these are no safe integers, so each half is multiplied by itself. */
function writeTime(ms: number, into: Buffer, at: number): void {
  const sinceMs = whole(Math.floor(ms)) - EPOCH_2000_MS
  const upperMs = Math.floor(sinceMs / TWO_TO_32)
  const lower = (sinceMs - upperMs * TWO_TO_32) * 1_000
  const carried = Math.floor(lower / TWO_TO_32)
  into.writeInt32BE(upperMs * 1_000 + carried, at)
  into.writeUInt32BE(lower - carried * TWO_TO_32, at + 4)
}

/** Buffers would cut a fraction off; whatever is out of the type's range, they refuse. */
function whole(value: number): number {
  if (!Number.isSafeInteger(value)) throw new RangeError(`not an integer: ${value}`)
  return value
}
