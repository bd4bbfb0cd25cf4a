import { Secret, TOTP } from 'otpauth'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { SessionView, TotpStart } from '../../../src/contract/console.ts'
import { type Answer, startTestApp, type TestApp } from '../../support/app.ts'
import { openBrowser, PASSWORD, setUp, tokenOf, type Visitor } from '../../support/console.ts'

const EMAIL = 'root@example.com'
const STEP_MS = 30_000
/** The `WWW-Authenticate` challenge for a missing or invalid session. */
const COOKIE = 'Cookie realm="Posthorn console"'

let app: TestApp
let root: Visitor
let totp: TOTP
let recoveryCodes: string[]

beforeAll(async () => {
  app = await startTestApp()
  root = await setUp(app)
})
afterAll(() => app.stop())

const code = (atMs = app.now()) => totp.generate({ timestamp: atMs })
/** A code of a new time step, which has not been used yet. */
function freshCode(): string {
  app.jump(STEP_MS)
  return code()
}
const codeOf = (answer: Answer) => answer.body['code']
const begin = (password = PASSWORD) => root.call('POST', '/api/console/totp', { password })

describe('the second factor', () => {
  test('is set up with the password, and is not required before a code confirms it', async () => {
    expect((await begin('wrong')).status).toBe(400)
    expect((await root.call('POST', '/api/console/totp/confirm', { code: '000000' })).status).toBe(409)
    const { secret, uri } = (await begin()).body['data'] as TotpStart
    expect(uri).toBe(
      `otpauth://totp/Posthorn:root%40example.com?issuer=Posthorn&secret=${secret}&algorithm=SHA1&digits=6&period=30`,
    )
    totp = new TOTP({ secret: Secret.fromBase32(secret) })
    expect((await openBrowser(app).logIn(EMAIL)).status).toBe(200)
    const wrong = code() === '000000' ? '000001' : '000000'
    expect((await root.call('POST', '/api/console/totp/confirm', { code: wrong })).status).toBe(400)
  })

  test('is enabled by a valid code, which ends other sessions; its secret is stored encrypted', async () => {
    const other = openBrowser(app)
    await other.logIn(EMAIL)
    const before = root.cookie()
    const on = await root.call('POST', '/api/console/totp/confirm', { code: code() })
    expect(on.status, on.text).toBe(200)
    recoveryCodes = (on.body['data'] as { recoveryCodes: string[] }).recoveryCodes
    expect(recoveryCodes).toHaveLength(10)
    expect(new Set(recoveryCodes).size).toBe(10)
    expect(root.cookie()).not.toBe(before)
    const ended = await other.call('GET', '/api/console/session')
    expect([ended.status, ended.headers.get('www-authenticate')]).toEqual([401, COOKIE])
    expect((await root.session()).user).toMatchObject({ totp: true, recoveryCodesLeft: 10 })
    expect((await begin()).status).toBe(409)
    const { rows } = await app.db.query<{ row: string }>({
      name: 'users',
      text: 'select u::text as row from users u',
    })
    expect(rows[0]!.row).not.toContain(Buffer.from(totp.secret.bytes).toString('hex'))
    expect(app.log.join('')).not.toContain(totp.secret.base32)
  })

  test('is asked for only after the correct password', async () => {
    const browser = openBrowser(app)
    expect(codeOf(await browser.logIn(EMAIL))).toBe('TOTP_REQUIRED')
    expect(codeOf(await browser.logIn(EMAIL, 'wrong'))).toBe('UNAUTHORIZED')
    expect(codeOf(await browser.logIn(EMAIL, 'wrong', freshCode()))).toBe('UNAUTHORIZED')
    expect((await browser.logIn(EMAIL, PASSWORD, code())).status).toBe(200)
  })

  test('accepts each code once, also under concurrency, and no earlier code', async () => {
    const stale = code(app.now() - STEP_MS)
    const one = freshCode()
    const answers = await Promise.all([1, 2, 3].map(() => openBrowser(app).logIn(EMAIL, PASSWORD, one)))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 401, 401])
    expect((await openBrowser(app).logIn(EMAIL, PASSWORD, one)).status).toBe(401)
    expect((await openBrowser(app).logIn(EMAIL, PASSWORD, stale)).status).toBe(401)
  })

  test('accepts a code from a clock that is 30 seconds ahead or behind, but not 60 seconds', async () => {
    for (const direction of [1, -1]) {
      // So far that no later code has been used.
      await app.leap(4 * STEP_MS)
      const near = code(app.now() + direction * STEP_MS)
      const far = code(app.now() + direction * 2 * STEP_MS)
      expect((await openBrowser(app).logIn(EMAIL, PASSWORD, far)).status).toBe(401)
      expect((await openBrowser(app).logIn(EMAIL, PASSWORD, near)).status).toBe(200)
    }
  })

  test('can be replaced by a recovery code, once each, in upper case and with spaces', async () => {
    const typed = recoveryCodes[0]!.toUpperCase().replaceAll('-', ' ')
    expect((await openBrowser(app).logIn(EMAIL, PASSWORD, typed)).status).toBe(200)
    expect((await openBrowser(app).logIn(EMAIL, PASSWORD, recoveryCodes[0])).status).toBe(401)
    expect((await root.session()).user.recoveryCodesLeft).toBe(9)
  })

  test('is disabled with the password', async () => {
    expect((await root.call('DELETE', '/api/console/totp', { password: 'wrong' })).status).toBe(400)
    const off = await root.call('DELETE', '/api/console/totp', { password: PASSWORD })
    expect((off.body['data'] as SessionView).user).toMatchObject({ totp: false, recoveryCodesLeft: 0 })
    expect((await openBrowser(app).logIn(EMAIL)).status).toBe(200)
  })

  test('is disabled, and all sessions end, when a reset link from the operator sets a new password', async () => {
    const { secret } = (await begin()).body['data'] as TotpStart
    totp = new TOTP({ secret: Secret.fromBase32(secret) })
    await root.call('POST', '/api/console/totp/confirm', { code: freshCode() })
    const { user } = await root.session()
    const made = await app.admin('POST', `/members/${user.id}/reset`)
    const token = tokenOf((made.body['data'] as { link: string }).link)
    const preview = await openBrowser(app).call('POST', '/api/console/invitations/read', { token })
    expect(preview.body['data']).toMatchObject({ kind: 'reset', email: EMAIL, hasLogin: true, role: null })
    const browser = openBrowser(app)
    const body = { token, password: 'a wholly new password' }
    expect((await browser.call('POST', '/api/console/invitations/accept', body)).status).toBe(200)
    expect((await browser.session()).user.totp).toBe(false)
    expect((await root.call('GET', '/api/console/session')).status).toBe(401)
    expect((await browser.call('POST', '/api/console/invitations/accept', body)).status).toBe(404)
    const wrong = await openBrowser(app).logIn(EMAIL)
    expect([wrong.status, wrong.headers.get('www-authenticate')]).toEqual([401, COOKIE])
    expect((await openBrowser(app).logIn(EMAIL, body.password)).status).toBe(200)
  })
})

