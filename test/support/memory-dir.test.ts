import { existsSync } from 'node:fs'
import { expect, test } from 'vitest'
import { moveToMemory } from './memory-dir.ts'

test('moveToMemory() keeps an explicit TMPDIR', () => {
  const env = { TMPDIR: '/somewhere' }
  expect(moveToMemory(env)).toBeNull()
  expect(env).toEqual({ TMPDIR: '/somewhere' })
})

test('moveToMemory() returns a function that removes its directory and TMPDIR', context => {
  const env: NodeJS.ProcessEnv = {}
  const moveBack = moveToMemory(env)
  if (moveBack === null) {
    expect(env).toEqual({})
    return context.skip('there is no room in memory')
  }
  const directory = env['TMPDIR']!
  expect(existsSync(directory)).toBe(true)
  moveBack()
  expect(env).toEqual({})
  expect(existsSync(directory)).toBe(false)
})
