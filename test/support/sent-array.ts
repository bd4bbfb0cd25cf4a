const HEADER_BYTES = 20
const LENGTH_BYTES = 4

/** The elements of an array as it is sent to the database (src/infra/pg-array.ts), none of which is null. */
function* elementsOf(array: unknown): Generator<Buffer> {
  const bytes = array as Buffer
  for (let at = HEADER_BYTES; at < bytes.length; ) {
    const from = at + LENGTH_BYTES
    at = from + bytes.readInt32BE(at)
    yield bytes.subarray(from, at)
  }
}

/** The uuids in an array that is sent to the database. */
export function sentUuids(array: unknown): string[] {
  return [...elementsOf(array)].map(element =>
    element.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-'),
  )
}

/** The numbers in an array of `integer` that is sent to the database. */
export function sentInt4s(array: unknown): number[] {
  return [...elementsOf(array)].map(element => element.readInt32BE())
}

/** The numbers in an array of `bigint` that is sent to the database. */
export function sentInt8s(array: unknown): number[] {
  return [...elementsOf(array)].map(element => Number(element.readBigInt64BE()))
}
