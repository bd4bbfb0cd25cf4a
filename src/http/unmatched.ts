import type { FastifyReply, FastifyRequest } from 'fastify'
import { Problem } from '../contract/errors.ts'
import { holderOfKey, type Keys } from './auth.ts'
import { toProblem } from './errors.ts'
import { forbidCaching } from './forbid-caching.ts'
import { allowedMethods } from './paths.ts'
import type { RateLimiter } from './rate-limit.ts'
import type { Route } from './route.ts'

/**
 * What there is to say where no route answers, or `problem` where that is known; sets the headers that
 * go with it. Never rejects.
 */
export type Unmatched = (request: FastifyRequest, reply: FastifyReply, problem?: Problem) => Promise<Problem>

export function createUnmatched(deps: {
  routes: readonly Route[]
  keys: Keys
  limiter: Pick<RateLimiter, 'take'>
}): Unmatched {
  return async (request, reply, problem) => {
    try {
      await count(request, reply)
    } catch (error) {
      return toProblem(error)
    }
    return problem ?? refuse(deps.routes, request, reply)
  }

  /** Whoever shows a valid key is told of its rate by every answer. */
  async function count(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const holder = await holderOfKey(request, deps.keys)
    if (!holder) return
    forbidCaching(reply)
    deps.limiter.take(holder.account, 'api', reply)
  }
}

function refuse(routes: readonly Route[], request: FastifyRequest, reply: FastifyReply): Problem {
  const allowed = allowedMethods(routes, request.url)
  // An id that is longer than the router reads is nobody's, whatever its place answers.
  if (allowed.length === 0 || allowed.includes(request.method)) return new Problem('NOT_FOUND')
  reply.header('Allow', allowed.join(', '))
  return new Problem('METHOD_NOT_ALLOWED')
}
