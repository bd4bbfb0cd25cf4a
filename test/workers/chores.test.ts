import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Log } from '../../src/lib/log.ts'
import { startChores, sweepAll } from '../../src/workers/chores.ts'
import { createFakeClock, type FakeClock } from '../support/fake-clock.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS

let clock: FakeClock
/** Minutes at which something was said, with how loud. */
let said: [number, string][]
let broken: Set<string>
let runs: number
let clockIsOff: boolean
let swept: number
let woken: number
let wake: () => void
let stop: () => Promise<void>

beforeEach(() => {
  clock = createFakeClock()
  said = []
  broken = new Set()
  runs = 0
  clockIsOff = false
  swept = 0
  woken = 0
  const note = (level: string) => () => void said.push([clock.monotonic() / MINUTE_MS, level])
  const log = {
    debug() {},
    info: note('info'),
    warn: note('warn'),
    error: note('error'),
  } as unknown as Log
  const chore = (name: string, everyMs: number) => ({
    name,
    everyMs,
    async run() {
      runs++
      if (broken.has(name)) throw new Error(name)
    },
  })
  const sweep = {
    name: 'sweep',
    everyMs: MINUTE_MS,
    dependsOnClock: true,
    run: async () => void swept++,
  } as const
  const checkClock = async () => {
    if (clockIsOff) throw new Error('the clock of this machine is 1440 min ahead')
  }
  const onDemand = {
    name: 'on demand',
    everyMs: HOUR_MS,
    registerWake(run: () => void) {
      wake = run
    },
    run: async () => void woken++,
  }
  ;({ stop } = startChores([chore('often', 1_000), chore('seldom', 10 * MINUTE_MS), sweep, onDemand], {
    clock,
    log,
    checkClock,
  }))
})
afterEach(() => stop())

test('a chore that fails for a moment is not worth a word', async () => {
  broken.add('often').add('seldom')
  await clock.advance(25_000)
  broken.clear()
  await clock.advance(HOUR_MS)
  expect(said).toEqual([])
})

test('one that goes on failing is warned of, less and less often, until it works again', async () => {
  broken.add('often')
  await clock.advance(10 * MINUTE_MS)
  expect(said).toEqual([0.5, 1, 2, 4, 8].map(at => [at, 'warn']))
  // It was tried all the while.
  expect(runs).toBeGreaterThan(600)
  broken.clear()
  await clock.advance(2_000)
  expect(said.at(-1)![1]).toBe('info')
  const before = said.length
  await clock.advance(HOUR_MS)
  expect(said).toHaveLength(before)
})

test('one that comes seldom, such as to drop old months, is warned of at its second failure', async () => {
  broken.add('seldom')
  await clock.advance(25 * MINUTE_MS)
  expect(said).toEqual([
    [10, 'warn'],
    [20, 'warn'],
  ])
})

test('after a day of it, there is still a word every hour', async () => {
  broken.add('seldom')
  await clock.advance(24 * HOUR_MS)
  const before = said.length
  await clock.advance(2 * HOUR_MS)
  expect(said.length - before).toBe(2)
})

test('one that goes by age waits, and is warned of, while the clock of the machine is wrong', async () => {
  await clock.advance(MINUTE_MS)
  const before = swept
  expect(before).toBeGreaterThan(0)
  clockIsOff = true
  await clock.advance(2 * MINUTE_MS)
  expect([swept, said.map(([, level]) => level)]).toEqual([before, ['warn']])
  clockIsOff = false
  await clock.advance(MINUTE_MS)
  expect([swept, said.at(-1)![1]]).toEqual([before + 1, 'info'])
})

test('one that something else may ask for comes then, and at its time', async () => {
  await clock.advance(MINUTE_MS)
  expect(woken).toBe(1)
  wake()
  await clock.advance(0)
  expect(woken).toBe(2)
  await clock.advance(HOUR_MS)
  expect(woken).toBe(3)
})

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
