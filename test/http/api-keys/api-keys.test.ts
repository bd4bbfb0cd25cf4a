import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { ApiKey } from '../../../src/contract/api-key.ts'
import { PERMISSIONS } from '../../../src/contract/enums.ts'
import { type Answer, faultPaths, startTestApp, type TestAccount, type TestApp } from '../../support/app.ts'
import { join } from '../../support/console.ts'

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
  test('are made, listed and revoked; a key is shown once', async () => {
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
    [{ mode: 'both' }, 'mode'],
    [{ role: 'operator' }, 'role'],
    [{ permissions: ['everything'] }, 'permissions[0]'],
    [{ expiresAt: 'tomorrow' }, 'expiresAt'],
    [{ expiresAt: '2020-01-01T00:00:00Z' }, 'expiresAt'],
  ])('refuses %j', async (body, path) => {
    const refused = await keys('POST', '', { name: 'Shop', mode: 'live', permissions: [], ...body })
    expect([refused.status, faultPaths(refused)]).toEqual([400, [path]])
  })

  test('need their permissions', async () => {
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

  test('grant nothing that whoever makes them lacks', async () => {
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
    // Nor does it take a better one's place, or end it.
    const owners = data<ApiKey[]>(await keys('GET')).find(({ name }) => name === 'Owner (live)')!
    expect((await keys('POST', `/${owners.id}/rotate`, {}, apiKey)).status).toBe(403)
    expect((await keys('DELETE', `/${owners.id}`, undefined, apiKey)).status).toBe(403)
    expect(await works(account.liveKey)).toBe(true)
  })

  test('are made by owners in the console, in either mode, and by members who may', async () => {
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

  test('of another account are none', async () => {
    const { liveKey: foreign } = await app.createAccount()
    const { key } = await create({})
    expect((await keys('DELETE', `/${key.id}`, undefined, foreign)).status).toBe(404)
    expect((await keys('POST', `/${key.id}/rotate`, {}, foreign)).status).toBe(404)
    expect((await keys('DELETE', '/nonsense')).status).toBe(404)
  })
})

describe('a rotation', () => {
  test('gives a key that may do the same, and lets the old one go on for a while', async () => {
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

  test('with no overlap ends the old one at once; without a word it has a day', async () => {
    const old = await create({})
    const day = data<Required<Made>>(await keys('POST', `/${old.key.id}/rotate`, {}))
    expect(Date.parse(day.previous.expiresAt!) - app.now()).toBe(86_400_000)
    const now = data<Required<Made>>(await keys('POST', `/${day.key.id}/rotate`, { overlapSeconds: 0 }))
    expect(now.previous.revokedAt).not.toBeNull()
    expect([await works(day.apiKey), await works(now.apiKey)]).toEqual([false, true])
  })

  test('never makes a key live longer', async () => {
    const expiresAt = new Date(app.now() + 60_000).toISOString()
    const old = await create({ expiresAt })
    const made = data<Required<Made>>(await keys('POST', `/${old.key.id}/rotate`, { overlapSeconds: 3_600 }))
    expect([made.key.expiresAt, made.previous.expiresAt]).toEqual([expiresAt, expiresAt])
  })

  test('of several at once succeeds each by itself', async () => {
    const { key } = await create({})
    const answers = await Promise.all(
      [1, 2, 3].map(() => keys('POST', `/${key.id}/rotate`, { overlapSeconds: 0 })),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409])
  })

  test.each([[-1], [1.5], [99_999_999], ['a day']])('of %j seconds is refused', async overlapSeconds => {
    const { key } = await create({})
    const refused = await keys('POST', `/${key.id}/rotate`, { overlapSeconds })
    expect([refused.status, faultPaths(refused)]).toEqual([400, ['overlapSeconds']])
  })

  test('may be the operator’s', async () => {
    const { key } = await create({})
    const rotated = await app.admin('POST', `/accounts/${account.id}/keys/${key.id}/rotate`, {
      overlapSeconds: 0,
    })
    expect([rotated.status, await works(data<Made>(rotated).apiKey)]).toEqual([201, true])
    const none = await app.admin('POST', `/accounts/${account.id}/keys/key_x/rotate`, {})
    expect(none.status).toBe(404)
  })
})
