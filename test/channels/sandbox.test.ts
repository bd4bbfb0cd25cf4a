import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { FileUnavailable, type Link, type Outgoing, type OutgoingFile } from '../../src/channels/provider.ts'
import type { SandboxMessage } from '../../src/contract/sandbox.ts'
import { readInbox } from '../../src/core/sandbox/messages-store.ts'
import { createDatabase } from '../../src/infra/db.ts'
import { toIso } from '../../src/lib/clock.ts'
import type { AccountId } from '../../src/lib/ids.ts'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'
import { receiptsOf } from '../support/inbound.ts'
import { createSandboxBench, type SandboxBench } from '../support/sandbox.ts'

let database: TestDatabase
let bench: SandboxBench
let links: Link[]
beforeAll(async () => {
  database = await createTestDatabase()
})
afterAll(() => database.drop())
beforeEach(() => {
  bench = createSandboxBench(database.db)
  links = []
})
afterEach(async () => {
  await Promise.all(links.map(link => link.close()))
})

async function open(io?: Parameters<SandboxBench['open']>[0]): Promise<Link> {
  const link = await bench.open(io)
  links.push(link)
  return link
}

const never = new AbortController().signal

function inboxOf(message: Outgoing): Promise<SandboxMessage[]> {
  const accountId = message.accountId as AccountId
  return readInbox(database.db, { accountId, to: null, before: null, limit: 100 }).then(({ rows }) => rows)
}

describe('an ordinary recipient', () => {
  test('has the message in the inbox before the response', async () => {
    const link = await open()
    const message = bench.outgoing({ text: 'Your code is 123456' })

    const outcome = await link.send(message, never)

    expect(outcome).toEqual({ kind: 'accepted', providerId: `sbx_${message.messageId.slice(4)}_1` })
    expect(await inboxOf(message)).toEqual([
      {
        messageId: message.messageId,
        channel: 'local_sms',
        to: '+15550104567',
        sender: 'Posthorn',
        subject: null,
        text: 'Your code is 123456',
        html: null,
        media: null,
        template: null,
        attempts: 1,
        receivedAt: toIso(bench.clock.now()),
      },
    ])
  })

  test('gets a delivered receipt for one second after the send, at most 250 ms late', async () => {
    const link = await open()
    await bench.pass(330)
    const sentAtMs = bench.clock.now()
    await link.send(bench.outgoing(), never)

    await bench.pass(950)
    expect(bench.told).toEqual([])
    await bench.pass(5_000)

    expect(bench.told).toHaveLength(1)
    expect(bench.told[0]).toMatchObject({ status: 'delivered', atMs: sentAtMs + 1_000, providerCode: null })
    expect(bench.told[0]!.toldAtMs - bench.told[0]!.atMs!).toBeLessThanOrEqual(250)
  })

  test('gets a read receipt after two seconds on a chat app', async () => {
    const link = await open()
    const sentAtMs = bench.clock.now()
    await link.send(bench.outgoing({ channel: 'official_chatapp' }), never)
    await bench.pass(5_000)
    expect(bench.told.map(({ status, atMs }) => [status, atMs! - sentAtMs])).toEqual([
      ['delivered', 1_000],
      ['read', 2_000],
    ])
  })

  test('has an HTML mail in the inbox as html, with a null text', async () => {
    const link = await open()
    const message = bench.outgoing({
      channel: 'email_user',
      to: 'someone@example.com',
      subject: 'Hello',
      text: '<p>Hello</p>',
      html: true,
    })
    await link.send(message, never)
    expect((await inboxOf(message))[0]).toMatchObject({ subject: 'Hello', text: null, html: '<p>Hello</p>' })
  })
})

