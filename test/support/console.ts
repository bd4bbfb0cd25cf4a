import { expect } from 'vitest'
import type { SessionView } from '../../src/contract/console.ts'
import type { Answer, TestApp } from './app.ts'

export const PASSWORD = 'correct horse battery'

/** A person with a browser: keeps the cookie, and sends the CSRF token with every request but a GET. */
export type Visitor = {
  call(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>
  /** A function for requests for an account, below `/api/v2`. */
  for(
    accountId: string,
    mode?: 'live' | 'test',
  ): (method: string, path: string, body?: unknown) => Promise<Answer>
  /** Reads the session; it must be signed in. */
  session(): Promise<SessionView>
  logIn(email: string, password?: string, totp?: string): Promise<Answer>
  /** `name=value`, or empty. */
  cookie(): string
  setCookie(cookie: string): void
  csrf(): string
}

export function openBrowser(app: Pick<TestApp, 'call'>, agent = 'Test browser'): Visitor {
  let cookie = ''
  let csrf = ''

  async function call(method: string, path: string, body?: unknown, headers: Record<string, string> = {}) {
    const answer = await app.call(path, {
      method,
      headers: {
        'user-agent': agent,
        ...(cookie !== '' && { cookie }),
        ...(method !== 'GET' && csrf !== '' && { 'x-csrf-token': csrf }),
        ...headers,
      },
      ...(body !== undefined && { body }),
    })
    const set = answer.headers.get('set-cookie')
    if (set !== null) cookie = /Max-Age=0/.test(set) ? '' : set.split(';')[0]!
    const data = answer.body['data'] as Partial<SessionView & { session: SessionView }> | undefined
    csrf = data?.csrfToken ?? data?.session?.csrfToken ?? csrf
    return answer
  }

  return {
    call,
    for: (accountId, mode) => (method, path, body) =>
      call(method, `/api/v2${path}`, body, {
        'x-posthorn-account': accountId,
        ...(mode && { 'x-posthorn-mode': mode }),
      }),
    async session() {
      const answer = await call('GET', '/api/console/session')
      expect(answer.status, answer.text).toBe(200)
      return answer.body['data'] as SessionView
    },
    logIn: (email, password = PASSWORD, totp) =>
      call('POST', '/api/console/login', { email, password, ...(totp !== undefined && { totp }) }),
    cookie: () => cookie,
    setCookie(next) {
      cookie = next
    },
    csrf: () => csrf,
  }
}

/** Creates the first login, and stays signed in. */
export async function setUp(app: Pick<TestApp, 'call'>, email = 'root@example.com'): Promise<Visitor> {
  const browser = openBrowser(app)
  const answer = await browser.call('POST', '/api/console/setup', { email, name: 'Root', password: PASSWORD })
  expect(answer.status, answer.text).toBe(201)
  return browser
}

/** The token of a link: its fragment. */
export function tokenOf(link: string): string {
  return new URL(link).hash.slice(1)
}

/** Invites a person as the operator, accepts, and stays signed in as them. */
export async function join(
  app: Pick<TestApp, 'call' | 'admin'>,
  accountId: string,
  role: 'owner' | 'member',
  email: string,
  permissions?: string[],
): Promise<Visitor> {
  const made = await app.admin('POST', '/members/invitations', { email, role, accountId, permissions })
  expect(made.status, made.text).toBe(201)
  const { link } = made.body['data'] as { link: string }
  const browser = openBrowser(app)
  const accepted = await browser.call('POST', '/api/console/invitations/accept', {
    token: tokenOf(link),
    name: email.split('@')[0],
    password: PASSWORD,
  })
  expect(accepted.status, accepted.text).toBe(200)
  return browser
}
