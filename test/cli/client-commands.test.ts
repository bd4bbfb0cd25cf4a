import { execFile } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type App, startApp } from '../../src/app.ts'
import { readConfig } from '../../src/config.ts'
import type { AdminAccount, ConnectionView, PriceRow } from '../../src/contract/admin.ts'
import { insertSender } from '../../src/core/senders/store.ts'
import { createLog } from '../../src/infra/log.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { type AccountId, createIds, toUuid } from '../../src/lib/ids.ts'
import { createRandom } from '../../src/lib/random.ts'
import { createCertificate } from '../support/certificate.ts'
import { createTestDatabase, type TestDatabase, UNHURRIED } from '../support/database.ts'
import { type PeerAct, startHttpPeer } from '../support/http-peer.ts'
import { silentProgress } from '../support/silent-progress.ts'

const TOKEN = 'ph_op_0000000000000000000000000000000000000000000'
const BIN = fileURLToPath(new URL('../../bin/posthorn.js', import.meta.url))

let database: TestDatabase
let app: App
let dataDir: string

beforeAll(async () => {
  database = await createTestDatabase()
  dataDir = mkdtempSync(join(tmpdir(), 'posthorn-cli-'))
  // As a server on this machine writes it.
  writeFileSync(join(dataDir, 'operator-token'), `${TOKEN}\n`)
  app = await startApp({
    config: readConfig({ PORT: '0', DATABASE_URL: database.url, POSTHORN_LOG_LEVEL: 'silent' }),
    secrets: { operatorToken: TOKEN, masterKey: Buffer.alloc(32, 5) },
    log: createLog({ level: 'silent' }),
    databaseUrl: database.url,
    databaseWaits: UNHURRIED,
    progress: silentProgress,
    checkResponses: true,
  })
})
afterAll(async () => {
  await app?.stop()
  await database.drop()
  rmSync(dataDir, { recursive: true })
})

type Ended = { code: number; out: string; err: string }

/** Runs the program itself, as a person does. */
function posthorn(
  args: string[],
  options: { env?: Record<string, string>; input?: string } = {},
): Promise<Ended> {
  return new Promise(resolve => {
    const env = {
      PATH: process.env['PATH'],
      POSTHORN_URL: app.url,
      POSTHORN_DATA_DIR: dataDir,
      ...options.env,
    }
    const child = execFile(process.execPath, [BIN, ...args], { env }, (error, out, err) =>
      resolve({ code: Number(error?.code ?? 0), out, err }),
    )
    child.stdin!.end(options.input ?? '')
  })
}

async function json<T>(args: string[], options: Parameters<typeof posthorn>[1] = {}): Promise<T> {
  const ended = await posthorn([...args, '--json'], options)
  expect(ended).toMatchObject({ code: 0, err: '' })
  return JSON.parse(ended.out) as T
}

