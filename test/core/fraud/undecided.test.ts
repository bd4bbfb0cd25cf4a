import { expect, test } from 'vitest'
import { createGuard } from '../../../src/core/fraud/create-guard.ts'
import type { GuardedSend, GuardVerdict } from '../../../src/core/fraud/guard.ts'
import { DEFAULT_RULES } from '../../../src/core/fraud/settings.ts'
import { createTallies } from '../../../src/core/fraud/tallies.ts'
import type { Clock } from '../../../src/lib/clock.ts'

const NOW_MS = Date.UTC(2026, 4, 4)
const HALF_AN_HOUR_MS = 30 * 60_000
const clock: Clock = { now: () => NOW_MS, monotonic: () => 0, after: () => () => {} }

/** A code to one of the 10,000 numbers of a range. */
function sendTo(number: number): GuardedSend {
  return {
    accountId: 'acc_01ky0000000000000000000000',
    mode: 'live',
    recipient: `+9936512${1_000 + number}`,
    country: 'TM',
    phoneType: 'mobile',
    channel: 'int_sms',
    clientIp: null,
    amount: 50_000,
    currency: 'USD',
    resend: false,
    nowMs: NOW_MS,
  }
}

function startGuard() {
  const guard = createGuard({
    clock,
    rules: { rulesFor: () => DEFAULT_RULES },
    tallies: createTallies({
      clock,
      store: {
        fold: async () => [],
        changes: async () => ({ rows: [], asOfMs: null, more: false }),
        load: async () => [],
      },
    }),
    blocks: { record: async () => {} },
  })
  /** Simultaneous sends: all are judged before the first one is decided. */
  const judgeAll = (sends: readonly GuardedSend[]): Promise<GuardVerdict[]> =>
    Promise.all(sends.map(send => guard.judge(send)))
  /** Twelve people of the range wait for their codes. */
  async function sendTwelve(): Promise<void> {
    for (let number = 1; number <= 12; number++) {
      const send = sendTo(number)
      expect(await guard.judge(send)).toMatchObject({ verdict: 'pass' })
      guard.sent(send, false)
    }
  }
  return { guard, judgeAll, sendTwelve }
}

const passed = (verdicts: readonly GuardVerdict[]) =>
  verdicts.filter(({ verdict }) => verdict === 'pass').length

test('codes that are refused after all leave no hold on the range of their number', async () => {
  const { guard, judgeAll, sendTwelve } = startGuard()
  await sendTwelve()
  const sends = Array.from({ length: 40 }, () => sendTo(100))
  const verdicts = await judgeAll(sends)
  // No more than the limit at once, whatever becomes of them.
  expect(passed(verdicts)).toBe(18)
  for (const verdict of verdicts.slice(18)) {
    expect(verdict).toMatchObject({ verdict: 'block', rule: 'prefix', retryAfterMs: 1_000 })
  }
  for (const send of sends.slice(0, 5)) guard.sent(send, false)
  for (const send of sends.slice(5, 10)) guard.dropped(send)
  for (const send of sends.slice(10, 18)) guard.refuseLate(send, NOW_MS + 600_000)
  expect(await guard.judge(sendTo(200))).toMatchObject({ verdict: 'pass' })
})

test('simultaneous codes that are sent hold their range', async () => {
  const { guard, judgeAll, sendTwelve } = startGuard()
  await sendTwelve()
  const sends = Array.from({ length: 40 }, (_, n) => sendTo(100 + n))
  expect(passed(await judgeAll(sends))).toBe(18)
  for (const send of sends.slice(0, 18)) guard.sent(send, false)
  expect(await guard.judge(sendTo(200))).toMatchObject({
    verdict: 'block',
    rule: 'prefix',
    retryAfterMs: HALF_AN_HOUR_MS,
  })
})
