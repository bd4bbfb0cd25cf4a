import { type Measured, measure, median } from './measure.ts'
import { type Figure, fixed, note, noteMeasured } from './report.ts'
import { type System, startSystem } from './system.ts'

/** One caller with a hundred messages to send; and many at once, where single sends share their flushes too. */
const CONNECTIONS = [1, 16]
const ACCOUNTS = 100
const RECIPIENTS = 100
const ENDLESS = 10_000_000
const MOST = 0.25

type Round = { single: Measured; batch: Measured }

/**
 * What a recipient of a batch costs against a single send, until it is settled:
 * CPU of the program and its database, and time. Both from as many connections,
 * each waiting for its answer, in turns in one run. A single send waits for the
 * provider and a batch does not; so the time is that of all of them until the
 * last is settled.
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
