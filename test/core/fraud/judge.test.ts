import { expect, test } from 'vitest'
import type { FraudRules } from '../../../src/contract/fraud.ts'
import type { GuardedSend } from '../../../src/core/fraud/guard.ts'
import { findBreaches, sendKeysOf } from '../../../src/core/fraud/judge.ts'
import { DEFAULT_RULES } from '../../../src/core/fraud/settings.ts'
import { createTallies, type TallyChange, type TallyStore } from '../../../src/core/fraud/tallies.ts'
import type { Clock } from '../../../src/lib/clock.ts'
import { createRandom } from '../../../src/lib/random.ts'

const NOW_MS = Date.UTC(2026, 4, 4)
const MINUTE_MS = 60_000

const SEND: GuardedSend = {
  accountId: 'acc_01ky0000000000000000000000',
  mode: 'live',
  recipient: '+99365124711',
  country: 'TM',
  phoneType: 'mobile',
  channel: 'int_sms',
  simulated: false,
  clientIp: null,
  amount: 50_000,
  currency: 'USD',
  nowMs: NOW_MS,
}

/** For each of `codes` unconfirmed codes, a minute apart, the rules that it breaks. */
function breaches(rules: FraudRules, codes: number): string[][] {
  let nowMs = NOW_MS
  const clock: Clock = { now: () => nowMs, monotonic: () => nowMs, after: () => () => {} }
  const tallies = createTallies({
    clock,
    random: createRandom(),
    store: {
      fold: async () => [],
      changes: async () => ({ rows: [], asOfMs: null, more: false }),
      load: async () => ({ rows: [], hasFold: false }),
    },
  })
  return Array.from({ length: codes }, () => {
    nowMs += MINUTE_MS
    const send = { ...SEND, nowMs }
    const keys = sendKeysOf(send, rules)
    const found = findBreaches(send, keys, rules, tallies).map(({ rule }) => rule)
    // They count even if they were blocked, which is the worst case for a monitoring rule.
    for (const { tally } of keys.places) tallies.add(tally, { fresh: 1, sends: 1 })
    return found
  })
}

test('a monitoring rule does not end the hold of a blocking rule', () => {
  const rules: FraudRules = {
    ...DEFAULT_RULES,
    prefix: { ...DEFAULT_RULES.prefix, mode: 'monitor' },
    country: { ...DEFAULT_RULES.country, mode: 'off' },
  }
  const found = breaches(rules, 90)
  const first = found.findIndex(rules => rules.includes('conversion'))
  expect(first).toBeGreaterThan(20)
  expect(first).toBeLessThan(40)
  // Nothing passes within the half hour of the hold.
  for (const rules of found.slice(first, first + 29)) expect(rules).toContain('conversion')
  expect(found.slice(first).some(rules => rules.includes('prefix'))).toBe(true)
})

test('with all counting rules off no tally is read, and rules without counts are still checked', () => {
  const off = Object.fromEntries(
    (['prefix', 'country', 'conversion', 'clientIp', 'spend'] as const).map(rule => [
      rule,
      { ...DEFAULT_RULES[rule], mode: 'off' },
    ]),
  )
  const rules = {
    ...DEFAULT_RULES,
    ...off,
    allowedCountries: { mode: 'block', countries: ['DE'] },
  } as FraudRules
  const found = findBreaches(SEND, null, rules, null as never)
  expect(found.map(({ rule }) => rule)).toEqual(['allowedCountries'])
})

test.each([
  { phoneType: 'unknown', simulated: false, broken: ['numberType'] },
  { phoneType: 'unknown', simulated: true, broken: [] },
  { phoneType: 'premium', simulated: true, broken: ['numberType'] },
] as const)('an unallocated number is blocked except in the sandbox: $phoneType, $simulated', each => {
  const { broken, ...sent } = each
  const found = findBreaches({ ...SEND, ...sent }, null, DEFAULT_RULES, null as never)
  expect(found.map(({ rule }) => rule)).toEqual(broken)
})

/** Counts of one node alone, of which none is stored. */
function emptyTallies() {
  const clock: Clock = { now: () => NOW_MS, monotonic: () => NOW_MS, after: () => () => {} }
  const store: TallyStore = {
    fold: async () => [],
    changes: async () => ({ rows: [], asOfMs: null, more: false }),
    load: async () => ({ rows: [], hasFold: false }),
  }
  return createTallies({ clock, store, random: createRandom() })
}

test('the limits of an address and of a day’s spending can be used up, and not exceeded', () => {
  const tallies = emptyTallies()
  const rules: FraudRules = {
    ...DEFAULT_RULES,
    clientIp: { mode: 'block', sends: 3, windowMinutes: 60 },
    spend: { mode: 'block', dailyCap: 0.15 },
  }
  const send = { ...SEND, clientIp: '203.0.113.7' }
  const keys = sendKeysOf(send, rules)
  const found = Array.from({ length: 4 }, () => {
    const broken = findBreaches(send, keys, rules, tallies).map(({ rule }) => rule)
    tallies.add(keys.address!.tally, { fresh: 1 })
    tallies.add(keys.day, { fresh: send.amount })
    return broken
  })
  expect(found).toEqual([[], [], [], ['clientIp', 'spend']])
})

test('a code without a price passes also on a day whose spending is beyond the cap', () => {
  const tallies = emptyTallies()
  const rules: FraudRules = { ...DEFAULT_RULES, spend: { mode: 'block', dailyCap: 0.15 } }
  const keys = sendKeysOf(SEND, rules)
  // Two nodes learn of each other's spending a second late, and a cap may be lowered.
  tallies.add(keys.day, { fresh: 200_000 })
  const broken = (amount: number) =>
    findBreaches({ ...SEND, amount }, keys, rules, tallies).map(({ rule }) => rule)
  expect(broken(1)).toEqual(['spend'])
  expect(broken(0)).toEqual([])
})

test('a hold of a range is shared at once, though few of its codes are recent', async () => {
  const clock: Clock = { now: () => NOW_MS, monotonic: () => NOW_MS, after: () => () => {} }
  const shared: TallyChange[] = []
  const store: TallyStore = {
    fold: async ({ changes }) => {
      shared.push(...changes)
      return changes.map(({ accountId, key, delta }) => ({
        accountId,
        key,
        tally: { ...delta, atMs: NOW_MS },
      }))
    },
    changes: async () => ({ rows: [], asOfMs: null, more: false }),
    load: async () => ({ rows: [], hasFold: false }),
  }
  const tallies = createTallies({ clock, store, random: createRandom() })
  const keys = sendKeysOf(SEND, DEFAULT_RULES)
  const range = keys.places[0]!.tally
  tallies.add(keys.account, { sends: 200, verified: 140 })
  tallies.add(range, { sends: 1 })
  await tallies.fold()
  expect(findBreaches(SEND, keys, DEFAULT_RULES, tallies)).toEqual([])
  tallies.add(range, { sends: 39 })
  shared.length = 0
  await tallies.fold()
  expect(shared).toEqual([])
  expect(findBreaches(SEND, keys, DEFAULT_RULES, tallies)).toMatchObject([{ rule: 'conversion' }])
  await tallies.fold()
  expect(shared.find(({ key }) => key === range.key)?.delta).toMatchObject({ heldBy: 'conversion', holds: 1 })
})
