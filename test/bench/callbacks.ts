import { fileURLToPath } from 'node:url'
import { type Child, startChild } from './child.ts'
import { type Measured, measure, median } from './measure.ts'
import { type Figure, fixed, note, noteMeasured, perSecond } from './report.ts'
import { pause, type System, startSystem } from './system.ts'

const RECEIVER = fileURLToPath(new URL('./slow-receiver.ts', import.meta.url))
const CONNECTIONS = 64
const ACCOUNTS = 100
const ENDLESS = 10_000_000
/** 10,000 events per minute. */
const EVENTS_A_SECOND = 10_000 / 60
const FEED_EVERY_MS = 60
/** More than can be in flight. */
const MESSAGES = 1_000
/** Time until a steady number of events is in flight: the receiver takes a second for each. */
const FILL_MS = 2_500
const ROUNDS = 6

/**
 * The rate of sends while another account's events go to a receiver that takes a second for each, compared
 * with sends without events.
 */
export async function measureCallbacks(quick: boolean): Promise<Figure[]> {
  const system = await startSystem({ accounts: ACCOUNTS, env: { POSTHORN_ALLOW_PRIVATE_HOSTS: '127.0.0.1' } })
  const receiver = await startChild(RECEIVER)
  try {
    const seconds = quick ? 3 : 6
    const load = { keys: system.keys.slice(1), connections: CONNECTIONS, requests: ENDLESS, seconds }
    note(`Events: ${perSecond(EVENTS_A_SECOND)} to a receiver that takes a second`)
    await measure(system, { ...load, seconds: quick ? 1 : 4 })
    const feed = await createFeed(system, receiver)
    await noteIdleCost(system, feed, seconds)
    const rounds: Round[] = []
    let before = await measureWithout(system, load)
    for (let number = 1; number <= (quick ? 1 : ROUNDS); number++) {
      const { result: beside, told, lagsMs } = await feed.during(() => measure(system, load))
      noteMeasured('with events', beside)
      noteTold(told, lagsMs)
      const after = await measureWithout(system, load)
      // The machine's speed varies: the mean of the runs before and after is the reference.
      const without = (before.perSecond + after.perSecond) / 2
      rounds.push({ without, beside: beside.perSecond, told })
      before = after
    }
    noteSpread(rounds)
    return toFigures(rounds)
  } finally {
    await receiver.stop()
    await system.stop()
  }
}

/** Sends per second without and with events, and events per second. */
type Round = { without: number; beside: number; told: number }

async function measureWithout(system: System, load: Parameters<typeof measure>[1]): Promise<Measured> {
  const measured = await measure(system, load)
  noteMeasured('without', measured)
  return measured
}

function noteTold(told: number, lagsMs: readonly number[]): void {
  const sorted = [...lagsMs].sort((a, b) => a - b)
  const at = (share: number) => fixed(sorted[Math.floor(sorted.length * share)] ?? 0, 0)
  note(`  ${'told'.padEnd(14)} ${perSecond(told).padStart(9)}  after p50 ${at(0.5)} ms  p99 ${at(0.99)} ms`)
}

function noteSpread(rounds: readonly Round[]): void {
  const ratios = rounds.map(round => round.beside / round.without).sort((a, b) => a - b)
  note(
    `  ${'ratio'.padEnd(14)} ${fixed(median(ratios), 2).padStart(9)}` +
      `  least ${fixed(ratios[0]!, 2)}  most ${fixed(ratios.at(-1)!, 2)}`,
  )
}

type Feed = {
  /**
   * Runs `work` while events are written. Returns its result, the events delivered per second meanwhile,
   * their delays, and the number of all events that were written, before and during `work`.
   */
  during<T>(
    work: () => Promise<T>,
  ): Promise<{ result: T; told: number; lagsMs: readonly number[]; written: number }>
}

