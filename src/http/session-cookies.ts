import type { FastifyReply } from 'fastify'

/** The cookie that says who is signed in; scripts never see it, and no other site's page sends it. */
export type SessionCookies = {
  /** The session's token, where the request brought one. */
  read(cookieHeader: string | undefined): string | null
  give(reply: FastifyReply, token: string): void
  /** Forgets it in the browser. */
  take(reply: FastifyReply): void
}

/** As long as a session lives at most, in seconds. */
const MAX_AGE_SECONDS = 30 * 86_400
/** No token of ours is longer; more is not worth looking up. */
const MAX_TOKEN_LENGTH = 100

/** `secure`: the console is reached over https, so that the browser may hold the cookie to it and to this host alone. */
export function createSessionCookies({ secure }: { secure: boolean }): SessionCookies {
  const name = secure ? '__Host-posthorn_session' : 'posthorn_session'
  const attributes = `Path=/; HttpOnly; SameSite=Strict${secure ? '; Secure' : ''}`

  function set(reply: FastifyReply, value: string, maxAgeSeconds: number): void {
    reply.header('Set-Cookie', `${name}=${value}; Max-Age=${maxAgeSeconds}; ${attributes}`)
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
    give: (reply, token) => set(reply, token, MAX_AGE_SECONDS),
    take: reply => set(reply, '', 0),
  }
}
