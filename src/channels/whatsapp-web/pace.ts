import type { SessionPace } from '../shared/session.ts'
import type { WebConfig } from './config.ts'

const DAY_MS = 86_400_000

/**
 * How fast a session may send: slowly on its first day, then faster each
 * day until it is warm. The chat app bans numbers that behave like a machine, and a
 * device that was just linked and writes to many looks most like one.
 */
export function paceOf(
  { messagesPerMinute, freshMessagesPerMinute, warmUpDays }: WebConfig,
  pairedAtMs: number | null,
  nowMs: number,
): SessionPace {
  const slow = Math.min(freshMessagesPerMinute, messagesPerMinute)
  const sinceMs = pairedAtMs ?? nowMs
  const days = Math.max(0, Math.floor((nowMs - sinceMs) / DAY_MS))
  const warmAtMs = sinceMs + warmUpDays * DAY_MS
  if (days >= warmUpDays || slow === messagesPerMinute) return warm(messagesPerMinute)
  const steps = (messagesPerMinute - slow) / warmUpDays
  return {
    messagesPerMinute: Math.floor(slow + steps * days),
    fullMessagesPerMinute: messagesPerMinute,
    warmAtMs,
  }
}

function warm(messagesPerMinute: number): SessionPace {
  return { messagesPerMinute, fullMessagesPerMinute: messagesPerMinute, warmAtMs: null }
}
