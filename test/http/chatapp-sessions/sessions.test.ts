import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { BAN_NOTICE } from '../../../src/contract/web-session.ts'
import { startTestApp, type TestAccount, type TestApp } from '../../support/app.ts'
import { type ChatappServer, startChatappServer } from '../../support/chatapp-server.ts'
import { connectWebSessions, sessionsOf } from '../../support/web-sessions.ts'

let server: ChatappServer
let app: TestApp
let account: TestAccount
let sessions: ReturnType<typeof sessionsOf>
let connectionId: string

beforeAll(async () => {
  server = await startChatappServer()
  app = await startTestApp()
  account = await app.createAccount()
  sessions = sessionsOf(app, account)
  connectionId = await connectWebSessions(app, server.url)
})
afterAll(async () => {
  await app.stop()
  await server.close()
})

describe('linking a session', () => {
  test('returns 201 with the notice on bans, then a QR code as text and SVG', async () => {
    server.set({ login: 'qr' })
    const made = await sessions.create({ name: 'qr-desk' })
    expect(made.status).toBe(201)
    expect(made.body['data']).toMatchObject({
      session: {
        name: 'qr-desk',
        state: 'connecting',
        phone: null,
        qr: null,
        sandbox: false,
        notice: BAN_NOTICE,
      },
    })
    const view = await sessions.until('qr-desk', 'qr')
    expect(view.qr?.text).toContain('ref-one')
    expect(view.qr?.svg).toMatch(/^<svg/)
    expect(view.pairingCode).toBeNull()
    await sessions.call('DELETE', '/qr-desk')
  })

  test('returns a pairing code when a phone number is given', async () => {
    server.set({ login: 'qr' })
    await sessions.create({ name: 'code-desk', phone: '+1 415 555 0123' })
    const view = await sessions.until('code-desk', 'pairing_code')
    expect(view.pairingCode?.code).toMatch(/^[0-9A-Z]{8}$/)
    expect(view.qr).toBeNull()
    await sessions.call('DELETE', '/code-desk')
  })

  test('the list contains no QR code and is paged by cursor', async () => {
    server.set({ login: 'success' })
    for (const name of ['one', 'two']) await sessions.open(name)
    const first = await sessions.call('GET', '?limit=1')
    expect(first.body['data']).toMatchObject([{ name: 'two', state: 'open', phone: '+15550000000' }])
    expect(first.text).not.toContain('"qr"')
    const second = await sessions.call('GET', `?limit=1&cursor=${first.body['nextCursor']}`)
    expect(second.body).toMatchObject({ data: [{ name: 'one' }], nextCursor: null })
    for (const name of ['one', 'two']) await sessions.call('DELETE', `/${name}`)
  })
})

