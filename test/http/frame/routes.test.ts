import { readFileSync } from 'node:fs'
import { Compile } from 'typebox/schema'
import { describe, expect, it } from 'vitest'
import { buildOpenApi } from '../../../src/http/openapi.ts'
import type { Route } from '../../../src/http/route.ts'
import { listRoutes } from '../../../src/http/routes.ts'

// A route does not use its dependencies until it is called.
const routes = listRoutes({} as Parameters<typeof listRoutes>[0], { version: '0.0.0' })
const named = routes.map(route => [`${route.method} ${route.url}`, route] as const)

describe('the table of routes', () => {
  it('has a comment with method and path beside every entry', () => {
    const source = readFileSync(new URL('../../../src/http/routes.ts', import.meta.url), 'utf8')
    const commented = [...source.matchAll(/^ {2}\w+, \/\/ +([A-Z]+) +(\S+)$/gm)].map(
      ([, method, path]) => `${method} ${path}`,
    )
    const actual = routes.map(route => `${route.method} ${route.url.replace(/:(\w+)/g, '{$1}')}`)
    expect([...commented, 'GET /openapi.json', 'GET /*'].sort()).toEqual(actual.sort())
  })

  it('has every method and path once', () => {
    expect(new Set(named.map(([name]) => name)).size).toBe(routes.length)
  })

  it('gives every operation a unique id', () => {
    const { paths } = buildOpenApi(routes, { version: '0.0.0' }) as {
      paths: Record<string, Record<string, { operationId: string }>>
    }
    const ids = Object.values(paths).flatMap(path =>
      Object.values(path).map(operation => operation.operationId),
    )
    expect(new Set(ids).size).toBe(ids.length)
  })

  it('requires the idempotency key exactly where its absence is an error', () => {
    const { paths } = buildOpenApi(routes, { version: '0.0.0' }) as {
      paths: Record<string, Record<string, { parameters?: { name: string; required: boolean }[] }>>
    }
    const isRequired = (path: string) =>
      paths[path]!['post']!.parameters!.find(({ name }) => name === 'Idempotency-Key')!.required
    expect(isRequired('/api/v2/messages/bulk')).toBe(true)
    expect(isRequired('/api/v2/messages/send')).toBe(false)
  })

  it('declares Retry-After for conflicts with a request that is still under way', () => {
    const { paths } = buildOpenApi(routes, { version: '0.0.0' }) as {
      paths: Record<string, Record<string, { responses: Record<string, { headers: object }> }>>
    }
    const headersOf = (path: string) => paths[path]!['post']!.responses['409']!.headers
    for (const path of ['/api/v2/messages/send', '/api/v2/messages/bulk', '/api/v2/templates']) {
      expect(headersOf(path)).toHaveProperty(['Retry-After'])
    }
    expect(headersOf('/api/v2/messages/{messageId}/cancel')).not.toHaveProperty(['Retry-After'])
  })

  it('describes the parts and conditions of a file, and the cookie of a session', () => {
    const { paths } = buildOpenApi(routes, { version: '0.0.0' }) as {
      paths: Record<
        string,
        Record<string, { parameters: object[]; responses: Record<string, { headers: object }> }>
      >
    }
    const { parameters, responses } = paths['/media/{assetId}']!['get']!
    const headersOf = (status: string) => Object.keys(responses[status]!.headers)
    expect(parameters).toMatchObject(
      expect.arrayContaining(
        ['Range', 'If-Range', 'If-None-Match'].map(name =>
          expect.objectContaining({ name, in: 'header', required: false }),
        ),
      ),
    )
    expect(headersOf('200')).toEqual(['X-Request-Id', 'ETag', 'Accept-Ranges', 'Content-Disposition'])
    expect(headersOf('206')).toEqual([...headersOf('200'), 'Content-Range'])
    expect([headersOf('304'), headersOf('416')]).toEqual([
      ['X-Request-Id', 'ETag'],
      ['X-Request-Id', 'Content-Range'],
    ])
    const setup = paths['/api/console/setup']!['post']!.responses
    expect([setup['201']!.headers, setup['409']!.headers]).toEqual([
      expect.objectContaining({ 'Set-Cookie': expect.anything() }),
      expect.not.objectContaining({ 'Set-Cookie': expect.anything() }),
    ])
  })
})

/** Console routes that need no session. */
const PUBLIC_CONSOLE_ROUTES = new Set([
  '/api/console/setup',
  '/api/console/login',
  '/api/console/invitations/read',
  '/api/console/invitations/accept',
])
/** Routes that are not audited: sends keep their own record, and the others change nothing lasting. */
const UNAUDITED = new Set([
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
  'POST /api/admin/connections/:id/test',
  'POST /api/console/logout',
  'POST /api/console/totp',
  'POST /api/console/invitations/read',
])
const changes = ({ method }: Route) => (method === 'GET' ? {} : { sameSite: true })

describe.each(named)('%s', (_, route: Route) => {
  it('requires the authentication of its path prefix', () => {
    if (route.url.startsWith('/api/admin/')) expect(route.auth).toEqual({ operator: true })
    else if (PUBLIC_CONSOLE_ROUTES.has(route.url))
      expect(route.auth).toEqual({ public: true, ...changes(route) })
    else if (route.url.startsWith('/api/console/')) expect(route.auth).toEqual({ session: true })
    else if (route.url.startsWith('/api/')) expect(route.auth).not.toHaveProperty('public')
    else expect(route.auth).toEqual({ public: true })
  })

  it('is audited if it changes something lasting', () => {
    const changes = route.method !== 'GET' && route.url.startsWith('/api/')
    expect(route.audit !== undefined).toBe(changes && !UNAUDITED.has(`${route.method} ${route.url}`))
  })

  it('declares schemas that compile, and all its path parameters', () => {
    const { params, querystring, headers, body, response } = route.schema
    for (const schema of [params, querystring, headers, body, ...Object.values(response)]) {
      if (schema) expect(() => Compile(schema).Check({})).not.toThrow()
    }
    const inUrl = [...route.url.matchAll(/:(\w+)/g)].map(match => match[1]!)
    expect(Object.keys(params?.properties ?? {}).sort()).toEqual(inUrl.sort())
  })

  it('declares only query parameters that can be written as text', () => {
    for (const [name, schema] of Object.entries(route.schema.querystring?.properties ?? {})) {
      const { type, enum: values } = schema as { type?: string; enum?: unknown[] }
      const isTextual =
        ['string', 'integer', 'number', 'boolean'].includes(type ?? '') || values !== undefined
      expect(isTextual, name).toBe(true)
    }
  })
})
