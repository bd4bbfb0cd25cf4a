import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { ApiKey } from '../../../src/contract/api-key.ts'
import { PERMISSIONS, type Permission } from '../../../src/contract/enums.ts'
import { listRoutes } from '../../../src/http/routes.ts'
import { type AccountId, toUuid } from '../../../src/lib/ids.ts'
import { type Answer, faultPaths, startTestApp, type TestAccount, type TestApp } from '../../support/app.ts'
import { join, type Visitor } from '../../support/console.ts'
import { type Caller, DEMANDS, expectedOf, type Holding } from './who-may.ts'

let app: TestApp
let account: TestAccount

beforeAll(async () => {
  app = await startTestApp()
})
afterAll(() => app.stop())
beforeEach(async () => {
  account = await app.createAccount()
})

type Made = { key: ApiKey; apiKey: string; previous?: ApiKey }

const keys = (method: string, path = '', body?: unknown, key = account.liveKey) =>
  app.call(`/api/v2/api-keys${path}`, { method, key, body })
const data = <T>(answer: Answer) => answer.body['data'] as T
const works = async (key: string) => (await app.call('/api/v2/account', { key })).status === 200

async function create(body: object, by = account.liveKey): Promise<Made> {
  const made = await keys(
    'POST',
    '',
    { name: 'Shop', mode: 'live', permissions: ['messages:create'], ...body },
    by,
  )
  expect(made.status, made.text).toBe(201)
  return data(made)
}

