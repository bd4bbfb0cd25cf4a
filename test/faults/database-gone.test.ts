import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'
import smpp from 'smpp'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type App, startApp } from '../../src/app.ts'
import { readConfig } from '../../src/config.ts'
import type { MessageWithTimeline } from '../../src/contract/message.ts'
import type { BatchResult } from '../../src/contract/send.ts'
import type { Database } from '../../src/infra/db.ts'
import { createLog } from '../../src/infra/log.ts'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'
import { silentProgress } from '../support/silent-progress.ts'
import { type Smsc, type Submit, startSmsc } from '../support/smsc.ts'
import { timed } from '../support/timed.ts'
import { type Account, admin, ask, createAccount, read, send, until } from './support/client.ts'
import { type DatabaseProxy, startDatabaseProxy } from './support/database-proxy.ts'
import { OPERATOR_TOKEN, startPosthorn } from './support/posthorn.ts'

/** The promised maximum wait for a 503, and for the recovery once the database is back. */
const PROMISED_MS = 5_000
const MASTER_KEY = createHash('sha256').update('faults').digest()

let database: TestDatabase
let proxy: DatabaseProxy
let smsc: Smsc
let app: App
let account: Account

beforeEach(async () => {
  database = await createTestDatabase()
  proxy = await startDatabaseProxy(database.url)
  smsc = await startSmsc('accept')
  app = await startNode()
  await admin(app.url, 'POST', '/connections', {
    provider: 'smpp',
    name: 'centre',
    channels: ['local_sms'],
    config: { host: '127.0.0.1', port: smsc.port, systemId: 'posthorn', password: 'secret' },
    retryPolicy: { maxAttempts: 3, backoffMs: 10 },
  })
  account = await createAccount(app.url, { balance: 100 })
  // Warm: keys, prices and senders are in memory, as they are on a running node.
  await sendUntilTaken('a first one', 'first')
})

function startNode(port = '0', databaseUrl = proxy.url): Promise<App> {
  return startApp({
    config: readConfig({
      PORT: port,
      DATABASE_URL: databaseUrl,
      POSTHORN_DB_POOL: '5',
      POSTHORN_SANDBOX: 'off',
    }),
    secrets: { operatorToken: OPERATOR_TOKEN, masterKey: MASTER_KEY },
    log: createLog({ level: 'silent' }),
    databaseUrl,
    progress: silentProgress,
    checkResponses: true,
  })
}

afterEach(async () => {
  proxy.set('open')
  await app.stop()
  await smsc.close()
  await proxy.close()
  await database.drop()
})

function sendText(text: string, key: string, to = '+12025550199') {
  return send(app.url, { account, key, body: { to, channel: 'local_sms', content: { text } } })
}

/** Sends until it succeeds, since a busy machine may refuse it at first; resolves with the response when the SMSC has the message. */
async function sendUntilTaken(text: string, key: string) {
  const answer = await until(
    () => sendText(text, key),
    found => found?.status === 200,
  )
  await until(
    async () => taken(text),
    times => times > 0,
  )
  return answer!
}

test('a node that is stopped while the database is unavailable exits with 0, despite unsaved outcomes', async () => {
  const node = await startPosthorn({
    DATABASE_URL: proxy.url,
    POSTHORN_SANDBOX: 'off',
    POSTHORN_MASTER_KEY: MASTER_KEY.toString('hex'),
  })
  smsc.behave('silent')
  const before = smsc.submits.length
  const body = { to: '+12025550199', channel: 'local_sms', content: { text: 'on its way' } }
  const sending = send(node.url, { account, key: 'on its way', body })
  await smsc.submitted(before + 1)
  proxy.set('cut')
  const { sequence } = smsc.submits.at(-1)!
  smsc.send('submit_sm_resp', { sequence_number: sequence, message_id: 'taken while it was away' })
  expect(await node.stop()).toBe(0)
  await sending
}, 60_000)

async function expectUnavailable(answering: ReturnType<typeof ask>): Promise<void> {
  const { value: answer, tookMs } = await timed(answering)
  expect(answer?.text).toContain('SERVICE_UNAVAILABLE')
  expect(answer!.status).toBe(503)
  const body = JSON.parse(answer!.text) as Record<string, unknown>
  expect(body).toEqual({
    success: false,
    code: 'SERVICE_UNAVAILABLE',
    error: expect.any(String),
    requestId: expect.stringMatching(/^req_/),
    retryAfterSeconds: expect.any(Number),
  })
  expect(answer!.headers.get('retry-after')).toBe(String(body['retryAfterSeconds']))
  expect(tookMs).toBeLessThan(PROMISED_MS)
}

function readWithKey(path: string) {
  return ask(app.url, path, { headers: { 'x-api-key': account.liveKey } })
}

