import { describe, expect, test } from 'vitest'
import { type Replayed, replay } from './replay.ts'
import { type Ask, campaign, createDice, DAY_MS, everyday, HOUR_MS, pumping, START_MS } from './traffic.ts'

const ATTACK_MS = START_MS + DAY_MS + 12 * HOUR_MS
const FAST = { count: 10_000, perSecond: 5, atMs: ATTACK_MS }

/** Two days of honest traffic, with a rush in Estonia on the second. */
function honestTraffic(seed: number): Ask[] {
  const dice = createDice(seed)
  return [
    ...everyday(dice, { days: 2, perHour: 300 }),
    ...campaign(dice, { country: 'EE', atMs: ATTACK_MS - 2 * HOUR_MS, minutes: 20, perSecond: 2 }),
  ]
}

type Attack = Omit<Parameters<typeof pumping>[1], 'count' | 'perSecond' | 'atMs'> &
  Partial<Parameters<typeof pumping>[1]>

async function play(name: string, seed: number, attack: Attack): Promise<Replayed & { share: number }> {
  const pumped = pumping(createDice(seed + 100), { ...FAST, ...attack })
  const played = await replay([...honestTraffic(seed), ...pumped])
  return { ...played, share: printResult(`${name}, seed ${seed}`, played) }
}

/** Prints the result; returns the share of honest codes that were blocked. */
function printResult(name: string, { pumped, attacks, honest, honestBlocked, rules }: Replayed): number {
  const share = honestBlocked / honest
  console.log(
    `${name}: ${pumped} of ${attacks} pumped codes were sent; ${honestBlocked} of ${honest} honest ones ` +
      `(${(100 * share).toFixed(3)} %) were blocked; by rule ${JSON.stringify(rules)}`,
  )
  return share
}

describe('pumping of 10,000 numbers of one prefix among honest traffic', () => {
  const targets = [
    { prefixes: ['9936512'], digits: 4, country: 'TM' },
    { prefixes: ['964771234'], digits: 4, country: 'IQ' },
    { prefixes: ['44770090'], digits: 4, country: 'GB' },
    { prefixes: ['3725512'], digits: 4, country: 'EE' },
  ]
  for (const [at, target] of targets.entries()) {
    test(`in ${target.country} ends within 50 codes, with less than 0.5 % of honest codes blocked`, async () => {
      const { attacks, pumped, share } = await play(`one prefix of ${target.country}`, at + 1, target)
      expect(attacks).toBe(10_000)
      expect(pumped).toBeLessThanOrEqual(50)
      expect(share).toBeLessThan(0.005)
    })
  }
})

/** docs/verification-fraud.md has these figures: what is caught, and what is not. */
describe('other attacks among honest traffic', () => {
  const cases: readonly [name: string, attack: Attack, mostPumped: number, mostShare: number][] = [
    [
      'three prefixes in order',
      { prefixes: ['9936512', '9936134', '9936590'], digits: 4, country: 'TM', sequential: true },
      100,
      0.005,
    ],
    ['a million numbers', { prefixes: ['99365'], digits: 6, country: 'TM' }, 50, 0.005],
    [
      'a million numbers in the busiest country',
      { prefixes: ['9647712'], digits: 6, country: 'IQ' },
      50,
      0.005,
    ],
    [
      'one prefix, three a minute',
      { prefixes: ['9936512'], digits: 4, country: 'TM', count: 2_000, perSecond: 1 / 20 },
      50,
      0.005,
    ],
    [
      'one prefix, six an hour',
      { prefixes: ['9936512'], digits: 4, country: 'TM', count: 280, perSecond: 1 / 600, atMs: START_MS },
      80,
      0.005,
    ],
    [
      'all numbers of the busiest country',
      { prefixes: ['96475', '96477', '96478'], digits: 8, country: 'IQ' },
      1_000,
      0.02,
    ],
  ]
  test.each(cases)(
    '%s: pumped codes and blocked honest codes stay below their limits',
    async (name, attack, mostPumped, mostShare) => {
      const { pumped, share } = await play(name, 1, attack)
      expect(pumped).toBeLessThanOrEqual(mostPumped)
      expect(share).toBeLessThanOrEqual(mostShare)
    },
  )

  test('one code an hour to a prefix is not detected', async () => {
    const slow = {
      prefixes: ['9936512'],
      digits: 4,
      country: 'TM',
      count: 24,
      perSecond: 1 / 3_600,
      atMs: START_MS,
    }
    const { pumped } = await play('one prefix, one an hour', 1, slow)
    expect(pumped).toBe(24)
  })
})

describe('honest traffic alone', () => {
  test.each([
    ['Kuwait', 'KW', 10],
    ['Estonia', 'EE', 10],
    // Two million mobile numbers, with two prefixes.
    ['Malta', 'MT', 3],
  ])(
    'a rush to %s as the first traffic of a new account has less than 0.5 % blocked',
    async (name, country, perSecond) => {
      const rush = campaign(createDice(5), { country, atMs: START_MS, minutes: 15, perSecond })
      expect(printResult(`a rush of ${name}`, await replay(rush))).toBeLessThan(0.005)
    },
  )

  test('a rush that is taken for an attack has less than 3 % blocked', async () => {
    const rush = campaign(createDice(5), { country: 'MT', atMs: START_MS, minutes: 15, perSecond: 10 })
    expect(printResult('ten a second to Malta', await replay(rush))).toBeLessThan(0.03)
  })

  test('a new account that sends 120 unconfirmed codes across a whole country is not blocked', async () => {
    const tried = pumping(createDice(7), {
      prefixes: ['1202', '1312', '1415'],
      digits: 7,
      country: 'US',
      count: 120,
      perSecond: 1 / 5,
      atMs: START_MS,
    })
    const { pumped } = await replay(tried)
    console.log(`codes that nobody confirms, to all of a country: ${pumped} of ${tried.length} were sent`)
    expect(pumped).toBe(120)
  })

  test('a week of traffic with half of the confirmations has less than 0.5 % blocked', async () => {
    const asks = everyday(createDice(9), { days: 7, perHour: 60 }).map((ask, at) =>
      at % 2 === 0 ? ask : { ...ask, confirmedAtMs: null },
    )
    expect(printResult('half as many confirmed', await replay(asks))).toBeLessThan(0.005)
  })
})
