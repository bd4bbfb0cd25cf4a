import { expect, test } from 'vitest'
import { createPace } from '../../../src/channels/telegram/pace.ts'
import { createFakeClock } from '../../support/fake-clock.ts'

test('a throttle pauses only its own chat, for the given time', async () => {
  const clock = createFakeClock()
  const pace = createPace(clock)
  expect(pace.throttleOf('bot', '1')).toBeNull()
  expect(pace.recordThrottle('bot', '1', 5_000)).toEqual({ afterMs: 5_000, scope: 'message' })
  await clock.advance(1_000)
  expect(pace.throttleOf('bot', '1')).toEqual({ afterMs: 4_000, scope: 'message' })
  expect(pace.throttleOf('bot', '2')).toBeNull()
  expect(pace.throttleOf('other', '1')).toBeNull()
  await clock.advance(4_000)
  expect(pace.throttleOf('bot', '1')).toBeNull()
})

test('a second throttle of the same chat does not pause the bot', () => {
  const pace = createPace(createFakeClock())
  pace.recordThrottle('bot', '1', 5_000)
  expect(pace.recordThrottle('bot', '1', 9_000)).toEqual({ afterMs: 9_000, scope: 'message' })
  expect(pace.throttleOf('bot', '2')).toBeNull()
})

test('a throttle of a second chat during a pause pauses the whole bot, but no other bot', async () => {
  const clock = createFakeClock()
  const pace = createPace(clock)
  pace.recordThrottle('bot', '1', 5_000)
  expect(pace.recordThrottle('bot', '2', 3_000)).toEqual({ afterMs: 3_000, scope: 'account' })
  expect(pace.throttleOf('bot', '3')).toEqual({ afterMs: 3_000, scope: 'account' })
  expect(pace.throttleOf('other', '3')).toBeNull()
  await clock.advance(3_000)
  expect(pace.throttleOf('bot', '3')).toBeNull()
  expect(pace.throttleOf('bot', '1')).toEqual({ afterMs: 2_000, scope: 'message' })
})

test('a pause is at most one hour, and at least one second', () => {
  const pace = createPace(createFakeClock())
  expect(pace.recordThrottle('bot', '1', 90_000_000).afterMs).toBe(3_600_000)
  expect(pace.recordThrottle('bot', '2', -5).afterMs).toBe(1_000)
})

test('a later, shorter throttle does not shorten a pause', async () => {
  const clock = createFakeClock()
  const pace = createPace(clock)
  pace.recordThrottle('bot', '1', 9_000)
  pace.recordThrottle('bot', '1', 2_000)
  pace.recordThrottle('bot', '2', 8_000)
  pace.recordThrottle('bot', '3', 1_000)
  await clock.advance(7_999)
  expect(pace.throttleOf('bot', '4')).toEqual({ afterMs: 1, scope: 'account' })
  await clock.advance(1)
  expect(pace.throttleOf('bot', '4')).toBeNull()
  expect(pace.throttleOf('bot', '1')).toEqual({ afterMs: 1_000, scope: 'message' })
})
