import { readFileSync } from 'node:fs'
import { Compile } from 'typebox/schema'
import { describe, expect, it } from 'vitest'
import { buildOpenApi } from '../../../src/http/openapi.ts'
import type { Route } from '../../../src/http/route.ts'
import { listRoutes } from '../../../src/http/routes.ts'

// Nothing is asked of what a route needs until somebody calls it.
const routes = listRoutes({} as Parameters<typeof listRoutes>[0], { version: '0.0.0' })
const named = routes.map(route => [`${route.method} ${route.url}`, route] as const)

describe('the table of routes', () => {
  it('tells beside every entry what it is', () => {
    const source = readFileSync(new URL('../../../src/http/routes.ts', import.meta.url), 'utf8')
    const told = [...source.matchAll(/^ {2}\w+, \/\/ +([A-Z]+) +(\S+)$/gm)].map(
      ([, method, path]) => `${method} ${path}`,
    )
    const actual = routes.map(route => `${route.method} ${route.url.replace(/:(\w+)/g, '{$1}')}`)
    expect([...told, 'GET /openapi.json', 'GET /*'].sort()).toEqual(actual.sort())
  })

  it('has every path once', () => {
    expect(new Set(named.map(([name]) => name)).size).toBe(routes.length)
  })

  it('gives every operation an id of its own', () => {
    const { paths } = buildOpenApi(routes, { version: '0.0.0' }) as {
      paths: Record<string, Record<string, { operationId: string }>>
    }
    const ids = Object.values(paths).flatMap(path =>
      Object.values(path).map(operation => operation.operationId),
    )
    expect(new Set(ids).size).toBe(ids.length)
  })
})

/** Of the console: nobody is signed in there yet. */
const DOORS = new Set([
  '/api/console/setup',
  '/api/console/login',
  '/api/console/invitations/read',
  '/api/console/invitations/accept',
])
/** Sends and what belongs to them say everything themselves; the others change nothing that stays. */
const UNNOTED = new Set([
  'POST /api/v2/messages/send',
  'POST /api/v2/messages/estimate',
  'POST /api/v2/messages/bulk',
  'POST /api/v2/messages/:messageId/cancel',
  'POST /api/v2/verification/send',
  'POST /api/v2/verification/resend',
  'POST /api/v2/verification/verify',
  'POST /api/v2/templates/media',
  'POST /api/admin/templates/media',
  'DELETE /api/v2/templates/media/:assetId',
  'POST /api/v2/templates/:id/preview',
  'POST /api/v2/webhooks/:id/test',
  'POST /api/v2/webhooks/:id/deliveries/:deliveryId/replay',
  'POST /api/admin/connections/:id/test',
  'POST /api/console/logout',
  'POST /api/console/totp',
  'POST /api/console/invitations/read',
])
const changes = ({ method }: Route) => (method === 'GET' ? {} : { sameSite: true })

describe.each(named)('%s', (_, route: Route) => {
  it('is guarded as its place demands', () => {
    if (route.url.startsWith('/api/admin/')) expect(route.auth).toEqual({ operator: true })
    else if (DOORS.has(route.url)) expect(route.auth).toEqual({ public: true, ...changes(route) })
    else if (route.url.startsWith('/api/console/')) expect(route.auth).toEqual({ session: true })
    else if (route.url.startsWith('/api/')) expect(route.auth).not.toHaveProperty('public')
    else expect(route.auth).toEqual({ public: true })
  })

  it('is noted in the audit log where it changes something', () => {
    const changes = route.method !== 'GET' && route.url.startsWith('/api/')
    expect(route.audit !== undefined).toBe(changes && !UNNOTED.has(`${route.method} ${route.url}`))
  })

  it('declares schemas that compile, and its parameters', () => {
    const { params, querystring, headers, body, response } = route.schema
    for (const schema of [params, querystring, headers, body, ...Object.values(response)]) {
      if (schema) expect(() => Compile(schema).Check({})).not.toThrow()
    }
    const inUrl = [...route.url.matchAll(/:(\w+)/g)].map(match => match[1]!)
    expect(Object.keys(params?.properties ?? {}).sort()).toEqual(inUrl.sort())
  })

  it('takes only what its query can say as text', () => {
    for (const [name, schema] of Object.entries(route.schema.querystring?.properties ?? {})) {
      const { type, enum: values } = schema as { type?: string; enum?: unknown[] }
      const sayable = ['string', 'integer', 'number', 'boolean'].includes(type ?? '') || values !== undefined
      expect(sayable, name).toBe(true)
    }
  })
})
