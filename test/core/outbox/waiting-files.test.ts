import { expect, test } from 'vitest'
import { createWaitingFiles } from '../../../src/core/outbox/waiting-files.ts'
import { createIds } from '../../../src/lib/ids.ts'
import { createRandom } from '../../../src/lib/random.ts'
import { createFakeClock } from '../../support/fake-clock.ts'

const MB = 1_048_576

function setUp() {
  const clock = createFakeClock()
  const world = { clock, stored: 0, measured: 0, fails: false }
  const files = createWaitingFiles({
    clock,
    accountBytes: 2 * MB,
    async measure() {
      world.measured++
      if (world.fails) throw new Error('away')
      return world.stored
    },
  })
  const account = createIds(clock, createRandom()).next('acc')
  return { world, reserve: (bytes: number) => files.reserve(account, bytes) }
}

test('files are refused beyond the limit, also of many requests at once, and measured once in ten seconds', async () => {
  const { world, reserve } = setUp()
  const results = await Promise.allSettled(Array.from({ length: 5 }, () => reserve(MB / 2)))
  expect(results.map(({ status }) => status)).toEqual([...Array(4).fill('fulfilled'), 'rejected'])
  expect(results[4]).toMatchObject({ reason: { code: 'CONFLICT' } })
  expect(world.measured).toBe(1)

  world.stored = 2 * MB
  await world.clock.advance(10_000)
  await expect(reserve(1)).rejects.toMatchObject({ code: 'CONFLICT' })
  // They were sent.
  world.stored = 0
  await world.clock.advance(10_000)
  await reserve(2 * MB)
  expect(world.measured).toBe(3)
})

test('a small file counts as 64 KB', async () => {
  const { reserve } = setUp()
  for (let n = 0; n < 32; n++) await reserve(1)
  await expect(reserve(1)).rejects.toMatchObject({ code: 'CONFLICT' })
})

test('a measurement that failed is repeated by the next request', async () => {
  const { world, reserve } = setUp()
  world.fails = true
  await expect(reserve(1)).rejects.toThrow('away')
  world.fails = false
  await reserve(1)
  expect(world.measured).toBe(2)
})
