import type { PartIds } from '../provider.ts'

/** Longest `whole` id of a message with many parts, in characters. */
const MAX_JOINED_IDS_LENGTH = 200

/** The ids of a message whose parts were all taken; the provider may have given one id for all of them. */
export function joinPartIds(ids: readonly string[]): { providerId: string; pieces?: PartIds } {
  const distinct = [...new Set(ids)]
  const providerId = joinIds(distinct)
  return distinct.length === 1
    ? { providerId }
    : { providerId, pieces: { whole: providerId, ids: distinct, total: distinct.length } }
}

/** The parts of a message of which some were not taken: receipts of the others do not make it delivered. */
export function incompletePartIds(ids: readonly string[], total: number): PartIds {
  return { whole: `${joinIds(ids)},…`, ids: [...new Set(ids)], total }
}

function joinIds(ids: readonly string[]): string {
  const all = ids.join(',')
  return all.length <= MAX_JOINED_IDS_LENGTH || ids.length <= 2 ? all : `${ids[0]},…,${ids.at(-1)}`
}
