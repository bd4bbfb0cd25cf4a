import { expect, test } from 'vitest'
import { beforeAbort, pauseUnlessAborted } from '../../src/lib/clock.ts'
import { createFakeClock } from '../support/fake-clock.ts'

test('a pause ends when its time is over', async () => {
  const clock = createFakeClock()
  let over = false
  const pause = pauseUnlessAborted(clock, 1_000, new AbortController().signal).then(() => {
    over = true
  })
  await clock.advance(999)
  expect(over).toBe(false)
  await clock.advance(1)
  await pause
})

test('a pause ends when the signal aborts, and leaves no timer behind', async () => {
  const clock = createFakeClock()
  const stop = new AbortController()
  const pause = pauseUnlessAborted(clock, 1_000, stop.signal)
  expect(clock.pending()).toBe(1)
  stop.abort()
  await pause
  expect(clock.pending()).toBe(0)
})

test('a pause ends at once when the signal has already aborted', async () => {
  const clock = createFakeClock()
  await pauseUnlessAborted(clock, 1_000, AbortSignal.abort())
  expect(clock.pending()).toBe(0)
})

test('beforeAbort() settles like the work, or resolves to null when the signal aborts first', async () => {
  const stop = new AbortController()
  expect(await beforeAbort(Promise.resolve('done'), stop.signal)).toBe('done')
  await expect(beforeAbort(Promise.reject(new Error('failed')), stop.signal)).rejects.toThrow('failed')
  const never = beforeAbort(new Promise(() => {}), stop.signal)
  stop.abort()
  expect(await never).toBeNull()
  expect(await beforeAbort(new Promise(() => {}), stop.signal)).toBeNull()
})

test('beforeAbort() ignores a rejection after the abort', async () => {
  const work = Promise.withResolvers<void>()
  const answer = beforeAbort(work.promise, AbortSignal.abort())
  work.reject(new Error('late'))
  expect(await answer).toBeNull()
})