async function expectRecovery(): Promise<void> {
  const { tookMs } = await timed(
    until(
      () => readWithKey('/api/v2/wallet'),
      answer => answer?.status === 200,
    ),
  )
  expect(tookMs).toBeLessThan(PROMISED_MS)
  expect((await ask(app.url, '/readyz'))!.status).toBe(200)
}

function responseTo(submit: Submit) {
  return new smpp.PDU('submit_sm_resp', { message_id: 'late-answer', sequence_number: submit.sequence })
}

/** How often the SMSC accepted this text. */
function taken(text: string): number {
  return smsc.submits.filter(submit => submit.text === text).length
}

type Wallet = { balance: number; held: number; captured: number; credited: number }

async function footprint(
  db: Database,
): Promise<{ outbox: number; keys: string[]; statuses: string[]; wallet: Wallet }> {
  const { rows } = await db.query<{
    state: { outbox: number; keys: string[]; statuses: string[]; wallet: Wallet }
  }>({
    name: 'fault_footprint',
    text: `select json_build_object(
      'outbox', (select count(*) from outbox),
      'keys', (select coalesce(json_agg(key order by key), '[]') from idempotency),
      'statuses', (select coalesce(json_agg(status order by id), '[]') from messages),
      'wallet', (select row_to_json(w) from wallets w where credited = 100000000 and balance + held < 100000000 limit 1)
    ) as state`,
  })
  return rows[0]!.state
}

const messageIdOf = (text: string) =>
  (JSON.parse(text) as { tracking: { messageId: string } }).tracking.messageId

test('a start on a database whose disk is full says so in one line', async () => {
  const full = await createTestDatabase()
  const words = 'could not extend file "base/16384/2619": No space left on device'
  try {
    for (const [name, text] of [
      [
        'full_disk',
        `create function no_space() returns trigger language plpgsql as $$
          begin raise exception '${words}' using errcode = '53100'; end $$`,
      ],
      ['full_nodes', 'create trigger no_space before insert on nodes execute function no_space()'],
    ] as const) {
      await full.db.query({ name, text })
    }
    const error = await startPosthorn({ DATABASE_URL: full.url }).catch(given => given as Error)
    const { message } = error as Error
    expect(message).toContain(`posthorn: The database could not do what the start needs: ${words}.\n`)
    expect(message).not.toContain('unexpected')
  } finally {
    await full.drop()
  }
}, 30_000)

describe('a database that is cut off', () => {
  test('makes every request fail with 503 in time, and all requests work seconds after it is back', async () => {
    proxy.set('cut')
    await Promise.all([
      expectUnavailable(sendText('while away', 'away')),
      expectUnavailable(readWithKey('/api/v2/wallet')),
      expectUnavailable(readWithKey('/api/v2/messages')),
      expectUnavailable(ask(app.url, '/readyz')),
    ])
    expect((await ask(app.url, '/healthz'))!.status).toBe(200)
    proxy.set('open')
    await expectRecovery()
    expect(taken('while away')).toBe(0)

    // The idempotency key of the refused send is free.
    expect(await sendUntilTaken('while away', 'away')).toMatchObject({ replayed: false })
    await until(
      () => footprint(database.db),
      found => found.outbox === 0,
    )
    expect(taken('while away')).toBe(1)
  })

  test.each(['before', 'after'] as const)(
    'that comes back in time accepts a waiting send once, if it was cut off %s its statement was executed',
    async when => {
      const lost = proxy.loseAt('accept_sends', when)
      const waiting = sendText('patient', 'patient')
      await lost
      proxy.set('cut')
      await expectUnavailable(ask(app.url, '/readyz'))
      proxy.set('open')
      const answer = (await waiting)!
      expect(answer, answer.text).toMatchObject({ status: 200, replayed: false })
      expect(await sendUntilTaken('patient', 'patient')).toMatchObject({ replayed: true, text: answer.text })
      await until(
        () => footprint(database.db),
        found => found.outbox === 0,
      )
      expect(taken('patient')).toBe(1)
    },
  )

  test('that comes back in time has each waiting message sent once, if need be after a repeat', async () => {
    proxy.set('cut')
    const waiting = Array.from({ length: 20 }, (_, at) => sendText(`patient ${at}`, `patient ${at}`))
    // When the server reports that it is not ready, the sends are under way.
    await expectUnavailable(ask(app.url, '/readyz'))
    proxy.set('open')
    const answers = await Promise.all(waiting)
    for (const [at, answer] of answers.entries()) {
      expect([200, 503]).toContain(answer!.status)
      await sendUntilTaken(`patient ${at}`, `patient ${at}`)
      expect(taken(`patient ${at}`)).toBe(1)
    }
  })

  test('loses no provider response that arrives meanwhile', async () => {
    const held = Promise.withResolvers<() => void>()
    smsc.behave(submit => {
      held.resolve(() => submit.session.send(responseTo(submit)))
      return null
    })
    const sending = sendText('under way', 'under way')
    const answerNow = await held.promise
    proxy.set('cut')
    answerNow()
    // The request ends without the database; its repeat gets the response.
    const first = await sending
    expect([200, 503]).toContain(first!.status)
    smsc.behave('accept')
    proxy.set('open')
    await expectRecovery()
    const answer = await sendUntilTaken('under way', 'under way')
    const id = messageIdOf(answer.text)
    const message = await until(
      () => read<MessageWithTimeline>(app.url, account, `/api/v2/messages/${id}`),
      found => found.status === 'sent',
    )
    expect(message).toMatchObject({ providerMessageId: 'late-answer', billing: { state: 'captured' } })
    expect(taken('under way')).toBe(1)
  })
})

