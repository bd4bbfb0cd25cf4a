import { machineCpu } from './cpu.ts'
import type { LoadPlan } from './load.ts'
import { type Batches, pause, type System } from './system.ts'

/** The result of a run of sends. */
export type Measured = {
  sends: number
  /** Sends per second, until the last one is settled in the database. */
  perSecond: number
  p50Ms: number
  p99Ms: number
  maxMs: number
  /** CPU per send, in µs. */
  nodeMicros: number
  postgresMicros: number
  /** Mean items per flush. */
  acceptBatch: number
  settleBatch: number
  /** Shares of all cores: busy in total, and busy with other programs. */
  machineBusy: number
  machineOthers: number
}

/** Whether all sends have their expected final state in the database. */
export type Settled = (sends: number) => Promise<boolean>

const LOOK_EVERY_MS = 10
const SETTLE_TIMEOUT_MS = 30_000

/**
 * Runs a load and waits until its last send is settled in the database. Throws if a response was not a 200,
 * since the measurement would be meaningless.
 */
export async function measure(
  system: System,
  plan: Omit<LoadPlan, 'port' | 'offset'>,
  watch: (system: System) => Promise<Settled> = watchMoney,
): Promise<Measured> {
  const settled = await watch(system)
  const before = { cpu: system.cpu(), batches: await system.batches(), machine: machineCpu() }
  const startedMs = performance.now()
  const load = await system.load(plan)
  const sends = (load.answers['200'] ?? 0) * (plan.recipients ?? 1)
  if (load.firstFailure !== null)
    throw new Error(`not every send was taken: ${JSON.stringify(load.answers)} ${load.firstFailure}`)
  if (!(await comesTrue(() => settled(sends)))) throw new Error(await describeUnsettled(system, sends))
  const tookMs = performance.now() - startedMs
  const cpu = system.cpu()
  const batches = await system.batches()
  const machine = machineCpu()
  const batch = (name: keyof Batches) => {
    const items = batches[name].items - before.batches[name].items
    return items / Math.max(1, batches[name].calls - before.batches[name].calls)
  }
  const used = (kind: keyof typeof cpu) => cpu[kind] - before.cpu[kind]
  const cores = machine.all - before.machine.all
  const busy = machine.busy - before.machine.busy
  const ours = used('node') + used('postgres') + used('tools')
  return {
    sends,
    perSecond: (sends * 1_000) / tookMs,
    p50Ms: load.p50Ms,
    p99Ms: load.p99Ms,
    maxMs: load.maxMs,
    nodeMicros: used('node') / sends / 1_000,
    postgresMicros: used('postgres') / sends / 1_000,
    acceptBatch: batch('accept'),
    settleBatch: batch('settle'),
    machineBusy: busy / cores,
    machineOthers: Math.max(0, (busy - ours) / cores),
  }
}

async function comesTrue(condition: () => Promise<boolean>): Promise<boolean> {
  const giveUpMs = performance.now() + SETTLE_TIMEOUT_MS
  while (!(await condition())) {
    if (performance.now() > giveUpMs) return false
    await pause(LOOK_EVERY_MS)
  }
  return true
}

async function describeUnsettled({ db }: System, sends: number): Promise<string> {
  const { rows } = await db.query(
    `select status, money, error_detail, count(*)::integer as count from messages group by 1, 2, 3 order by 4 desc`,
  )
  return `of ${sends} sends not all were settled in time: ${JSON.stringify(rows)}`
}

/** The price of one part to a German phone in the list of a fresh store, in micros. */
export const PRICE_MICROS = 10_000

/**
 * Sends are settled when no money is held and exactly their price was captured. The wallets are quick to
 * read, however many messages are stored.
 */
export async function watchMoney({ db }: System): Promise<Settled> {
  const read = async () => {
    const { rows } = await db.query(
      'select sum(captured)::float8 as captured, sum(held)::float8 as held from wallets',
    )
    return rows[0] as { captured: number; held: number }
  }
  const before = await read()
  return async sends => {
    const now = await read()
    if (now.captured > before.captured + sends * PRICE_MICROS)
      throw new Error('more was captured than was sent')
    return now.held === 0 && now.captured === before.captured + sends * PRICE_MICROS
  }
}

/** Sends are settled when each has an event; then as many messages must be delivered. */
export async function watchDeliveries({ db }: System): Promise<Settled> {
  const count = async (sql: string) => ((await db.query(sql)).rows[0] as { count: number }).count
  const events = () => count(`select count(*)::integer as count from events where type = 'message.delivered'`)
  const delivered = () =>
    count(
      `select count(*)::integer as count from messages where status = 'delivered' and delivered_at is not null`,
    )
  const before = { events: await events(), delivered: await delivered() }
  return async sends => {
    if ((await events()) - before.events !== sends) return false
    if ((await delivered()) - before.delivered !== sends) throw new Error('an event of no delivered message')
    return true
  }
}

/** The median. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2
}
