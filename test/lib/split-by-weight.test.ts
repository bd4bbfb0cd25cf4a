import { expect, test } from 'vitest'
import { splitByWeight } from '../../src/lib/split-by-weight.ts'

test.each([
  [[], []],
  [[0, 0, 0], [[0, 0, 0]]],
  [
    [4, 6, 1],
    [[4, 6], [1]],
  ],
  [
    [11, 1, 11],
    [[11], [1], [11]],
  ],
  [
    [5, 5, 0, 5],
    [[5, 5, 0], [5]],
  ],
])('splits %j into pieces of at most 10: %j', (weights, pieces) => {
  expect(splitByWeight(weights, weight => weight, 10)).toEqual(pieces)
})
