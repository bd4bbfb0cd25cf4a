import type { IncomingHttpHeaders } from 'node:http'
import { type Actor, actorOfCaller } from '../contract/actor.ts'
import type { Caller, SignedIn } from '../contract/caller.ts'
import type { Visit } from '../core/people/visit.ts'
import { readBrowser } from './session-cookies.ts'

type RequestOrigin = { ip: string; headers: IncomingHttpHeaders; raw: { httpVersion: string } }

/** Longer ones say nothing more to whoever looks where they are signed in. */
const MAX_AGENT_LENGTH = 300

/** What proxies say of themselves, and browsers never do. */
const PROXIED = ['forwarded', 'via', 'x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto', 'x-real-ip']

/** Where a request comes from, as far as anybody can tell. */
export function visitOf({ ip, headers, raw }: RequestOrigin): Visit {
  return {
    ip,
    userAgent: headers['user-agent']?.slice(0, MAX_AGENT_LENGTH) ?? null,
    browser: readBrowser(headers.cookie),
    host: (headers.host ?? '').replace(/:\d+$/, ''),
    // By themselves some proxies say nothing, but speak a version that no browser has spoken for decades.
    forwarded: raw.httpVersion === '1.0' || PROXIED.some(name => headers[name] !== undefined),
  }
}

/** Under which address the console was reached; for links, where no public one is configured. */
export function originOf({ headers }: Pick<RequestOrigin, 'headers'>): string {
  return `http://${headers.host ?? 'localhost'}`
}

/** Who asks: the operator's token where it is neither a person nor a key. */
export function actorOf({ signedIn, caller }: { signedIn: SignedIn | null; caller: Caller | null }): Actor {
  if (signedIn) return { type: 'user', id: signedIn.userId, name: signedIn.name }
  return caller ? actorOfCaller(caller) : { type: 'operator_token', id: null, name: 'Operator token' }
}
