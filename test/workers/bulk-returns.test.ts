import { beforeEach, expect, test } from 'vitest'
import type { JobState } from '../../src/workers/bulk-job.ts'
import { createReturns, type Returning, type Returns } from '../../src/workers/bulk-returns.ts'

let returns: Returns
let gone: string[]
let again: [name: string, perSecond?: number][]

beforeEach(() => {
  returns = createReturns()
  gone = []
  again = []
})

const leaving = { submitted() {}, answered() {} }
const known = {} as JobState
const other = {} as JobState

function message(name: string): Returning {
  return {
    send: () => void gone.push(name),
    defer: perSecond => void again.push(perSecond === undefined ? [name] : [name, perSecond]),
  }
}

test('messages are sent in order, as soon as slots are free', () => {
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

test('of each job as many messages wait as it may send in a second; the others are deferred', () => {
  for (let n = 1; n <= 8; n++) returns.add(known, message(`${n}`), 5)
  for (let n = 1; n <= 2; n++) returns.add(other, message(`other ${n}`), 1)
  expect(again).toEqual([
    ['6', 5],
    ['7', 5],
    ['8', 5],
    ['other 2', 1],
  ])
  expect([...new Set(returns.waiting())]).toEqual([known, other])
})

test('messages of a paused job are deferred, and all messages when the lane is released', () => {
  returns.add(other, message('paused'), 5)
  returns.add(known, message('waits'), 5)
  returns.serve(
    job => (job === other ? 'later' : 'wait'),
    () => leaving,
  )
  expect(again).toEqual([['paused']])
  returns.deferAll()
  expect(again[1]).toEqual(['waits'])
  expect([...returns.waiting()]).toEqual([])
})
