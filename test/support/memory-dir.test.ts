import { existsSync } from 'node:fs'
import { expect, test } from 'vitest'
import { moveToMemory } from './memory-dir.ts'

test('the place that somebody named stays', () => {
  const env = { TMPDIR: '/somewhere' }
  expect(moveToMemory(env)).toBeNull()
  expect(env).toEqual({ TMPDIR: '/somewhere' })
})

test('nothing is left in memory when a run is over', () => {
  const env: NodeJS.ProcessEnv = {}
  const moveBack = moveToMemory(env)
  const directory = env['TMPDIR']
  // The machine may have too little memory.
  expect(directory === undefined).toBe(moveBack === null)
  if (directory === undefined) return
  expect(existsSync(directory)).toBe(true)
  moveBack!()
  expect(env).toEqual({})
  expect(existsSync(directory)).toBe(false)
})
