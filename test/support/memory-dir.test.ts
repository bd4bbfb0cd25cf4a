import { existsSync } from 'node:fs'
import { expect, test } from 'vitest'
import { moveToMemory } from './memory-dir.ts'

test('moveToMemory() keeps an explicit TMPDIR', () => {
  const env = { TMPDIR: '/somewhere' }
  expect(moveToMemory(env)).toBeNull()
  expect(env).toEqual({ TMPDIR: '/somewhere' })
})

test('moveToMemory() returns a function that removes its directory and TMPDIR', () => {
  const env: NodeJS.ProcessEnv = {}
  const moveBack = moveToMemory(env)
  const directory = env['TMPDIR']
  // The machine may have too little memory, in which case nothing is moved.
  expect(directory === undefined).toBe(moveBack === null)
  if (directory === undefined) return
  expect(existsSync(directory)).toBe(true)
  moveBack!()
  expect(env).toEqual({})
  expect(existsSync(directory)).toBe(false)
})
