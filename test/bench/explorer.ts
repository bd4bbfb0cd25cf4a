import { writeCursor } from '../../src/contract/cursor.ts'
import { fromUuid } from '../../src/lib/ids.ts'
import { fillHistory, MESSAGES, RARE } from './explorer-history.ts'
import { type Figure, fixed, note } from './report.ts'
import { type System, startSystem } from './system.ts'

/** Every filter of the explorer, and some common combinations. */
const QUERIES: readonly Query[] = [
  { name: 'no filter', query: {} },
  { name: 'mode=live', query: { mode: 'live' } },
  { name: 'mode=test, 3 rows', query: { mode: 'test' }, rows: RARE },
  ...['sent', 'delivered', 'read', 'undelivered', 'failed', 'scheduled', 'queued'].map(status => ({
    name: `status=${status}`,
    query: { status },
  })),
  { name: 'status=unknown, 3 rows', query: { status: 'unknown' }, rows: RARE },
  { name: 'status=cancelled, 3 rows', query: { status: 'cancelled' }, rows: RARE },
  { name: 'status=expired, none', query: { status: 'expired' }, rows: 0 },
  ...['local_sms', 'int_sms', 'official_chatapp', 'email_user'].map(channel => ({
    name: `channel=${channel}`,
    query: { channel },
  })),
  { name: 'channel=botapp_bot, 3 rows', query: { channel: 'botapp_bot' }, rows: RARE },
  { name: 'messageType=otp', query: { messageType: 'otp' } },
  { name: 'messageType=free_text, 3 rows', query: { messageType: 'free_text' }, rows: RARE },
  { name: 'to, one of many', query: { to: '+4915100000042' } },
  { name: 'to, 50,000 rows', query: { to: '+4915109999999' } },
  { name: 'to, 3 rows', query: { to: '+4915108888888' }, rows: RARE },
  { name: 'to, no row', query: { to: '+4915107777777' }, rows: 0 },
  { name: 'errorCode', query: { errorCode: 'RECIPIENT_REJECTED' } },
  { name: 'errorCode, 3 rows', query: { errorCode: 'INTERNAL_ERROR' }, rows: RARE },
  { name: 'templateId', query: { templateId: 'common' } },
  { name: 'templateId, 3 rows', query: { templateId: 'rare' }, rows: RARE },
  { name: 'bulkJobId', query: { bulkJobId: 'common' } },
  { name: 'bulkJobId, 3 rows', query: { bulkJobId: 'rare' }, rows: RARE },
  { name: 'last hour', query: { createdAfter: -1 } },
  { name: 'a day a month ago', query: { createdAfter: -31 * 24, createdBefore: -30 * 24 } },
  { name: 'an empty time', query: { createdAfter: 24 }, rows: 0 },
  { name: 'failed in the last day', query: { status: 'failed', createdAfter: -24 } },
  { name: 'delivered, int_sms, otp', query: { status: 'delivered', channel: 'int_sms', messageType: 'otp' } },
  {
    name: 'sent, e-mail, marketing',
    query: { status: 'sent', channel: 'email_user', messageType: 'marketing' },
  },
  { name: 'failed to one recipient', query: { status: 'failed', to: '+4915109999999' } },
  {
    name: 'read, a job, a month ago',
    query: { status: 'read', bulkJobId: 'common', createdBefore: -30 * 24 },
  },
]

type Query = {
  name: string
  query: Record<string, string | number>
  /** The number of matches, if they are few. */
  rows?: number
}

/** Where a page starts: below so many messages. */
const DEPTHS = [0, 500_000, 950_000]
const MAX_MS = 200

/**
 * The time for a page of the explorer over 1,000,000 messages of one account, for every filter, common and
 * rare values, from the top and from far below. A page may end before it has found all matches, and the next
 * one continues: so the time to find all messages with a rare value is also reported.
 */
