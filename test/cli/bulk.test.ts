import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { BulkJob } from '../../src/contract/bulk.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { startTestApp, type TestAccount, type TestApp } from '../support/app.ts'
import { readBulkRows } from '../support/bulk.ts'

const BIN = fileURLToPath(new URL('../../bin/posthorn.js', import.meta.url))

let app: TestApp
let account: TestAccount
let dir: string

beforeAll(async () => {
  app = await startTestApp({ clock: systemClock })
  account = await app.createAccount()
  dir = mkdtempSync(join(tmpdir(), 'posthorn-cli-bulk-'))
})
afterAll(async () => {
  await app.stop()
  rmSync(dir, { recursive: true })
})

type Ended = { code: number; out: string; err: string }

function posthorn(...args: string[]): Promise<Ended> {
  const env = { PATH: process.env['PATH'], POSTHORN_URL: app.url, POSTHORN_API_KEY: account.testKey }
  return new Promise(resolve => {
    execFile(process.execPath, [BIN, 'bulk', ...args], { env }, (error, out, err) =>
      resolve({ code: Number(error?.code ?? 0), out, err }),
    )
  })
}

test('posthorn listen prints messages as they change, and ends after --count of them', async () => {
  const env = { PATH: process.env['PATH'], POSTHORN_URL: app.url, POSTHORN_API_KEY: account.testKey }
  const words = ['listen', '--to', '+12025552099', '--count', '1', '--json']
  const child = spawn(process.execPath, [BIN, ...words], { env })
  let out = ''
  child.stdout.on('data', text => {
    out += text
  })
  expect(String((await once(child.stderr, 'data'))[0])).toBe('Listening.\n')
  await account.send({ to: '+12025552098', text: 'Not this one' })
  const sent = await account.send({ to: '+12025552099', text: 'This one' })
  expect(await once(child, 'close')).toEqual([0, null])
  const { messageId } = sent.body['tracking'] as { messageId: string }
  expect(JSON.parse(out)).toMatchObject({ messageId, text: 'This one' })
})

test('posthorn listen ends without an error when its output is closed, as by head', async () => {
  const env = { PATH: process.env['PATH'], POSTHORN_URL: app.url, POSTHORN_API_KEY: account.testKey }
  const child = spawn(process.execPath, [BIN, 'listen', '--to', '+12025552097'], { env })
  let err = ''
  child.stderr.on('data', text => {
    err += text
  })
  await once(child.stderr, 'data')
  child.stdout.destroy()
  await account.send({ to: '+12025552097', text: 'To nobody' })
  expect(await once(child, 'exit')).toEqual([0, null])
  // For an account that was not followed before, it may report missed changes once within the first
  // seconds.
  expect(err).toMatch(/^Listening\.\n(Some changes may have been missed\.\n)?$/)
})

