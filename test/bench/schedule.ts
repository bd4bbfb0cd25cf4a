import { type AcceptRow, acceptSends } from '../../src/core/messages/hot-store.ts'
import { createDatabase, type Database } from '../../src/infra/db.ts'
import { urlOf } from '../../src/infra/embedded/owner.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { type AccountId, type ConnectionId, createIds, type Ids } from '../../src/lib/ids.ts'
import { createRandom } from '../../src/lib/random.ts'
import { machineCpu } from './cpu.ts'
import { TEXT } from './load.ts'
import { PRICE_MICROS } from './measure.ts'
import { type Figure, fixed, note, perSecond } from './report.ts'
import { pause, type System, startSystem } from './system.ts'

const ACCOUNTS = 100
const MESSAGES = 100_000
/** Messages per call of the accept function: filling the database is not measured. */
const PER_CALL = 1_000
/** Owned by no node: any node may claim them. */
const NOBODY = 0
const LOOK_EVERY_MS = 20
const PATIENCE_MS = 120_000

/** The result for messages that were all due at the same time; the times are in s after it. */
type Fired = {
  messages: number
  firstS: number
  middleS: number
  lastS: number
  micros: string
  others: number
}

/**
 * Messages that are scheduled for the same second, to an SMSC that answers at once: when the last one is sent
 * and settled, with one node and with two.
 */
export async function measureSchedule(quick: boolean): Promise<Figure[]> {
  const count = quick ? 5_000 : MESSAGES
  note(`${count.toLocaleString('en')} messages scheduled for the same second`)
  const system = await startSystem({ accounts: ACCOUNTS })
  const db = createDatabase({
    connectionString: urlOf(system.socketDir),
    poolSize: 1,
    queryTimeoutMs: 60_000,
  })
  try {
    await fire(system, db, quick ? 1_000 : 10_000)
    const one = await fire(system, db, count)
    noteFired('one node', one)
    await system.addNode()
    await fire(system, db, quick ? 1_000 : 10_000)
    const two = await fire(system, db, count)
    noteFired('two nodes', two)
    return [figureOf('the last, one node', one, 30), figureOf('the last, two nodes', two, 20)]
  } finally {
    await db.close()
    await system.stop()
  }
}

async function fire(system: System, db: Database, count: number): Promise<Fired> {
  const ids = createIds(systemClock, createRandom())
  const taken = await system.taken()
  const rows = rowsOf(system, ids, count)
  const dueAt = await fill(db, rows)
  await db.query({ name: 'bench_checkpoint', text: 'checkpoint', timeoutMs: 60_000 })
  const waitMs = dueAt - Date.now()
  if (waitMs < 0) throw new Error('the store was not filled in time: this machine is too busy')
  await pause(waitMs)
  const before = { cpu: system.cpu(), machine: machineCpu() }
  await untilSettled(system, rows)
  const used = { cpu: system.cpu(), machine: machineCpu() }
  if ((await system.taken()) !== taken + count) throw new Error('not each was sent once')
  return { messages: count, ...(await timesOf(system, dueAt)), ...costOf(before, used, count) }
}

function rowsOf({ ids: { plain, accounts } }: System, ids: Ids, count: number): AcceptRow[] {
  return Array.from(
    { length: count },
    (_, at): AcceptRow => ({
      accountId: accounts[at % accounts.length] as AccountId,
      id: ids.next('msg'),
      claim: null,
      live: true,
      status: 'scheduled',
      channel: 'local_sms',
      messageType: 'utility',
      recipient: `+49${15_112_000_000 + at}`,
      country: 'DE',
      provider: 'smpp',
      templateId: null,
      connectionId: plain as ConnectionId,
      sender: null,
      senderSource: 'platform',
      candidates: 'local_sms',
      content: JSON.stringify({ text: TEXT, subject: null, html: false, attachment: null, context: null }),
      metadata: null,
      amount: PRICE_MICROS,
      parts: 1,
      pooled: false,
      dueAt: 0,
      scheduledAt: 0,
      owned: false,
      begun: false,
      secret: null,
      answer: 'scheduled',
    }),
  )
}

