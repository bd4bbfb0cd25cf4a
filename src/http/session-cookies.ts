import type { FastifyReply } from 'fastify'
import type { SignInResult } from '../core/people/sessions.ts'

/** The cookie that says who is signed in; scripts never see it, and no other site's page sends it. */
export type SessionCookies = {
  /** The session's token, where the request brought one. */
  read(cookieHeader: string | undefined): string | null
  /** Beside it stays a mark by which the browser is known again. */
  set(reply: FastifyReply, entered: Pick<SignInResult, 'token' | 'browser'>): void
  /** Forgets it in the browser, which stays a known one. */
  clear(reply: FastifyReply): void
}

/** As long as a session lives at most, in seconds. */
const SESSION_SECONDS = 30 * 86_400
/** Browsers keep no cookie for longer than 400 days. */
const BROWSER_SECONDS = 365 * 86_400
/** No token of ours is longer; more is not worth looking up. */
const MAX_TOKEN_LENGTH = 100

/** `secure`: the console is reached over https, so that the browser may hold the cookie to it and to this host alone. */
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

/** By either name: it opens nothing, and proves by itself whose it is. */
const BROWSER = /(?:^|;) *(?:__Host-)?posthorn_browser=([\w.-]{1,100}) *(?:;|$)/

/** The mark that the request's browser was given, as it says. */
export function readBrowser(cookieHeader: string | undefined): string | null {
  return BROWSER.exec(cookieHeader ?? '')?.[1] ?? null
}
