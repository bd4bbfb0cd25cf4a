import { type Measured, measure, median } from './measure.ts'
import { type Figure, fixed, note, noteMeasured } from './report.ts'
import { type System, startSystem } from './system.ts'

/** One connection alone, and many concurrent ones, where single sends share flushes too. */
const CONNECTIONS = [1, 16]
const ACCOUNTS = 100
const RECIPIENTS = 100
const ENDLESS = 10_000_000
const MOST = 0.25

type Round = { single: Measured; batch: Measured }

/**
 * The cost of a recipient in a batch compared with a single send, until it is settled: CPU of the program and
 * its database, and time. Both with the same number of connections, each waiting for its response,
 * alternating in one run. A single send waits for the provider and a batch does not, so the time is measured
 * until the last one is settled.
 */
export async function measureBatches(quick: boolean): Promise<Figure[]> {
  const system = await startSystem({ accounts: ACCOUNTS })
  try {
    const figures: Figure[] = []
    await measureRound(system, CONNECTIONS.at(-1)!, quick ? 1 : 6)
    for (const connections of CONNECTIONS) {
      figures.push(...toFigures(await measureRounds(system, connections, quick), connections))
    }
    return figures
  } finally {
    await system.stop()
  }
}

async function measureRounds(system: System, connections: number, quick: boolean): Promise<Round[]> {
  note(`Batches of ${RECIPIENTS} against single sends, connections: ${connections}`)
  const rounds: Round[] = []
  for (let number = 1; number <= (quick ? 1 : 4); number++) {
    const round = await measureRound(system, connections, quick ? 2 : 4)
    noteMeasured('single', round.single)
    noteMeasured('batch', round.batch)
    rounds.push(round)
  }
  return rounds
}

async function measureRound(system: System, connections: number, seconds: number): Promise<Round> {
  const plan = { keys: system.keys, connections, requests: ENDLESS, seconds }
  return {
    single: await measure(system, plan),
    batch: await measure(system, { ...plan, recipients: RECIPIENTS }),
  }
}

function toFigures(rounds: readonly Round[], connections: number): Figure[] {
  const middle = (value: (round: Round) => number) => median(rounds.map(value))
  const cpu = ({ nodeMicros, postgresMicros }: Measured) => nodeMicros + postgresMicros
  const wall = ({ perSecond }: Measured) => 1e6 / perSecond
  const figure = (name: string, cost: (measured: Measured) => number): Figure => ({
    name,
    measured: `${fixed(
      middle(round => cost(round.batch)),
      0,
    )} µs`,
    baseline: `${fixed(
      middle(round => cost(round.single)),
      0,
    )} µs a single send`,
    value: middle(round => cost(round.batch) / cost(round.single)),
    target: { most: MOST },
  })
  return [
    figure(`CPU a recipient of a batch, ${connections} at once`, cpu),
    figure(`time a recipient of a batch, ${connections} at once`, wall),
  ]
}