describe('a session request', () => {
  test.each(['', 'a b', 'a/b', 'ümlaut', 'a'.repeat(65), '..', '<script>'])(
    'is rejected for the name %j',
    async name => {
      const answer = await sessions.create({ name })
      expect(answer.status).toBe(400)
      expect(answer.body).toMatchObject({ code: 'VALIDATION_ERROR', details: [{ path: 'name' }] })
    },
  )

  test.each(['12025550123', '+1', 'ada', '+12025550123x'])('is rejected for the phone %j', async phone => {
    const answer = await sessions.create({ name: 'desk', phone })
    expect(answer.body).toMatchObject({ code: 'VALIDATION_ERROR', details: [{ path: 'phone' }] })
  })

  test('is rejected without a name', async () => {
    expect((await sessions.create({})).status).toBe(400)
  })

  test('is rejected for a name in use, and beyond 20 sessions of an account', async () => {
    const other = sessionsOf(app, await app.createAccount())
    server.set({ login: 'success' })
    expect((await other.create({ name: 'desk' })).status).toBe(201)
    const again = await other.create({ name: 'desk' })
    expect(again.status).toBe(409)
    expect(again.body).toMatchObject({ code: 'CONFLICT', details: [{ path: 'name' }] })
    for (let nth = 1; nth < 20; nth++) await other.create({ name: `desk-${nth}` })
    expect((await other.create({ name: 'desk-20' })).body).toMatchObject({ code: 'CONFLICT' })
    for (const row of (await other.call('GET', '?limit=50')).body['data'] as { name: string }[])
      await other.call('DELETE', `/${row.name}`)
  })

  test('returns 404 for an unknown session or one of another account', async () => {
    await sessions.open('mine')
    const other = sessionsOf(app, await app.createAccount())
    for (const [method, path] of [
      ['GET', '/mine'],
      ['GET', '/mine/chats'],
      ['POST', '/mine/restart'],
      ['DELETE', '/mine'],
    ] as const) {
      expect((await other.call(method, path)).body).toMatchObject({ code: 'NOT_FOUND' })
    }
    expect((await sessions.call('GET', '/a%20b')).status).toBe(404)
    await sessions.call('DELETE', '/mine')
  })

  test('returns 403 for a key without messages:create', async () => {
    const made = await app.admin('POST', `/accounts/${account.id}/keys`, {
      name: 'reader',
      mode: 'live',
      role: 'member',
      permissions: ['messages:read'],
    })
    const { apiKey } = made.body['data'] as { apiKey: string }
    for (const [method, path] of [
      ['GET', ''],
      ['POST', ''],
      ['GET', '/x'],
      ['GET', '/x/chats'],
      ['POST', '/x/restart'],
      ['DELETE', '/x'],
    ] as const) {
      const body = method === 'POST' && path === '' ? { name: 'x' } : undefined
      expect((await sessions.call(method, path, body, apiKey)).status).toBe(403)
    }
  })
})

describe('a session', () => {
  const logOuts = async (): Promise<number> =>
    server.received.filter(node => JSON.stringify(node).includes('remove-companion-device')).length

  async function rowsLeft(): Promise<number> {
    const { rows } = await app.db.query<{ n: number }>({
      name: 'left_of_sessions',
      text: `select (select count(*) from web_sessions where removing)::integer
                  + (select count(*) from web_session_keys k where not exists (select 1 from web_sessions w where w.id = k.session_id))::integer as n`,
    })
    return rows[0]!.n
  }

  test('that was logged out loses its keys, and a restart connects it again', async () => {
    server.set({ login: 'success' })
    await sessions.open('turns')
    server.set({ login: { failure: 401 } })
    server.cut()
    const out = await sessions.until('turns', 'logged_out')
    expect(out).toMatchObject({ phone: null, pairedAt: null })
    const { rows } = await app.db.query({
      name: 'keys_left',
      text: `select 1 from web_session_keys k join web_sessions w on w.id = k.session_id where w.name = 'turns'`,
    })
    expect(rows).toEqual([])
    server.set({ login: 'success' })
    expect((await sessions.call('POST', '/turns/restart')).body['data']).toMatchObject({
      state: 'connecting',
    })
    await sessions.until('turns', 'open')
    await sessions.call('DELETE', '/turns')
  })

  test('is logged out and erased when deleted, and its name can be used again', async () => {
    server.set({ login: 'success' })
    await sessions.open('gone')
    // Sessions that other tests deleted are logged out too.
    await app.until(rowsLeft, n => n === 0)
    const before = await logOuts()
    const answer = await sessions.call('DELETE', '/gone')
    expect(answer.body['data']).toEqual({ name: 'gone', deleted: true })
    expect((await sessions.call('GET', '/gone')).status).toBe(404)
    await app.until(rowsLeft, n => n === 0)
    // The chat server may read the logout only after the rows are gone.
    await app.until(logOuts, n => n === before + 1)
    expect((await sessions.create({ name: 'gone' })).status).toBe(201)
    await sessions.call('DELETE', '/gone')
  })

  test('has its keys encrypted at rest', async () => {
    server.set({ login: 'success' })
    await sessions.open('sealed')
    const { rows } = await app.db.query<{ value: Buffer }>({
      name: 'keys_at_rest',
      text: 'select value from web_session_keys',
    })
    expect(rows.length).toBeGreaterThan(0)
    for (const { value } of rows) expect(value.toString('latin1')).not.toMatch(/Buffer|private|noiseKey/)
    await sessions.call('DELETE', '/sealed')
  })

  test('lists its chats, groups included, paged and filtered by kind', async () => {
    const groups = [1, 2].map(nth => ({
      id: `12036302000000009${nth}@g.us`,
      subject: `Team ${nth}`,
      participants: ['12025550123@s.whatsapp.net'],
    }))
    server.set({ login: 'success', groups })
    await sessions.open('chatty')
    const chats = () => sessions.call('GET', '/chatty/chats?limit=1')
    const first = await app.until(chats, answer => answer.body['nextCursor'] !== null)
    expect(first.body['data']).toEqual([
      {
        chatId: groups[0]!.id,
        kind: 'group',
        name: 'Team 1',
        lastMessageAt: null,
        conversationContext: { moduleType: 'chatapp_web', accountId: 'chatty', chatId: groups[0]!.id },
      },
    ])
    const second = await sessions.call('GET', `/chatty/chats?limit=1&cursor=${first.body['nextCursor']}`)
    expect(second.body).toMatchObject({ data: [{ name: 'Team 2' }], nextCursor: null })
    expect((await sessions.call('GET', '/chatty/chats?kind=user')).body['data']).toEqual([])
    expect((await sessions.call('GET', '/chatty/chats?kind=robot')).status).toBe(400)
    // A cursor that decodes to a NUL character.
    expect((await sessions.call('GET', '/chatty/chats?cursor=AA')).status).toBe(400)
    server.set({ groups: [] })
    await sessions.call('DELETE', '/chatty')
  })
})

