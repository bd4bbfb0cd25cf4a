import type { IncomingHttpHeaders } from 'node:http'
import type { Caller, SignedIn } from '../contract/caller.ts'
import type { Visit } from '../core/people/visit.ts'

type Asking = { ip: string; headers: IncomingHttpHeaders }

/** Longer ones say nothing more to whoever looks where they are signed in. */
const MOST_AGENT = 300

/** Where a request comes from, as far as anybody can tell. */
export function visitOf({ ip, headers }: Asking): Visit {
  return {
    ip,
    userAgent: headers['user-agent']?.slice(0, MOST_AGENT) ?? null,
    host: (headers.host ?? '').replace(/:\d+$/, ''),
    forwarded: headers['x-forwarded-for'] !== undefined || headers['forwarded'] !== undefined,
  }
}

/** Under which address the console was reached; for links, where no public one is configured. */
export function originOf({ headers }: Asking): string {
  return `http://${headers.host ?? 'localhost'}`
}

/** In whose name somebody is invited. */
export function inviterOf({
  signedIn,
  caller,
}: {
  signedIn: SignedIn | null
  caller: Caller | null
}): string {
  if (signedIn) return signedIn.name
  return caller ? caller.keyName : 'Operator'
}
