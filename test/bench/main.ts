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
 * The figures that this program is held to, each against a baseline of the same
 * run on the same machine: durable sends a second, what a batch
 * spares, memory, and what a send costs as the store grows. Everything is started here and removed again.
 *
 *     npm run bench -- [sends] [hot] [full] [batch] [events] [inbound] [schedule] [render] [templated] [verify] [media] [bulk] [bots] [sessions] [explorer] [console] [memory] [scale]
 *
 * Without names all of them run, in some eight minutes; BENCH_QUICK=1 takes
 * samples in one, which show that it works and little more.
 */
const THROUGHPUT: readonly ThroughputName[] = ['sends', 'hot', 'full']
const NAMES = [
  ...THROUGHPUT,
  'batch',
  'events',
  'inbound',
  'schedule',
  'render',
  'templated',
  'verify',
  'media',
  'bulk',
  'bots',
  'sessions',
  'explorer',
  'console',
  'memory',
  'scale',
] as const
const LIMIT_MS = 15 * 60_000

async function main(args: readonly string[]): Promise<void> {
  const unknown = args.filter(name => !NAMES.some(known => known === name))
  if (unknown.length > 0) throw new Error(`There is no ${unknown.join(', ')}: choose of ${NAMES.join(', ')}.`)
  const wanted = new Set<string>(args.length > 0 ? args : NAMES)
  const quick = process.env['BENCH_QUICK'] === '1'
  if (quick) note('BENCH_QUICK=1: short samples; compare nothing with them')

  const figures: Figure[] = []
  const throughput = THROUGHPUT.filter(name => wanted.has(name))
  if (throughput.length > 0) figures.push(...(await measureThroughput(throughput, quick)))
  if (wanted.has('batch')) figures.push(...(await measureBatches(quick)))
  if (wanted.has('events')) figures.push(...(await measureCallbacks(quick)))
  if (wanted.has('inbound')) figures.push(...(await measureInbound(quick)))
  if (wanted.has('schedule')) figures.push(...(await measureSchedule(quick)))
  if (wanted.has('render')) figures.push(measureRendering(quick))
  if (wanted.has('templated')) figures.push(...(await measureTemplated(quick)))
  if (wanted.has('verify')) figures.push(...(await measureVerification(quick)))
  if (wanted.has('media')) figures.push(...(await measureMedia()))
  if (wanted.has('bulk')) figures.push(...(await measureBulk(quick)))
  if (wanted.has('bots')) figures.push(...(await measureBots(quick)))
  if (wanted.has('sessions')) figures.push(...(await measureSessions(quick)))
  if (wanted.has('explorer')) figures.push(...(await measureExplorer(quick)))
  if (wanted.has('console')) figures.push(...(await measureConsole(quick)))
  if (wanted.has('scale')) figures.push(...(await measureScale(quick)))
  if (wanted.has('memory')) figures.push(...(await measureMemory(quick)))
  printFigures(figures)
}

async function giveUp(why: unknown): Promise<never> {
  console.error(why)
  await stopChildren()
  process.exit(1)
}

setTimeout(() => giveUp('The bench took too long.'), LIMIT_MS).unref()
process.on('SIGINT', () => giveUp('Interrupted.'))
process.on('SIGTERM', () => giveUp('Interrupted.'))
await main(process.argv.slice(2)).catch(giveUp)
