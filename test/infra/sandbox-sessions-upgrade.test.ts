import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { migrate } from '../../src/infra/migrate.ts'
import { createEmptyDatabase, type TestDatabase } from '../support/database.ts'

/** Stores from before web sessions needed a connection (migrations/0049_sandbox_sessions.sql). */
const MIGRATIONS = fileURLToPath(new URL('../../migrations', import.meta.url))
const ACCOUNT = '01a00000-0000-7000-8000-000000000001'
const OTHER = '01a00000-0000-7000-8000-000000000002'
let store: TestDatabase
let earlier: string

beforeEach(async () => {
  store = await createEmptyDatabase()
  earlier = mkdtempSync(join(tmpdir(), 'posthorn-migrations-'))
  // Functions of today may use columns of today.
  cpSync(MIGRATIONS, earlier, {
    recursive: true,
    filter: path => !path.endsWith('functions') && !(Number(/\/(\d{4})_[^/]*$/.exec(path)?.[1]) >= 49),
  })
  await migrate(store.db, { version: '1.0.0', directory: earlier })
})
afterEach(async () => {
  await store.drop()
  rmSync(earlier, { recursive: true })
})

async function addSession(live: boolean, accountId = ACCOUNT): Promise<void> {
  await store.db.query({
    name: 't_add_session',
    text: `insert into web_sessions (account_id, id, name, live, state, changed_at, wanted)
           values ($1, gen_random_uuid(), $2, $3, 'open', now(), $3)`,
    values: [accountId, live ? 'live' : 'test', live],
  })
}

async function addConnection(accountId: string, enabled: boolean): Promise<void> {
  await store.db.query({
    name: 't_add_connection',
    text: `insert into connections (account_id, id, provider, name, channels, config, max_attempts, backoff_ms, allowed_types, send_mode_by_type, enabled)
           values ($1, gen_random_uuid(), 'whatsapp-web', 'Own', '{user_chatapp_session}', '{}', 1, 0, '{otp}', '{}', $2)`,
    values: [accountId, enabled],
  })
}

async function upgraded() {
  await migrate(store.db, { version: '1.0.0', directory: MIGRATIONS })
  const sessions = await store.db.query({
    name: 't_sessions',
    text: 'select name, sandbox from web_sessions order by name',
  })
  const connections = await store.db.query({
    name: 't_connections',
    text: `select account_id::text, channels, enabled, allowed_types from connections where provider = 'whatsapp-web' order by account_id`,
  })
  return { sessions: sessions.rows, connections: connections.rows }
}

test('linked sessions keep the defaults that they had, in a connection of their account', async () => {
  await addSession(true)
  await addSession(false)
  expect(await upgraded()).toEqual({
    sessions: [
      { name: 'live', sandbox: false },
      { name: 'test', sandbox: true },
    ],
    connections: [
      {
        account_id: ACCOUNT,
        channels: ['user_chatapp_session'],
        enabled: true,
        allowed_types: ['otp', 'utility', 'marketing', 'free_text'],
      },
    ],
  })
})

test('a store without linked sessions gets no connection', async () => {
  await addSession(false)
  expect((await upgraded()).connections).toEqual([])
})

test('a connection of the account is not doubled', async () => {
  await addSession(true)
  await addConnection(ACCOUNT, true)
  expect((await upgraded()).connections).toMatchObject([{ account_id: ACCOUNT }])
})

test('sessions that a disabled connection pauses stay paused, whatever other accounts have linked', async () => {
  await addSession(true)
  await addConnection(ACCOUNT, false)
  await addSession(true, OTHER)
  expect((await upgraded()).connections).toMatchObject([
    { account_id: ACCOUNT, enabled: false },
    { account_id: OTHER, enabled: true },
  ])
})
