import { tmpdir } from 'node:os'
import { type Baseline, createBaseline } from './baseline.ts'
import { type Measured, measure, median, watchDeliveries, watchMoney } from './measure.ts'
import { type Figure, fixed, note, noteMeasured, perSecond } from './report.ts'
import { type System, startSystem } from './system.ts'

export type ThroughputName = 'sends' | 'hot' | 'full'

const CONNECTIONS = 64
const ACCOUNTS = 100
const ENDLESS = 10_000_000
const ALL: readonly ThroughputName[] = ['sends', 'hot', 'full']
/** The share of the machine from which other programs are reported. */
const MUCH_OTHER_WORK = 0.1

/** A run of sends, and the baseline right before and after it. */
type Stretch = { measured: Measured; baseline: number }
type Round = Partial<Record<ThroughputName, Stretch>>

/**
 * Sends per second over HTTP, in rounds with the baseline between the runs, so that other load on the machine
 * affects both sides of a ratio. The median of the rounds counts.
 */
export async function measureThroughput(names: readonly ThroughputName[], quick: boolean): Promise<Figure[]> {
  const system = await startSystem({ accounts: ACCOUNTS })
  try {
    const baseline = await createBaseline(system.socketDir, tmpdir())
    note(`Sends over HTTP: ${CONNECTIONS} connections; the baseline is ${baseline.name}`)
    await ripen(system, quick ? 128 : 1_024)
    await warmUp(system, quick ? 1 : 12)
    // One hot account is compared with a hundred accounts.
    const wanted = ALL.filter(name => names.includes(name) || (name === 'sends' && names.includes('hot')))
    const rounds: Round[] = []
    for (let number = 1; number <= (quick ? 1 : 4); number++) {
      rounds.push(await measureRound(system, baseline, wanted, quick ? 2 : 4))
    }
    warnOfOthers(rounds)
    return toFigures(rounds, names)
  } finally {
    await system.stop()
  }
}

/** WAL segment size of a new embedded server. */
const SEGMENT_MB = 4

/**
 * Fills the WAL once: a new server must create each WAL segment, which blocks all writes meanwhile; later it
 * recycles old ones.
 */
export async function ripen({ db }: System, logMb: number): Promise<void> {
  for (let made = 0; made < logMb; made += SEGMENT_MB) {
    // Without a write since the last switch, there would be no switch.
    await db.query('select pg_current_xact_id()')
    await db.query('select pg_switch_wal()')
  }
  await db.query('checkpoint')
}

/** Sends until code is compiled and caches are filled. */
async function warmUp(system: System, seconds: number): Promise<void> {
  await measure(system, { ...everyone(system), seconds })
}

async function measureRound(
  system: System,
  baseline: Baseline,
  names: readonly ThroughputName[],
  seconds: number,
): Promise<Round> {
  const round: Round = {}
  let before = await runBaseline(baseline, seconds)
  for (const name of names) {
    const measured = await measureStretch(system, name, seconds)
    noteMeasured(name, measured)
    const after = await runBaseline(baseline, seconds)
    round[name] = { measured, baseline: (before + after) / 2 }
    before = after
  }
  return round
}

async function runBaseline(baseline: Baseline, seconds: number): Promise<number> {
  const { perSecond: reached, meanMs } = await baseline.run(seconds)
  note(`  ${'baseline'.padEnd(14)} ${perSecond(reached).padStart(9)}  mean ${fixed(meanMs, 1)} ms`)
  return reached
}

function measureStretch(system: System, name: ThroughputName, seconds: number): Promise<Measured> {
  switch (name) {
    case 'sends':
      return measure(system, { ...everyone(system), seconds })
    case 'hot':
      return measure(system, { ...everyone(system), keys: system.keys.slice(0, 1), seconds })
    case 'full':
      return measureFull(system, seconds)
  }
}

/** Sends with a receipt for each message, and an event that is stored for it. */
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

/** Warns of other load on the machine: it affects the absolute figures, but not the ratios. */
function warnOfOthers(rounds: readonly Round[]): void {
  const shares = rounds.flatMap(round => Object.values(round).map(each => each.measured.machineOthers))
  const others = median(shares)
  if (others > MUCH_OTHER_WORK) {
    note(
      `  Other programs used ${fixed(others * 100, 0)} % of the machine: all of this is slower than it would be.`,
    )
  }
}

function toFigures(rounds: readonly Round[], names: readonly ThroughputName[]): Figure[] {
  const middle = (value: (round: Round) => number) => median(rounds.map(value))
  const rate = (name: ThroughputName) => perSecond(middle(round => round[name]!.measured.perSecond))
  const ratio = (name: ThroughputName) => (round: Round) =>
    round[name]!.measured.perSecond / round[name]!.baseline
  const ofBaseline = (name: ThroughputName, least: number, what: string): Figure => ({
    name: what,
    measured: rate(name),
    baseline: perSecond(middle(round => round[name]!.baseline)),
    value: middle(ratio(name)),
    target: { least },
  })
  const figures: Figure[] = []
  if (names.includes('sends')) {
    figures.push(ofBaseline('sends', 0.6, 'durable sends, settled'), {
      name: 'their p99',
      measured: `${fixed(
        middle(round => round.sends!.measured.p50Ms),
        1,
      )} ms p50`,
      baseline: '',
      value: middle(round => round.sends!.measured.p99Ms),
      unit: ' ms',
      target: { most: 40 },
    })
  }
  if (names.includes('hot')) {
    figures.push({
      name: 'one hot account',
      measured: rate('hot'),
      baseline: `${rate('sends')} of ${ACCOUNTS}`,
      value: middle(round => ratio('hot')(round) / ratio('sends')(round)),
      target: { least: 0.9 },
    })
  }
  if (names.includes('full')) figures.push(ofBaseline('full', 0.45, 'with receipts and events'))
  return figures
}
