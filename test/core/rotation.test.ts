import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { Secret, TOTP } from 'otpauth'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { TotpStart } from '../../src/contract/console.ts'
import { tokenContext } from '../../src/core/bots/tokens.ts'
import { checkMasterKey } from '../../src/core/master-key.ts'
import { rotateMasterKey } from '../../src/core/rotation.ts'
import { keyContext } from '../../src/core/sessions/keys.ts'
import { pairingContext } from '../../src/core/sessions/sessions.ts'
import type { Db, Query } from '../../src/infra/db.ts'
import { createSeal } from '../../src/infra/seal.ts'
import { type AccountId, createIds, LAST_UUID, toUuid } from '../../src/lib/ids.ts'
import { createRandom } from '../../src/lib/random.ts'
import { type Answer, startTestApp, type TestAccount, type TestApp } from '../support/app.ts'
import { bulkRows, createBulk } from '../support/bulk.ts'
import { openBrowser, PASSWORD, setUp } from '../support/console.ts'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'
import { createFakeClock } from '../support/fake-clock.ts'

const random = createRandom()
/** The master key that test apps use by default. */
const FIRST = createHash('sha256').update('tests').digest()
const SECOND = Buffer.alloc(32, 2)
const EMAIL = 'root@example.com'
/** More than one page of the rotation. */
const SESSION_KEYS = 510
const BULK_ROWS = 40
/** Many pages. */
const PLAIN_ROWS = 60_000
const SCHEDULED_TO = '+12025550123'

let database: TestDatabase
let recoveryCodes: string[]
let totpSecret: string
let testKey: string

const data = <T>(answer: Answer): T => {
  expect(answer.status, answer.text).toBeLessThan(300)
  return answer.body['data'] as T
}

/** Stores a sealed value in every column that can hold one. */
beforeAll(async () => {
  database = await createTestDatabase()
  const app = await startTestApp({ database })
  const account = await app.createAccount({ plan: { allowsScheduling: true } })
  testKey = account.testKey
  await sealThroughApi(app, account)
  await sealLikeNodes(account.id as AccountId)
  await app.stop()
})
afterAll(() => database.drop())

const codeOf = (secret: string, timestamp: number): string =>
  new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp })

async function sealThroughApi(app: TestApp, account: TestAccount): Promise<void> {
  const root = await setUp(app, EMAIL)
  const { secret } = data<TotpStart>(await root.call('POST', '/api/console/totp', { password: PASSWORD }))
  totpSecret = secret
  const code = codeOf(secret, app.now())
  const confirmed = await root.call('POST', '/api/console/totp/confirm', { code })
  recoveryCodes = data<{ recoveryCodes: string[] }>(confirmed).recoveryCodes

  const post = (path: string, body: object) =>
    app.call(`/api/v2${path}`, { method: 'POST', key: account.liveKey, body })
  const made = await post('/webhooks', { url: 'https://hooks.example.com/in' })
  const { webhook } = data<{ webhook: { id: string } }>(made)
  data(await post(`/webhooks/${webhook.id}/rotate`, {}))
  data(
    await post('/sms-senders', {
      name: 'Acme',
      webhookUrl: 'https://example.com',
      webhookSecret: 'Sw0rdfish!',
    }),
  )
  data(
    await app.admin('POST', '/connections', {
      provider: 'smtp',
      name: 'mail',
      channels: ['email_user'],
      config: { host: '127.0.0.1', port: 9, from: 'a@example.com', user: 'a', password: 'Sw0rdfish!' },
      enabled: false,
    }),
  )
  const scheduleAt = new Date(app.now() + 86_400_000).toISOString()
  const code17 = { to: SCHEDULED_TO, messageType: 'otp', content: { otpCode: '171717' } }
  data(await account.send({ ...code17, options: { scheduleAt } }))
  const rows = bulkRows(BULK_ROWS, { messageType: 'otp', content: { otpCode: '171717' } })
  const bulk = await createBulk(app, account, { messagesPerSecond: 1, messages: rows })
  expect(bulk.status, bulk.text).toBe(202)
}

