import type { PriceInput, PriceRow } from '../../../../../sdk/index.ts'

export type PriceChange = { key: string; row: PriceRow; before: number | null; after: number | null }
export type PriceDiff = {
  changes: PriceChange[]
  same: number
  added: number
  changed: number
  removed: number
}

/** The changes from one price list to another. */
export function diffPrices(before: readonly PriceRow[], wanted: readonly PriceInput[]): PriceDiff {
  const old = new Map(before.map(row => [keyOf(row), row]))
  const next = new Map(wanted.map(input => asRow(input)).map(row => [keyOf(row), row]))
  const changed: PriceChange[] = []
  const added: PriceChange[] = []
  let same = 0
  for (const [key, row] of next) {
    const was = old.get(key)
    if (!was) added.push({ key, row, before: null, after: row.price })
    else if (was.price !== row.price) changed.push({ key, row, before: was.price, after: row.price })
    else same += 1
  }
  const removed = [...old]
    .filter(([key]) => !next.has(key))
    .map(([key, row]) => ({ key, row, before: row.price, after: null }))
  return {
    changes: [...changed, ...added, ...removed],
    same,
    added: added.length,
    changed: changed.length,
    removed: removed.length,
  }
}

/** The identity of a price. */
export function keyOf({ channel, country, prefix, messageType, currency }: PriceRow): string {
  return [channel, country ?? '', prefix ?? '', messageType, currency].join('|')
}

function asRow({ country, prefix, messageType, ...rest }: PriceInput): PriceRow {
  return {
    ...rest,
    country: country ?? null,
    prefix: prefix?.replace('+', '') ?? null,
    messageType: messageType ?? '*',
  }
}