test('a node stops although a chore that may take a minute gets no answer', async () => {
  await proxy.loseAt('apply_parked', 'before')
  await app.stop()
  app = await startNode()
  await expectRecovery()
})

describe('a database that executes queries and whose responses are lost', () => {
  test('a refused send that was stored is withdrawn: not sent, its money released, its key free', async () => {
    const before = await footprint(database.db)
    proxy.deafenAt('unheard')
    await expectUnavailable(sendText('never heard of', 'unheard'))
    // It was stored although it was refused.
    const stored = await footprint(database.db)
    expect(stored.keys).toContain('unheard')
    expect(stored.wallet.held).toBeGreaterThan(0)

    proxy.set('open')
    const after = await until(
      () => footprint(database.db),
      found => found.outbox === 0,
    )
    expect(after.statuses).toEqual([...before.statuses, 'cancelled'])
    expect(after.wallet).toEqual(before.wallet)
    expect(after.keys).not.toContain('unheard')
    expect(taken('never heard of')).toBe(0)

    await expectRecovery()
    expect(await sendUntilTaken('never heard of', 'unheard')).toMatchObject({ replayed: false })
    expect(taken('never heard of')).toBe(1)
  })

  test('a refused send that was stored is withdrawn by a stopping node that reaches its database only then', async () => {
    const before = await footprint(database.db)
    proxy.deafenAt('unheard')
    await expectUnavailable(sendText('never heard of', 'unheard'))
    proxy.set('cut')
    const left = smsc.commanded('unbind').then(() => proxy.set('open'))
    await app.stop()
    await left
    const after = await footprint(database.db)
    app = await startNode()
    expect(after.statuses).toEqual([...before.statuses, 'cancelled'])
    expect(after.wallet).toEqual(before.wallet)
    expect(after.outbox).toBe(0)
    expect(taken('never heard of')).toBe(0)
  })

  describe('on one of two nodes', () => {
    let other: App
    beforeEach(async () => {
      other = await startNode('0', database.url)
    })
    afterEach(() => other.stop())

    /** One node refuses the request, and the other, which reaches its database, responds to it. Then the first reaches its database again and stops. */
    async function repeatElsewhere(body: Record<string, unknown>, unheard = 'unheard') {
      proxy.deafenAt(unheard)
      const request = { account, key: 'unheard', body: { to: '+12025550199', channel: 'local_sms', ...body } }
      expect((await send(app.url, request))?.status).toBe(503)
      const told = await until(
        () => send(other.url, request),
        answer => answer?.status === 200,
      )
      proxy.set('open')
      await app.stop()
      app = await startNode()
      expect(await send(app.url, request)).toMatchObject({ status: 200, replayed: true, text: told!.text })
      return told!.text
    }

    const messageAt = (id: string) => read<MessageWithTimeline>(other.url, account, `/api/v2/messages/${id}`)

    test('a send that the other node has responded to is not withdrawn but sent, once', async () => {
      const id = messageIdOf(await repeatElsewhere({ content: { text: 'never heard of' } }))
      const message = await until(
        () => messageAt(id),
        found => !['queued', 'sending', 'unknown'].includes(found.status),
      )
      expect(message).toMatchObject({ status: 'sent', billing: { state: 'captured' }, attempts: 1 })
      expect(taken('never heard of')).toBe(1)
    }, 60_000)

    test('a scheduled send that the other node has responded to is not withdrawn', async () => {
      const scheduleAt = new Date(Date.now() + 3_600_000).toISOString()
      const body = { content: { text: 'never heard of' }, options: { scheduleAt } }
      expect(await messageAt(messageIdOf(await repeatElsewhere(body)))).toMatchObject({
        status: 'scheduled',
        billing: { state: 'held' },
      })
    }, 60_000)

    test('the messages of a batch that the other node has finished are not withdrawn but sent', async () => {
      const body = { to: ['+12025550101', '+12025550102'], content: { text: 'never heard of' } }
      const { results } = JSON.parse(await repeatElsewhere(body, 'accept_sends')) as BatchResult
      for (const { messageId } of results) {
        const message = await until(
          () => messageAt(messageId!),
          found => !['queued', 'sending', 'unknown'].includes(found.status),
        )
        expect(message).toMatchObject({ status: 'sent', billing: { state: 'captured' } })
      }
      expect(taken('never heard of')).toBe(2)
    }, 60_000)
  })

  test('a send that is executed only after it was refused is withdrawn as well', async () => {
    const before = await footprint(database.db)
    let unlock = (): void => {}
    const locked = Promise.withResolvers<void>()
    const holding = database.db.transaction(async tx => {
      await tx.query({ name: 'lock_wallets', text: 'select 1 from wallets for update' })
      locked.resolve()
      await new Promise<void>(resolve => {
        unlock = resolve
      })
    })
    await locked.promise
    await expectUnavailable(sendText('too late', 'late'))
    unlock()
    await holding
    // Until it is withdrawn, its key is in use.
    expect(await sendUntilTaken('too late', 'late')).toMatchObject({ replayed: false })
    expect(taken('too late')).toBe(1)
    const after = await until(
      () => footprint(database.db),
      found => found.outbox === 0,
    )
    expect(after.statuses.toSorted()).toEqual(['cancelled', ...before.statuses, 'sent'])
    expect(after.wallet.held).toBe(0)
    expect(after.wallet.captured).toBe(2 * before.wallet.captured)
  })
})

