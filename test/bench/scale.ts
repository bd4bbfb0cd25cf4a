import { type Measured, measure, median } from './measure.ts'
import { type Figure, fixed, note, noteMeasured } from './report.ts'
import { type System, startSystem } from './system.ts'

const ACCOUNTS = 100
const MAX_RATIO = 1.1
/** Messages that one statement inserts. */
const PAGE = 100_000

/**
 * The cost of a send in a database with many messages, compared with an empty one: two systems that are
 * measured in turn, so that other load on the machine affects both.
 */
export async function measureScale(quick: boolean): Promise<Figure[]> {
  const stored = quick ? 100_000 : 1_000_000
  const rounds = quick ? 1 : 4
  const empty = await startSystem({ accounts: ACCOUNTS })
  const full = await startSystem({ accounts: ACCOUNTS })
  try {
    note(`One send at ${stored.toLocaleString('en')} stored messages`)
    await fill(full, stored)
    const crowd = { connections: 64, requests: quick ? 3_000 : 12_000, seconds: 20 }
    const alone = { connections: 1, requests: quick ? 300 : 1_500, seconds: 5 }
    for (const load of [crowd, alone]) await measurePair(empty, full, load)
    const ofCrowd = await compare('64 at once', empty, full, crowd, rounds)
    const ofAlone = await compare('alone', empty, full, alone, rounds)
    return [
      costFigure('one send’s CPU, of 64', stored, ofCrowd),
      timeFigure('one send’s time, of 64', stored, ofCrowd),
      costFigure('one send’s CPU, alone', stored, ofAlone),
      timeFigure('one send’s time, alone', stored, ofAlone),
    ]
  } finally {
    await empty.stop()
    await full.stop()
  }
}

type Pair = { empty: Measured; full: Measured }
type Load = { connections: number; requests: number; seconds: number }

async function compare(
  name: string,
  empty: System,
  full: System,
  load: Load,
  rounds: number,
): Promise<Pair[]> {
  const pairs: Pair[] = []
  for (let round = 0; round < rounds; round++) {
    const pair = await measurePair(empty, full, load)
    noteMeasured(`${name}, none`, pair.empty)
    noteMeasured(`${name}, many`, pair.full)
    pairs.push(pair)
  }
  return pairs
}

async function measurePair(empty: System, full: System, load: Load): Promise<Pair> {
  return {
    empty: await measure(empty, { keys: empty.keys, ...load }),
    full: await measure(full, { keys: full.keys, ...load }),
  }
}

function costFigure(name: string, stored: number, pairs: readonly Pair[]): Figure {
  const cost = ({ nodeMicros, postgresMicros }: Measured) => nodeMicros + postgresMicros
  return ratioFigure(name, stored, pairs, cost, value => `${fixed(value, 0)} µs`)
}

function timeFigure(name: string, stored: number, pairs: readonly Pair[]): Figure {
  return ratioFigure(
    name,
    stored,
    pairs,
    each => 1_000 / each.perSecond,
    value => `${fixed(value, 2)} ms`,
  )
}

function ratioFigure(
  name: string,
  stored: number,
  pairs: readonly Pair[],
  of: (measured: Measured) => number,
  write: (value: number) => string,
): Figure {
  return {
    name,
    measured: `${write(median(pairs.map(pair => of(pair.full))))} at ${stored.toLocaleString('en')}`,
    baseline: `${write(median(pairs.map(pair => of(pair.empty))))} at none`,
    value: median(pairs.map(pair => of(pair.full) / of(pair.empty))),
    target: { most: MAX_RATIO },
  }
}

/**
 * Fills the database with messages as a day of sends leaves them: settled, with their idempotency keys, their
 * provider's ids and their price in the wallets. It does not run ANALYZE, so that the planner's statistics
 * may be missing, as in a database that has grown fast.
 */
async function fill({ db }: System, count: number): Promise<void> {
  for (let from = 0; from < count; from += PAGE) await db.query(FILL, [from, Math.min(PAGE, count - from)])
  await db.query(
    `update wallets w set captured = captured + s.amount, credited = credited + s.amount
       from (select account_id, sum(amount) as amount from messages group by account_id) s
      where w.account_id = s.account_id`,
  )
  await db.query('checkpoint')
}

const FILL = `
with chosen as (
  select array_agg(id) as accounts from accounts where name like 'Bench %'
), rows as (
  select accounts[1 + n % cardinality(accounts)] as account_id,
         -- Ids of the last twenty hours, but not of earlier months.
         uuidv7(-least(interval '20 hours', now() - date_trunc('month', now())) * (1 - n / 1e6)) as id,
         '+49' || (15112000000 + n % 10000) as recipient, n,
         (select id from connections where name = 'plain') as connection_id
    from chosen, generate_series($1::integer, $1::integer + $2::integer - 1) n
), stored as (
  insert into messages (account_id, id, live, attempt, parts, status, channel, message_type, recipient, country,
      provider, connection_id, sender, sender_source, candidates, content, amount, funding, money, money_at, answer,
      attempt_at, settled_at, provider_id, sent_at)
    select account_id, id, true, 1, 1, 'sent', 'local_sms', 'utility', recipient, 'DE',
      'smpp', connection_id, 'Posthorn', 'platform', 'local_sms,official_chatapp',
      json_build_object('text', 'Your parcel 4711-0815 arrives today between 14:00 and 16:00. Not at home? Tell us',
        'subject', null, 'html', false, 'attachment', null, 'context', null),
      10000, 'wallet', 'captured', now(), 'sent', now(), now(), 'stored-' || n, now()
    from rows
), keys as (
  insert into idempotency (account_id, operation, key, body_hash, message_id, created_at)
    select account_id, 1, gen_random_uuid()::text, sha256(id::text::bytea), id, now() from rows
)
insert into provider_refs (connection_id, provider_id, account_id, message_id)
  select connection_id, 'stored-' || n, account_id, id from rows`