describe('posthorn', () => {
  /** The account of the first test, and one of its keys. */
  let id: string
  let asCi: { env: { POSTHORN_API_KEY: string } }

  test('creates an account, credits it, creates a key, and sends with it', async () => {
    const make = [
      ...['account', 'create', '--idempotency-key', 'acme'],
      ...['--name', 'Acme', '--country', 'US', '--currency', 'USD', '--phone', '+12025550123', '--verified'],
      ...['--scheduling', '--balance', '1', '--pool', 'email_user,botapp_bot=7'],
    ]
    const created = await json<{ account: AdminAccount; liveKey: string }>(make)
    expect(created.account).toMatchObject({
      phone: { number: '+12025550123', verified: true },
      plan: { allowsScheduling: true, pool: [{ channels: ['email_user', 'botapp_bot'], limit: 7 }] },
    })
    id = created.account.id
    const again = await posthorn(make)
    expect(again).toMatchObject({ code: 0, err: '' })
    expect(again.out).toContain(id)
    expect(again.out).toContain('its API keys cannot be shown again')
    expect(await json(['wallet', 'credit', id, '2.5', '--note', 'Top up'])).toMatchObject({ balance: 3.5 })

    const made = await posthorn(['key', 'create', id, '--name', 'CI', '--permission', 'messages:create'])
    asCi = { env: { POSTHORN_API_KEY: /ph_live_[0-9A-Za-z]+/.exec(made.out)![0] } }
    const sent = await json<{ success: boolean; resolved: object }>(
      ['send', '--to', '+12025550188', '--text', 'Hello', '--idempotency-key', 'one'],
      asCi,
    )
    expect(sent).toMatchObject({ success: true, resolved: { channel: 'local_sms', provider: 'sandbox' } })
  })

  test('creates an account without a phone number, but does not verify it', async () => {
    const make = ['account', 'create', '--name', 'Quiet', '--country', 'US', '--currency', 'USD']
    expect((await posthorn(make)).out).toMatch(/^phone +– \(not verified\)$/m)
    expect(await posthorn([...make, '--verified'])).toMatchObject({
      code: 1,
      out: '',
      err: expect.stringContaining('phone.number'),
    })
  })

  test('starts a verification, and rejects a wrong code, an early resend and an invalid client address', async () => {
    const to = ['--to', '+12025550189']
    const attempt = await json<{ verificationId: string }>(['verify', 'start', ...to], asCi)
    expect(attempt).toMatchObject({ success: true, status: 'sent', channel: 'local_sms', resendCount: 0 })
    // A code of another length is always wrong.
    expect(await posthorn(['verify', 'check', '1234', '--id', attempt.verificationId], asCi)).toMatchObject({
      code: 1,
      err: expect.stringContaining('VERIFICATION_CODE_INVALID'),
    })
    expect(await posthorn(['verify', 'resend', ...to], asCi)).toMatchObject({
      code: 1,
      err: expect.stringContaining('RESEND_TOO_SOON'),
    })
    const fromNowhere = [...to, '--client-ip', 'not an address']
    for (const command of ['start', 'resend']) {
      expect(await posthorn(['verify', command, ...fromNowhere], asCi)).toMatchObject({
        code: 1,
        err: expect.stringContaining('clientIp'),
      })
    }
  })

  test('creates templates from options and from a file, and lists and deletes them', async () => {
    const words = ['--category', 'sms', '--type', 'utility', '--text', 'Order {{1}}']
    const template = await json<{ template: { id: string } }>(
      ['template', 'create', '--name', 'order', ...words],
      asCi,
    )
    expect(template).toMatchObject({ template: { name: 'order', status: 'active' } })
    const fromFile = await posthorn(['template', 'create', '--name', 'mail', '--file', '-'], {
      ...asCi,
      input: JSON.stringify({
        name: 'x',
        category: 'email',
        subType: 'free',
        emailSubject: 'Hi',
        content: 'Hi',
      }),
    })
    expect(fromFile).toMatchObject({ code: 0, out: expect.stringMatching(/^name +mail$/m) })
    expect((await posthorn(['template', 'list', '--category', 'sms'], asCi)).out).toMatch(
      / order +sms +utility /,
    )
    expect((await posthorn(['template', 'delete', template.template.id], asCi)).out).toContain('is deleted')
    expect((await posthorn(['template', 'delete', template.template.id], asCi)).err).toContain('NOT_FOUND')
  })

  test('adds a bot without printing its token, and lists and removes it', async () => {
    const testKey = /ph_test_[0-9A-Za-z]+/.exec(
      (
        await posthorn([
          'key',
          'create',
          id,
          '--name',
          'T',
          '--mode',
          'test',
          '--permission',
          'messages:create',
        ])
      ).out,
    )![0]
    const asTest = { env: { POSTHORN_API_KEY: testKey } }
    const added = await posthorn(['bot', 'add', '--file', '-'], { ...asTest, input: '424242:Sw0rdfish\n' })
    expect(added).toMatchObject({ code: 0, out: expect.stringMatching(/^name +Sandbox bot$/m) })
    expect(added.out + added.err).not.toContain('Sw0rdfish')
    const botId = /bot_\w+/.exec(added.out)![0]
    expect((await posthorn(['bot', 'list'], asTest)).out).toMatch(
      new RegExp(`^${botId} .* sandbox +– +4 `, 'm'),
    )
    const started = await posthorn(['bot', 'subscribers', botId, '--limit', '3'], asTest)
    expect(started.out).toMatch(/^7000000002 +sandbox_7000000002 +Sandbox 0002 /m)
    expect(started.out).toContain('4 in all: --page 2')
    expect((await posthorn(['bot', 'remove', botId], asTest)).out).toBe(`${botId} is removed.\n`)
    expect((await posthorn(['bot', 'remove', botId], asTest)).err).toMatch(/^NOT_FOUND: Bot not found/)
  })

  test('shows an account, revokes its key, and lists accounts', async () => {
    const shown = await posthorn(['account', 'show', id])
    expect(shown.out).toContain('Acme')
    const keyId = /^(key_\S+) +CI /m.exec(shown.out)![1]!
    expect((await posthorn(['key', 'revoke', id, keyId])).out).toMatch(/^revoked +\d{4}-/m)
    const listed = await posthorn(['account', 'list'])
    expect(listed.out.split('\n')[0]).toMatch(/^id +name +status +country/)
    expect(listed.out).toContain(id)
    expect((await posthorn(['account', 'list', '--find', 'aCM'])).out).toContain(id)
    expect((await posthorn(['account', 'list', '--find', 'nothing of the kind'])).out).not.toContain(id)
  })

  test('exports the price list and imports it again', async () => {
    const prices = await json<PriceRow[]>(['price', 'list', '--limit', '500'])
    expect(prices.length).toBeGreaterThan(0)
    const input = JSON.stringify(prices.map(row => ({ ...row, price: row.price * 2 })))
    // With the byte order mark that editors on Windows write.
    expect((await posthorn(['price', 'import', '-'], { input: `\ufeff${input}` })).out).toBe(
      `${prices.length} prices are stored.\n`,
    )
    const doubled = await json<PriceRow[]>(['price', 'list', '--limit', '500'])
    expect(doubled.map(({ price }) => price)).toEqual(prices.map(({ price }) => price * 2))
  })

  test('adds, updates, lists, tests and removes connections', async () => {
    const file = join(dataDir, 'mail.json')
    writeFileSync(
      file,
      JSON.stringify({ host: '127.0.0.1', from: 'a@example.com', user: 'u', password: 'Sw0rdfish!' }),
    )
    const flags = ['--provider', 'smtp', '--name', 'Mail', '--channel', 'email_user', '--disabled']
    const added = await posthorn(['connection', 'add', ...flags, '--config', file, '--set', 'port=1'])
    expect(added).toMatchObject({ code: 0, err: '' })
    expect(added.out).not.toContain('Sw0rdfish')
    const id = /cnn_\w+/.exec(added.out)![0]
    const updated = await json<ConnectionView>([
      'connection',
      'update',
      id,
      '--set',
      'port=2',
      '--priority',
      '7',
      '--type',
      'otp',
      '--type',
      'utility',
      '--mode',
      'otp=plain_text',
    ])
    expect(updated).toMatchObject({
      config: { host: '127.0.0.1', port: 2 },
      secretsSet: ['password'],
      priorityOrder: 7,
      allowedTypes: ['otp', 'utility'],
      sendModeByType: { otp: 'plain_text' },
      enabled: false,
    })
    expect((await posthorn(['connection', 'list'])).out).toMatch(
      new RegExp(`^${id} +smtp +Mail +email_user +no +7 +all +closed$`, 'm'),
    )
    expect((await posthorn(['connection', 'test', id])).out).toMatch(/^does not work: ./)
    expect((await posthorn(['connection', 'webhook', id])).out).toMatch(
      /^This server has no public URL: .*POSTHORN_PUBLIC_URL/,
    )
    expect((await posthorn(['connection', 'remove', id])).out).toBe(`${id} is removed.\n`)
    expect(await posthorn(['connection', 'remove', id])).toMatchObject({
      code: 1,
      err: expect.stringMatching(/^NOT_FOUND: /),
    })
  })

  test('lists, approves and rejects sender ids', async () => {
    const ids = createIds(systemClock, createRandom())
    const [{ id: accountId }] = await json<[AdminAccount]>(['account', 'list', '--limit', '1'])
    const pending = { accountId: accountId as AccountId, status: 'pending', isDefault: false } as const
    const [good, bad] = [ids.next('snd'), ids.next('snd')]
    await insertSender(database.db, {
      ...pending,
      id: good,
      name: 'Good',
      reason: null,
      webhookConfigured: false,
    })
    await insertSender(database.db, {
      ...pending,
      id: bad,
      name: 'Bad1',
      reason: null,
      webhookConfigured: false,
    })
    expect((await posthorn(['sender', 'list', '--status', 'pending'])).out).toContain(good)
    expect(await json(['sender', 'approve', good])).toMatchObject({ status: 'approved' })
    expect(await json(['sender', 'reject', bad, '--reason', 'no'])).toMatchObject({ reason: 'no' })
  })
})

