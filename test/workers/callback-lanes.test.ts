import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type CallbackLanes, createCallbackLanes } from '../../src/workers/callback-lanes.ts'

/** Starts as many requests as there is room for, and returns their number. */
function fill(lanes: CallbackLanes, target: string): number {
  let entered = 0
  while (lanes.freeFor(target) > 0) {
    lanes.enter(target)
    entered++
  }
  return entered
}

function fail(lanes: CallbackLanes, target: string, times: number): void {
  for (let at = 0; at < times; at++) lanes.leave(target, false)
}

describe('callback lanes', () => {
  test('give a target its whole share until it fails, then one slot, doubled with each success', () => {
    const lanes = createCallbackLanes({ total: 100, perTarget: 16 })
    const shares: number[] = []
    for (let round = 0; round < 6; round++) {
      const share = fill(lanes, 'a')
      shares.push(share)
      lanes.leave('a', false)
      for (let at = 1; at < share; at++) lanes.leave('a', false)
    }
    expect(shares).toEqual([16, 1, 1, 1, 1, 1])
    const grown: number[] = []
    for (let round = 0; round < 5; round++) {
      grown.push(lanes.freeFor('a'))
      lanes.enter('a')
      lanes.leave('a', true)
    }
    expect(grown).toEqual([1, 2, 4, 8, 16])
  })

  test('limit all failing targets together to half of the slots', () => {
    const lanes = createCallbackLanes({ total: 20, perTarget: 8 })
    const dead = Array.from({ length: 30 }, (_, at) => `dead${at}`)
    for (const target of dead) {
      lanes.enter(target)
      lanes.leave(target, false)
    }
    expect(dead.reduce((sum, target) => sum + fill(lanes, target), 0)).toBe(10)
    expect(fill(lanes, 'alive')).toBe(8)
    expect(fill(lanes, 'another')).toBe(2)
    expect(lanes.freeInAll()).toBe(0)
    lanes.leave('dead0', false)
    expect(lanes.freeFor('alive')).toBe(0)
    expect(lanes.freeFor('another')).toBe(1)
  })

  test('no longer count a target as failing when it recovers while it is busy', () => {
    const lanes = createCallbackLanes({ total: 8, perTarget: 4 })
    for (let at = 0; at < 4; at++) lanes.enter('a')
    fail(lanes, 'a', 2)
    expect(lanes.freeFor('a')).toBe(0)
    lanes.leave('a', true)
    lanes.leave('a', true)
    expect(lanes.freeFor('a')).toBe(4)
    expect(fill(lanes, 'a') + fill(lanes, 'b')).toBe(8)
  })

  test('never exceed their limits, in any sequence of requests and results', () => {
    const step = fc.record({
      target: fc.constantFrom('a', 'b', 'c', 'd', 'e'),
      kind: fc.constantFrom('in', 'well', 'ill'),
    })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 300 }), steps => {
        const lanes = createCallbackLanes({ total: 10, perTarget: 4 })
        const busy = new Map<string, number>()
        for (const { target, kind } of steps) {
          const held = busy.get(target) ?? 0
          if (kind === 'in' && lanes.freeFor(target) > 0) {
            lanes.enter(target)
            busy.set(target, held + 1)
          } else if (kind !== 'in' && held > 0) {
            lanes.leave(target, kind === 'well')
            busy.set(target, held - 1)
          }
          const all = [...busy.values()].reduce((sum, n) => sum + n, 0)
          expect(lanes.freeInAll()).toBe(10 - all)
          expect(all).toBeLessThanOrEqual(10)
          expect(Math.max(0, ...busy.values())).toBeLessThanOrEqual(4)
        }
        // After all targets have recovered, each has its whole share again.
        for (const [target, n] of busy) for (let at = 0; at < n; at++) lanes.leave(target, true)
        for (const target of ['a', 'b', 'c', 'd', 'e']) {
          for (let at = 0; at < 3; at++) {
            lanes.enter(target)
            lanes.leave(target, true)
          }
          expect(lanes.freeFor(target)).toBe(4)
        }
      }),
    )
  })
})
