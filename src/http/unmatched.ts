import type { FastifyReply, FastifyRequest } from 'fastify'
import { Problem } from '../contract/errors.ts'
import { allowedMethods } from './paths.ts'
import type { Route } from './route.ts'

/** What there is to say where no route answers; sets the header that goes with it. */
export function unmatched(routes: readonly Route[], request: FastifyRequest, reply: FastifyReply): Problem {
  const allowed = allowedMethods(routes, request.url)
  // An id that is longer than the router reads is nobody's, whatever its place answers.
  if (allowed.length === 0 || allowed.includes(request.method)) return new Problem('NOT_FOUND')
  reply.header('Allow', allowed.join(', '))
  return new Problem('METHOD_NOT_ALLOWED')
}