describe('posthorn, for members and keys', () => {
  const json = async (args: string[]) => JSON.parse((await posthorn([...args, '--json'])).out)

  test('invites, lists, resets and removes members', async () => {
    const { account } = await json([
      'account',
      'create',
      '--name',
      'People',
      '--country',
      'US',
      '--currency',
      'USD',
    ])
    const invited = await posthorn([
      'member',
      'invite',
      'ann@example.com',
      '--role',
      'owner',
      '--account',
      account.id,
    ])
    expect(invited).toMatchObject({
      code: 0,
      out: expect.stringMatching(/account +People[\s\S]*works once:\nhttp/),
    })
    const token = invited.out.trim().split('#').at(-1)
    const accepted = await fetch(`${app.url}/api/console/invitations/accept`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ token, name: 'Ann', password: 'correct horse battery' }),
    })
    expect(accepted.status).toBe(200)
    // Older versions took any name, chosen by the listed person, and another person reads it in a terminal.
    await database.db.query({
      name: 't_name',
      text: `update users set name = $1 where name = 'Ann'`,
      values: ['Ann\u001b[2J\nusr_1'],
    })
    const listed = await posthorn(['member', 'list', '--account', account.id, '--find', 'ANN@'])
    expect(listed.out).toMatch(/ann@example\.com +Ann\ufffd\[2J usr_1 +no +no +People \(owner\)/)
    const [{ id }] = await json(['member', 'list', '--find', 'ann@'])
    expect((await posthorn(['member', 'reset', id])).out).toMatch(/works once, until .*:\nhttp.*#/)
    expect(await posthorn(['member', 'remove', id, '--account', account.id])).toMatchObject({
      code: 1,
      err: expect.stringContaining('CONFLICT'),
    })
    const { key } = await json(['key', 'create', account.id, '--name', 'Till'])
    await database.db.query({
      name: 't_made_by',
      text: `update api_keys set made_by_type = 'user', made_by_id = $1 where id = $2`,
      values: [toUuid(id), toUuid(key.id)],
    })
    const removed = await posthorn(['member', 'remove', id])
    expect(removed.code).toBe(0)
    const row = `${key.id} +${account.id} +Till +live +owner`
    expect(removed.out).toMatch(new RegExp(`^API keys that they created stay valid:\\n.*\\n${row}$`, 'm'))
    expect((await posthorn(['member', 'list', '--find', 'ann@'])).out).not.toContain('ann@')
  })

  test('rotates a key', async () => {
    const { account } = await json([
      'account',
      'create',
      '--name',
      'Keys',
      '--country',
      'US',
      '--currency',
      'USD',
    ])
    const { key } = await json(['key', 'create', account.id, '--name', 'Shop'])
    const rotated = await posthorn(['key', 'rotate', account.id, key.id, '--overlap', '0'])
    expect(rotated).toMatchObject({ code: 0, out: expect.stringMatching(/ph_live_[\s\S]* is revoked\./) })
    expect((await posthorn(['key', 'rotate', account.id, key.id])).code).toBe(1)
  })
})

