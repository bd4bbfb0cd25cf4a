import { measureBatches } from './batches.ts'
import { measureBots } from './bots.ts'
import { measureBulk } from './bulk.ts'
import { measureCallbacks } from './callbacks.ts'
import { stopChildren } from './child.ts'
import { measureConsole } from './console.ts'
import { measureExplorer } from './explorer.ts'
import { measureInbound } from './inbound.ts'
import { measureMedia } from './media.ts'
import { measureMemory } from './memory.ts'
import { type Figure, note, printFigures } from './report.ts'
import { measureScale } from './scale.ts'
import { measureSchedule } from './schedule.ts'
import { measureSessions } from './sessions.ts'
import { measureRendering, measureTemplated } from './templates.ts'
import { measureThroughput, type ThroughputName } from './throughput.ts'
import { measureVerification } from './verify.ts'

/**
 * Measures the figures that have a target, many of them against a baseline of the same run on the same
 * machine: durable sends per second, the cost of batches, memory, the cost of a send in a full database, and
 * more. Everything is started here and removed again.
 *
 *     npm run bench -- [name …]
 *
 * Without names all parts run, in some half an hour. With BENCH_QUICK=1 they take some minutes; their short
 * samples only show that the bench works.
 */
const THROUGHPUT: readonly ThroughputName[] = ['sends', 'hot', 'full']
const PARTS: Readonly<Record<string, (quick: boolean) => Figure[] | Promise<Figure[]>>> = {
  batch: measureBatches,
  events: measureCallbacks,
  inbound: measureInbound,
  schedule: measureSchedule,
  render: measureRendering,
  templated: measureTemplated,
  verify: measureVerification,
  media: measureMedia,
  bulk: measureBulk,
  bots: measureBots,
  sessions: measureSessions,
  explorer: measureExplorer,
  console: measureConsole,
  scale: measureScale,
  memory: measureMemory,
}
const NAMES: readonly string[] = [...THROUGHPUT, ...Object.keys(PARTS)]
/** Time limit of each part; the parts of `THROUGHPUT` share one. */
const LIMIT_MS = 15 * 60_000

async function main(args: readonly string[]): Promise<void> {
  const unknown = args.filter(name => !NAMES.includes(name))
  if (unknown.length > 0) throw new Error(`There is no ${unknown.join(', ')}: choose of ${NAMES.join(', ')}.`)
  const wanted = new Set(args.length > 0 ? args : NAMES)
  const quick = process.env['BENCH_QUICK'] === '1'
  if (quick) note('BENCH_QUICK=1: short samples; compare nothing with them')

  const figures: Figure[] = []
  const throughput = THROUGHPUT.filter(name => wanted.has(name))
  if (throughput.length > 0) figures.push(...(await limited(measureThroughput(throughput, quick))))
  for (const [name, measure] of Object.entries(PARTS)) {
    if (wanted.has(name)) figures.push(...(await limited(measure(quick))))
  }
  printFigures(figures)
}

async function limited<T>(part: T | Promise<T>): Promise<T> {
  const limit = setTimeout(() => giveUp('The bench took too long.'), LIMIT_MS).unref()
  try {
    return await part
  } finally {
    clearTimeout(limit)
  }
}

async function giveUp(why: unknown): Promise<never> {
  console.error(why)
  await stopChildren()
  process.exit(1)
}

process.on('SIGINT', () => giveUp('Interrupted.'))
process.on('SIGTERM', () => giveUp('Interrupted.'))
await main(process.argv.slice(2)).catch(giveUp)