/** Stores all of them for the same time, far enough ahead to store them before it; returns that time. */
async function fill(db: Database, rows: readonly AcceptRow[]): Promise<number> {
  const startedMs = performance.now()
  // 5 s, and 0.1 ms for each: 100,000 take some four seconds.
  const dueAt = Math.ceil((Date.now() + 5_000 + rows.length * 0.1) / 1_000) * 1_000
  for (let from = 0; from < rows.length; from += PER_CALL) {
    const some = rows.slice(from, from + PER_CALL).map(row => ({ ...row, dueAt, scheduledAt: dueAt }))
    some.sort((a, b) => (a.accountId + a.id < b.accountId + b.id ? -1 : 1))
    const verdicts = await acceptSends(db, NOBODY, Date.now(), some, false)
    if (verdicts.some(verdict => verdict.kind !== 'accepted')) throw new Error('not all were accepted')
  }
  if (rows.length >= MESSAGES) note(`  stored in ${fixed((performance.now() - startedMs) / 1_000, 1)} s`)
  return dueAt
}

/** Waits until no money is held: that of every message was captured or released. */
async function untilSettled({ db }: System, rows: readonly AcceptRow[]): Promise<void> {
  const giveUpMs = performance.now() + PATIENCE_MS
  for (;;) {
    const { rows: sums } = await db.query<{ held: number }>('select sum(held)::float8 as held from wallets')
    if (sums[0]!.held === 0) return
    if (performance.now() > giveUpMs) {
      const left = sums[0]!.held / PRICE_MICROS
      throw new Error(`of ${rows.length} messages ${left} had not left after ${PATIENCE_MS / 1_000} s`)
    }
    await pause(LOOK_EVERY_MS)
  }
}

async function timesOf({ db }: System, dueAt: number): Promise<Pick<Fired, 'firstS' | 'middleS' | 'lastS'>> {
  const { rows } = await db.query<{ first: number; middle: number; last: number; unsent: number }>(
    `select extract(epoch from min(attempt_at) - $1)::float8 as first,
            percentile_cont(0.5) within group (order by extract(epoch from sent_at - $1)) as middle,
            extract(epoch from max(sent_at) - $1)::float8 as last,
            (count(*) filter (where status <> 'sent'))::integer as unsent
       from messages where scheduled_at = $1`,
    [new Date(dueAt)],
  )
  const { first, middle, last, unsent } = rows[0]!
  if (unsent > 0) throw new Error(`${unsent} messages were not sent`)
  if (first < 0) throw new Error('one was sent before its time')
  return { firstS: first, middleS: middle, lastS: last }
}

type Reading = { cpu: ReturnType<System['cpu']>; machine: ReturnType<typeof machineCpu> }

function costOf(before: Reading, after: Reading, count: number): Pick<Fired, 'micros' | 'others'> {
  const used = (kind: keyof Reading['cpu']) => after.cpu[kind] - before.cpu[kind]
  const each = (kind: keyof Reading['cpu']) => fixed(used(kind) / count / 1_000, 0)
  const ours = used('node') + used('postgres') + used('tools')
  const busy = after.machine.busy - before.machine.busy
  const all = after.machine.all - before.machine.all
  return {
    micros: `Node ${each('node')} µs, PostgreSQL ${each('postgres')} µs`,
    others: Math.max(0, (busy - ours) / all),
  }
}

function noteFired(name: string, fired: Fired): void {
  note(
    `  ${name.padEnd(10)} first after ${fixed(fired.firstS, 2)} s, half after ${fixed(fired.middleS, 1)} s,` +
      ` last after ${fixed(fired.lastS, 1)} s: ${perSecond(fired.messages / fired.lastS)}` +
      `  CPU a message: ${fired.micros}  by others ${fixed(fired.others * 100, 0)} % of the machine`,
  )
}

function figureOf(name: string, fired: Fired, most: number): Figure {
  return {
    name,
    measured: perSecond(fired.messages / fired.lastS),
    baseline: '',
    value: fired.lastS,
    unit: ' s',
    target: { most },
  }
}
