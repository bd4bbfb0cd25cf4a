import { get } from 'node:http'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { SessionRow, SessionView } from '../../../src/contract/console.ts'
import { faultPaths, startTestApp, type TestApp } from '../../support/app.ts'
import { join, openBrowser, PASSWORD, setUp, type Visitor } from '../../support/console.ts'
import { createTestDatabase, type TestDatabase } from '../../support/database.ts'
import { lookUntil } from '../../support/look-until.ts'

const EMAIL = 'root@example.com'
const ROOT = { email: EMAIL, name: '<img src=x onerror=alert(1)>', password: PASSWORD }
const HOUR_MS = 3_600_000

let database: TestDatabase
let app: TestApp
/** A second node on the same database. */
let other: TestApp
let root: Visitor

beforeAll(async () => {
  database = await createTestDatabase()
  app = await startTestApp({ database })
  other = await startTestApp({ database, startMs: app.now() })
})
afterAll(async () => {
  await app.stop()
  await other.stop()
  await database.drop()
})

/** Reads the setup state with headers such as `Host`, which fetch cannot set. */
function ask(headers: Record<string, string>): Promise<unknown> {
  return new Promise((resolve, reject) => {
    get(`${app.url}/api/console/setup`, { headers }, async answer => {
      resolve(JSON.parse((await answer.toArray()).join('')))
    }).on('error', reject)
  })
}

describe('the first setup of the console', () => {
  test('requires the operator token where the request may come from another machine', async () => {
    const browser = openBrowser(app)
    expect((await browser.call('GET', '/api/console/setup')).body['data']).toEqual({
      needed: true,
      operatorToken: false,
    })
    const proxied = { 'x-forwarded-for': '203.0.113.7' }
    expect((await browser.call('GET', '/api/console/setup', undefined, proxied)).body['data']).toEqual({
      needed: true,
      operatorToken: true,
    })
    // DNS rebinding: a foreign host name that resolves to this machine.
    const rebound = await ask({ host: 'evil.example:8080' })
    expect(rebound).toMatchObject({ data: { operatorToken: true } })
    expect(await ask({ host: `localhost:${new URL(app.url).port}` })).toMatchObject({
      data: { operatorToken: false },
    })
    for (const header of ['via', 'forwarded', 'x-real-ip', 'x-forwarded-host']) {
      expect(await ask({ [header]: '1.1 somewhere' }), header).toMatchObject({
        data: { operatorToken: true },
      })
    }
    for (const body of [ROOT, { ...ROOT, operatorToken: 'guessed' }]) {
      const refused = await browser.call('POST', '/api/console/setup', body, proxied)
      expect(refused.status).toBe(401)
      expect(faultPaths(refused)).toEqual(['operatorToken'])
    }
  })

  test.each(['setup', 'login', 'invitations/read', 'invitations/accept'])(
    '%s returns 413 for an unauthenticated body of more than 16 KiB',
    async path => {
      const answer = await openBrowser(app).call('POST', `/api/console/${path}`, { more: 'x'.repeat(16_384) })
      expect([answer.status, answer.body['code']]).toEqual([413, 'PAYLOAD_TOO_LARGE'])
    },
  )

  test.each([
    [{ ...ROOT, email: 'nobody' }, 'email'],
    [{ ...ROOT, email: 'a@b\r\nBcc: c@d.example' }, 'email'],
    [{ ...ROOT, password: 'too short' }, 'password'],
    [{ ...ROOT, password: 'ROOT@example.com' }, 'password'],
    [{ ...ROOT, name: '' }, 'name'],
    [{ ...ROOT, name: '\t' }, 'name'],
  ])('rejects %j and names the field', async (body, path) => {
    const refused = await openBrowser(app).call('POST', '/api/console/setup', body)
    expect(refused.status).toBe(400)
    expect(faultPaths(refused)).toEqual([path])
  })

  test('succeeds for one of several concurrent requests on two nodes, and for none after that', async () => {
    const browsers = [openBrowser(app), openBrowser(other), openBrowser(app)]
    const answers = await Promise.all(
      browsers.map((browser, at) =>
        browser.call('POST', '/api/console/setup', { ...ROOT, email: `root${at}@example.com` }),
      ),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409])
    const first = answers.findIndex(({ status }) => status === 201)
    const winner = browsers[first]!
    expect((await openBrowser(app).call('POST', '/api/console/setup', ROOT)).status).toBe(409)
    expect((await openBrowser(app).call('GET', '/api/console/setup')).body['data']).toMatchObject({
      needed: false,
    })
    const view = answers[first]!.body['data'] as SessionView
    expect(view.user).toMatchObject({
      id: expect.stringMatching(/^usr_/),
      email: `root${first}@example.com`,
      // Returned unescaped: the console has to render it as text.
      name: ROOT.name,
      operator: true,
      totp: false,
    })
    expect(answers[first]!.headers.get('content-type')).toContain('application/json')
    expect(answers[first]!.headers.get('x-content-type-options')).toBe('nosniff')
    // An owner of the account created on the first start.
    expect(view.memberships).toMatchObject([{ account: { name: 'Demo' }, role: 'owner' }])
    const [cookie] = answers[first]!.headers.getSetCookie()
    expect(cookie).toMatch(
      /^posthorn_session=[\w-]{43}; Max-Age=2592000; Path=\/; HttpOnly; SameSite=Strict$/,
    )
    expect(answers[first]!.text + app.log.join('')).not.toContain(winner.cookie().split('=')[1])
    root = openBrowser(app)
    root.setCookie(winner.cookie())
    await root.session()
  })
})

