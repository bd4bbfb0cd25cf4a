import { expect, test } from 'vitest'
import { createGuard } from '../../../src/core/fraud/create-guard.ts'
import type { GuardedSend, GuardVerdict } from '../../../src/core/fraud/guard.ts'
import { DEFAULT_RULES } from '../../../src/core/fraud/settings.ts'
import { createTallies, type TallyRow, type TallyStore } from '../../../src/core/fraud/tallies.ts'
import { addDelta, emptyTally } from '../../../src/core/fraud/tally.ts'
import type { Clock } from '../../../src/lib/clock.ts'
import { createIds } from '../../../src/lib/ids.ts'
import { createRandom } from '../../../src/lib/random.ts'

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
    simulated: false,
    clientIp: null,
    amount: 50_000,
    currency: 'USD',
    nowMs: NOW_MS,
  }
}

/** A store in memory, with the sums over all nodes that use it. */
function createStore(): TallyStore {
  const sums = new Map<string, TallyRow>()
  const copies = () => [...sums.values()].map(row => ({ ...row, tally: { ...row.tally } }))
  return {
    async fold({ changes }) {
      for (const { accountId, key, delta } of changes) {
        const sum = sums.get(key) ?? { accountId, key, tally: emptyTally(NOW_MS) }
        addDelta(sum.tally, delta)
        sums.set(key, sum)
      }
      return copies()
    },
    changes: async () => ({ rows: copies(), asOfMs: null, more: false }),
    load: async () => ({ rows: copies(), hasFold: false }),
  }
}

function startGuard(store: TallyStore = createStore()) {
  const guard = createGuard({
    clock,
    rules: { rulesFor: () => DEFAULT_RULES },
    tallies: createTallies({ clock, store, random: createRandom() }),
    blocks: { record: async () => {} },
  })
  /** Simultaneous sends: all are judged before the first one is decided. */
  const judgeAll = (sends: readonly GuardedSend[]): Promise<GuardVerdict[]> =>
    Promise.all(sends.map(send => guard.judge(send)))
  /** Sends twelve codes to the range, none of them confirmed. */
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

test('codes that are refused late do not hold the range of their number', async () => {
  const { guard, judgeAll, sendTwelve } = startGuard()
  await sendTwelve()
  const sends = Array.from({ length: 40 }, () => sendTo(100))
  const verdicts = await judgeAll(sends)
  // At most the limit passes at once, whatever the outcomes.
  expect(passed(verdicts)).toBe(18)
  for (const verdict of verdicts.slice(18)) {
    expect(verdict).toMatchObject({ verdict: 'block', rule: 'prefix', retryAfterMs: 1_000 })
  }
  for (const send of sends.slice(0, 5)) guard.sent(send, false)
  for (const send of sends.slice(5, 10)) guard.dropped(send)
  for (const send of sends.slice(10, 18)) guard.refuseLate(send, NOW_MS + 600_000)
  expect(await guard.judge(sendTo(200))).toMatchObject({ verdict: 'pass' })
})

test('codes that are confirmed with a test key do not relieve a range of live codes', async () => {
  const { guard, judgeAll, sendTwelve } = startGuard()
  await sendTwelve()
  const { accountId, recipient, country } = sendTo(1)
  const verificationId = createIds(clock, createRandom()).next('ver')
  for (let n = 0; n < 5; n++) {
    guard.verified({ accountId, verificationId, mode: 'test', recipient, country, nowMs: NOW_MS })
  }
  const sends = Array.from({ length: 40 }, (_, n) => sendTo(100 + n))
  expect(passed(await judgeAll(sends))).toBe(18)
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

test('codes that are refused late on one node do not hold their range on another node', async () => {
  const store = createStore()
  const [one, other] = [startGuard(store), startGuard(store)]
  await one.sendTwelve()
  const sends = Array.from({ length: 18 }, () => sendTo(100))
  expect(passed(await one.judgeAll(sends))).toBe(18)
  await one.guard.round()
  const meanwhile = sendTo(200)
  expect(await other.guard.judge(meanwhile)).toMatchObject({ verdict: 'pass' })
  other.guard.sent(meanwhile, false)
  await other.guard.round()
  for (const send of sends.slice(0, 5)) one.guard.sent(send, false)
  for (const send of sends.slice(5, 10)) one.guard.dropped(send)
  for (const send of sends.slice(10)) one.guard.refuseLate(send, NOW_MS + 600_000)
  await one.guard.round()
  await other.guard.round()
  // 18 of 30 were sent.
  const rest = Array.from({ length: 20 }, (_, n) => sendTo(300 + n))
  expect(passed(await other.judgeAll(rest))).toBe(12)
})

test('codes that are confirmed before their provider responds add no pressure on any node', async () => {
  const store = createStore()
  const one = startGuard(store)
  for (let number = 1; number <= 40; number++) {
    const send = sendTo(number)
    expect(await one.guard.judge(send)).toMatchObject({ verdict: 'pass' })
    one.guard.verified({ ...send, verificationId: 'ver_01ky0000000000000000000000' })
    await one.guard.round()
    one.guard.sent(send, false)
    await one.guard.round()
  }
  const rest = Array.from({ length: 40 }, (_, n) => sendTo(100 + n))
  expect(passed(await startGuard(store).judgeAll(rest))).toBe(30)
})

test('a code that is refused after another of its range was confirmed is subtracted on every node', async () => {
  const store = createStore()
  const one = startGuard(store)
  await one.sendTwelve()
  await one.guard.round()
  const refused = sendTo(100)
  await one.judgeAll([refused])
  one.guard.verified({ ...sendTo(1), verificationId: 'ver_01ky0000000000000000000000' })
  await one.guard.round()
  one.guard.dropped(refused)
  await one.guard.round()
  // A confirmed code subtracts 3.6 from the twelve.
  const rest = Array.from({ length: 40 }, (_, n) => sendTo(200 + n))
  expect(passed(await startGuard(store).judgeAll(rest))).toBe(21)
})

test('an attack that is spread over two nodes passes hardly more codes than on one', async () => {
  const store = createStore()
  const nodes = [startGuard(store).guard, startGuard(store).guard]
  let sent = 0
  for (let number = 1; number <= 200; number++) {
    const guard = nodes[number % 2]!
    const send = sendTo(number)
    const { verdict } = await guard.judge(send)
    if (verdict === 'pass') {
      guard.sent(send, false)
      sent++
    }
    // Four a second.
    if (number % 4 === 0) for (const each of nodes) await each.round()
  }
  expect(sent).toBeGreaterThanOrEqual(30)
  expect(sent).toBeLessThan(36)
})
