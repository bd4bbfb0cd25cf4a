import { beforeEach, expect, test } from 'vitest'
import type { JobInHand } from '../../src/workers/bulk-job.ts'
import { createReturns, RETURN_MS, type Returning, type Returns } from '../../src/workers/bulk-returns.ts'
import { createFakeClock, type FakeClock } from '../support/fake-clock.ts'

let clock: FakeClock
let returns: Returns
let gone: string[]
let again: [name: string, inMs: number][]

beforeEach(() => {
  clock = createFakeClock()
  returns = createReturns(clock)
  gone = []
  again = []
})

const leaving = { left() {}, answered() {} }
const known = {} as JobInHand
const paused = {} as JobInHand

function message(name: string): Returning {
  return {
    go: () => void gone.push(name),
    later: dueAtMs => void again.push([name, dueAtMs - clock.now()]),
  }
}

test('they leave in their order, as soon as they may', () => {
  for (const name of ['a', 'b', 'c']) returns.add(known, message(name), 10)
  let places = 2
  const serve = () =>
    returns.serve(
      () => (places-- > 0 ? 'go' : 'wait'),
      () => leaving,
    )
  serve()
  expect(gone).toEqual(['a', 'b'])
  expect([...returns.waiting()]).toEqual([known])
  places = 1
  serve()
  expect(gone).toEqual(['a', 'b', 'c'])
  expect(again).toEqual([])
})

test('a second’s worth waits here; each of the others comes again at a time of its own', () => {
  for (let n = 1; n <= 8; n++) returns.add(known, message(`${n}`), 5)
  expect(again).toEqual([
    ['6', 1_200],
    ['7', 1_400],
    ['8', 1_600],
  ])
})

test('what may not leave any more comes again, and so does everything where the lane is left', () => {
  returns.add(paused, message('paused'), 5)
  returns.add(known, message('waits'), 5)
  returns.serve(
    job => (job === paused ? 'later' : 'wait'),
    () => leaving,
  )
  expect(again).toEqual([['paused', RETURN_MS]])
  returns.drain()
  expect(again[1]).toEqual(['waits', 0])
  expect([...returns.waiting()]).toEqual([])
})
