import type { FastifyReply } from 'fastify'
import type { SignInResult } from '../core/people/sessions.ts'

/** The session cookie. Scripts cannot read it, and browsers do not send it with requests from other sites. */
export type SessionCookies = {
  /** The session token of a request; null if it has none. */
  read(cookieHeader: string | undefined): string | null
  /** Also sets the device cookie, by which the browser is recognized at the next sign-in. */
  set(reply: FastifyReply, entered: Pick<SignInResult, 'token' | 'browser'>): void
  /** Clears the session cookie; the device cookie stays. */
  clear(reply: FastifyReply): void
}

/** The longest lifetime of a session. */
const SESSION_SECONDS = 30 * 86_400
/** Browsers keep no cookie for longer than 400 days. */
const BROWSER_SECONDS = 365 * 86_400
/** Longer than any token; a longer value is not looked up. */
const MAX_TOKEN_LENGTH = 100

/** `secure`: the console is served over HTTPS, so the browser can restrict the cookie to HTTPS and to this host. */
export function createSessionCookies({ secure }: { secure: boolean }): SessionCookies {
  const prefix = secure ? '__Host-' : ''
  const name = `${prefix}posthorn_session`
  const attributes = `Path=/; HttpOnly; SameSite=Strict${secure ? '; Secure' : ''}`

  function set(reply: FastifyReply, cookie: string, maxAgeSeconds: number): void {
    reply.header('Set-Cookie', `${cookie}; Max-Age=${maxAgeSeconds}; ${attributes}`)
    reply.header('Cache-Control', 'no-store')
  }

  return {
    read(cookieHeader) {
      for (const pair of (cookieHeader ?? '').split(';')) {
        const at = pair.indexOf('=')
        if (at < 0 || pair.slice(0, at).trim() !== name) continue
        const token = pair.slice(at + 1).trim()
        return token !== '' && token.length <= MAX_TOKEN_LENGTH ? token : null
      }
      return null
    },
    set(reply, { token, browser }) {
      set(reply, `${name}=${token}`, SESSION_SECONDS)
      set(reply, `${prefix}posthorn_browser=${browser}`, BROWSER_SECONDS)
    },
    clear: reply => set(reply, `${name}=`, 0),
  }
}

/** The device cookie, with or without the prefix: the token is signed, and does not authenticate anyone. */
const BROWSER = /(?:^|;) *(?:__Host-)?posthorn_browser=([\w.-]{1,100}) *(?:;|$)/

/** The device token that the request contains, not verified; null if it has none. */
export function readBrowser(cookieHeader: string | undefined): string | null {
  return BROWSER.exec(cookieHeader ?? '')?.[1] ?? null
}