/** Seals the values that are otherwise only stored after a response of the chat app or of a bot's platform. */
async function sealLikeNodes(accountId: AccountId): Promise<void> {
  const seal = createSeal(FIRST, random)
  const ids = createIds(createFakeClock(), random)
  const [session, bot] = [ids.next('cnn'), ids.next('bot')]
  const owner = toUuid(accountId)
  const { db } = database
  await db.query({
    name: 'a_pending_factor',
    text: 'update users set totp_pending = totp_secret where totp_secret is not null',
  })
  await db.query({
    name: 'a_bot',
    text: `insert into bots (account_id, id, sandbox, platform_id, name, token, state)
      values ($1, $2, true, '17', 'Bot', $3, 'active')`,
    values: [owner, toUuid(bot), seal.seal('17:token', tokenContext(bot))],
  })
  await db.query({
    name: 'a_session',
    text: `insert into web_sessions (account_id, id, name, live, sandbox, state, pairing, changed_at, wanted)
      values ($1, $2, 'main', true, false, 'qr', $3, now(), false)`,
    values: [owner, toUuid(session), seal.seal('{}', pairingContext(session))],
  })
  const keyIds = Array.from({ length: SESSION_KEYS }, (_, at) => `k:${at}`)
  await db.query({
    name: 'session_keys',
    text: `insert into web_session_keys (account_id, session_id, kind, key_id, value)
      select $1, $2, 'pre-key', k.id, decode(k.value, 'hex') from unnest($3::text[], $4::text[]) as k (id, value)`,
    values: [
      owner,
      toUuid(session),
      keyIds,
      keyIds.map(id => seal.seal('{}', keyContext(session, 'pre-key', id)).toString('hex')),
    ],
  })
}

/** Columns that hold a value sealed with this key, as bytes or as base64 text. */
async function columnsSealedWith(masterKey: Buffer): Promise<string[]> {
  const mark = createSeal(masterKey, random).seal('', '').subarray(0, 5)
  const columns = await database.db.query<{ table: string; column: string; type: string }>({
    name: 'all_columns',
    text: `select c.table_name as "table", c.column_name as "column", c.data_type as type
      from information_schema.columns c join information_schema.tables t using (table_schema, table_name)
     where c.table_schema = 'public' and t.table_type = 'BASE TABLE' and c.data_type in ('bytea', 'text', 'json', 'jsonb')`,
  })
  const found: string[] = []
  for (const { table, column, type } of columns.rows) {
    const asText = type === 'bytea' ? `encode(${column}, 'escape')` : `${column}::text`
    const starts = type === 'bytea' ? `substring(${column} from 1 for 5) = $1` : '$1::bytea is null'
    const { rows } = await database.db.query({
      name: `look_at_${table}_${column}`,
      text: `select 1 from "${table}" where ${starts} or strpos(${asText}, $2) > 0 limit 1`,
      values: [mark, mark.toString('base64').slice(0, 6)],
    })
    if (rows.length > 0) found.push(`${table}.${column}`)
  }
  return [...new Set(found)].sort()
}

test('a master key rotation that is killed repeatedly can be completed, and loses no value', async () => {
  const before = await columnsSealedWith(FIRST)
  expect(before.map(name => name.replace(/^bulk_rows_\d+_\d+/, 'bulk_rows'))).toEqual([
    'bots.token',
    'bulk_rows.body',
    'bulk_rows.body',
    'connections.secrets',
    'outbox.secret',
    'sms_senders.webhook_secret',
    'store_facts.value',
    'users.totp_pending',
    'users.totp_secret',
    'web_session_keys.value',
    'web_sessions.pairing',
    'webhook_endpoints.previous_secret',
    'webhook_endpoints.secret',
  ])
  const both = createSeal(SECOND, random, FIRST)
  for (let left = 1; left < 500; left *= 6) {
    await expect(rotateMasterKey(failingAfter(left), both)).rejects.toThrow('killed')
    // Until the rotation is complete, a node with only the earlier key starts, and a node with only the new one does not.
    await checkMasterKey(database.db, createSeal(FIRST, random))
    await expect(checkMasterKey(database.db, createSeal(SECOND, random))).rejects.toThrow(
      /another master key/,
    )
  }
  const all = await rotateMasterKey(database.db, both)
  expect(all.map(({ unreadable }) => unreadable)).toEqual(all.map(() => 0))
  expect(await columnsSealedWith(FIRST)).toEqual([])
  expect(await columnsSealedWith(SECOND)).toEqual(before)
  expect((await rotateMasterKey(database.db, both)).map(({ resealed }) => resealed)).toEqual(all.map(() => 0))
  const replaced = createSeal(SECOND, random)
  await checkMasterKey(database.db, replaced)
  await expect(checkMasterKey(database.db, createSeal(FIRST, random))).rejects.toThrow(/another master key/)
  // A request that is repeated under its idempotency key is recognised by the hash of its body.
  expect(replaced.hashSecret('a body')).toEqual(createSeal(FIRST, random).hashSecret('a body'))
})

/** A database that fails after re-sealing this number of values, as if the process was killed. */
function failingAfter(values: number): Db {
  let left = values
  return {
    query(statement) {
      if (statement.name.startsWith('reseal_') && --left < 0) throw new Error('killed')
      return database.db.query(statement)
    },
  } as Db
}