describe('recipient endings', () => {
  test('0001 is not registered on chat apps, and accepted on other channels', async () => {
    const link = await open()
    const message = bench.outgoing({ to: '+15550100001', channel: 'user_chatapp_session' })
    expect(await link.send(message, never)).toMatchObject({
      kind: 'rejected',
      code: 'CHATAPP_NOT_REGISTERED',
    })
    expect(await inboxOf(message)).toEqual([])
    expect(await link.reaches!('+15550100001', never)).toBe(false)
    expect(await link.reaches!('+15550100002', never)).toBe(true)
    expect(await link.send(bench.outgoing({ to: '+15550100001' }), never)).toMatchObject({ kind: 'accepted' })
  })

  test('0002 is rejected permanently', async () => {
    const link = await open()
    const message = bench.outgoing({ to: '+15550100002' })
    expect(await link.send(message, never)).toMatchObject({ kind: 'rejected', code: 'RECIPIENT_REJECTED' })
    expect(await inboxOf(message)).toEqual([])
  })

  test('0003 fails twice and is accepted at the third attempt', async () => {
    const link = await open()
    const first = bench.outgoing({ to: '+15550100003' })
    const outcomes = []
    for (const attempt of [1, 2, 3]) outcomes.push(await link.send({ ...first, attempt }, never))
    expect(outcomes).toMatchObject([
      { kind: 'retry', afterMs: 200 },
      { kind: 'retry', afterMs: 200 },
      { kind: 'accepted', providerId: `sbx_${first.messageId.slice(4)}_3` },
    ])
    expect(await inboxOf(first)).toMatchObject([{ attempts: 3 }])
  })

  test('0004 is accepted and then undelivered', async () => {
    const link = await open()
    await link.send(bench.outgoing({ to: 'ph-0004@example.com', channel: 'email_user' }), never)
    await bench.pass(5_000)
    expect(bench.told).toMatchObject([{ status: 'undelivered', providerCode: '0004' }])
  })

  test('0005 is stored, but is unknown after three seconds without a response, and gets no receipt', async () => {
    const link = await open()
    const message = bench.outgoing({ to: '+15550100005' })
    const answer = link.send(message, never)
    let answered = false
    answer.then(() => (answered = true))

    await bench.pass(2_950)
    expect(answered).toBe(false)
    expect(await inboxOf(message)).toHaveLength(1)
    await bench.pass(50)

    expect(await answer).toMatchObject({ kind: 'unknown' })
    await bench.pass(60_000)
    expect(bench.told).toEqual([])
  })

  test('0005 is unknown at once when its signal aborts', async () => {
    const link = await open()
    const controller = new AbortController()
    const message = bench.outgoing({ to: '+15550100005' })
    const answer = link.send(message, controller.signal)
    await bench.pass(50)
    controller.abort()
    expect(await answer).toMatchObject({ kind: 'unknown' })
    expect(await inboxOf(message)).toHaveLength(1)
  })

  test('0005 is unknown at once when the link closes', async () => {
    const link = await open()
    const answer = link.send(bench.outgoing({ to: '+15550100005' }), never)
    await bench.pass(50)
    await link.close()
    expect(await answer).toMatchObject({ kind: 'unknown' })
  })

  test('0007 gets a delivered receipt before the response, and once more after it', async () => {
    const steps: string[] = []
    const link = await open({
      async emit(items) {
        for (const item of receiptsOf(items)) steps.push(`${item.status} ${item.providerId}`)
      },
    })
    const message = bench.outgoing({ to: '+15550100007', channel: 'official_chatapp' })
    const outcome = await link.send(message, never)
    steps.push(outcome.kind)
    await bench.pass(5_000)
    const providerId = `sbx_${message.messageId.slice(4)}_1`
    expect(steps).toEqual([`delivered ${providerId}`, 'accepted', `delivered ${providerId}`])
  })

  test('0007 is unknown when its receipt cannot be stored', async () => {
    const link = await open({ emit: () => Promise.reject(new Error('the store is away')) })
    expect(await link.send(bench.outgoing({ to: '+15550100007' }), never)).toMatchObject({ kind: 'unknown' })
  })
})

describe('0006, which pauses the lane', () => {
  const to = '+15550100006'

  test('throttles for five seconds, then accepts', async () => {
    const link = await open()
    const message = bench.outgoing({ to })
    expect(await link.send(message, never)).toMatchObject({
      kind: 'throttled',
      scope: 'account',
      afterMs: 5_000,
    })
    await bench.pass(4_000)
    expect(await link.send(message, never)).toMatchObject({ kind: 'throttled', afterMs: 1_000 })
    await bench.pass(1_000)
    expect(await link.send(message, never)).toMatchObject({ kind: 'accepted' })
    expect(await inboxOf(message)).toMatchObject([{ attempts: 1 }])
  })

  test('keeps its pause across a restart', async () => {
    const message = bench.outgoing({ to })
    const before = await open()
    await before.send(message, never)
    await before.close()
    await bench.pass(2_000)
    const after = await open()
    expect(await after.send(message, never)).toMatchObject({ kind: 'throttled', afterMs: 3_000 })
  })

  test('shares its pause with messages created before its end, and starts a new one for later messages', async () => {
    const link = await open()
    const first = bench.outgoing({ to })
    await link.send(first, never)
    await bench.pass(1_000)
    const during = bench.outgoing({ to })
    await bench.pass(4_000)
    expect(await link.send(during, never)).toMatchObject({ kind: 'accepted' })
    await bench.pass(1_000)
    expect(await link.send(bench.outgoing({ to }), never)).toMatchObject({
      kind: 'throttled',
      afterMs: 5_000,
    })
  })

  test('has a separate pause for each account', async () => {
    const link = await open()
    await link.send(bench.outgoing({ to }), never)
    await bench.pass(4_000)
    const other = bench.outgoing({ to, accountId: bench.ids.next('acc') })
    expect(await link.send(other, never)).toMatchObject({ kind: 'throttled', afterMs: 5_000 })
  })
})