test.each([
  [503, 'SERVICE_UNAVAILABLE', 0],
  [429, 'RATE_LIMITED', 0],
  [401, 'UNAUTHORIZED', 1],
])('posthorn listen that reconnects and is answered %i %s ends with %i', async (status, code, ends) => {
  const event =
    'id: 1-1\nevent: message\ndata: {"status":"sent","channel":"local_sms","to":"+1","messageId":"m","errorCode":null}\n\n'
  const stream = { 'content-type': 'text/event-stream; charset=utf-8' }
  const answers = [
    (response: ServerResponse) => response.writeHead(200, stream).end('id: 1-0\nevent: reset\ndata: {}\n\n'),
    (response: ServerResponse) => response.writeHead(status).end(JSON.stringify({ code, error: 'Not now.' })),
    (response: ServerResponse) => response.writeHead(200, stream).end(event),
  ]
  const server = createServer((_, response) => answers.shift()!(response)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const words = ['listen', '--count', '1', '--url', url, '--key', 'k']
  const ended = await new Promise<Ended>(resolve => {
    execFile(process.execPath, [BIN, ...words], (error, out, err) =>
      resolve({ code: Number(error?.code ?? 0), out, err }),
    )
  })
  server.close()
  expect(ended.code).toBe(ends)
  expect(ended.out).toBe(ends === 0 ? 'sent         local_sms  +1  m\n' : '')
})

test.each([
  [503, 'SERVICE_UNAVAILABLE', 0],
  [404, 'JOB_NOT_FOUND', 1],
])(
  'posthorn bulk send that follows its job and is answered %i %s ends with %i',
  async (status, code, ends) => {
    const counts = { pending: 0, sent: 1, failed: 0, cancelled: 0 }
    const job = {
      id: 'job_1',
      name: '',
      status: 'running',
      total: 1,
      counts,
      pauseReason: null,
      errorCode: null,
    }
    const done = { success: true, job: { ...job, status: 'completed' } }
    const answers: ((response: ServerResponse) => unknown)[] = [
      response => response.writeHead(202).end(JSON.stringify({ success: true, ...job })),
      response => response.writeHead(status).end(JSON.stringify({ success: false, code, error: 'Not now.' })),
      response => response.socket!.destroy(),
      response => response.writeHead(200).end(JSON.stringify(done)),
    ]
    const server = createServer((request, response) => {
      request.resume().once('end', () => answers.shift()!(response))
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const people = file('followed.csv', 'to,text\n+12025552006,hi\n')
    const words = ['send', people, '--rate', '1', '--idempotency-key', 'k', '--url', url, '--key', 'k']
    const ended = await posthorn(...words)
    server.close()
    expect(ended).toMatchObject({
      code: ends,
      out: ends === 0 ? expect.stringContaining('completed') : '',
      err: expect.stringContaining(ends === 0 ? 'The connection was lost' : code),
    })
  },
)

function file(name: string, text: string): string {
  const path = join(dir, name)
  writeFileSync(path, text)
  return path
}

test('posthorn bulk send sends a file, follows the job to its end, and returns the same job when repeated', async () => {
  const people = file(
    'people.csv',
    'to,channel,messageType,text\r\n+12025552001,local_sms,utility,"Hello, ""you"""\r\n+12025552002,,,Hi\r\n',
  )
  const sent = await posthorn('send', people, '--rate', '10', '--name', 'October', '--json')
  expect(sent).toMatchObject({ code: 0, err: expect.stringContaining('completed: 2 of 2, 2 sent') })
  const job = JSON.parse(sent.out) as BulkJob
  expect(sent.err).toContain(`posthorn bulk cancel ${job.id} ends the job`)
  expect(job).toMatchObject({ name: 'October', status: 'completed', counts: { sent: 2 } })
  const messages = await account.messages(`?bulkJobId=${job.id}`)
  expect(messages.map(message => message.text).sort()).toEqual(['Hello, "you"', 'Hi'])

  const again = await posthorn('send', people, '--rate', '10', '--name', 'October', '--json')
  expect(JSON.parse(again.out)).toEqual(job)
  expect(await readBulkRows(account, job.id)).toHaveLength(2)

  const shown = await posthorn('status', job.id)
  expect(shown.out).toContain(job.id)
  expect(shown.out).toContain('completed')

  // A job in test mode does not prevent the same job in live mode.
  const words = ['send', people, '--rate', '10', '--name', 'October', '--detach', '--json']
  const real = await posthorn(...words, '--key', account.liveKey)
  expect((JSON.parse(real.out) as BulkJob).id).not.toBe(job.id)
})

test('templates take their variables from the columns', async () => {
  const made = await app.call('/api/v2/templates', {
    method: 'POST',
    key: account.liveKey,
    body: { name: 'greeting', category: 'sms', subType: 'utility', content: 'Dear {{1}}, {{2}}' },
  })
  expect(made.status).toBe(201)
  const people = file(
    'template.csv',
    'to,template,variable1,variable2\n+12025552003,greeting,Ann,"hello, again"\n',
  )
  const sent = await posthorn('send', people, '--rate', '1', '--json')
  expect(sent.code, sent.err).toBe(0)
  const { id } = JSON.parse(sent.out) as BulkJob
  expect((await account.messages(`?bulkJobId=${id}`))[0]!.text).toBe('Dear Ann, hello, again')
})

test('a template is found by its name, even one that starts like an id, and by its id', async () => {
  const made = await app.call('/api/v2/templates', {
    method: 'POST',
    key: account.liveKey,
    body: { name: 'tpl_welcome', category: 'sms', subType: 'utility', content: 'Welcome, {{1}}' },
  })
  const { id } = (made.body['data'] as { template: { id: string } }).template
  const people = file(
    'by-name.csv',
    `to,template,variable1\n+12025552004,tpl_welcome,Ann\n+12025552005,${id},Ben\n`,
  )
  const sent = await posthorn('send', people, '--rate', '10', '--json')
  expect(sent.code, sent.err).toBe(0)
  const job = JSON.parse(sent.out) as BulkJob
  const messages = await account.messages(`?bulkJobId=${job.id}`)
  expect(messages.map(message => message.text).sort()).toEqual(['Welcome, Ann', 'Welcome, Ben'])
})

test('a job can be paused, resumed and cancelled', async () => {
  const rows = Array.from({ length: 50 }, (_, at) => `+1202555${3000 + at},hi`).join('\n')
  const sent = await posthorn(
    'send',
    file('many.csv', `to,text\n${rows}`),
    '--rate',
    '1',
    '--detach',
    '--json',
  )
  const { id } = JSON.parse(sent.out) as BulkJob
  await app.until(
    async () => (await posthorn('status', id, '--json')).out,
    out => out.includes('"running"'),
  )
  expect((await posthorn('pause', id)).out).toContain('paused (user)')
  expect((await posthorn('resume', id)).out).toContain('queued')
  expect((await posthorn('cancel', id)).out).toContain('cancelled')
  expect(await posthorn('resume', id)).toMatchObject({
    code: 1,
    err: expect.stringContaining('JOB_STATE_CONFLICT'),
  })
})

test('invalid rows are printed, and the command fails', async () => {
  const sent = await posthorn('send', file('bad.csv', 'to,text\nnobody,hi\n'), '--rate', '1', '--json')
  expect(sent.code).toBe(1)
  const { id } = JSON.parse(sent.out) as BulkJob
  const shown = await posthorn('status', id)
  expect(shown.out).toContain('VALIDATION_FAILED')
  expect(shown.out).toMatch(/^index {2}to {6}code .*\n0 {6}nobody {2}VALIDATION_ERROR/m)

  const again = await posthorn('send', join(dir, 'bad.csv'), '--rate', '1')
  expect(again.code).toBe(1)
  expect(again.out).toBe(shown.out)
  expect(again.err).toContain('This file was submitted before, as this job: use another --name')
})

test.each([
  ['Latin 1', Buffer.from('to,text\n+12025552001,caf\u00e9\n', 'latin1')],
  ['UTF-16', Buffer.from('\ufeffto,text\n+12025552001,caf\u00e9\n', 'utf16le')],
  ['UTF-8 that breaks off', Buffer.from('to,text\n+12025552001,caf\u00e9').subarray(0, -1)],
])('a file in %s is rejected, since its characters would be garbled', async (name, bytes) => {
  const path = join(dir, `${name}.csv`)
  writeFileSync(path, bytes)
  const sent = await posthorn('send', path, '--rate', '1', '--name', name)
  expect(sent).toEqual({
    code: 2,
    out: '',
    err: `posthorn: ${path} is not UTF-8: save it as "CSV UTF-8".\n`,
  })
})

test.each([
  ['a column that is none', 'to,phone\n1,2\n', 'Unknown column "phone"'],
  ['semicolons', 'to;text\n+12025552001;hi\n', 'no commas between its fields'],
  ['tabs', 'to\ttext\n+12025552001\thi\n', 'no commas between its fields'],
  ['no column to', 'text\nhi\n', 'no column "to"'],
  ['a column twice', 'to,text,text\n+12025552001,hi,ho\n', 'two columns "text"'],
  [
    'a gap in the variables',
    'to,template,variable1,variable3\n+12025552001,t,a,b\n',
    'no column "variable2"',
  ],
  ['variables of no template', 'to,text,variable1\n+12025552001,hi,a\n', 'no column "template"'],
  ['too few fields', 'to,text\n+12025552001\n', 'line 2'],
  ['an unclosed quote', 'to,text\n+12025552001,"hi\n', 'quote'],
])('a file with %s is rejected before anything is sent', async (name, text, words) => {
  const sent = await posthorn('send', file(`${name}.csv`, text), '--rate', '1')
  expect(sent).toMatchObject({ code: 2, err: expect.stringContaining(words) })
})

test('a missing file and a missing rate are usage errors', async () => {
  expect(await posthorn('send', join(dir, 'none.csv'), '--rate', '1')).toMatchObject({ code: 2 })
  expect(await posthorn('send', join(dir, 'none.csv'))).toMatchObject({
    code: 2,
    err: expect.stringContaining('--rate'),
  })
})
