import type { Pieces } from '../provider.ts'

/** Longest `whole` id of a message with many parts, in characters. */
const LONGEST_WHOLE = 200

/** The ids of a message whose parts were all taken; the provider may have given one id for all of them. */
export function wholeOf(ids: readonly string[]): { providerId: string; pieces?: Pieces } {
  const distinct = [...new Set(ids)]
  const providerId = nameOf(distinct)
  return distinct.length === 1
    ? { providerId }
    : { providerId, pieces: { whole: providerId, ids: distinct, total: distinct.length } }
}

/** The parts of a message of which some were not taken: receipts of the others do not make it delivered. */
export function fragmentOf(ids: readonly string[], total: number): Pieces {
  return { whole: `${nameOf(ids)},…`, ids: [...new Set(ids)], total }
}

function nameOf(ids: readonly string[]): string {
  const all = ids.join(',')
  return all.length <= LONGEST_WHOLE || ids.length <= 2 ? all : `${ids[0]},…,${ids.at(-1)}`
}