export async function measureExplorer(quick: boolean): Promise<Figure[]> {
  const system = await startSystem({ accounts: 2 })
  try {
    const messages = quick ? MESSAGES / 10 : MESSAGES
    note(`Filling ${messages.toLocaleString('en')} messages`)
    const history = await fillHistory(system, messages)
    const slowest: Timed[] = []
    for (const each of QUERIES) {
      for (const depth of quick ? [0] : DEPTHS) {
        const query = await toQuery(system, history, each, depth)
        const timed = await time(system, query, quick ? 5 : 30)
        note(
          `  ${each.name.padEnd(28)} below ${String(depth).padStart(7)}` +
            `  p50 ${fixed(timed.p50Ms, 1)} ms  p99 ${fixed(timed.p99Ms, 1)} ms  max ${fixed(timed.maxMs, 1)} ms` +
            `  CPU ${fixed(timed.cpuMs, 1)} ms`,
        )
        slowest.push(timed)
      }
      if (each.rows !== undefined) await findAll(system, history, each)
    }
    const worst = (value: (timed: Timed) => number) => Math.max(...slowest.map(value))
    return [
      toFigure(
        'a page of the explorer, slowest filter, p99',
        worst(timed => timed.p99Ms),
      ),
      toFigure(
        'a page of the explorer, slowest of all',
        worst(timed => timed.maxMs),
      ),
    ]
  } finally {
    await system.stop()
  }
}

/**
 * `cpuMs` is the CPU time of the program and its database per page, which other load on the machine affects
 * less.
 */
type Timed = { p50Ms: number; p99Ms: number; maxMs: number; cpuMs: number }

async function time(system: System, query: URLSearchParams, times: number): Promise<Timed> {
  const took: number[] = []
  const before = system.cpu()
  for (let at = 0; at < times; at++) {
    const startedMs = performance.now()
    await readPage(system, query)
    took.push(performance.now() - startedMs)
  }
  const after = system.cpu()
  const cpuNs = after.node - before.node + after.postgres - before.postgres
  took.sort((a, b) => a - b)
  const at = (share: number) => took[Math.min(took.length - 1, Math.floor(took.length * share))]!
  return { p50Ms: at(0.5), p99Ms: at(0.99), maxMs: took.at(-1)!, cpuMs: cpuNs / times / 1e6 }
}

/** Finds all messages with a rare value, page by page. */
async function findAll(system: System, history: History, each: Query): Promise<void> {
  const startedMs = performance.now()
  const query = await toQuery(system, history, each, 0)
  let found = 0
  let pages = 0
  for (let cursor: string | null = ''; cursor !== null; pages++) {
    if (cursor !== '') query.set('cursor', cursor)
    const page = await readPage(system, query)
    found += page.data.length
    cursor = page.nextCursor
  }
  const tookMs = performance.now() - startedMs
  note(`  ${''.padEnd(28)} all ${found} in ${pages} pages, ${fixed(tookMs, 0)} ms`)
  if (found !== each.rows) throw new Error(`${each.name}: ${found} rows instead of ${each.rows}`)
}

type PageRead = { data: unknown[]; nextCursor: string | null }

async function readPage(system: System, query: URLSearchParams): Promise<PageRead> {
  const answer = await fetch(`${system.url}/api/v2/messages?${query}`, {
    headers: { 'x-api-key': system.keys[0]! },
  })
  if (!answer.ok) throw new Error(await answer.text())
  return (await answer.json()) as PageRead
}

type History = Awaited<ReturnType<typeof fillHistory>>

async function toQuery(
  system: System,
  history: History,
  { query }: Query,
  depth: number,
): Promise<URLSearchParams> {
  const text = new URLSearchParams({ limit: '50' })
  for (const [name, value] of Object.entries(query)) text.set(name, toValue(history, name, value))
  if (depth > 0) text.set('cursor', await cursorAt(system, history, depth))
  return text
}

/** Numbers are hours relative to the end of the history; names of ids are replaced by real ids. */
function toValue(history: History, name: string, value: string | number): string {
  if (typeof value === 'number') return new Date(history.endMs + value * 3_600_000).toISOString()
  if (name === 'templateId') return history.templates[value as 'common' | 'rare']
  if (name === 'bulkJobId') return history.jobs[value as 'common' | 'rare']
  return value
}

async function cursorAt(system: System, { account }: History, depth: number): Promise<string> {
  const { rows } = await system.db.query<{ id: string }>(
    'select id from messages where account_id = $1 order by id desc offset $2 limit 1',
    [account, depth],
  )
  return writeCursor(fromUuid('msg', rows[0]!.id))
}

function toFigure(name: string, ms: number): Figure {
  return {
    name,
    measured: `${fixed(ms, 1)} ms`,
    baseline: `${MESSAGES.toLocaleString('en')} messages`,
    value: ms,
    unit: ' ms',
    target: { most: MAX_MS },
  }
}
