import { expect, test } from 'vitest'
import { boundedScan } from '../../src/lib/bounded-scan.ts'

/** A list of places from 100 down to 1, read ten at a time; every row is its place. */
function createList(found: readonly number[]) {
  let nowMs = 0
  const clock = { monotonic: () => nowMs }
  const looks: (number | null)[] = []
  const look = async (below: number | null, left: number) => {
    looks.push(below)
    nowMs += 10
    const top = below ?? 101
    const bottom = Math.max(1, top - 10)
    const rows = found.filter(place => place < top && place >= bottom).slice(0, left)
    return { rows, stoppedAt: bottom === 1 ? null : bottom }
  }
  return { clock, looks, look }
}

test('a scan ends at the end of the list', async () => {
  const { clock, looks, look } = createList([95, 3])
  expect(await boundedScan(clock, { before: null, limit: 5, timeMs: 1_000 }, look)).toEqual({
    rows: [95, 3],
    stoppedAt: null,
  })
  expect(looks).toEqual([null, 91, 81, 71, 61, 51, 41, 31, 21, 11])
})

test('a scan ends when it has enough rows or its time is over, and returns where it stopped', async () => {
  const enough = createList([95, 93, 85, 3])
  expect(await boundedScan(enough.clock, { before: null, limit: 3, timeMs: 1_000 }, enough.look)).toEqual({
    rows: [95, 93, 85],
    stoppedAt: 81,
  })
  const late = createList([3])
  expect(await boundedScan(late.clock, { before: 91, limit: 3, timeMs: 30 }, late.look)).toEqual({
    rows: [],
    stoppedAt: 61,
  })
})

test('a scan ends after a page that is marked as cut', async () => {
  const { clock, looks } = createList([])
  const look = async (below: number | null) => {
    looks.push(below)
    return { rows: [7], stoppedAt: 7, cut: true }
  }
  expect(await boundedScan(clock, { before: null, limit: 3, timeMs: 1_000 }, look)).toEqual({
    rows: [7],
    stoppedAt: 7,
  })
  expect(looks).toEqual([null])
})
