import { tmpdir } from 'node:os'
import { createBaseline } from './baseline.ts'
import { type Measured, measure, median, watchDeliveries, watchMoney } from './measure.ts'
import { type Figure, fixed, note, noteMeasured, perSecond } from './report.ts'
import { type System, startSystem } from './system.ts'

export type ThroughputName = 'sends' | 'hot' | 'full'

const CONNECTIONS = 64
const ACCOUNTS = 100
const ENDLESS = 10_000_000

type Round = { baseline: number } & Partial<Record<ThroughputName, Measured>>

/**
 * Sends a second over HTTP, in rounds that each begin with the baseline: other
 * work on the machine then weighs on both sides, and the middle round counts.
 */
export async function measureThroughput(names: readonly ThroughputName[], quick: boolean): Promise<Figure[]> {
  const system = await startSystem({ accounts: ACCOUNTS })
  try {
    const baseline = await createBaseline(system.socketDir, tmpdir())
    note(`Sends over HTTP: ${CONNECTIONS} connections; the baseline is ${baseline.name}`)
    await warmUp(system, quick ? 1 : 4)
    const rounds: Round[] = []
    for (let number = 1; number <= (quick ? 1 : 3); number++) {
      const { perSecond: reached, meanMs } = await baseline.run(quick ? 2 : 5)
      note(`  ${'baseline'.padEnd(14)} ${perSecond(reached).padStart(9)}  mean ${fixed(meanMs, 1)} ms`)
      rounds.push({ baseline: reached, ...(await measureRound(system, names, quick ? 3 : 6)) })
    }
    return toFigures(rounds, names)
  } finally {
    await system.stop()
  }
}

/** Compiled code and filled caches, as after the first minute of a day. */
async function warmUp(system: System, seconds: number): Promise<void> {
  await measure(system, { ...everyone(system), seconds })
}

async function measureRound(system: System, names: readonly ThroughputName[], seconds: number) {
  const round: Partial<Record<ThroughputName, Measured>> = {}
  // The hot account is held against a hundred accounts.
  if (names.includes('sends') || names.includes('hot'))
    round.sends = await measure(system, { ...everyone(system), seconds })
  if (names.includes('hot'))
    round.hot = await measure(system, { ...everyone(system), keys: system.keys.slice(0, 1), seconds })
  if (names.includes('full')) round.full = await measureFull(system, seconds)
  for (const [name, measured] of Object.entries(round)) noteMeasured(name, measured)
  return round
}

/** Receipts taken, and an event row written for each message. */
async function measureFull(system: System, seconds: number): Promise<Measured> {
  await system.route('receipts')
  await system.db.query(`update accounts set event_types = '{message.delivered}'`)
  await measure(system, { ...everyone(system), requests: 2_000, seconds }, watchDeliveries)
  const measured = await measure(system, { ...everyone(system), seconds }, watchDeliveries)
  await system.db.query(`update accounts set event_types = '{}'`)
  await system.route('plain')
  await measure(system, { ...everyone(system), requests: 1_000, seconds }, watchMoney)
  return measured
}

function everyone(system: System) {
  return { keys: system.keys, connections: CONNECTIONS, requests: ENDLESS, seconds: 0 }
}

function toFigures(rounds: readonly Round[], names: readonly ThroughputName[]): Figure[] {
  const middle = (value: (round: Round) => number) => median(rounds.map(value))
  const rate = (name: ThroughputName) => perSecond(middle(round => round[name]!.perSecond))
  const ofBaseline = (name: ThroughputName, least: number, what: string): Figure => ({
    name: what,
    measured: rate(name),
    baseline: perSecond(middle(round => round.baseline)),
    value: middle(round => round[name]!.perSecond / round.baseline),
    target: { least },
  })
  const figures: Figure[] = []
  if (names.includes('sends')) {
    figures.push(ofBaseline('sends', 0.6, 'durable sends, settled'), {
      name: 'their p99',
      measured: `${fixed(
        middle(round => round.sends!.p50Ms),
        1,
      )} ms p50`,
      baseline: '',
      value: middle(round => round.sends!.p99Ms),
      unit: ' ms',
      target: { most: 40 },
    })
  }
  if (names.includes('hot')) {
    figures.push({
      name: 'one hot account',
      measured: rate('hot'),
      baseline: `${rate('sends')} of ${ACCOUNTS}`,
      value: middle(round => round.hot!.perSecond / round.sends!.perSecond),
      target: { least: 0.9 },
    })
  }
  if (names.includes('full')) figures.push(ofBaseline('full', 0.45, 'with receipts and events'))
  return figures
}