describe('posthorn with an API key', () => {
  test('adds, lists and removes suppressed recipients', async () => {
    const accountId = (await json<AdminAccount[]>(['account', 'list'])).find(
      ({ name }) => name === 'Demo',
    )!.id
    const { apiKey } = await json<{ apiKey: string }>([
      'key',
      'create',
      accountId,
      '--name',
      'List',
      '--mode',
      'test',
    ])
    const env = { POSTHORN_API_KEY: apiKey }
    const added = await posthorn(
      ['suppression', 'add', '+1 202 555 0199', '--channel', 'local_sms', '--reason', 'asked'],
      { env },
    )
    expect(added).toMatchObject({ code: 0, err: '' })
    const id = /sup_\w+/.exec(added.out)![0]
    const listed = await posthorn(['suppression', 'list', '--to', '+12025550199'], { env })
    expect(listed.out).toMatch(new RegExp(`^${id} +\\+12025550199 +local_sms +api +asked`, 'm'))
    expect(await posthorn(['suppression', 'remove', id], { env })).toMatchObject({ code: 0 })
    expect(await posthorn(['suppression', 'remove', id], { env })).toMatchObject({
      code: 1,
      err: expect.stringMatching(/^NOT_FOUND/),
    })
    const refused = await posthorn(['suppression', 'add', 'nobody'], { env })
    expect(refused).toMatchObject({ code: 1, err: expect.stringMatching(/^VALIDATION_ERROR: to: /) })
  })
})

