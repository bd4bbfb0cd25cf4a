import { expect, test } from 'vitest'
import { createMaturing, TIME_TO_CONFIRM_MS } from '../../../src/core/fraud/maturing.ts'
import type { TallyKey } from '../../../src/core/fraud/tallies.ts'

const NOW = Date.UTC(2026, 4, 20)
const SLOT_MS = 10_000
const key = (name: string) => ({ name }) as TallyKey
const counts = (codes: ReturnType<ReturnType<typeof createMaturing>['takeMatured']>) =>
  codes.map(({ key, sends, verified }) => [key.name, sends, verified])

test('a code and its confirmation count once there was time to confirm it, and only once', () => {
  const maturing = createMaturing()
  maturing.record(key('a'), NOW, NOW, 'sends')
  maturing.record(key('a'), NOW + 1, NOW + 1, 'sends')
  maturing.record(key('b'), NOW + 1, NOW + 1, 'sends')
  maturing.record(key('a'), NOW, NOW + TIME_TO_CONFIRM_MS - 1, 'verified')
  expect(maturing.takeMatured(NOW + SLOT_MS + TIME_TO_CONFIRM_MS - 1)).toEqual([])
  expect(counts(maturing.takeMatured(NOW + SLOT_MS + TIME_TO_CONFIRM_MS))).toEqual([
    ['a', 2, 1],
    ['b', 1, 0],
  ])
  expect(maturing.takeMatured(NOW + 10 * TIME_TO_CONFIRM_MS)).toEqual([])
})

test('a code of a later slot waits longer', () => {
  const maturing = createMaturing()
  maturing.record(key('a'), NOW, NOW, 'sends')
  maturing.record(key('a'), NOW + SLOT_MS, NOW + SLOT_MS, 'sends')
  const firstAtMs = NOW + SLOT_MS + TIME_TO_CONFIRM_MS
  expect(counts(maturing.takeMatured(firstAtMs))).toEqual([['a', 1, 0]])
  expect(maturing.takeMatured(firstAtMs + SLOT_MS - 1)).toEqual([])
  expect(counts(maturing.takeMatured(firstAtMs + SLOT_MS))).toEqual([['a', 1, 0]])
})

test('a confirmation that comes later still counts at once, by itself', () => {
  const maturing = createMaturing()
  maturing.record(key('a'), NOW - 10 * TIME_TO_CONFIRM_MS, NOW, 'verified')
  expect(counts(maturing.takeMatured(NOW))).toEqual([['a', 0, 1]])
})

test('a code that another clock dates later than now waits no longer than one of now', () => {
  const maturing = createMaturing()
  maturing.record(key('a'), NOW + 5 * TIME_TO_CONFIRM_MS, NOW, 'sends')
  expect(counts(maturing.takeMatured(NOW + SLOT_MS + TIME_TO_CONFIRM_MS))).toEqual([['a', 1, 0]])
})