describe('a session cookie', () => {
  let rootEmail: string
  let demo: string
  beforeAll(async () => {
    const { user, memberships } = await root.session()
    rootEmail = user.email
    demo = memberships[0]!.account.id
  })

  test('grants the rights of its person on every node, for the account named in a header', async () => {
    expect((await root.for(demo)('GET', '/account')).body['data']).toMatchObject({
      id: demo,
      key: { id: expect.stringMatching(/^usr_/), prefix: '', mode: 'live' },
    })
    expect((await root.for(demo, 'test')('GET', '/account')).body['data']).toMatchObject({
      key: { mode: 'test' },
    })
    const elsewhere = await other.call('/api/admin/accounts', { headers: { cookie: root.cookie() } })
    expect(elsewhere.status).toBe(200)
    const unnamed = await root.call('GET', '/api/v2/account')
    expect([unnamed.status, faultPaths(unnamed)]).toEqual([400, ['X-Posthorn-Account']])
    const odd = await root.call('GET', '/api/v2/account', undefined, {
      'x-posthorn-account': demo,
      'x-posthorn-mode': 'both',
    })
    expect([odd.status, faultPaths(odd)]).toEqual([400, ['X-Posthorn-Mode']])
    const { id: foreign } = await app.createAccount()
    expect((await root.for(foreign)('GET', '/account')).status).toBe(403)
  })

  test('is ignored when an API key or an operator token is given', async () => {
    const account = await app.createAccount()
    const headers = { cookie: root.cookie(), 'x-posthorn-account': demo }
    const read = await app.call('/api/v2/account', { key: account.testKey, headers })
    expect(read.body['data']).toMatchObject({ id: account.id })
    const wrong = await app.call('/api/v2/account', { key: 'ph_live_wrong', headers })
    expect(wrong.status).toBe(401)
    const operator = await app.call('/api/admin/accounts', {
      headers: { cookie: root.cookie(), authorization: 'Bearer wrong' },
    })
    expect(operator.status).toBe(401)
  })

  test.each([
    ['an empty CSRF token', { 'x-csrf-token': '' }],
    ['a wrong CSRF token', { 'x-csrf-token': Buffer.alloc(32).toString('base64url') }],
    ['the Origin of another site', { origin: 'https://evil.example' }],
    ['an Origin of null', { origin: 'null' }],
    ['an Origin with another port', { origin: 'http://127.0.0.1:1' }],
    ['a Sec-Fetch-Site header of cross-site', { 'sec-fetch-site': 'cross-site' }],
  ])('does not authorise a change without proof of the same site: %s', async (_, headers) => {
    const before = await root.session()
    for (const [path, body] of [
      ['/api/console/user', { name: 'Mallory' }],
      ['/api/v2/account', { quietHours: null }],
    ] as const) {
      const refused = await root.call('PATCH', path, body, { 'x-posthorn-account': demo, ...headers })
      expect([refused.status, refused.body['code']], path).toEqual([403, 'FORBIDDEN'])
    }
    const refused = await root.call('POST', '/api/admin/accounts', {}, headers)
    expect(refused.status).toBe(403)
    expect((await root.session()).user).toEqual(before.user)
  })

  test("authorises a change from a page of the server's own origin", async () => {
    const changed = await root.call('PATCH', '/api/console/user', { name: 'Root' }, { origin: app.url })
    expect(changed.body['data']).toMatchObject({ user: { name: 'Root' } })
  })

  test('is not issued for a login request from another site', async () => {
    const login = { email: rootEmail, password: PASSWORD }
    const refused = await openBrowser(app).call('POST', '/api/console/login', login, {
      origin: 'https://evil.example',
    })
    expect(refused.status).toBe(403)
  })

  test('planted before a login is not adopted by it', async () => {
    const browser = openBrowser(app)
    browser.setCookie(`posthorn_session=${'A'.repeat(43)}`)
    expect((await browser.call('GET', '/api/console/session')).status).toBe(401)
    await browser.logIn(rootEmail)
    expect(browser.cookie()).not.toContain('A'.repeat(43))
    const planted = { cookie: `posthorn_session=${'A'.repeat(43)}` }
    expect((await app.call('/api/console/session', { headers: planted })).status).toBe(401)
  })

  test.each([
    '',
    'posthorn_session=',
    'posthorn_session=%00',
    `posthorn_session=${'x'.repeat(5_000)}`,
    'a; b=c;;=',
  ])('that is not valid returns 401: %j', async cookie => {
    expect((await app.call('/api/console/session', { headers: { cookie } })).status).toBe(401)
    expect((await app.call('/api/admin/accounts', { headers: { cookie } })).status).toBe(401)
  })

  test('is listed as a session and, once revoked, ends here at once and on other nodes within a second', async () => {
    const phone = openBrowser(app, '<b>Phone</b>')
    await phone.logIn(rootEmail)
    const cookie = phone.cookie()
    const onOther = () => other.call('/api/console/session', { headers: { cookie } })
    expect((await onOther()).status).toBe(200)

    const listed = (await root.call('GET', '/api/console/sessions')).body['data'] as SessionRow[]
    const mine = listed.find(({ userAgent }) => userAgent === '<b>Phone</b>')!
    expect(mine).toMatchObject({ current: false, ip: '127.0.0.1' })
    expect(listed.filter(({ current }) => current)).toHaveLength(1)
    expect((await root.call('DELETE', `/api/console/sessions/${mine.id}`)).status).toBe(200)
    expect((await phone.call('GET', '/api/console/session')).status).toBe(401)
    const startMs = other.now()
    await other.until(onOther, ({ status }) => status === 401)
    expect(other.now() - startMs).toBeLessThanOrEqual(1_000)
    expect((await root.call('DELETE', `/api/console/sessions/${mine.id}`)).status).toBe(404)
  })

  test('is invalid after a logout', async () => {
    const browser = openBrowser(app)
    await browser.logIn(rootEmail)
    const cookie = browser.cookie()
    const out = await browser.call('POST', '/api/console/logout')
    expect(out.headers.get('set-cookie')).toMatch(/^posthorn_session=; Max-Age=0;/)
    expect((await app.call('/api/console/session', { headers: { cookie } })).status).toBe(401)
  })

  test('is invalid after a password change, in every browser', async () => {
    const [laptop, phone] = [openBrowser(app), openBrowser(app)]
    await laptop.logIn(rootEmail)
    await phone.logIn(rootEmail)
    const before = laptop.cookie()
    const wrong = await laptop.call('POST', '/api/console/password', {
      currentPassword: 'wrong',
      newPassword: 'another horse battery',
    })
    expect([wrong.status, faultPaths(wrong)]).toEqual([400, ['currentPassword']])
    const changed = await laptop.call('POST', '/api/console/password', {
      currentPassword: PASSWORD,
      newPassword: 'another horse battery',
    })
    expect(changed.status).toBe(200)
    expect(laptop.cookie()).not.toBe(before)
    for (const cookie of [before, phone.cookie()])
      expect((await app.call('/api/console/session', { headers: { cookie } })).status).toBe(401)
    expect((await laptop.call('GET', '/api/console/session')).status).toBe(200)
    expect((await openBrowser(app).logIn(rootEmail)).status).toBe(401)
    await laptop.call('POST', '/api/console/password', {
      currentPassword: 'another horse battery',
      newPassword: PASSWORD,
    })
    await root.logIn(rootEmail)
  })

  test('is not issued when the password changes while a login is being checked', async () => {
    const email = 'late@example.com'
    const late = await join(app, demo, 'member', email)
    const { id } = (await late.session()).user
    const login = await database.db.transaction(async tx => {
      await tx.query({
        name: 'take_password',
        text: `update users set password = (select password from users where email_key = $2) where email_key = $1`,
        values: [email, rootEmail],
      })
      await tx.query({
        name: 'end_sessions',
        text: 'delete from console_sessions s using users u where u.id = s.user_id and u.email_key = $1',
        values: [email],
      })
      const answered = openBrowser(app).logIn(email)
      await Promise.race([answered, untilLockWait()])
      return { answered }
    })
    expect((await login.answered).status).toBe(401)
    // The session was deleted directly in the database, which this node notices within a second.
    const visit = () => late.call('GET', '/api/console/session')
    await lookUntil(visit, ({ status }) => status === 401, 10_000)
    expect((await app.admin('DELETE', `/members/${id}`)).status).toBe(200)
  })

  test('allows a hundred changes of the own login in a row, then returns 429', async () => {
    const person = await join(app, demo, 'member', 'restless@example.com')
    const rename = () => person.call('PATCH', '/api/console/user', { name: 'Restless' })
    const answers = await Promise.all(Array.from({ length: 102 }, rename))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(100)
    const refused = answers.find(({ status }) => status !== 200)!
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '1'])
  })

  test('used on one node does not count as idle on another', async () => {
    const browser = openBrowser(app)
    await browser.logIn(rootEmail)
    const onOther = () => other.call('/api/console/session', { headers: { cookie: browser.cookie() } })
    expect((await onOther()).status).toBe(200)
    for (const node of [app, other]) node.jump(11 * HOUR_MS)
    expect((await browser.call('GET', '/api/console/session')).status).toBe(200)
    // Until the use is stored.
    await app.pass(10_100)
    for (const node of [app, other]) node.jump(2 * HOUR_MS)
    expect((await onOther()).status).toBe(200)
    for (const node of [app, other]) node.jump(12 * HOUR_MS)
    expect((await onOther()).status).toBe(401)
    await root.logIn(rootEmail)
  })

  test('expires after twelve hours without use, and after thirty days with it', async () => {
    const aged = await createTestDatabase()
    const alone = await startTestApp({ database: aged })
    try {
      const browser = await setUp(alone)
      for (let day = 0; day < 59; day++) {
        alone.jump(12 * HOUR_MS - 60_000)
        expect((await browser.call('GET', '/api/console/session')).status, `half day ${day}`).toBe(200)
      }
      alone.jump(12 * HOUR_MS - 60_000)
      alone.jump(60 * 60_000)
      expect((await browser.call('GET', '/api/console/session')).status).toBe(401)
      await browser.logIn(EMAIL)
      alone.jump(12 * HOUR_MS)
      expect((await browser.call('GET', '/api/console/session')).status).toBe(401)
    } finally {
      await alone.stop()
      await aged.drop()
    }
  })
})

