import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Link } from '../../../src/channels/provider.ts'
import { whatsAppCloudProvider } from '../../../src/channels/whatsapp-cloud.ts'
import { createIo, never, type ObservedIo } from '../conformance.ts'
import { signed } from './calls.ts'
import { toAda } from './link.ts'

/** Crabline, an independent server for WhatsApp's text messages, on a free port of the loopback. */
type Manifest = {
  accessToken: string
  adminToken: string
  phoneNumberId: string
  recorderPath: string
  endpoints: { apiRoot: string; adminInboundUrl: string }
}

const CRABLINE = join(import.meta.dirname, '../../../node_modules/.bin/crabline')

let directory: string
let server: ChildProcess
let manifest: Manifest
const open: Link[] = []

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'posthorn-crabline-'))
  const recorder = join(directory, 'recorder.jsonl')
  const args = ['--json', 'serve', 'whatsapp', '--port', '0', '--recorder', recorder]
  server = spawn(process.execPath, [CRABLINE, ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
  manifest = await firstJson(server)
}, 60_000)
afterAll(async () => {
  await Promise.all(open.map(link => link.close()))
  const exited = once(server, 'exit')
  server.kill('SIGTERM')
  await exited
  await rm(directory, { recursive: true, force: true })
})

/** The JSON, over several lines, that crabline prints once it listens. */
async function firstJson(child: ChildProcess): Promise<Manifest> {
  let text = ''
  for await (const line of createInterface({ input: child.stdout! })) {
    text += line
    try {
      return JSON.parse(text) as Manifest
    } catch {
      // Not complete yet.
    }
  }
  throw new Error(`crabline ended before it listened: ${text}`)
}

async function connect(more: object = {}): Promise<{ link: Link; io: ObservedIo }> {
  const io = createIo()
  const config = {
    baseUrl: manifest.endpoints.apiRoot,
    phoneNumberId: manifest.phoneNumberId,
    businessAccountId: '102290129340398',
    accessToken: manifest.accessToken,
    appSecret: 'app-secret-marker-8f0b',
    verifyToken: 'verify-token',
    ...more,
  }
  const link = await whatsAppCloudProvider.open(config, io)
  open.push(link)
  return { link, io }
}

async function recorded(): Promise<{ path: string; body: Record<string, unknown>; accepted?: boolean }[]> {
  const lines = (await readFile(manifest.recorderPath, 'utf8')).trim().split('\n')
  return lines.map(line => JSON.parse(line))
}

describe('against crabline', () => {
  test('a text is accepted, and recorded as it was sent', async () => {
    const { link, io } = await connect()
    const outcome = await link.send(toAda({ text: 'Grüße & 1+1=2' }), never())
    expect(outcome).toMatchObject({ kind: 'accepted', providerId: expect.stringMatching(/./) })
    expect(io.reports.at(-1)?.state).toBe('up')
    expect((await recorded()).filter(each => each.accepted)).toMatchObject([
      {
        path: expect.stringMatching(`/${manifest.phoneNumberId}/messages$`),
        body: { to: '447700900123', type: 'text', text: { body: 'Grüße & 1+1=2' } },
      },
    ])
  })

  test('a text that is too long is rejected with the error code of Graph', async () => {
    const { link } = await connect()
    expect(await link.send(toAda({ text: 'x'.repeat(4_097) }), never())).toMatchObject({
      kind: 'rejected',
      code: 'MESSAGE_REJECTED',
      providerCode: '100',
    })
  })

  test('a wrong access token ends in retry, and the link is down', async () => {
    const { link, io } = await connect({ accessToken: 'EAAwrong' })
    expect(await link.send(toAda(), never())).toMatchObject({ kind: 'retry', providerCode: '190' })
    expect(io.reports.at(-1)?.state).toBe('down')
    expect(await link.test!(never())).toMatchObject({ ok: false })
  })

  test('test() succeeds, and the identity of the number is read', async () => {
    const { link } = await connect()
    expect(await link.test!(never())).toMatchObject({ ok: true })
    expect(await link.identity!(never())).toMatchObject({
      displayName: 'Crabline Test Bot',
      qualityRating: 'GREEN',
      phoneNumber: expect.stringMatching(/^\+\d+$/),
    })
  })

  test('a message to the number is read from the webhook call that crabline builds', async () => {
    const { link } = await connect()
    const response = await fetch(manifest.endpoints.adminInboundUrl, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${manifest.adminToken}` },
      body: JSON.stringify({
        chatJid: '447700900123@s.whatsapp.net',
        senderJid: '447700900123@s.whatsapp.net',
        text: 'Hello there',
      }),
    })
    expect(response.status).toBe(200)
    const { webhook } = (await response.json()) as { webhook: unknown }
    expect(await link.receive!(signed(webhook))).toMatchObject({
      kind: 'taken',
      inbound: [{ kind: 'message', from: '+447700900123', text: 'Hello there', channel: 'official_chatapp' }],
    })
  })
})