describe('API keys of an account', () => {
  test('are limited to 500 active ones; revoked keys do not count', async () => {
    await app.db.query({
      name: 'fill_keys',
      text: `insert into api_keys (account_id, id, name, prefix, hash, mode, role, permissions)
        select $1, uuid_at(now() - n * interval '1 hour'), 'n', 'ph_live_', decode(md5(n::text), 'hex'), 'live', 'member', '{}'
          from generate_series(1, 498) n`,
      values: [toUuid(account.id as AccountId)],
    })
    const body = { name: 'Shop', mode: 'live', permissions: [] }
    const refused = await keys('POST', '', body)
    expect([refused.status, refused.body['code']]).toEqual([409, 'CONFLICT'])
    const [last] = data<ApiKey[]>(await keys('GET', '?limit=1'))
    expect((await keys('POST', `/${last!.id}/rotate`, {})).status).toBe(409)
    expect((await keys('POST', `/${last!.id}/rotate`, { overlapSeconds: 0 })).status).toBe(201)
    const [next] = data<ApiKey[]>(await keys('GET', '?active=true&limit=1'))
    expect((await keys('DELETE', `/${next!.id}`)).status).toBe(200)
    expect((await keys('POST', '', body)).status).toBe(201)
    const { keys: adminKeys } = data<{ keys: ApiKey[] }>(await app.admin('GET', `/accounts/${account.id}`))
    expect(adminKeys).toHaveLength(500)
  })

  test('are created, listed, paged and revoked; the secret is returned only on creation', async () => {
    const expiresAt = new Date(app.now() + 60_000).toISOString()
    const { key, apiKey } = await create({ name: '<script>', permissions: ['messages:read'], expiresAt })
    expect(key).toMatchObject({
      id: expect.stringMatching(/^key_/),
      name: '<script>',
      prefix: apiKey.slice(0, 12),
      mode: 'live',
      role: 'member',
      permissions: ['messages:read'],
      expiresAt,
      revokedAt: null,
      lastUsedAt: null,
    })
    expect(await works(apiKey)).toBe(true)
    const listed = await keys('GET')
    expect(data<ApiKey[]>(listed).map(({ name }) => name)).toEqual([
      '<script>',
      'Owner (test)',
      'Owner (live)',
    ])
    expect(listed.text + app.log.join('')).not.toContain(apiKey)
    const page = await keys('GET', '?limit=2')
    const rest = await keys('GET', `?limit=2&cursor=${page.body['nextCursor']}`)
    expect(data<ApiKey[]>(rest).map(({ name }) => name)).toEqual(['Owner (live)'])

    expect(data(await keys('DELETE', `/${key.id}`))).toMatchObject({
      id: key.id,
      revokedAt: expect.any(String),
    })
    expect(await works(apiKey)).toBe(false)
    expect((await keys('DELETE', `/${key.id}`)).status).toBe(200)
    expect(data<ApiKey[]>(await keys('GET', '?active=true'))).toHaveLength(2)
    expect(data<ApiKey[]>(await keys('GET'))).toHaveLength(3)
  })

  test.each([
    [{ name: '' }, 'name'],
    [{ name: ' \u00a0\u3000' }, 'name'],
    [{ name: 'Shop\nOther' }, 'name'],
    [{ name: '\u001b[31mShop' }, 'name'],
    [{ name: 'Shop\u0085' }, 'name'],
    [{ name: 'Shop\u2028Other' }, 'name'],
    [{ name: '\u200b \u2060' }, 'name'],
    [{ mode: 'both' }, 'mode'],
    [{ role: 'operator' }, 'role'],
    [{ permissions: ['everything'] }, 'permissions[0]'],
    [{ expiresAt: 'tomorrow' }, 'expiresAt'],
    [{ expiresAt: '2020-01-01T00:00:00Z' }, 'expiresAt'],
  ])('are not created from an invalid body: %j', async (body, path) => {
    const refused = await keys('POST', '', { name: 'Shop', mode: 'live', permissions: [], ...body })
    expect([refused.status, faultPaths(refused)]).toEqual([400, [path]])
  })

  test('return 403 for a key without the api_keys permissions', async () => {
    const { apiKey } = await create({ permissions: ['messages:create', 'messages:read'] })
    for (const [method, path, body] of [
      ['GET', '', undefined],
      ['POST', '', { name: 'x', mode: 'live', permissions: [] }],
      ['DELETE', '/key_x', undefined],
      ['POST', '/key_x/rotate', {}],
    ] as const) {
      expect((await keys(method, path, body, apiKey)).status, `${method} ${path}`).toBe(403)
    }
  })

  test('with more rights than the calling key cannot be created, rotated or revoked by it', async () => {
    const { apiKey } = await create({ permissions: ['messages:read', 'api_keys:read', 'api_keys:write'] })
    const body = { name: 'More', mode: 'live', permissions: ['messages:read'] }
    expect((await keys('POST', '', body, apiKey)).status).toBe(201)
    for (const more of [{ permissions: ['messages:create'] }, { role: 'owner' }]) {
      const refused = await keys('POST', '', { ...body, ...more }, apiKey)
      expect([refused.status, refused.body['code']]).toEqual([403, 'FORBIDDEN'])
    }
    const live = { ...body, permissions: [] }
    expect((await keys('POST', '', live, account.testKey)).status).toBe(403)
    expect((await keys('POST', '', { ...live, mode: 'test' }, account.testKey)).status).toBe(201)
    // Nor can it rotate or revoke a key with more rights.
    const owners = data<ApiKey[]>(await keys('GET')).find(({ name }) => name === 'Owner (live)')!
    expect((await keys('POST', `/${owners.id}/rotate`, {}, apiKey)).status).toBe(403)
    expect((await keys('DELETE', `/${owners.id}`, undefined, apiKey)).status).toBe(403)
    expect(await works(account.liveKey)).toBe(true)
  })

  test('created or rotated by a key cannot expire later than that key', async () => {
    const at = (ms: number) => new Date(app.now() + ms).toISOString()
    const rights = { permissions: ['messages:read', 'api_keys:read', 'api_keys:write'] }
    const { key, apiKey } = await create({ ...rights, expiresAt: at(60_000) })
    const neverExpiring = await create({ permissions: ['messages:read'] })
    const body = { name: 'More', mode: 'live', permissions: ['messages:read'] }
    for (const more of [{}, { expiresAt: at(120_000) }]) {
      const refused = await keys('POST', '', { ...body, ...more }, apiKey)
      expect([refused.status, refused.body['code']], refused.text).toEqual([403, 'FORBIDDEN'])
      expect(refused.body['error']).toContain(key.expiresAt)
      expect(faultPaths(refused)).toEqual(['expiresAt'])
    }
    expect((await keys('POST', `/${neverExpiring.key.id}/rotate`, {}, apiKey)).status).toBe(403)
    expect(await works(neverExpiring.apiKey)).toBe(true)
    const made = await create({ ...rights, expiresAt: key.expiresAt }, apiKey)
    expect((await keys('POST', `/${made.key.id}/rotate`, {}, apiKey)).status).toBe(201)
    // That key has no more rights than the calling one, which may therefore revoke it.
    expect((await keys('DELETE', `/${neverExpiring.key.id}`, undefined, apiKey)).status).toBe(200)
  })

  test('are created in the console by owners in either mode, and by members within their permissions', async () => {
    const owner = await join(app, account.id, 'owner', 'owner@example.com')
    const body = { name: 'Mine', mode: 'live', permissions: PERMISSIONS, role: 'owner' }
    expect((await owner.for(account.id, 'test')('POST', '/api-keys', body)).status).toBe(201)
    const member = await join(app, account.id, 'member', 'member@example.com', [
      'api_keys:write',
      'messages:read',
    ])
    expect((await member.for(account.id)('POST', '/api-keys', body)).status).toBe(403)
    const own = { name: 'Theirs', mode: 'live', permissions: ['messages:read'] }
    expect((await member.for(account.id)('POST', '/api-keys', own)).status).toBe(201)
    expect((await member.for(account.id)('GET', '/api-keys')).status).toBe(403)
  })

  test('of another account return 404', async () => {
    const { liveKey: foreign } = await app.createAccount()
    const { key } = await create({})
    expect((await keys('DELETE', `/${key.id}`, undefined, foreign)).status).toBe(404)
    expect((await keys('POST', `/${key.id}/rotate`, {}, foreign)).status).toBe(404)
    expect((await keys('DELETE', '/nonsense')).status).toBe(404)
  })
})