describe('receipts', () => {
  test('are emitted after a restart, including overdue ones', async () => {
    const before = await open()
    await before.send(bench.outgoing({ channel: 'official_chatapp' }), never)
    await before.close()
    await bench.pass(60_000)
    expect(bench.told).toEqual([])
    await open()
    await bench.pass(100)
    expect(bench.told.map(receipt => receipt.status)).toEqual(['delivered', 'read'])
  })

  test('are emitted by another node when the first one closes before they are stored', async () => {
    const failing = await open({ emit: () => Promise.reject(new Error('the store is away')) })
    await failing.send(bench.outgoing(), never)
    await bench.pass(1_100)
    await failing.close()
    await open()
    await bench.pass(7_000)
    expect(bench.told).toMatchObject([{ status: 'delivered' }])
  })

  test('are each emitted once when two nodes share them', async () => {
    const [one, two] = [await open(), await open()]
    const messages = Array.from({ length: 1_200 }, () => bench.outgoing())
    await Promise.all(messages.map((message, at) => (at % 2 ? one : two).send(message, never)))
    await bench.pass(4_000)
    const ids = bench.told.map(receipt => receipt.providerId)
    expect(ids).toHaveLength(1_200)
    expect(new Set(ids)).toEqual(new Set(messages.map(message => `sbx_${message.messageId.slice(4)}_1`)))
  })

  test('are emitted on the connection that accepted the message', async () => {
    const link = await open()
    await open({ connectionId: bench.ids.next('cnn'), emit: () => Promise.reject(new Error('not mine')) })
    await link.send(bench.outgoing(), never)
    await bench.pass(3_000)
    expect(bench.told).toHaveLength(1)
  })
})

describe('files', () => {
  const bytes = Buffer.from('a picture of a post horn')
  function file(over: Partial<OutgoingFile> = {}): OutgoingFile {
    return {
      type: 'image',
      mimetype: 'image/png',
      fileName: 'horn.png',
      open: async () => Readable.from([bytes.subarray(0, 9), bytes.subarray(9)]),
      ...over,
    }
  }

  test('are read completely and stored as size and hash', async () => {
    const link = await open()
    const publicUrl = 'https://example.com/horn.pdf'
    const files = [file(), file({ type: 'document', fileName: 'horn.pdf', publicUrl })]
    const message = bench.outgoing({ channel: 'user_chatapp_session', files })
    expect(await link.send(message, never)).toMatchObject({ kind: 'accepted' })
    const sha256 = createHash('sha256').update(bytes).digest('hex')
    const facts = { mimetype: 'image/png', sizeBytes: bytes.length, sha256 }
    expect((await inboxOf(message))[0]!.media).toEqual([
      { type: 'image', fileName: 'horn.png', ...facts },
      { type: 'document', fileName: 'horn.pdf', ...facts, publicUrl },
    ])
  })

  test.each([
    ['is temporarily unavailable', new FileUnavailable('503 from its server', true), { kind: 'retry' }],
    [
      'is permanently unavailable',
      new FileUnavailable('404', false),
      { kind: 'rejected', code: 'MESSAGE_REJECTED', detail: '404' },
    ],
    ['fails with another error', new Error('socket hang up'), { kind: 'retry' }],
  ])('determine the outcome when one %s', async (_what, error, outcome) => {
    const link = await open()
    const message = bench.outgoing({ files: [file(), file({ open: () => Promise.reject(error) })] })
    expect(await link.send(message, never)).toMatchObject(outcome)
    expect(await inboxOf(message)).toEqual([])
  })

  test('are rejected when one has no end', async () => {
    const link = await open()
    const block = Buffer.alloc(4 * 1024 * 1024)
    function* endless() {
      for (;;) yield block
    }
    const message = bench.outgoing({ files: [file({ open: async () => Readable.from(endless()) })] })
    expect(await link.send(message, never)).toMatchObject({ kind: 'rejected', code: 'MESSAGE_REJECTED' })
  })

  test('are given up when the signal aborts while one hangs; the outcome is retry and nothing is stored', async () => {
    const link = await open()
    const controller = new AbortController()
    const message = bench.outgoing({ files: [file({ open: () => new Promise(() => {}) })] })
    const answer = link.send(message, controller.signal)
    controller.abort()
    expect(await answer).toMatchObject({ kind: 'retry' })
    expect(await inboxOf(message)).toEqual([])
  })
})

describe('without its database', () => {
  test('ends a send in retry', async () => {
    const closedDatabase = createDatabase({ connectionString: database.url })
    await closedDatabase.close()
    const away = createSandboxBench(closedDatabase)
    const link = await away.open()
    expect(await link.send(away.outgoing(), never)).toMatchObject({ kind: 'retry', afterMs: 1_000 })
    expect(await link.send(away.outgoing({ to: '+15550100006' }), never)).toMatchObject({ kind: 'retry' })
    await link.close()
  })

  test('logs one warning, and emits receipts when the database is back', async () => {
    const lines: string[] = []
    let away = false
    const { inbox } = bench
    const nextReceiptAt = inbox.nextReceiptAt
    inbox.nextReceiptAt = (...args) => (away ? Promise.reject(new Error('away')) : nextReceiptAt(...args))
    const link = await open({ log: { info() {}, debug() {}, warn: (_fields, text) => lines.push(text) } })
    await link.send(bench.outgoing(), never)
    away = true
    await bench.pass(10_000)
    expect(lines).toHaveLength(1)
    away = false
    await bench.pass(1_100)
    expect(bench.told).toHaveLength(1)
  })
})