describe('the exit code of posthorn is', () => {
  test('1 when the API rejects the request, with the code and every fault printed', async () => {
    const ended = await posthorn(['account', 'create', '--name', 'X', '--country', 'XX', '--currency', 'ABC'])
    expect(ended.code).toBe(1)
    expect(ended.out).toBe('')
    expect(ended.err).toMatch(/^VALIDATION_ERROR: homeCountry: .*\n {2}homeCountry: .*\n {2}currency: .*\n$/)
    const closed = await posthorn(['account', 'list', '--token', 'wrong'])
    expect(closed).toMatchObject({ code: 1, err: expect.stringMatching(/^UNAUTHORIZED: /) })
  })

  test('1 when the server redirects, and the token is not sent to the other address', async () => {
    const other = await startHttpPeer(() => ({ status: 200, headers: {}, body: '{}' }))
    const gate = await startHttpPeer(() => ({
      status: 307,
      headers: { location: `${other.url}/x` },
      body: '',
    }))
    const ended = await posthorn(['account', 'list', '--url', gate.url, '--token', 't'])
    expect(ended).toMatchObject({
      code: 1,
      out: '',
      err: `posthorn: ${gate.url} redirects to ${other.url}/x: give the address of Posthorn itself.\n`,
    })
    expect(other.requests).toEqual([])
    await Promise.all([gate.close(), other.close()])
  })

  test.each([
    [200, 'null'],
    [200, '{"status": "ok"}'],
    [200, '<html></html>'],
    [500, 'null'],
    [500, '[]'],
  ])('1 when another server answers with %i %s', async (status, body) => {
    const other = await startHttpPeer(() => ({ status, headers: {}, body }))
    for (const args of [
      ['wallet', 'credit', 'acc_x', '5', '--token', 't'],
      ['send', '--to', '+12025550123', '--text', 'x', '--key', 'k'],
      ['listen', '--key', 'k', '--count', '1'],
    ]) {
      expect(await posthorn([...args, '--url', other.url])).toEqual({
        code: 1,
        out: '',
        err: `posthorn: ${other.url} did not answer as Posthorn does (status ${status}).\n`,
      })
    }
    await other.close()
  })

  test.each([
    [['account', 'create', '--country', 'US', '--currency', 'USD'], '--name is missing'],
    [['account', 'show'], 'wrong number of arguments'],
    [['account', 'list', '--colour'], "Unknown option '--colour'"],
    [['send', '--to', '+12025550123', '--text', 'x', '--to', '+12025550124'], '--to is given twice'],
    [['connection', 'update', 'cnn_x', '--priority', 'high'], '--priority must be a number'],
    [['connection', 'update', 'cnn_x', '--mode', 'otp'], '--mode must be TYPE=MODE'],
    [['connection', 'update', 'cnn_x', '--enable', '--disable'], '--enable and --disable exclude each other'],
    [['price', 'import', '/nowhere.json'], '/nowhere.json cannot be read'],
    [['send', '--to', '+1', '--text', 'x'], 'Give an API key'],
    [['listen', '--key', 'k', '--count', '0'], '--count must be a whole number from 1'],
    [['listen', '--key', 'k', '--count', '1.5'], '--count must be a whole number from 1'],
  ])('2 for wrong usage: %s', async (args, reason) => {
    const ended = await posthorn(args)
    expect(ended.code).toBe(2)
    expect(ended.err).toContain(reason)
    expect(ended.out).toBe('')
  })

  test('2 without an operator token or with an invalid URL, and 1 when no server answers', async () => {
    const empty = join(dataDir, 'empty')
    expect(await posthorn(['account', 'list'], { env: { POSTHORN_DATA_DIR: empty } })).toMatchObject({
      code: 2,
      err: expect.stringContaining('There is no operator token'),
    })
    for (const url of ['nowhere', 'http://ann:hunter2@127.0.0.1', 'http://127.0.0.1/?a=b']) {
      expect(await posthorn(['account', 'list', '--url', url])).toMatchObject({
        code: 2,
        err: 'posthorn: --url must be an http or https URL without user, query and fragment.\n',
      })
    }
    expect(await posthorn(['account', 'list', '--url', 'http://127.0.0.1:1'])).toMatchObject({
      code: 1,
      err: expect.stringContaining('No server answers at http://127.0.0.1:1'),
    })
    const half = 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{"success"'
    const peer = await startHttpPeer(() => ({ raw: half }))
    expect(await posthorn(['account', 'list', '--url', peer.url])).toMatchObject({
      code: 1,
      err: expect.stringMatching(new RegExp(`^posthorn: No server answers at ${peer.url}: .*\\n$`)),
    })
    await peer.close()
  })

  test.each<[string, PeerAct]>([
    ['broken before its answer', 'reset'],
    ['closed in the midst of it', { raw: 'HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{"success"' }],
  ])('1 when the connection is %s, and that what changes something may have been done', async (_, act) => {
    const peer = await startHttpPeer(() => act)
    const lost = (again: string) => ({
      code: 1,
      out: '',
      err: expect.stringMatching(
        new RegExp(
          `^posthorn: The answer of ${peer.url} was lost: .+ What you asked for may have been done. ${again}\\.\n$`,
        ),
      ),
    })
    const at = ['--url', peer.url, '--key', 'k']
    const send = ['send', '--to', '+12025550123', '--text', 'Hi', ...at]
    expect(await posthorn(send)).toEqual(lost('Look before you repeat it'))
    expect(await posthorn([...send, '--idempotency-key', '17'])).toEqual(
      lost('Repeat it with the same idempotency key'),
    )
    await peer.close()
    expect(await posthorn(send)).toMatchObject({
      code: 1,
      err: expect.stringContaining(`No server answers at ${peer.url}`),
    })
  })

  test('1 when TLS ends a command before it was sent, and not that it may have been done', async () => {
    const untrusted = await startHttpPeer(() => 'silent', createCertificate(['127.0.0.1']))
    const plain = await startHttpPeer(() => 'silent')
    for (const url of [untrusted.url, plain.url.replace('http:', 'https:')]) {
      expect(
        await posthorn(['send', '--to', '+12025550123', '--text', 'Hi', '--key', 'k', '--url', url]),
      ).toEqual({
        code: 1,
        out: '',
        err: expect.stringMatching(new RegExp(`^posthorn: No server answers at ${url}: `)),
      })
    }
    await Promise.all([untrusted.close(), plain.close()])
  })

  test.each([
    ['The API key', ['listen', '--key', 'ph_live_…']],
    ['The operator token', ['account', 'list', '--token', 'ph_op_…']],
    ['The operator token', ['account', 'list', '--token', 'ph_op_1\nph_op_2']],
    [
      'The idempotency key',
      ['send', '--to', '+12025550123', '--text', 'Hi', '--key', 'k', '--idempotency-key', '№ 17'],
    ],
  ])('2 when %s has characters that an HTTP header cannot contain', async (what, words) => {
    expect(await posthorn(words)).toEqual({
      code: 2,
      out: '',
      err: `posthorn: ${what} has characters that an HTTP header cannot contain.\n`,
    })
  })

  test('0 for --help, which prints the usage', async () => {
    const ended = await posthorn(['wallet', 'credit', '--help'])
    expect(ended).toEqual({
      code: 0,
      out: 'Usage: posthorn wallet credit ACCOUNT AMOUNT [--note TEXT] [--idempotency-key KEY]\n',
      err: '',
    })
  })
})

test('fraud rules can be shown and set, for the platform and for an account', async () => {
  const accounts = await json<AdminAccount[]>(['account', 'list'])
  const account = accounts[0]!.id
  const input = '{"prefix": {"mode": "monitor"}, "safe": ["+4917012345*"]}'
  const set = await posthorn(['fraud', 'set', '-', '--account', account], { input })
  expect(set).toMatchObject({ code: 0, err: '' })
  expect(set.out).toMatch(/^prefix +monitor +unverified 30 +mode monitor$/m)
  const whole = (await posthorn(['fraud', 'show', '--account', account, '--json'])).out
  expect(JSON.parse(whole)).toMatchObject({
    settings: JSON.parse(input),
    effective: { prefix: { unverified: 30 } },
  })
  // The printed rules can be set elsewhere.
  expect(await posthorn(['fraud', 'set', '-'], { input: whole })).toMatchObject({ code: 0 })
  expect((await posthorn(['fraud', 'show'])).out).toMatch(/^safe +– +\+4917012345\*/m)
  expect(await posthorn(['fraud', 'set', '-'], { input: '{}' })).toMatchObject({ code: 0 })
  const refused = await posthorn(['fraud', 'set', '-'], { input: '{"prefix": {"mode": "on"}}' })
  expect(refused.code).toBe(1)
  expect(refused.err).toContain('prefix.mode')
})

describe('the output of posthorn', () => {
  test('is written completely when it is larger than the pipe', async () => {
    const prices = Array.from({ length: 10_000 }, (_, at) => ({ channel: 'int_sms', prefix: `+44${at}` }))
    const body = JSON.stringify({ success: true, data: prices })
    const peer = await startHttpPeer(() => ({ status: 200, body }))
    const list = ['price', 'list', '--url', peer.url, '--token', TOKEN]
    expect(await json(list)).toEqual(prices)
    await peer.close()
  })

  test.skipIf(!existsSync('/dev/full'))('makes the command fail when it cannot be written', async () => {
    const env = { PATH: process.env['PATH'], POSTHORN_URL: app.url, POSTHORN_DATA_DIR: dataDir }
    const command = `"${process.execPath}" "${BIN}" account list > /dev/full`
    const ended = await new Promise<Ended>(resolve => {
      execFile('sh', ['-c', command], { env }, (error, out, err) =>
        resolve({ code: Number(error?.code ?? 0), out, err }),
      )
    })
    expect(ended).toEqual({
      code: 1,
      out: '',
      err: expect.stringMatching(/^posthorn: Standard output cannot be written: ENOSPC.*\n$/),
    })
  })
})