describe('a rotation', () => {
  test('returns a new key with the same rights and keeps the old one valid for the overlap', async () => {
    const old = await create({ name: 'Shop', permissions: ['messages:read'] })
    const rotated = await keys('POST', `/${old.key.id}/rotate`, { overlapSeconds: 3_600 })
    expect(rotated.status).toBe(201)
    const { key, apiKey, previous } = data<Required<Made>>(rotated)
    expect(key).toMatchObject({ name: 'Shop', mode: 'live', permissions: ['messages:read'], expiresAt: null })
    expect(previous).toMatchObject({ id: old.key.id, revokedAt: null })
    expect(Date.parse(previous.expiresAt!) - app.now()).toBe(3_600_000)
    expect([await works(old.apiKey), await works(apiKey)]).toEqual([true, true])
    app.jump(3_600_000)
    expect([await works(old.apiKey), await works(apiKey)]).toEqual([false, true])
    expect((await keys('POST', `/${old.key.id}/rotate`, {})).status).toBe(409)
  })

  test('revokes the old key at once with an overlap of zero, and after a day by default', async () => {
    const old = await create({})
    const day = data<Required<Made>>(await keys('POST', `/${old.key.id}/rotate`))
    expect(Date.parse(day.previous.expiresAt!) - app.now()).toBe(86_400_000)
    const now = data<Required<Made>>(await keys('POST', `/${day.key.id}/rotate`, { overlapSeconds: 0 }))
    expect(now.previous.revokedAt).not.toBeNull()
    expect([await works(day.apiKey), await works(now.apiKey)]).toEqual([false, true])
  })

  test('accepts an empty body of any content type', async () => {
    const old = await create({})
    const headers = { 'X-API-Key': account.liveKey, 'Content-Type': 'application/x-www-form-urlencoded' }
    const rotate = `${app.url}/api/v2/api-keys/${old.key.id}/rotate`
    expect((await fetch(rotate, { method: 'POST', headers, body: '' })).status).toBe(201)
  })

  test('of a key that was rotated before is refused, since the new key would end with the overlap', async () => {
    const old = await create({})
    const answers = await Promise.all([1, 2, 3].map(() => keys('POST', `/${old.key.id}/rotate`)))
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409])
    const { key, apiKey } = data<Required<Made>>(answers.find(({ status }) => status === 201)!)
    expect(key.expiresAt).toBeNull()
    app.jump(86_400_000)
    expect([await works(old.apiKey), await works(apiKey)]).toEqual([false, true])
    const again = data<Required<Made>>(await keys('POST', `/${key.id}/rotate`, { overlapSeconds: 0 }))
    expect([await works(apiKey), await works(again.apiKey)]).toEqual([false, true])
  })

  test('never extends the expiry of a key', async () => {
    const expiresAt = new Date(app.now() + 60_000).toISOString()
    const old = await create({ expiresAt })
    const made = data<Required<Made>>(await keys('POST', `/${old.key.id}/rotate`, { overlapSeconds: 3_600 }))
    expect([made.key.expiresAt, made.previous.expiresAt]).toEqual([expiresAt, expiresAt])
  })

  test('succeeds only once when requested concurrently without overlap', async () => {
    const { key, apiKey } = await create({})
    const active = async () => data<ApiKey[]>(await keys('GET', '?active=true&limit=500')).map(({ id }) => id)
    const before = await active()
    const answers = await Promise.all(
      [1, 2, 3].map(() => keys('POST', `/${key.id}/rotate`, { overlapSeconds: 0 })),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409])
    const made = data<Made>(answers.find(({ status }) => status === 201)!)
    expect([await works(apiKey), await works(made.apiKey)]).toEqual([false, true])
    // The one new key has replaced the old one.
    expect(await active()).toEqual([made.key.id, ...before.filter(id => id !== key.id)])
  })

  test.each([[-1], [1.5], [99_999_999], ['a day']])(
    'with an overlap of %j seconds is rejected',
    async overlapSeconds => {
      const { key } = await create({})
      const refused = await keys('POST', `/${key.id}/rotate`, { overlapSeconds })
      expect([refused.status, faultPaths(refused)]).toEqual([400, ['overlapSeconds']])
    },
  )

  test('can be requested by the operator', async () => {
    const { key } = await create({})
    const rotated = await app.admin('POST', `/accounts/${account.id}/keys/${key.id}/rotate`, {
      overlapSeconds: 0,
    })
    expect([rotated.status, await works(data<Made>(rotated).apiKey)]).toEqual([201, true])
    const none = await app.admin('POST', `/accounts/${account.id}/keys/key_x/rotate`, {})
    expect(none.status).toBe(404)
  })
})

