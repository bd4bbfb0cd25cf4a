import { once } from 'node:events'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'
import { pdf } from '../support/files.ts'
import { form } from '../support/form.ts'
import { type Account, createAccount, until } from './support/client.ts'
import { type Posthorn, startPosthorn } from './support/posthorn.ts'

let dir: string
let database: TestDatabase
let server: Posthorn | null
let socket: Socket | null

beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), 'posthorn-media-kill-'))
  database = await createTestDatabase()
  server = null
  socket = null
})

afterEach(async () => {
  socket?.destroy()
  await server?.stop()
  await database.drop()
  rmSync(dir, { recursive: true, force: true })
})

const start = () => startPosthorn({ DATABASE_URL: database.url, POSTHORN_DATA_DIR: dir })

/** Uploads half of a document of 20 MB; the rest never arrives. */
async function uploadHalf(url: string, account: Account): Promise<Socket> {
  const { body, type } = form([{ name: 'file', bytes: pdf(20_000_000), type: 'application/pdf' }])
  const { hostname, port } = new URL(url)
  const half = connect(Number(port), hostname)
  half.on('error', () => {})
  await once(half, 'connect')
  const headers = {
    host: 'test',
    'x-api-key': account.liveKey,
    'content-type': type,
    'content-length': body.length,
  }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  half.write(`POST /api/v2/templates/media HTTP/1.1\r\n${lines.join('')}\r\n`)
  half.write(body.subarray(0, 10_000_000))
  return half
}

async function left(): Promise<{ rows: { id: string; state: string }[]; files: string[] }> {
  const { rows } = await database.db.query<{ id: string; state: string }>({
    name: 'media_left',
    text: 'select id, state from media',
  })
  const entries = readdirSync(dir, { recursive: true, withFileTypes: true })
  const files = entries.filter(entry => entry.isFile() && entry.name.startsWith('ast_'))
  return { rows, files: files.map(entry => entry.name) }
}

test('a node that is killed during an upload leaves no asset, and its partial file is swept', async () => {
  server = await start()
  const account = await createAccount(server.url, { balance: 1 })
  socket = await uploadHalf(server.url, account)
  await until(left, ({ files }) => files.length > 0)
  await server.kill()
  const torn = await left()
  expect(torn.rows.map(({ state }) => state)).toEqual(['storing'])
  expect(torn.files).toEqual([expect.stringMatching(/^ast_[0-9a-z]{26}\.partial$/)])

  server = await start()
  const id = torn.files[0]!.replace('.partial', '')
  const answer = await fetch(`${server.url}/api/v2/templates/media/${id}`, {
    headers: { 'x-api-key': account.liveKey },
  })
  expect(answer.status).toBe(404)
  expect((await left()).files).toEqual(torn.files)

  // Ages the upload in the database; a node sweeps when it starts.
  await server.stop()
  await database.db.query({ name: 'age', text: `update media set used_at = used_at - interval '2 hours'` })
  server = await start()
  await until(left, ({ rows, files }) => rows.length + files.length === 0)
}, 60_000)
