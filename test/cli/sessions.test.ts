import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestApp, type TestAccount, type TestApp } from '../support/app.ts'
import { type ChatappServer, startChatappServer } from '../support/chatapp-server.ts'
import { connectWebSessions, sessionsOf } from '../support/web-sessions.ts'

const BIN = fileURLToPath(new URL('../../bin/posthorn.js', import.meta.url))

let server: ChatappServer
let app: TestApp
let account: TestAccount

beforeAll(async () => {
  server = await startChatappServer({ login: 'qr' })
  app = await startTestApp()
  account = await app.createAccount()
  await connectWebSessions(app, server.url)
})
afterAll(async () => {
  await app.stop()
  await server.close()
})

function posthorn(...args: string[]): Promise<{ code: number; out: string; err: string }> {
  return new Promise(resolve => {
    const env = { PATH: process.env['PATH'], POSTHORN_URL: app.url, POSTHORN_API_KEY: account.liveKey }
    execFile(process.execPath, [BIN, ...args], { env }, (error, out, err) =>
      resolve({ code: Number(error?.code ?? 0), out, err }),
    )
  })
}

test('posthorn session creates a session, shows its QR code, and lists and removes it', async () => {
  const made = await app.during(posthorn('session', 'create', 'front-desk'))
  expect(made).toMatchObject({ code: 0, err: '' })
  expect(made.out).toContain('may ban the phone number')
  await sessionsOf(app, account).until('front-desk', 'qr')
  const shown = await app.during(posthorn('session', 'show', 'front-desk'))
  expect(shown.out).toMatch(/state\s+qr/)
  expect(shown.out).toMatch(/[█▀▄]{10}/)
  expect((await app.during(posthorn('session', 'list'))).out).toMatch(/front-desk\s+qr/)
  expect((await app.during(posthorn('session', 'remove', 'front-desk'))).code).toBe(0)
  const gone = await app.during(posthorn('session', 'restart', 'front-desk'))
  expect(gone).toMatchObject({ code: 1, err: expect.stringContaining('NOT_FOUND') })
})
