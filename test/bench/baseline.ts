import { execFile } from 'node:child_process'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import pg from 'pg'
import { ROLE } from '../../src/infra/embedded/cluster.ts'
import { urlOf } from '../../src/infra/embedded/owner.ts'
import { startChild, watch } from './child.ts'
import type { ClientsPlan } from './pg-clients.ts'

/** The speed of the PostgreSQL server alone, with which sends and checks of codes are compared. */
export type Baseline = {
  /** The load generator: pgbench or pg-clients.ts. */
  name: string
  /** Transactions per second and their mean duration: 32 clients, each transaction one call of a function. */
  run(seconds: number): Promise<{ perSecond: number; meanMs: number }>
}

const CLIENTS = 32
const ACCOUNTS = 100
const CLIENTS_FILE = fileURLToPath(new URL('./pg-clients.ts', import.meta.url))

/**
 * The least work of a durable send, with one call per send: claim the key, hold the money, store the message.
 */
const SCHEMA = `
create table wallets (account_id integer primary key, balance bigint not null, held bigint not null)
  with (fillfactor = 50);
create table idempotency (account_id integer not null, key text not null, message_id uuid not null,
  primary key (account_id, key));
create table messages (account_id integer not null, id uuid not null, status text not null, recipient text not null,
  body text not null, amount bigint not null, created_at timestamptz not null, primary key (account_id, id));
insert into wallets select n, 1000000000000, 0 from generate_series(1, ${ACCOUNTS}) n;
create function one_send(p_account integer, p_number bigint, p_body text) returns uuid language plpgsql as $$
declare
  v_id uuid := uuidv7();
begin
  insert into idempotency values (p_account, gen_random_uuid()::text, v_id) on conflict do nothing;
  if not found then return null; end if;
  update wallets set balance = balance - 10000, held = held + 10000
   where account_id = p_account and balance >= 10000;
  if not found then raise exception 'insufficient balance'; end if;
  insert into messages values (p_account, v_id, 'queued', '+49' || p_number, p_body, 10000, now());
  return v_id;
end $$;`

/** The least work of a durable check of a code: count a try, and mark the code as used. */
const TWO_UPDATES = `
create table codes (account_id integer not null, number bigint not null, tries integer not null, status text not null,
  primary key (account_id, number)) with (fillfactor = 60);
insert into codes select a, n, 0, 'pending'
  from generate_series(1, ${ACCOUNTS}) a, generate_series(15112000000, 15112000999) n;
create function two_updates(p_account integer, p_number bigint, p_body text) returns integer language plpgsql as $$
declare
  v_number bigint := 15112000000 + p_number % 1000;
  v_tries integer;
begin
  update codes set tries = tries + 1 where account_id = p_account and number = v_number returning tries into v_tries;
  update codes set status = 'used' where account_id = p_account and number = v_number;
  return v_tries;
end $$;`

const KINDS = {
  send: { database: 'baseline', schema: SCHEMA, call: 'one_send' },
  'two updates': { database: 'baseline_updates', schema: TWO_UPDATES, call: 'two_updates' },
}
export type BaselineKind = keyof typeof KINDS

/** A body of 600 characters. */
const BODY = 'Your parcel 4711-0815 arrives today between 14:00 and 16:00. '.repeat(10).slice(0, 600)

/** Creates a database for the baseline on the server of `socketDir`. */
export async function createBaseline(
  socketDir: string,
  scratchDir: string,
  kind: BaselineKind = 'send',
): Promise<Baseline> {
  const { database, schema } = KINDS[kind]
  await inDatabase(socketDir, 'postgres', `create database ${database}`)
  await inDatabase(socketDir, database, schema)
  const pgbench = await findPgbench()
  if (pgbench !== null)
    return { name: 'pgbench', run: seconds => runPgbench(pgbench, socketDir, scratchDir, kind, seconds) }
  return {
    name: 'own clients; lower than pgbench, which `apt-get install postgresql-contrib` brings',
    run: seconds => runClients(socketDir, kind, seconds),
  }
}

async function inDatabase(socketDir: string, database: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: urlOf(socketDir, database) })
  await client.connect()
  try {
    await client.query(sql)
  } finally {
    await client.end()
  }
}

/** pgbench from the PATH, or from Debian's directories; null if it is not installed. */
async function findPgbench(): Promise<string | null> {
  const places = ['pgbench', ...[18, 17, 16, 15, 14].map(major => `/usr/lib/postgresql/${major}/bin/pgbench`)]
  for (const place of places) {
    const works = await execute(place, ['--version']).then(
      () => true,
      () => false,
    )
    if (works) return place
  }
  return null
}

async function runPgbench(
  program: string,
  socketDir: string,
  scratchDir: string,
  kind: BaselineKind,
  seconds: number,
) {
  const { database, call } = KINDS[kind]
  const script = join(scratchDir, 'baseline.sql')
  writeFileSync(
    script,
    `\\set account random(1, ${ACCOUNTS})\n\\set number random(15112000000, 15112009999)\n` +
      `select ${call}(:account, :number, '${BODY}');\n`,
  )
  try {
    const options = ['-n', '-M', 'prepared', '-c', CLIENTS, '-j', 2, '-T', seconds, '-f', script]
    const { stdout } = await execute(program, ['-h', socketDir, '-U', ROLE, ...options.map(String), database])
    const find = (pattern: RegExp) => Number(pattern.exec(stdout)?.[1])
    return { perSecond: find(/^tps = ([\d.]+)/m), meanMs: find(/^latency average = ([\d.]+) ms/m) }
  } finally {
    rmSync(script)
  }
}

async function runClients(socketDir: string, kind: BaselineKind, seconds: number) {
  const { database, call } = KINDS[kind]
  const child = await startChild(CLIENTS_FILE)
  const plan: ClientsPlan = {
    socket: join(socketDir, '.s.PGSQL.5432'),
    user: ROLE,
    database,
    clients: CLIENTS,
    accounts: ACCOUNTS,
    statement: `select ${call}($1, $2, $3)`,
    body: BODY,
    seconds,
  }
  const { transactions, tookMs } = (await child.ask(JSON.stringify(plan))) as {
    transactions: number
    tookMs: number
  }
  await child.stop()
  return { perSecond: (transactions * 1_000) / tookMs, meanMs: (tookMs * CLIENTS) / transactions }
}

function execute(file: string, args: readonly string[]): Promise<{ stdout: string }> {
  const running = promisify(execFile)(file, args)
  watch(running.child)
  return running
}