describe('the limit on failed logins', () => {
  // A new server, which has counted no failed logins yet.
  beforeAll(async () => {
    await app.stop()
    app = await startTestApp({ env: { POSTHORN_TRUSTED_PROXIES: '127.0.0.1' } })
    root = await setUp(app)
  })
  /** Logs in from an IP address other than the test's own. */
  const logInFrom = (ip: string, body: object) =>
    openBrowser(app).call(
      'POST',
      '/api/console/login',
      { email: EMAIL, password: PASSWORD, ...body },
      {
        'x-forwarded-for': ip,
      },
    )
  const guess = (email: string) => openBrowser(app).logIn(email, 'wrong')
  /** The cookie that marks a browser in which somebody has logged in before. */
  const markOf = (answer: Answer) => answer.headers.getSetCookie()[1]!.split(';')[0]!
  const logInBy = (cookie: string, body: object = {}) =>
    app.call('/api/console/login', {
      method: 'POST',
      headers: { cookie },
      body: { email: EMAIL, password: PASSWORD, ...body },
    })
  let known: string

  test('applies after ten wrong passwords for one e-mail address, not to other IPs or known browsers', async () => {
    const entered = await openBrowser(app).logIn(EMAIL)
    expect(entered.headers.getSetCookie()[1]).toMatch(
      /^posthorn_browser=[\w-]{43}\.[\w-]{43}; Max-Age=31536000; Path=\/; HttpOnly; SameSite=Strict$/,
    )
    known = markOf(entered)
    for (const email of ['someone@example.com', EMAIL]) {
      const answers = []
      for (let at = 0; at < 12; at++) answers.push(await guess(email))
      const refused = answers.slice(0, 10)
      expect(answers.map(({ status }) => status)).toEqual([...Array(10).fill(401), 429, 429])
      expect(refused.map(({ body: { requestId: _, ...body } }) => body)).toEqual(
        refused.map(() => ({
          success: false,
          code: 'UNAUTHORIZED',
          error: 'The e-mail address, the password or the code is not right.',
        })),
      )
      const last = answers.at(-1)!
      expect([last.status, codeOf(last)]).toEqual([429, 'RATE_LIMITED'])
      expect(Number(last.headers.get('retry-after'))).toBeGreaterThan(30)
    }
    // The correct password is refused too, or it would stand out. Other IP addresses are not affected, so that
    // guessing does not lock the owner out.
    expect((await openBrowser(app).logIn(EMAIL)).status).toBe(429)
    expect((await logInFrom('203.0.113.5', {})).status).toBe(200)
    // Nor is a browser in which this person has logged in before.
    expect((await logInBy(known)).status).toBe(200)
    expect((await logInBy(`${known.slice(0, -1)}!`)).status).toBe(429)
    expect((await logInBy(known, { email: 'someone@example.com' })).status).toBe(429)
    await app.leap(61_000)
    expect((await openBrowser(app).logIn(EMAIL)).status).toBe(200)
  })

  test('applies after ten wrong codes from any IP addresses, but not to a known browser', async () => {
    const { secret } = (await begin()).body['data'] as TotpStart
    totp = new TOTP({ secret: Secret.fromBase32(secret) })
    await root.call('POST', '/api/console/totp/confirm', { code: freshCode() })
    const near = [-1, 0, 1].map(steps => code(app.now() + steps * STEP_MS))
    const wrong = ['000000', '000001', '000002', '000003'].find(each => !near.includes(each))!
    const ips = Array.from({ length: 12 }, (_, at) => `198.51.100.${at}`)
    const answers = await Promise.all(ips.map(ip => logInFrom(ip, { totp: wrong })))
    expect(answers.map(({ status }) => status).sort()).toEqual([...Array(10).fill(401), 429, 429])
    expect((await logInFrom('198.51.100.99', { totp: freshCode() })).status).toBe(429)
    expect((await logInBy(known, { totp: freshCode() })).status).toBe(200)
  })

  test('applies after thirty failures from one IP address, whatever the e-mail address', async () => {
    const statuses = []
    const wrong = (at: number) => ({ email: `nobody${at}@example.com`, password: 'wrong' })
    for (let at = 0; at < 32; at++) statuses.push((await logInFrom('203.0.113.77', wrong(at))).status)
    expect(statuses).toEqual([...Array(30).fill(401), 429, 429])
    expect((await logInFrom('203.0.113.78', wrong(32))).status).toBe(401)
  })
})
