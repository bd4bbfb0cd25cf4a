import { expect, test } from 'vitest'
import { sweepAll } from '../../src/workers/chores.ts'

test('a sweep goes on while its pages are full, and ends', async () => {
  const swept: number[] = []
  let left = 45
  await sweepAll(async () => {
    const page = Math.min(20, left)
    left -= page
    swept.push(page)
    return page
  }, 20)
  expect(swept).toEqual([20, 20, 5])

  let pages = 0
  await sweepAll(async () => {
    pages++
    return 20
  }, 20)
  expect(pages).toBeLessThan(1_000)
})
