import type { FastifyReply, FastifyRequest } from 'fastify'
import type { RouteAuth } from './route.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Who may come in. */
    auth?: RouteAuth
  }
}

/** Every 401 says what would be let in (RFC 9110, 15.5.2). */
export function challenge({ routeOptions }: FastifyRequest, reply: FastifyReply): void {
  reply.header('WWW-Authenticate', challengeOf(routeOptions.config.auth ?? {}))
}

/**
 * Of these schemes only Bearer is registered, so that no browser asks its user for a password; the others name
 * what the OpenAPI document describes.
 */
function challengeOf(auth: RouteAuth): string {
  if ('operator' in auth) return 'Bearer realm="Posthorn operator"'
  if ('session' in auth) return CONSOLE
  // Whoever is to sign in, or a provider, which proves itself in its own way.
  if ('public' in auth) return auth.sameSite ? CONSOLE : 'Signature realm="Posthorn webhooks"'
  return 'ApiKey realm="Posthorn", header="X-API-Key"'
}

const CONSOLE = 'Cookie realm="Posthorn console"'