describe('the connection for web sessions', () => {
  test('can be tested without linking a session', async () => {
    const tested = await app.admin('POST', `/connections/${connectionId}/test`)
    expect(tested.body['data']).toMatchObject({ ok: true })
  })

  test('reconnects its sessions when changed, and closes them and rejects sends when disabled', async () => {
    server.set({ login: 'success' })
    await sessions.open('guided')
    const before = server.connections()
    await app.admin('PATCH', `/connections/${connectionId}`, { config: { messagesPerMinute: 30 } })
    await app.during(server.connected(before + 1))
    expect((await sessions.until('guided', 'open')).pace.fullMessagesPerMinute).toBe(30)

    await app.admin('PATCH', `/connections/${connectionId}`, { enabled: false })
    expect((await sessions.until('guided', 'closed')).detail).toContain('disabled')
    const body = { to: '+12025550123', channel: 'user_chatapp_session', text: 'Hello' }
    expect((await account.send(body, { live: true })).body).toMatchObject({ code: 'VALIDATION_ERROR' })

    await app.admin('PATCH', `/connections/${connectionId}`, { enabled: true })
    await sessions.until('guided', 'open')
    await sessions.call('DELETE', '/guided')
  })
})

describe('a session created with a test key', () => {
  test('is open at once in the sandbox, and separate from live sessions', async () => {
    const made = await sessions.create({ name: 'sandboxed' }, account.testKey)
    expect(made.body['data']).toMatchObject({ session: { state: 'open', sandbox: true, qr: null } })
    expect((await sessions.call('GET', '/sandboxed')).status).toBe(404)
    expect((await sessions.call('GET', '', undefined, account.testKey)).body['data']).toMatchObject([
      { name: 'sandboxed', sandbox: true },
    ])
    const restarted = await sessions.call('POST', '/sandboxed/restart', undefined, account.testKey)
    expect(restarted.body['data']).toMatchObject({ state: 'open' })
    expect((await sessions.call('DELETE', '/sandboxed', undefined, account.testKey)).status).toBe(200)
    expect((await sessions.call('GET', '', undefined, account.testKey)).body['data']).toEqual([])
  })
})
