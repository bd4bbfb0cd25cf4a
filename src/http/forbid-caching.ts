import type { FastifyReply } from 'fastify'

/**
 * No response to a caller may be cached: a proxy does not know that `X-API-Key` identifies the caller, and
 * different people may use one browser.
 */
export function forbidCaching(reply: FastifyReply): void {
  reply.header('Cache-Control', 'no-store')
}
