import { expect, test } from 'vitest'
import { boundedScan, type ScannedList, type Stretch } from '../../src/lib/bounded-scan.ts'

/** A list of places from 100 down to 1, read ten at a time, each in `readMs`; every row is its place. */
function createList(found: readonly number[], readMs = 5) {
  let nowMs = 0
  const clock = { monotonic: () => nowMs }
  const reads: Stretch<number>[] = []
  const list: ScannedList<number, number> = {
    isSelective: true,
    async findEnd(before) {
      const bottom = (before ?? 101) - 10
      return bottom > 1 ? bottom : null
    },
    async read(stretch) {
      reads.push(stretch)
      nowMs += readMs
      const { before, stoppedAt, limit } = stretch
      const rows = found.filter(place => place < (before ?? 101) && place >= (stoppedAt ?? 1))
      return { rows: rows.slice(0, limit) }
    },
  }
  return { clock, reads, list }
}

test('a scan ends at the end of the list', async () => {
  const { clock, reads, list } = createList([95, 3])
  expect(await boundedScan(clock, { before: null, limit: 5 }, list)).toEqual({
    rows: [95, 3],
    stoppedAt: null,
  })
  expect(reads.map(({ before }) => before)).toEqual([null, 91, 81, 71, 61, 51, 41, 31, 21, 11])
  expect(reads.map(({ limit }) => limit)).toEqual([5, 4, 4, 4, 4, 4, 4, 4, 4, 4])
})

test('a scan ends when it has enough rows or its time is over, and returns where it stopped', async () => {
  const enough = createList([95, 93, 85, 3])
  expect(await boundedScan(enough.clock, { before: null, limit: 3 }, enough.list)).toEqual({
    rows: [95, 93, 85],
    stoppedAt: 81,
  })
  const late = createList([3], 30)
  expect(await boundedScan(late.clock, { before: 91, limit: 3 }, late.list)).toEqual({
    rows: [],
    stoppedAt: 61,
  })
})

test('a list without a selective filter is read in one stretch', async () => {
  const { clock, reads, list } = createList([95, 93, 85, 3])
  const scanned = await boundedScan(clock, { before: 94, limit: 2 }, { ...list, isSelective: false })
  expect(scanned).toEqual({ rows: [93, 85], stoppedAt: null })
  expect(reads).toEqual([{ before: 94, stoppedAt: null, limit: 2 }])
})

test('a scan ends where a page is cut', async () => {
  const { clock, list } = createList([])
  const cut: typeof list = { ...list, read: async () => ({ rows: [97], cutAt: 97 }) }
  for (const isSelective of [true, false]) {
    const scanned = await boundedScan(clock, { before: null, limit: 3 }, { ...cut, isSelective })
    expect(scanned).toEqual({ rows: [97], stoppedAt: 97 })
  }
})