describe('a database that hangs', () => {
  test('makes requests fail with 503 in time instead of hanging', async () => {
    proxy.set('hung')
    await Promise.all([
      expectUnavailable(sendText('into the void', 'void')),
      expectUnavailable(readWithKey('/api/v2/wallet')),
      expectUnavailable(ask(app.url, '/readyz')),
    ])
    // Also those that arrive while others wait.
    await Promise.all(
      Array.from({ length: 20 }, (_, at) => expectUnavailable(sendText(`void ${at}`, `void ${at}`))),
    )
    proxy.set('open')
    await expectRecovery()
    expect(await sendUntilTaken('into the void', 'void')).toMatchObject({ replayed: false })
    expect(taken('into the void')).toBe(1)
  })

  test('half-open connections are detected and replaced', async () => {
    // Opens all connections of the pool.
    await Promise.all(Array.from({ length: 10 }, () => readWithKey('/api/v2/messages')))
    proxy.killHalfway()
    const { tookMs } = await timed(sendUntilTaken('over a new line', 'new line'))
    expect(tookMs).toBeLessThan(2 * PROMISED_MS)
    await expectRecovery()
    expect(taken('over a new line')).toBe(1)
  })
})

describe('due messages', () => {
  test('are not begun by a node that fails to start because its port is in use', async () => {
    const id = messageIdOf((await scheduled('not by that one'))!.text)
    const port = new URL(app.url).port
    await app.stop()
    const other = createServer()
    other.listen(Number(port), '127.0.0.1')
    await once(other, 'listening')
    await database.db.query({ name: 'due_now', text: 'update outbox set due_at = now()' })
    await expect(startNode(port)).rejects.toThrow('EADDRINUSE')
    const { rows } = await database.db.query({
      name: 'left_behind',
      text: 'select (select count(*) from nodes) as nodes, (select count(*) from outbox where owner is null) as free',
    })
    expect(rows).toEqual([{ nodes: 0, free: 1 }])
    other.close()
    app = await startNode()
    await until(
      () => read<MessageWithTimeline>(app.url, account, `/api/v2/messages/${id}`),
      found => found.status === 'sent',
    )
    expect(taken('not by that one')).toBe(1)
  })

  test('are sent even if the response to their claim was lost with its connection', async () => {
    const answer = await scheduled('on the way out')
    const id = messageIdOf(answer!.text)
    const lost = proxy.loseAnswer('on the way out')
    // It becomes due when the proxy is prepared, however long that took.
    await database.db.query({ name: 'due_now', text: 'update outbox set due_at = now()' })
    await lost
    expect(taken('on the way out')).toBe(0)
    const message = await until(
      () => read<MessageWithTimeline>(app.url, account, `/api/v2/messages/${id}`),
      found => found.status === 'sent',
    )
    expect(message.billing.state).toBe('captured')
    expect(taken('on the way out')).toBe(1)
  }, 60_000)
})

function scheduled(text: string) {
  const scheduleAt = new Date(Date.now() + 3_600_000).toISOString()
  const content = { text }
  const body = { to: '+12025550199', channel: 'local_sms', content, options: { scheduleAt } }
  return send(app.url, { account, key: text, body })
}