test('a node with both keys opens the values that are sealed with the previous one', async () => {
  const app = await startTestApp({ database, env: { POSTHORN_MASTER_KEY_PREVIOUS: SECOND.toString('hex') } })
  try {
    // The code of a second factor works once, and the clock of the app that it was confirmed at may be ahead.
    app.jump(60_000)
    const code = codeOf(totpSecret, app.now())
    expect((await openBrowser(app).logIn(EMAIL, PASSWORD, code)).status).toBe(200)
    const browser = openBrowser(app)
    expect((await browser.logIn(EMAIL, PASSWORD, recoveryCodes[0])).status).toBe(200)
    const connections = await browser.call('GET', '/api/admin/connections')
    expect(connections.text).toContain('"name":"mail"')
    // The texts of a bulk job's rows and of a scheduled message.
    const inbox = async (to = '') => {
      const answer = await app.call(`/api/v2/sandbox/messages?limit=100${to}`, { key: testKey })
      return data<{ text: string }[]>(answer).map(message => message.text)
    }
    const text = 'Your verification code is 171717'
    const ofBulk = await app.until(
      () => inbox(),
      texts => texts.length >= BULK_ROWS,
    )
    expect(ofBulk).toEqual(Array(BULK_ROWS).fill(text))
    await app.leap(86_400_000)
    const scheduled = () => inbox(`&to=${encodeURIComponent(SCHEDULED_TO)}`)
    expect(await app.until(scheduled, texts => texts.length > 0)).toEqual([text])
  } finally {
    await app.stop()
  }
})

test('the rotate-master-key command re-seals every value, and fails without a previous key', async () => {
  const child = spawn(process.execPath, [BIN, 'rotate-master-key'], {
    env: {
      PATH: process.env['PATH'],
      DATABASE_URL: database.url,
      POSTHORN_OPERATOR_TOKEN: 'ph_op_of-the-tests',
      POSTHORN_MASTER_KEY: FIRST.toString('hex'),
      POSTHORN_MASTER_KEY_PREVIOUS: SECOND.toString('hex'),
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const [out, err, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')])
  expect(code, err).toBe(0)
  expect(out).toMatch(/keys of web sessions +510 +0[\s\S]*remove POSTHORN_MASTER_KEY_PREVIOUS/)
  expect(out + err).not.toContain(SECOND.toString('hex'))
  expect(await columnsSealedWith(SECOND)).toEqual([])
  const bare = spawn(process.execPath, [BIN, 'rotate-master-key'], { env: { PATH: process.env['PATH'] } })
  expect([await text(bare.stderr), (await once(bare, 'exit'))[0]]).toEqual([
    expect.stringContaining('POSTHORN_MASTER_KEY_PREVIOUS'),
    2,
  ])
})

test('no statement of a rotation reads all rows of a table that has many without a sealed value', async () => {
  const { db } = database
  await db.query({
    name: 'plain_rows',
    text: `insert into bulk_rows (account_id, job_id, n, body)
      select $1, first_uuid_at(now()), n, '{"to":"+12025550123","text":"' || n || '"}' from generate_series(1, $2) n`,
    values: [LAST_UUID, PLAIN_ROWS],
  })
  const read: number[] = []
  const counting = {
    async query(statement) {
      if (statement.name.startsWith('cells_bulk_rows')) read.push(await countRowsRead(db, statement))
      return db.query(statement)
    },
  } as Db
  await rotateMasterKey(counting, createSeal(FIRST, random, SECOND))
  expect(Math.max(...read)).toBeLessThan(PLAIN_ROWS / 4)
  expect(read.reduce((sum, rows) => sum + rows)).toBeGreaterThanOrEqual(PLAIN_ROWS)
})

type Plan = {
  'Node Type': string
  'Actual Rows': number
  'Actual Loops': number
  'Rows Removed by Filter'?: number
  Plans?: Plan[]
}

async function countRowsRead(db: Db, { name, text, values }: Query): Promise<number> {
  const { rows } = await db.query<{ 'QUERY PLAN': [{ Plan: Plan }] }>({
    name: `explain_${name}`,
    text: `explain (analyze, format json) ${text}`,
    ...(values && { values }),
  })
  const count = (plan: Plan): number => {
    const own = plan['Node Type'].includes('Scan')
      ? (plan['Actual Rows'] + (plan['Rows Removed by Filter'] ?? 0)) * plan['Actual Loops']
      : 0
    return (plan.Plans ?? []).map(count).reduce((sum, rows) => sum + rows, own)
  }
  return count(rows[0]!['QUERY PLAN'][0].Plan)
}

const BIN = fileURLToPath(new URL('../../bin/posthorn.js', import.meta.url))
