import { expect, test } from 'vitest'
import { addDelta, type Delta, emptyDelta, emptyTally, mergeDelta } from '../../../src/core/fraud/tally.ts'

const NOW = Date.UTC(2026, 4, 4)
const COUNTS = ['fresh', 'settled', 'sends', 'verified'] as const
const SOME: Delta = { ...emptyDelta(), fresh: 3, settled: 5, sends: 7, verified: 11 }

test('a new key has no counts and no hold', () => {
  const none = { fresh: 0, settled: 0, sends: 0, verified: 0, heldUntilMs: 0, heldBy: null, holds: 0 }
  expect(emptyTally(NOW)).toEqual({ atMs: NOW, ...none })
  expect(emptyDelta()).toEqual(none)
})

test.each(COUNTS)('a change of `%s` leaves the other counts and the hold as they are', count => {
  const held = { heldUntilMs: NOW + 1, heldBy: 'prefix', holds: 2 } as const
  const tally = { ...SOME, ...held, atMs: NOW }
  addDelta(tally, { [count]: 2 })
  expect(tally).toEqual({ ...SOME, ...held, atMs: NOW, [count]: SOME[count] + 2 })
  const sum = { ...SOME, ...held }
  mergeDelta(sum, { [count]: 2 })
  expect(sum).toEqual({ ...SOME, ...held, [count]: SOME[count] + 2 })
})

test.each(COUNTS)('a change takes `%s` no lower than 0, and what a node has to add also below', count => {
  const tally = { ...SOME, atMs: NOW }
  addDelta(tally, { [count]: -20 })
  expect(tally[count]).toBe(0)
  const sum = { ...SOME }
  mergeDelta(sum, { [count]: -20 })
  expect(sum[count]).toBe(SOME[count] - 20)
})
