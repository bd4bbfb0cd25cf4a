import { describe, expect, test } from 'vitest'
import type { Outcome } from '../../../src/channels/provider.ts'
import { settleOutcome } from '../../../src/core/messages/transitions.ts'
import type { Random } from '../../../src/lib/random.ts'

const NOW_MS = Date.UTC(2026, 5, 1)
const POLICY = { maxAttempts: 3, backoffMs: 1_000, unknownDeadlineMs: 86_400_000 }
/** Always half of the jitter. */
const MIDDLE = { bytes: (size: number) => Buffer.alloc(size), fraction: () => 0.5 } as Random

function settle(outcome: Outcome, attempt = 1, policy = POLICY) {
  return settleOutcome(outcome, attempt, policy, NOW_MS, MIDDLE)
}

describe('the effect of an outcome on its message', () => {
  test('accepted: sent, with the provider’s id', () => {
    expect(settle({ kind: 'accepted', providerId: 'p-1' })).toMatchObject({
      kind: 'sent',
      providerId: 'p-1',
      errorCode: null,
      dueAt: null,
      answer: 'sent',
    })
  })

  test.each([
    ['RECIPIENT_REJECTED', 'RECIPIENT_REJECTED'],
    ['CHATAPP_NOT_REGISTERED', 'CHATAPP_NOT_REGISTERED'],
    ['MESSAGE_REJECTED', 'MESSAGE_REJECTED'],
    // The API does not report whose sender was rejected.
    ['SENDER_REJECTED', 'MESSAGE_REJECTED'],
    ['PROVIDER_UNAVAILABLE', 'PROVIDER_UNAVAILABLE'],
  ] as const)('rejected as %s: failed as %s, at any attempt', (code, errorCode) => {
    for (const attempt of [1, 2, 3, 9]) {
      expect(settle({ kind: 'rejected', code, detail: 'no', providerCode: '7' }, attempt)).toMatchObject({
        kind: 'failed',
        errorCode,
        errorDetail: 'no',
        providerCode: '7',
        answer: 'failed',
      })
    }
  })

  test('retry: queued and due after a growing backoff, with no answer yet', () => {
    const [first, second] = [1, 2].map(attempt => settle({ kind: 'retry', detail: 'busy' }, attempt))
    for (const settlement of [first, second]) {
      expect(settlement).toMatchObject({ kind: 'queued', uncounted: false, answer: null, errorCode: null })
      expect(settlement!.dueAt).toBeGreaterThan(NOW_MS)
    }
    expect(second!.dueAt).toBeGreaterThan(first!.dueAt!)
  })

  test('retry with a time given by the provider: due after that time', () => {
    expect(settle({ kind: 'retry', detail: 'busy', afterMs: 77_000 }).dueAt).toBe(NOW_MS + 77_000)
  })

  test('retry with the shortest wait given by the provider: due after it, or after the backoff if that is longer', () => {
    const [backoff, longer, shorter] = [undefined, 600_000, 1].map(
      atLeastMs => settle({ kind: 'retry', detail: 'busy', ...(atLeastMs && { atLeastMs }) }).dueAt,
    )
    expect(longer).toBe(NOW_MS + 600_000)
    expect(shorter).toBe(backoff)
  })

  test.each([
    [1, 1],
    [3, 3],
    [5, 5],
    [6, 5],
  ])('retry at try %i of %i: failed for good', (attempt, maxAttempts) => {
    expect(
      settle({ kind: 'retry', detail: 'busy', afterMs: 1 }, attempt, { ...POLICY, maxAttempts }),
    ).toMatchObject({
      kind: 'failed',
      errorCode: 'PROVIDER_UNAVAILABLE',
      errorDetail: 'busy',
      dueAt: null,
      answer: 'failed',
    })
  })

  test('throttled: due after the pause and not counted as a try, even without tries left', () => {
    for (const attempt of [1, 3, 50]) {
      expect(settle({ kind: 'throttled', afterMs: 5_000 }, attempt)).toMatchObject({
        kind: 'queued',
        uncounted: true,
        dueAt: NOW_MS + 5_000,
        answer: null,
      })
    }
  })

  test('unknown: unknown until the deadline at any attempt, answered as queued', () => {
    for (const attempt of [1, 3, 50]) {
      expect(settle({ kind: 'unknown', detail: 'silence' }, attempt)).toMatchObject({
        kind: 'unknown',
        errorCode: null,
        errorDetail: 'silence',
        dueAt: NOW_MS + POLICY.unknownDeadlineMs,
        answer: 'queued',
      })
    }
  })
})