/** Writes events of existing messages of one account at the rate, as the hot path does. */
async function createFeed(system: System, receiver: Child): Promise<Feed> {
  const { port } = receiver.ready as { port: number }
  const ask = async () => (await receiver.ask('')) as { answered: number; lagsMs: number[] }
  const made = await system.call('POST', '/webhooks', { url: `http://127.0.0.1:${port}/` })
  if (!made.ok) throw new Error(`no endpoint: ${await made.text()}`)
  await system.load({ keys: system.keys.slice(0, 1), connections: 8, requests: MESSAGES, seconds: 10 })
  // The events of those sends must be delivered before anything is measured.
  await untilIdle(system)

  const { rows } = await system.db.query<{ account_id: string; id: string }>(
    'select m.account_id, m.id from messages m join webhook_endpoints e on e.account_id = m.account_id order by m.id',
  )
  let at = 0
  /** One event per message in turn, since events of the same message are delivered in order. */
  async function write(count: number): Promise<void> {
    const turn = Array.from({ length: count }, () => rows[at++ % rows.length]!.id)
    await system.db.query({
      name: 'feed',
      text: `insert into events (account_id, id, type, message_id, at)
               select $1, uuid_at(now()), 'message.delivered', m, now() from unnest($2::uuid[]) as m`,
      values: [rows[0]!.account_id, turn],
    })
  }

  return {
    async during(work) {
      let running = true
      const startedMs = performance.now()
      let written = 0
      const feeding = (async () => {
        while (running) {
          const due = Math.floor(((performance.now() - startedMs) / 1_000) * EVENTS_A_SECOND) - written
          if (due > 0) await write(due)
          written += Math.max(0, due)
          await pause(FEED_EVERY_MS)
        }
      })()
      await pause(FILL_MS)
      const [before, fromMs] = [await ask(), performance.now()]
      const result = await work()
      const after = await ask()
      const count = after.answered - before.answered
      const told = (count * 1_000) / (performance.now() - fromMs)
      running = false
      await feeding
      await untilIdle(system)
      return { result, told, lagsMs: after.lagsMs, written }
    },
  }
}

async function untilIdle({ db }: System): Promise<void> {
  for (let tries = 0; tries < 600; tries++) {
    const { rows } = await db.query(`select 1 from deliveries where status = 'pending' limit 1`)
    if (rows.length === 0) return
    await pause(50)
  }
  throw new Error('the deliveries did not end')
}

/**
 * Notes the CPU cost of one event on an idle system, from the insert of its row to the end of its delivery.
 */
async function noteIdleCost(system: System, feed: Feed, seconds: number): Promise<void> {
  const quiet = await cpuDuring(system, () => pause(seconds * 1_000))
  const busy = await cpuDuring(system, () => feed.during(() => pause(seconds * 1_000)))
  const micros = (kind: 'node' | 'postgres') =>
    (busy[kind] - quiet[kind] * (busy.seconds / quiet.seconds)) / busy.result.written / 1_000
  note(
    `  ${'alone'.padEnd(14)} ${perSecond(busy.result.told).padStart(9)}` +
      `  CPU an event: Node ${fixed(micros('node'), 0)} µs, PostgreSQL ${fixed(micros('postgres'), 0)} µs;` +
      ` at this rate ${percent(micros('node'))} and ${percent(micros('postgres'))} of a core`,
  )
}

/** The share of a core, for a CPU time of so many µs per event. */
function percent(micros: number): string {
  return `${fixed((micros * EVENTS_A_SECOND) / 10_000, 1)} %`
}

/** CPU in ns. */
async function cpuDuring<T>(system: System, work: () => Promise<T>) {
  const [before, startedMs] = [system.cpu(), performance.now()]
  const result = await work()
  const after = system.cpu()
  return {
    result,
    node: after.node - before.node,
    postgres: after.postgres - before.postgres,
    seconds: (performance.now() - startedMs) / 1_000,
  }
}

function toFigures(rounds: readonly Round[]): Figure[] {
  const told = median(rounds.map(round => round.told)) * 60
  return [
    {
      name: 'sends beside 10,000 events a minute',
      measured: perSecond(median(rounds.map(round => round.beside))),
      baseline: perSecond(median(rounds.map(round => round.without))),
      value: median(rounds.map(round => round.beside / round.without)),
      target: { least: 0.95 },
    },
    {
      name: 'told to a receiver of 1 s',
      measured: `${Math.round(told).toLocaleString('en')}/min`,
      baseline: '',
      value: told / 10_000,
      // A little below 1, since the events are not counted at exactly the times that the clock is read.
      target: { least: 0.98 },
    },
  ]
}
