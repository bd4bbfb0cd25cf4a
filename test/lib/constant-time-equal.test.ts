import { expect, test } from 'vitest'
import { constantTimeEqual } from '../../src/lib/constant-time-equal.ts'

test.each([
  ['secret', 'secret', true],
  ['secret', 'secreT', false],
  ['secret', 'secret ', false],
  ['ü', 'ü', true],
  ['', 'secret', false],
  ['', '', false],
])('%j and %j are equal secrets: %s', (given, wanted, equal) => {
  expect(constantTimeEqual(given, wanted)).toBe(equal)
})
