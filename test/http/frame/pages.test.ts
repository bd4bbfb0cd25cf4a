import { readFileSync } from 'node:fs'
import { Compile } from 'typebox/schema'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { CATALOGUE } from '../../../src/contract/errors.ts'
import { createReadiness } from '../../../src/http/readiness.ts'
import type { Route } from '../../../src/http/route.ts'
import { docsPage, docsScript, docsStart, openApiRead } from '../../../src/http/routes/docs.ts'
import { healthLive } from '../../../src/http/routes/health-live.ts'
import { healthReady } from '../../../src/http/routes/health-ready.ts'
import { metricsRead } from '../../../src/http/routes/metrics.ts'
import { createMetrics } from '../../../src/infra/metrics.ts'
import { createFakeClock } from '../../support/fake-clock.ts'
import { demoRoutes } from './demo.ts'
import { type Frame, startFrame } from './frame.ts'

const clock = createFakeClock()
const metrics = createMetrics()
let database: () => Promise<unknown> = async () => undefined
const readiness = createReadiness({ clock, checks: { 'the database': () => database() } })

const routes: Route[] = [
  ...demoRoutes(),
  healthLive(),
  healthReady({ readiness }),
  metricsRead({ metrics }),
  openApiRead({ routes: () => routes, info: { version: '1.2.3' } }),
  docsPage(),
  docsStart(),
  docsScript(),
]
let frame: Frame
beforeAll(async () => {
  frame = await startFrame({ routes })
})
afterAll(() => frame.close())

const read = (path: string) => frame.call('GET', path, { key: null })

describe('/healthz and /readyz', () => {
  it('/healthz returns ok even while the database is unavailable', async () => {
    database = () => Promise.reject(new Error('gone'))
    expect((await read('/healthz')).body).toEqual({ status: 'ok' })
  })

  it('/readyz returns ready when every check passes, and 503 with the reason when one fails', async () => {
    database = () => Promise.reject(new Error('password authentication failed for user hunter2'))
    const notReady = await read('/readyz')
    expect(notReady.status).toBe(503)
    expect(notReady.headers.get('retry-after')).toBe('1')
    expect(notReady.body).toMatchObject({
      success: false,
      code: 'SERVICE_UNAVAILABLE',
      error: 'Waiting for the database.',
      retryAfterSeconds: 1,
    })
    expect(notReady.text).not.toContain('hunter2')
    database = async () => undefined
    expect((await read('/readyz')).body).toEqual({ status: 'ready' })
  })

  it('/readyz returns 503 when a check hangs', async () => {
    const entered = new Promise<void>(resolve => {
      database = () => {
        resolve()
        return new Promise(() => undefined)
      }
    })
    const answer = read('/readyz')
    await entered
    await clock.advance(2_000)
    expect((await answer).status).toBe(503)
    database = async () => undefined
  })

  it('the server is not ready while it shuts down', async () => {
    const leaving = createReadiness({ clock, checks: {} })
    expect(await leaving.notReadyReason()).toBeNull()
    leaving.drain()
    expect(await leaving.notReadyReason()).toBe('The service is shutting down.')
  })
})