/** Waits until a query of the server is blocked by a row lock of another transaction. */
async function untilLockWait(): Promise<void> {
  for (;;) {
    const { rows } = await database.db.query({
      name: 'waits',
      text: `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
    })
    if (rows.length > 0) return
  }
}

describe('behind a proxy that forwards the client port too', () => {
  test('failed logins are counted by IP address, whatever the port', async () => {
    const proxied = await startTestApp({ env: { POSTHORN_TRUSTED_PROXIES: '127.0.0.0/8' } })
    try {
      const statuses: number[] = []
      for (let port = 50_000; port < 50_011; port++) {
        const guess = { email: EMAIL, password: `not the password ${port}` }
        const headers = { 'x-forwarded-for': `198.51.100.7:${port}` }
        statuses.push((await openBrowser(proxied).call('POST', '/api/console/login', guess, headers)).status)
      }
      expect(statuses).toEqual([...Array(10).fill(401), 429])
    } finally {
      await proxied.stop()
    }
  })
})

describe('over https', () => {
  test('cookies are Secure with the __Host- prefix, and the client IP is taken from the trusted proxy', async () => {
    const env = {
      POSTHORN_PUBLIC_URL: 'https://posthorn.example.com',
      POSTHORN_TRUSTED_PROXIES: '127.0.0.0/8',
    }
    const secured = await startTestApp({ env })
    try {
      const browser = openBrowser(secured)
      const body = { ...ROOT, operatorToken: secured.operatorToken }
      expect((await browser.call('POST', '/api/console/setup', ROOT)).status).toBe(401)
      const origin = 'https://posthorn.example.com'
      const proxied = { origin, 'x-forwarded-for': '203.0.113.9, 198.51.100.7' }
      const made = await browser.call('POST', '/api/console/setup', body, proxied)
      // After the setup, the response no longer reveals whether a token is correct.
      const operatorToken = `${secured.operatorToken}x`
      for (const later of [ROOT, body, { ...body, operatorToken }]) {
        expect((await openBrowser(secured).call('POST', '/api/console/setup', later)).status).toBe(409)
      }
      const [session, mark] = made.headers.getSetCookie()
      expect(session).toMatch(
        /^__Host-posthorn_session=[\w-]{43}; Max-Age=\d+; Path=\/; HttpOnly; SameSite=Strict; Secure$/,
      )
      expect(mark).toMatch(/^__Host-posthorn_browser=.* Path=\/; HttpOnly; SameSite=Strict; Secure$/)
      expect((await browser.call('PATCH', '/api/console/user', { name: 'R' }, { origin })).status).toBe(200)
      // The address that the trusted proxy adds, not the one claimed before it.
      const [listed] = (await browser.call('GET', '/api/console/sessions')).body['data'] as SessionRow[]
      expect(listed!.ip).toBe('198.51.100.7')
    } finally {
      await secured.stop()
    }
  })
})