/** Every authenticated API route, with ids that match nothing: an admitted caller gets a 404 or a 400. */
const routes = listRoutes({} as Parameters<typeof listRoutes>[0], { version: '0.0.0' })
  .filter(({ url, auth }) => url.startsWith('/api/') && !('public' in auth))
  .map(({ method, url, auth }) => ({ method, url, auth, path: url.replace(/:\w+/g, 'x') }))

describe('every operation', () => {
  const callers = new Map<string, Caller>()
  beforeAll(async () => {
    const { id, liveKey } = await app.createAccount()
    const keyOf = async (role: 'owner' | 'member', permissions: readonly Permission[], mode = 'live') =>
      data<Made>(await app.admin('POST', `/accounts/${id}/keys`, { name: 'One', mode, role, permissions }))
    const byKey = (apiKey: string, holds: Holding | 401) =>
      ({ headers: { 'x-api-key': apiKey }, holds, admin: 401, console: 401 }) as const
    for (const permission of [null, ...PERMISSIONS]) {
      const permissions = permission === null ? [] : [permission]
      const { apiKey } = await keyOf('member', permissions)
      callers.set(`a key with ${permission}`, byKey(apiKey, { permissions, owner: false, mode: 'live' }))
    }
    const bare = await keyOf('owner', [], 'test')
    callers.set('a bare test key', byKey(bare.apiKey, { permissions: [], owner: true, mode: 'test' }))
    callers.set('an owner’s key', byKey(liveKey, { permissions: PERMISSIONS, owner: true, mode: 'live' }))
    const revoked = await keyOf('owner', PERMISSIONS)
    await app.admin('DELETE', `/accounts/${id}/keys/${revoked.key.id}`)
    callers.set('a revoked key', byKey(revoked.apiKey, 401))

    const { id: elsewhere } = await app.createAccount()
    const root = await join(app, elsewhere, 'owner', 'matrix-root@example.com')
    await app.admin('PATCH', `/members/${(await root.session()).user.id}`, { operator: true })
    const owner = await join(app, id, 'owner', 'matrix-owner@example.com')
    const member = await join(app, id, 'member', 'matrix-member@example.com', ['messages:read'])
    const byCookie = (visitor: Visitor, holds: Holding | 403, admin: 403 | 'let in' = 403) =>
      ({
        headers: { cookie: visitor.cookie(), 'x-csrf-token': visitor.csrf(), 'x-posthorn-account': id },
        holds,
        admin,
        console: 'let in',
      }) as const
    callers.set('an owner', byCookie(owner, { permissions: PERMISSIONS, owner: true, mode: 'live' }))
    callers.set('a member', byCookie(member, { permissions: ['messages:read'], owner: false, mode: 'live' }))
    callers.set('the operator, who is an owner elsewhere', byCookie(root, 403, 'let in'))
    callers.set('nobody', { headers: {}, holds: 401, admin: 401, console: 401 })
    const authorization = `Bearer ${app.operatorToken}`
    callers.set('the token', { headers: { authorization }, holds: 401, admin: 'let in', console: 401 })
  })

  test('is listed in DEMANDS', () => {
    const actual = routes.filter(({ url }) => url.startsWith('/api/v2/'))
    expect(actual.map(({ method, url }) => `${method} ${url.slice('/api/v2'.length)}`).sort()).toEqual(
      Object.keys(DEMANDS).sort(),
    )
  })

  // Sends some thousand requests, hence the longer timeout.
  test('admits exactly the callers that have the required rights', async () => {
    const wrong: string[] = []
    const ask = async (name: string, caller: Caller, { method, url, path }: (typeof routes)[number]) => {
      const status = await statusOf(method, path, caller.headers)
      const expected = expectedOf(caller, method, url)
      const isIn = status !== 401 && status !== 403 && status < 500
      const fits = expected === 'let in' ? isIn : status === expected
      if (!fits) wrong.push(`${name}, ${method} ${url}: ${status} instead of ${expected}`)
    }
    // A logout would end the session that the following requests use.
    const asked = routes.filter(({ url }) => url !== '/api/console/logout')
    for (const [name, caller] of callers) {
      for (let at = 0; at < asked.length; at += 8)
        await Promise.all(asked.slice(at, at + 8).map(route => ask(name, caller, route)))
    }
    expect(wrong).toEqual([])
  }, 60_000)

  test('other than a GET returns 403 for a session cookie without its CSRF token', async () => {
    const wrong: string[] = []
    for (const { method, path, auth } of routes) {
      if (method === 'GET') continue
      const who = 'operator' in auth ? 'the operator, who is an owner elsewhere' : 'an owner'
      const { 'x-csrf-token': _, ...bare } = callers.get(who)!.headers
      const status = await statusOf(method, path, bare)
      if (status !== 403) wrong.push(`${method} ${path}: ${status}`)
    }
    expect(wrong).toEqual([])
  })
})

/** The status of a response, without waiting for the end of an event stream. */
async function statusOf(method: string, path: string, headers: Record<string, string>): Promise<number> {
  const response = await fetch(app.url + path, {
    method,
    headers: { ...headers, ...(method !== 'GET' && { 'content-type': 'application/json' }) },
    ...(method !== 'GET' && { body: '{}' }),
  })
  if (response.headers.get('content-type')?.startsWith('text/event-stream')) await response.body!.cancel()
  else await response.arrayBuffer()
  return response.status
}
