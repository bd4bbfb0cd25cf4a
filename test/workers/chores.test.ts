import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Log } from '../../src/lib/log.ts'
import { startChores, sweepAll } from '../../src/workers/chores.ts'
import { createFakeClock, type FakeClock } from '../support/fake-clock.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS

let clock: FakeClock
/** Log entries: minute and level. */
let logged: [number, string][]
let broken: Set<string>
let runs: number
let clockIsOff: boolean
let swept: number
let woken: number
let wake: () => void
let stop: () => Promise<void>

beforeEach(() => {
  clock = createFakeClock()
  logged = []
  broken = new Set()
  runs = 0
  clockIsOff = false
  swept = 0
  woken = 0
  const note = (level: string) => () => void logged.push([clock.monotonic() / MINUTE_MS, level])
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

test('a chore that fails for a moment logs nothing', async () => {
  broken.add('often').add('seldom')
  await clock.advance(25_000)
  broken.clear()
  await clock.advance(HOUR_MS)
  expect(logged).toEqual([])
})

test('a chore that keeps failing logs warnings at growing intervals until it works again', async () => {
  broken.add('often')
  await clock.advance(10 * MINUTE_MS)
  expect(logged).toEqual([0.5, 1, 2, 4, 8].map(at => [at, 'warn']))
  // It kept running meanwhile.
  expect(runs).toBeGreaterThan(600)
  broken.clear()
  await clock.advance(2_000)
  expect(logged.at(-1)![1]).toBe('info')
  const before = logged.length
  await clock.advance(HOUR_MS)
  expect(logged).toHaveLength(before)
})

test('a failing chore with a long interval logs warnings from its second failure on', async () => {
  broken.add('seldom')
  await clock.advance(25 * MINUTE_MS)
  expect(logged).toEqual([
    [10, 'warn'],
    [20, 'warn'],
  ])
})

test('a chore that has failed for a day still logs a warning every hour', async () => {
  broken.add('seldom')
  await clock.advance(24 * HOUR_MS)
  const before = logged.length
  await clock.advance(2 * HOUR_MS)
  expect(logged.length - before).toBe(2)
})

test('a chore that depends on the clock is skipped with a warning while the machine’s clock is wrong', async () => {
  await clock.advance(MINUTE_MS)
  const before = swept
  expect(before).toBeGreaterThan(0)
  clockIsOff = true
  await clock.advance(2 * MINUTE_MS)
  expect([swept, logged.map(([, level]) => level)]).toEqual([before, ['warn']])
  clockIsOff = false
  await clock.advance(MINUTE_MS)
  expect([swept, logged.at(-1)![1]]).toEqual([before + 1, 'info'])
})

test('a chore that can be woken runs when woken, and at its interval', async () => {
  await clock.advance(MINUTE_MS)
  expect(woken).toBe(1)
  wake()
  await clock.advance(0)
  expect(woken).toBe(2)
  await clock.advance(HOUR_MS)
  expect(woken).toBe(3)
})

test('a sweep continues while its pages are full, up to a maximum of pages', async () => {
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

test('two chores begin at once, the others in turn, and one that gets no answer holds none up for long', async () => {
  await stop()
  const begun: string[] = []
  const answers = new Map<string, () => void>()
  let wakeLast = () => {}
  const silent = (name: string) => ({
    name,
    everyMs: HOUR_MS,
    registerWake(run: () => void) {
      wakeLast = run
    },
    run() {
      begun.push(name)
      return new Promise<void>(resolve => answers.set(name, resolve))
    },
  })
  const started = startChores(['a', 'b', 'c', 'd', 'e'].map(silent), {
    clock,
    log: {} as Log,
    checkClock: async () => {},
  })
  stop = async () => {
    for (const answer of answers.values()) answer()
    await started.stop()
  }
  await clock.advance(0)
  wakeLast()
  await clock.advance(0)
  expect(begun).toEqual(['a', 'b'])
  answers.get('b')!()
  await clock.advance(0)
  expect(begun).toEqual(['a', 'b', 'c'])
  await clock.advance(250)
  expect(begun).toEqual(['a', 'b', 'c', 'd', 'e'])
})

test('chores that have not begun when the node stops do not begin', async () => {
  await stop()
  const begun: string[] = []
  const chores = ['a', 'b', 'c'].map(name => ({ name, everyMs: 1_000, run: async () => begun.push(name) }))
  const started = startChores(chores, { clock, log: {} as Log, checkClock: async () => {} })
  await started.stop()
  await clock.advance(5_000)
  expect(begun).toEqual([])
})
