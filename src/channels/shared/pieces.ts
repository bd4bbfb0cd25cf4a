import type { Pieces } from '../provider.ts'

/** Of what a message with many parts goes by, in characters. */
const LONGEST_WHOLE = 200

/** How a message goes whose parts were all taken: by their ids, of which the provider may have given them but one. */
export function wholeOf(ids: readonly string[]): { providerId: string; pieces?: Pieces } {
  const distinct = [...new Set(ids)]
  const providerId = nameOf(distinct)
  return distinct.length === 1
    ? { providerId }
    : { providerId, pieces: { whole: providerId, ids: distinct, total: distinct.length } }
}

/** The parts of a message that never became whole: what their receipts say is not said of the message. */
export function fragmentOf(ids: readonly string[], total: number): Pieces {
  return { whole: `${nameOf(ids)},…`, ids: [...new Set(ids)], total }
}

function nameOf(ids: readonly string[]): string {
  const all = ids.join(',')
  return all.length <= LONGEST_WHOLE || ids.length <= 2 ? all : `${ids[0]},…,${ids.at(-1)}`
}