describe('/metrics', () => {
  it('contains counters and current readings, but no reading that fails', async () => {
    metrics.httpRequest('POST', '/api/v2/messages/send', 200, 0.004)
    metrics.httpRequest('POST', '/api/v2/messages/send', 200, 0.2)
    metrics.attempt('int_sms', 'smpp', 'accepted')
    metrics.settled('int_sms', 0.02)
    metrics.batch('accept', 17)
    metrics.receipt('delivered', 'applied')
    let looks = 0
    metrics.read({
      lanes: () => [
        {
          connection: 'cnn_1',
          provider: 'smpp',
          up: true,
          circuit: 'closed' as const,
          inFlight: 3,
          waiting: 2,
        },
      ],
      outbox: async () => {
        looks++
        return { waiting: 5, unknown: 2 }
      },
      callbacksWaiting: async () => Promise.reject(new Error('the store is away')),
    })
    const answer = await read('/metrics')
    expect(answer.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8')
    const lines = new Set(answer.text.split('\n'))
    for (const line of [
      'posthorn_http_requests_total{method="POST",route="/api/v2/messages/send",status="200"} 2',
      'posthorn_http_request_duration_seconds_bucket{le="0.005",method="POST",route="/api/v2/messages/send"} 1',
      'posthorn_http_request_duration_seconds_count{method="POST",route="/api/v2/messages/send"} 2',
      'posthorn_attempts_total{channel="int_sms",provider="smpp",outcome="accepted"} 1',
      'posthorn_settle_duration_seconds_count{channel="int_sms"} 1',
      'posthorn_batch_items_bucket{le="32",batch="accept"} 1',
      'posthorn_receipts_total{status="delivered",fate="applied"} 1',
      'posthorn_lane_up{connection="cnn_1",provider="smpp"} 1',
      'posthorn_lane_in_flight{connection="cnn_1",provider="smpp"} 3',
      'posthorn_lane_waiting{connection="cnn_1",provider="smpp"} 2',
      'posthorn_outbox_depth 5',
      'posthorn_unknown_messages 2',
    ]) {
      expect(lines).toContain(line)
    }
    expect(answer.text).toMatch(/^posthorn_process_resident_memory_bytes \d+$/m)
    expect(answer.text).not.toMatch(/^posthorn_callbacks_waiting \d/m)
    expect(looks).toBe(1)
  })

  it('reads them once for all who ask at the same time', async () => {
    const { promise: outbox, resolve } = Promise.withResolvers<{ waiting: number; unknown: number }>()
    let reads = 0
    const lanes = () => {
      reads++
      return []
    }
    metrics.read({ lanes, outbox: () => outbox })
    const first = metrics.render()
    const readsOfOne = reads
    const others = Array.from({ length: 20 }, metrics.render)
    resolve({ waiting: 7, unknown: 0 })
    const { body } = await first
    expect(body).toContain('posthorn_outbox_depth 7')
    expect(await Promise.all(others)).toEqual(others.map(() => expect.objectContaining({ body })))
    expect(reads).toBe(readsOfOne)
    metrics.read({ outbox: async () => ({ waiting: 8, unknown: 0 }) })
    expect((await metrics.render()).body).toContain('posthorn_outbox_depth 8')
  })

  it('omits lanes that no longer exist', async () => {
    metrics.read({ lanes: () => [] })
    expect((await read('/metrics')).text).not.toContain('cnn_1')
  })
})

type OpenApi = {
  openapi: string
  info: { version: string }
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, object>; securitySchemes: Record<string, object> }
}
type Operation = {
  operationId: string
  summary: string
  security: object[]
  parameters?: { name: string; in: string; required: boolean; schema: object }[]
  requestBody?: { content: Record<string, { schema: object }> }
  responses: Record<
    string,
    {
      description: string
      headers?: Record<string, object>
      content?: Record<string, { schema: object }>
    }
  >
}

