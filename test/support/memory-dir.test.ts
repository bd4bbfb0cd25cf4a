import { existsSync, mkdirSync, rmdirSync, utimesSync } from 'node:fs'
import { expect, test, vi } from 'vitest'
import { moveToMemory } from './memory-dir.ts'

/** Of a process that cannot exist; removing it fails, as where a mount holds it. */
const HELD = '/dev/shm/ph-tests-999999999-held'

vi.mock('node:fs', async importOriginal => {
  const fs = await importOriginal<typeof import('node:fs')>()
  return {
    ...fs,
    rmSync(...[path, options]: Parameters<typeof fs.rmSync>): void {
      if (path === HELD) throw new Error('EBUSY: resource busy')
      fs.rmSync(path, options)
    },
  }
})

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

test('moveToMemory() goes on where the directory of an earlier run cannot be removed', context => {
  if (!existsSync('/dev/shm')) return context.skip('this system has no /dev/shm')
  mkdirSync(HELD)
  utimesSync(HELD, 0, 0)
  const told = vi.spyOn(process.stderr, 'write').mockReturnValue(true)
  try {
    const moveBack = moveToMemory({})
    if (moveBack === null) return context.skip('there is no room in memory')
    moveBack()
    expect(told).toHaveBeenCalledWith(expect.stringContaining(HELD))
  } finally {
    told.mockRestore()
    rmdirSync(HELD)
  }
})
