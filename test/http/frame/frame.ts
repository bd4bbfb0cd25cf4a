import { once } from 'node:events'
import { connect } from 'node:net'
import type { FastifyInstance } from 'fastify'
import type { Caller } from '../../../src/contract/caller.ts'
import { PERMISSIONS } from '../../../src/contract/enums.ts'
import { createAttempts } from '../../../src/core/people/attempts.ts'
import type { AuditTrail } from '../../../src/http/audit-hook.ts'
import { type Keys, type PeopleAccess, readOperatorToken } from '../../../src/http/auth.ts'
import type { FormMedia } from '../../../src/http/forms.ts'
import type { Route } from '../../../src/http/route.ts'
import { createServer } from '../../../src/http/server.ts'
import { type Clock, systemClock } from '../../../src/lib/clock.ts'
import { createIds } from '../../../src/lib/ids.ts'
import { createRandom } from '../../../src/lib/random.ts'
import { demoRoutes } from './demo.ts'

export const KEY = 'ph_test_key'
/** For routes that take no files. */
const NO_MEDIA: FormMedia = {
  store: () => Promise.reject(new Error('no route here takes files')),
  discard: async () => {},
}

/** For requests without a session cookie. */
const NOBODY: PeopleAccess = {
  cookies: { read: () => null },
  publicOrigin: null,
  lookup: () => null,
  peek: () => null,
  callerFor: () => null,
}

export const OPERATOR_TOKEN = 'operator-token'

export type Frame = {
  app: FastifyInstance
  origin: string
  port: number
  log: { level: string; fields: Record<string, unknown>; text: string }[]
  requests: { method: string; route: string; status: number; seconds: number }[]
  /** Sends a request with the key, and a JSON body if `body` is given; returns the parsed response. */
  call(method: string, path: string, init?: CallInit): Promise<Answer>
  close(): Promise<void>
}
export type CallInit = {
  /** A string or bytes are sent unchanged, anything else as JSON. */
  body?: unknown
  headers?: Record<string, string>
  key?: string | null
}
export type Answer = { status: number; headers: Headers; text: string; body: Record<string, unknown> }

/** Starts a server with demo routes on a free loopback port, and records what it logs. */
export async function startFrame(
  options: {
    routes?: Route[]
    keys?: Keys
    clock?: Clock
    nodeCount?: () => number
    checkResponses?: boolean
    media?: FormMedia
    fileBytes?: number
    people?: PeopleAccess
    audit?: AuditTrail
    operatorToken?: string
  } = {},
): Promise<Frame> {
  const log: Frame['log'] = []
  const requests: Frame['requests'] = []
  const write = (level: string) => (fields: object, text: string) =>
    void log.push({ level, fields: { ...fields }, text })
  const app = await createServer({
    log: { info: write('info'), warn: write('warn'), error: write('error') },
    clock: options.clock ?? systemClock,
    ids: createIds(systemClock, createRandom()),
    keys: options.keys ?? keysOf({ [KEY]: caller() }),
    people: options.people ?? NOBODY,
    audit: options.audit ?? { note: async () => {} },
    operatorToken: readOperatorToken(options.operatorToken ?? OPERATOR_TOKEN),
    attempts: createAttempts({ clock: options.clock ?? systemClock }),
    metrics: {
      httpRequest: (method, route, status, seconds) => void requests.push({ method, route, status, seconds }),
    },
    nodeCount: options.nodeCount ?? (() => 1),
    routes: options.routes ?? demoRoutes(),
    media: options.media ?? NO_MEDIA,
    ...(options.fileBytes !== undefined && { fileBytes: options.fileBytes }),
    checkResponses: options.checkResponses ?? true,
  })
  const origin = await app.listen({ host: '127.0.0.1', port: 0 })
  const port = Number(new URL(origin).port)

  async function call(method: string, path: string, init: CallInit = {}): Promise<Answer> {
    const key = init.key === undefined ? KEY : init.key
    const raw = typeof init.body === 'string' || init.body instanceof Uint8Array
    const response = await fetch(origin + path, {
      method,
      headers: {
        ...(key === null ? {} : { 'x-api-key': key }),
        ...(init.body === undefined ? {} : { 'content-type': 'application/json' }),
        ...init.headers,
      },
      ...(init.body === undefined ? {} : { body: (raw ? init.body : JSON.stringify(init.body)) as string }),
    })
    const text = await response.text()
    const isJson = response.headers.get('content-type')?.startsWith('application/json') && text !== ''
    return { status: response.status, headers: response.headers, text, body: isJson ? JSON.parse(text) : {} }
  }

  return { app, origin, port, log, requests, call, close: () => app.close() }
}

export function keysOf(callers: Record<string, Caller>): Keys {
  return { lookup: rawKey => callers[rawKey] ?? null }
}

/** An owner's test key with every permission, with the given changes. */
export function caller(
  change: Partial<Omit<Caller, 'account'>> & { account?: Partial<Caller['account']> } = {},
): Caller {
  return {
    keyId: 'key_00000000000000000000000001',
    keyName: 'Test',
    keyPrefix: 'ph_test_ab',
    keyExpiresAtMs: null,
    mode: 'test',
    role: 'owner',
    permissions: new Set(PERMISSIONS),
    ...change,
    account: {
      id: 'acc_00000000000000000000000001',
      name: 'Demo',
      status: 'active',
      homeCountry: 'EG',
      currency: 'USD',
      quietHours: null,
      verification: {
        codeLength: 6,
        validityMinutes: 10,
        channels: [],
        templateId: null,
        channelOrder: 'policy',
        trialPercent: 5,
      },
      phone: { number: '+201000000000', verified: true },
      plan: {
        name: 'Default',
        status: 'active',
        allowsScheduling: true,
        bulkCeilingPerSecond: 10,
        rateLimitPerSecond: 10_000,
        verificationRateLimitPerSecond: 10,
        pools: [],
      },
      revision: 1,
      ...change.account,
    },
  }
}

/** Sends raw bytes, and returns everything received until the server closes the connection. */
export async function sendRaw(port: number, bytes: string | Buffer): Promise<string> {
  const socket = connect(port, '127.0.0.1')
  const chunks: Buffer[] = []
  socket.on('data', chunk => chunks.push(chunk))
  socket.on('error', () => undefined)
  socket.write(bytes)
  await once(socket, 'close')
  return Buffer.concat(chunks).toString()
}

/** The head and the JSON body of a raw response. */
export function splitRaw(answer: string): { status: number; head: string; body: Record<string, unknown> } {
  const at = answer.indexOf('\r\n\r\n')
  return {
    status: Number(answer.split(' ')[1]),
    head: answer.slice(0, at),
    body: JSON.parse(answer.slice(at + 4)),
  }
}
