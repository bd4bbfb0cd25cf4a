import { expect, test } from 'vitest'
import { withWebDefaults } from '../../../src/channels/whatsapp-web/config.ts'
import { paceOf } from '../../../src/channels/whatsapp-web/pace.ts'

const DAY_MS = 86_400_000
const LINKED_MS = Date.UTC(2026, 0, 31)

test('the rate grows every day and reaches its full value after a week', () => {
  const config = withWebDefaults({})
  const perMinute = [0, 0.99, 1, 3, 6, 7, 100].map(
    days => paceOf(config, LINKED_MS, LINKED_MS + days * DAY_MS).messagesPerMinute,
  )
  expect(perMinute).toEqual([20, 20, 25, 37, 54, 60, 60])
  expect(paceOf(config, LINKED_MS, LINKED_MS)).toEqual({
    messagesPerMinute: 20,
    fullMessagesPerMinute: 60,
    warmAtMs: LINKED_MS + 7 * DAY_MS,
  })
  expect(paceOf(config, LINKED_MS, LINKED_MS + 7 * DAY_MS).warmAtMs).toBeNull()
})

test.each([
  ['the full rate when there is no warm-up', { warmUpDays: 0 }, 60],
  ['the full rate when the configured first rate is above it', { freshMessagesPerMinute: 90 }, 60],
  ['the configured first rate when that is lower', { freshMessagesPerMinute: 2, messagesPerMinute: 9 }, 2],
])('the rate on the first day is %s', (_, config, expected) => {
  expect(paceOf(withWebDefaults(config), LINKED_MS, LINKED_MS).messagesPerMinute).toBe(expected)
})

test('a session that was never linked has the rate of the first day', () => {
  expect(paceOf(withWebDefaults({}), null, LINKED_MS).messagesPerMinute).toBe(20)
})
