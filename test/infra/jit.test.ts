import { expect, test } from 'vitest'
import { functionStatements } from '../support/sql-statements.ts'

test('functions that forbid kinds of plans are not compiled either', () => {
  const compiled = functionStatements().filter(
    ({ text }) => /set enable_\w+ = off/.test(text) && !text.includes('set jit = off'),
  )
  expect(compiled.map(({ of }) => of)).toEqual([])
})