describe('/openapi.json', () => {
  const load = async () => (await read('/openapi.json')).body as unknown as OpenApi

  it('describes every route that is not a page', async () => {
    const document = await load()
    expect(document.openapi).toBe('3.1.0')
    expect(document.info.version).toBe('1.2.3')
    const described = Object.entries(document.paths).flatMap(([path, operations]) =>
      Object.keys(operations).map(method => `${method.toUpperCase()} ${path.replace(/\{(\w+)\}/g, ':$1')}`),
    )
    const expected = routes.filter(route => !route.page).map(route => `${route.method} ${route.url}`)
    expect(described.sort()).toEqual(expected.sort())
  })

  it('gives every operation a unique id, its security, parameters and errors', async () => {
    const { paths } = await load()
    const operations = Object.values(paths).flatMap(path => Object.values(path))
    expect(new Set(operations.map(operation => operation.operationId)).size).toBe(operations.length)
    const list = paths['/demo/items']!['get']!
    expect(list.operationId).toBe('getDemoItems')
    expect(list.security).toEqual([{ apiKey: [] }, { session: [] }])
    expect(list.parameters!.map(({ name, required }) => [name, required])).toEqual([
      ['limit', false],
      ['cursor', false],
      ['status', false],
      ['deep', false],
      ['q', false],
    ])
    expect(Object.keys(list.responses)).toEqual(['200', '400', '401', '403', '429', '503', 'default'])
    const challenged = Object.entries(list.responses).filter(
      ([, { headers }]) => headers?.['WWW-Authenticate'],
    )
    expect(challenged.map(([status]) => status)).toEqual(['401'])
    const item = paths['/demo/items/{itemId}']!['get']!
    expect(item.parameters).toMatchObject([{ name: 'itemId', in: 'path', required: true }])
    expect(paths['/demo/admin']!['get']!.security).toEqual([{ operator: [] }, { session: [] }])
    expect(paths['/healthz']!['get']!.security).toEqual([])
    // Also the errors of an unreadable path, and of a body on a route that takes none.
    expect(Object.keys(item.responses)).toContain('400')
    const write = Object.keys(paths['/demo/items/{itemId}']!['put']!.responses)
    expect(write).toEqual(expect.arrayContaining(['400', '413', '415']))
    expect(Object.keys(paths['/demo/admin']!['get']!.responses)).toContain('429')
    const echo = paths['/demo/echo']!['post']!
    expect(Object.keys(echo.responses)).toContain('413')
    expect(paths['/demo/fails/{how}']!['get']!.responses['402']!.description).toContain(
      'INSUFFICIENT_BALANCE',
    )
    expect(paths['/metrics']!['get']!.responses['200']!.content).toHaveProperty(['text/plain'])
  })

  it('contains schemas that match the behaviour of the server, and no dangling references', async () => {
    const document = await load()
    const body = Compile(
      document.paths['/demo/echo']!['post']!.requestBody!.content['application/json']!.schema,
    )
    expect(body.Check({ to: 'a' })).toBe(true)
    expect(body.Check({ to: 1 })).toBe(false)
    const failure = await frame.call('POST', '/demo/echo', { body: {} })
    expect(Compile(document.components.schemas['Error']!).Check(failure.body)).toBe(true)
    const text = JSON.stringify(document)
    for (const [, reference] of text.matchAll(/"\$ref":"#\/([^"]+)"/g)) {
      const target = reference!
        .split('/')
        .reduce<unknown>((at, step) => (at as Record<string, unknown>)?.[step], document)
      expect(target, reference).toBeTypeOf('object')
    }
  })
})

describe('/docs', () => {
  it('is a page whose content security policy allows only own resources, and which loads no others', async () => {
    const page = await read('/docs')
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8')
    const policy = page.headers.get('content-security-policy')!
    expect(policy).toContain("default-src 'self'")
    expect(policy).toMatch(/script-src 'self'(;|$)/)
    expect(policy).not.toContain('http')
    const loaded = [...page.text.matchAll(/(?:src|href)="([^"]+)"/g)].map(match => match[1]!)
    expect(loaded).toEqual(['data:,', '/docs/scalar.js', '/docs/start.js'])
    expect(page.text).not.toMatch(/<script>|<style>|style=/)
    for (const path of loaded.slice(1)) {
      const script = await read(path)
      expect(script.status).toBe(200)
      expect(script.headers.get('content-type')).toBe('text/javascript; charset=utf-8')
    }
  })

  it('serves the complete viewer script from its package', async () => {
    const script = await read('/docs/scalar.js')
    expect(script.text).toContain('createApiReference')
    expect(script.text.length).toBeGreaterThan(1_000_000)
  })
})

describe('the guide to errors', () => {
  const guide = readFileSync(new URL('../../../docs/errors.md', import.meta.url), 'utf8')

  it.each(Object.entries(CATALOGUE))('has a section for %s', (code, { status }) => {
    expect(guide).toMatch(new RegExp(`^### ${code}\\n\\n${status} `, 'm'))
  })

  it('has no section for an unknown code', () => {
    const documented = [...guide.matchAll(/^### ([A-Z_]+)$/gm)].map(match => match[1]!)
    expect(documented.filter(code => !(code in CATALOGUE))).toEqual([])
  })
})
