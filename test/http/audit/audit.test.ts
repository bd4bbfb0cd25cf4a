import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { AdminAuditEntry, AuditEntry } from '../../../src/contract/audit.ts'
import { createAuditLog } from '../../../src/core/audit/audit-log.ts'
import type { Db } from '../../../src/infra/db.ts'
import { createIds } from '../../../src/lib/ids.ts'
import { createRandom } from '../../../src/lib/random.ts'
import { type Answer, faultPaths, startTestApp, type TestAccount, type TestApp } from '../../support/app.ts'
import { join, PASSWORD, setUp, type Visitor } from '../../support/console.ts'
import { createFakeClock } from '../../support/fake-clock.ts'

let app: TestApp
let root: Visitor
let account: TestAccount

beforeAll(async () => {
  app = await startTestApp()
  root = await setUp(app)
  account = await app.createAccount()
})
afterAll(() => app.stop())

const data = <T>(answer: Answer) => answer.body['data'] as T

async function entries(query = '', key = account.liveKey): Promise<AuditEntry[]> {
  const answer = await app.call(`/api/v2/audit${query}`, { key })
  expect(answer.status, answer.text).toBe(200)
  return data(answer)
}

describe('the audit log', () => {
  test('records actor, action, target, changes, IP address and request id of a change', async () => {
    const owner = await join(app, account.id, 'owner', 'owner@example.com')
    const { user } = await owner.session()
    expect((await entries()).slice(0, 2)).toMatchObject([
      { actor: { type: 'user', id: user.id }, action: 'invitation.accept', target: user.id },
      {
        actor: { type: 'operator_token' },
        action: 'invitation.create',
        changes: { email: 'owner@example.com' },
      },
    ])
    const made = await owner.for(account.id)('POST', '/webhooks', {
      url: 'https://hooks.example.com/in',
      description: '<b>Ours</b>',
      events: ['wallet.*'],
    })
    const { webhook } = data<{ webhook: { id: string; secret: string } }>(made)
    const [entry] = await entries()
    expect(entry).toEqual({
      id: expect.stringMatching(/^aud_/),
      at: new Date(app.now()).toISOString(),
      actor: { type: 'user', id: user.id, name: 'owner' },
      action: 'webhook.create',
      target: webhook.id,
      changes: { url: 'https://hooks.example.com/in', description: '<b>Ours</b>', events: ['wallet.*'] },
      ip: '127.0.0.1',
      requestId: made.headers.get('x-request-id'),
    })
    await app.call('/api/v2/wallet', { method: 'PATCH', key: account.liveKey, body: { lowBalance: 5 } })
    expect((await entries())[0]).toMatchObject({
      actor: { type: 'api_key', id: expect.stringMatching(/^key_/), name: 'Owner (live)' },
      action: 'wallet.update',
      target: account.id,
      changes: { lowBalance: 5 },
    })
    await app.admin('POST', `/accounts/${account.id}/credits`, { amount: 12.5, note: 'Invoice 18' })
    expect((await entries())[0]).toMatchObject({
      actor: { type: 'operator_token', id: null },
      action: 'wallet.credit',
      target: expect.stringMatching(/^crd_/),
      changes: { amount: 12.5, note: 'Invoice 18' },
    })
    const patched = await root.call('PATCH', `/api/admin/accounts/${account.id}`, { name: 'Acme 2' })
    expect(patched.status).toBe(200)
    expect((await entries())[0]).toMatchObject({
      actor: { type: 'user', name: 'Root' },
      action: 'account.update',
      changes: { name: 'Acme 2' },
    })
  })

  test('records the name of the changed resource as target, or its owner where it has no name', async () => {
    const session = await app.call('/api/v2/chatapp-sessions', {
      method: 'POST',
      key: account.testKey,
      body: { name: 'front-desk' },
    })
    expect(session.status, session.text).toBe(201)
    expect((await entries())[0]).toMatchObject({ action: 'web_session.create', target: 'front-desk' })
    const rules = await root.call('GET', '/api/admin/fraud')
    const { settings } = data<{ settings: object }>(rules)
    expect((await root.call('PUT', '/api/admin/fraud', settings)).status).toBe(200)
    const all = data<AdminAuditEntry[]>(await app.admin('GET', '/audit?limit=500'))
    expect(all[0]).toMatchObject({ action: 'fraud.replace', target: 'platform', accountId: null })
    expect(all.filter(({ target }) => target === null)).toEqual([])
  })

  test('records no rejected requests, reads or sends', async () => {
    const before = await entries()
    await account.send({ to: '+12025550123', text: 'Hello' })
    await account.send({ to: '+12025550123', text: 'Hello' }, { live: true })
    await app.call('/api/v2/webhooks', { method: 'POST', key: account.liveKey, body: { url: 'nowhere' } })
    await app.call('/api/v2/webhooks/whk_x', { method: 'DELETE', key: account.liveKey })
    await account.read('/api/v2/account')
    expect(await entries()).toEqual(before)
  })

  test('contains no secrets, neither in responses nor in the database', async () => {
    const secrets = ['sender-secret-1', 'smpp-secret-2', PASSWORD, 'a wholly new password']
    await app.call('/api/v2/sms-senders', {
      method: 'POST',
      key: account.liveKey,
      body: { name: 'Acme', webhookUrl: 'https://hooks.example.com/s', webhookSecret: secrets[0] },
    })
    const connection = await app.admin('POST', '/connections', {
      provider: 'smpp',
      name: 'carrier',
      channels: ['int_sms'],
      config: { host: '127.0.0.1', port: 1, systemId: 'acme', password: secrets[1] },
      enabled: false,
    })
    expect(connection.status, connection.text).toBe(201)
    await root.call('POST', '/api/console/password', { currentPassword: PASSWORD, newPassword: secrets[3] })
    const key = await app.call('/api/v2/api-keys', {
      method: 'POST',
      key: account.liveKey,
      body: { name: 'Shop', mode: 'live', permissions: [] },
    })
    secrets.push(data<{ apiKey: string }>(key).apiKey, root.cookie().split('=')[1]!)
    const all = await app.admin('GET', '/audit?limit=500')
    const actions = data<AdminAuditEntry[]>(all).map(({ action }) => action)
    expect(actions).toEqual(
      expect.arrayContaining([
        'sms_sender.create',
        'connection.create',
        'login.password',
        'api_key.create',
        'login.setup',
      ]),
    )
    for (const secret of secrets) expect(all.text).not.toContain(secret)
    const { rows } = await app.db.query<{ text: string }>({
      name: 'audit_rows',
      text: 'select string_agg(a::text, chr(10)) as text from audit_log a',
    })
    for (const secret of secrets) expect(rows[0]!.text).not.toContain(secret)
  })

  test('is readable by owners for their own account and by the operator for all accounts', async () => {
    const other = await app.createAccount()
    expect((await entries('', other.liveKey)).map(({ action }) => action)).toEqual(['account.create'])
    const all = data<AdminAuditEntry[]>(await app.admin('GET', '/audit?limit=500'))
    expect(new Set(all.map(({ accountId }) => accountId))).toEqual(new Set([account.id, other.id, null]))
    const theirs = data<AdminAuditEntry[]>(await app.admin('GET', `/audit?accountId=${other.id}`))
    expect(theirs.map(({ action }) => action)).toEqual(['account.create'])
    const ours = data<AdminAuditEntry[]>(await app.admin('GET', '/audit?accountId=platform&action=login'))
    expect(ours.map(({ action }) => action)).toEqual(['login.password', 'login.setup'])
    const member = await join(app, account.id, 'member', 'member@example.com')
    expect((await member.for(account.id)('GET', '/audit')).status).toBe(403)
    expect((await member.call('GET', '/api/admin/audit')).status).toBe(403)
  })

  test('has removals of an account’s connections and invitations by the operator in its own log', async () => {
    const { id, liveKey } = await app.createAccount()
    const made = await app.admin('POST', '/connections', {
      provider: 'telegram',
      name: 'theirs',
      channels: ['botapp_bot'],
      accountId: id,
      enabled: false,
    })
    const { connection } = data<{ connection: { id: string } }>(made)
    const invited = await app.admin('POST', '/members/invitations', {
      email: 'withdrawn@example.com',
      role: 'owner',
      accountId: id,
    })
    const { invitation } = data<{ invitation: { id: string } }>(invited)
    await app.admin('DELETE', `/connections/${connection.id}`)
    await app.admin('DELETE', `/members/invitations/${invitation.id}`)
    expect((await entries('?limit=2', liveKey)).map(({ action, target }) => [action, target])).toEqual([
      ['invitation.delete', invitation.id],
      ['connection.delete', connection.id],
    ])
  })

  test('has the deletion of a login in the log of each account that it was a member of', async () => {
    const [one, other] = [await app.createAccount(), await app.createAccount()]
    const email = 'left@example.com'
    const person = await join(app, one.id, 'member', email)
    const { id } = (await person.session()).user
    await app.admin('POST', '/members', { userId: id, accountId: other.id, role: 'owner' })
    const ownKey = { name: 'By them', mode: 'live', permissions: [] }
    const made = await person.for(other.id)('POST', '/api-keys', ownKey)
    const { key } = data<{ key: { id: string } }>(made)
    await app.admin('DELETE', `/members/${id}`)

    const entry = { action: 'person.delete', target: id, actor: { type: 'operator_token' } }
    expect((await entries('?limit=1', one.liveKey))[0]).toMatchObject({ ...entry, changes: { apiKeys: [] } })
    const withKey = { apiKeys: [{ id: key.id, accountId: other.id }] }
    expect((await entries('?limit=1', other.liveKey))[0]).toMatchObject({ ...entry, changes: withKey })
    const platform = await app.admin('GET', '/audit?accountId=platform&limit=1')
    expect(data<AuditEntry[]>(platform)[0]).toMatchObject({ ...entry, changes: withKey })
  })

  test('names the new and the old key of a rotation', async () => {
    const { id, liveKey } = await app.createAccount()
    const key = { name: 'Shop', mode: 'live', role: 'member', permissions: [] }
    const made = data<{ key: { id: string } }>(await app.admin('POST', `/accounts/${id}/keys`, key))
    const own = await app.call(`/api/v2/api-keys/${made.key.id}/rotate`, {
      method: 'POST',
      key: liveKey,
      body: { overlapSeconds: 0 },
    })
    const second = data<{ key: { id: string } }>(own).key.id
    expect((await entries('?limit=1', liveKey))[0]).toMatchObject({
      action: 'api_key.rotate',
      target: second,
      changes: { overlapSeconds: 0, previous: { id: made.key.id, revokedAt: expect.any(String) } },
    })
    await app.admin('POST', `/accounts/${id}/keys/${second}/rotate`)
    expect((await entries('?limit=1', liveKey))[0]).toMatchObject({
      action: 'api_key.rotate',
      changes: { previous: { id: second } },
    })
  })

  test('has all settings that an account was created with', async () => {
    const quietHours = { start: '21:00', end: '08:00' }
    const verification = { codeLength: 8 }
    const made = await app.admin('POST', '/accounts', {
      name: 'Quiet',
      homeCountry: 'US',
      currency: 'USD',
      quietHours,
      verification,
    })
    expect((await entries('', data<{ liveKey: string }>(made).liveKey))[0]).toMatchObject({
      action: 'account.create',
      changes: { quietHours, verification },
    })
  })

  test('gets no entry in an account that is merely named in the body of a request', async () => {
    const { id: foreign } = await app.createAccount()
    const stranger = await join(app, foreign, 'owner', 'stranger@example.com')
    const before = await entries()
    const accountId = account.id
    const login = { email: 'stranger@example.com', password: PASSWORD, accountId }
    expect((await stranger.call('POST', '/api/console/login', login)).status).toBe(200)
    const renamed = { name: 'Your auditor', accountId }
    expect((await stranger.call('PATCH', '/api/console/user', renamed)).status).toBe(200)
    const { id } = (await stranger.session()).user
    expect((await app.admin('PATCH', `/members/${id}`, { operator: false, accountId })).status).toBe(200)
    expect(await entries()).toEqual(before)
    const ours = data<AdminAuditEntry[]>(await app.admin('GET', '/audit?accountId=platform&limit=3'))
    expect(ours.map(({ action }) => action)).toEqual(['person.update', 'login.update', 'login.enter'])
  })

  test('is filtered and paged', async () => {
    const all = await entries('?limit=500')
    expect((await entries('?action=wallet')).map(({ action }) => action)).toEqual([
      'wallet.credit',
      'wallet.update',
    ])
    expect(await entries('?action=wall')).toEqual([])
    expect((await entries('?action=wallet.update')).length).toBe(1)
    const user = all.find(({ actor }) => actor.type === 'user')!.actor.id!
    expect(new Set((await entries(`?actorId=${user}`)).map(({ actor }) => actor.id))).toEqual(new Set([user]))
    for (const malformed of ['me', '', 'acc_1', 'x'.repeat(500)]) {
      const none = await app.call(`/api/v2/audit?actorId=${malformed}`, { key: account.liveKey })
      expect([none.status, none.body]).toEqual([200, { success: true, data: [], nextCursor: null }])
      const refused = await app.call(`/api/v2/audit?actorId=${malformed}&cursor=x`, { key: account.liveKey })
      expect([refused.status, faultPaths(refused)]).toEqual([400, ['cursor']])
    }
    expect(await entries(`?from=${new Date(app.now() + 1_000).toISOString()}`)).toEqual([])
    expect(await entries(`?to=${new Date(app.now() + 1_000).toISOString()}&limit=500`)).toEqual(all)
    const page = await app.call('/api/v2/audit?limit=2', { key: account.liveKey })
    const rest = await app.call(`/api/v2/audit?limit=500&cursor=${page.body['nextCursor']}`, {
      key: account.liveKey,
    })
    expect([...data<AuditEntry[]>(page), ...data<AuditEntry[]>(rest)]).toEqual(all)
    for (const [query, path] of [
      ['from=yesterday', 'from'],
      ['cursor=x', 'cursor'],
      ['limit=0', 'limit'],
    ]) {
      const refused = await app.call(`/api/v2/audit?${query}`, { key: account.liveKey })
      expect([refused.status, faultPaths(refused)]).toEqual([400, [path]])
    }
    expect((await app.admin('GET', '/audit?accountId=acc_x')).status).toBe(404)
  })

  test('rejects update, delete and truncate in the database', async () => {
    for (const text of [
      `update audit_log set action = 'nothing'`,
      'delete from audit_log',
      'truncate audit_log',
    ]) {
      await expect(app.db.query({ name: text, text })).rejects.toThrow('only grows')
    }
  })
})

describe('while the database is unavailable', () => {
  test('keeps audit entries and stores each once, in order, when the database is back', async () => {
    let isUnavailable = true
    const stored: unknown[][] = []
    const warned: object[] = []
    const db: Db = {
      query: async ({ values }) => {
        if (isUnavailable) throw new Error('gone')
        stored.push([...(values ?? [])])
        return { rows: [], rowCount: 1 }
      },
    }
    const clock = createFakeClock()
    const ids = createIds(clock, createRandom())
    const log = createAuditLog({ db, clock, ids, log: { warn: fields => void warned.push(fields) } })
    const note = (target: string) =>
      log.note({
        accountId: null,
        actor: { type: 'operator_token', id: null, name: 'Operator token' },
        action: 'connection.delete',
        target,
        changes: {},
        ip: null,
        requestId: ids.next('req'),
      })
    await note('cnn_1')
    await note('cnn_2')
    await expect(log.flush()).rejects.toThrow('gone')
    isUnavailable = false
    await log.flush()
    await log.flush()
    expect(stored.map(values => values[6])).toEqual(['cnn_1', 'cnn_2'])
    expect(warned).toMatchObject([{ entry: { target: 'cnn_1' } }, { entry: { target: 'cnn_2' } }])
  })
})
