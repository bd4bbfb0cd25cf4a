import { setImmediate } from 'node:timers/promises'
import Type from 'typebox'
import { page, pageQuery, success } from '../../../src/contract/envelope.ts'
import { Problem } from '../../../src/contract/errors.ts'
import { defineRoute, type Route } from '../../../src/http/route.ts'
import { DatabaseUnavailable } from '../../../src/infra/db.ts'

const DemoBody = Type.Object({
  to: Type.Union([
    Type.String({ minLength: 1, maxLength: 320 }),
    Type.Array(Type.String({ minLength: 1 }), { minItems: 1, maxItems: 100 }),
  ]),
  channel: Type.Optional(Type.Enum(['auto', 'local_sms', 'email_user'])),
  count: Type.Optional(Type.Integer({ minimum: 1, maximum: 10 })),
  price: Type.Optional(Type.Number({ exclusiveMinimum: 0 })),
  flag: Type.Optional(Type.Boolean()),
  content: Type.Optional(Type.Object({ text: Type.Optional(Type.String({ maxLength: 1000 })) })),
  template: Type.Optional(
    Type.Object({
      id: Type.String(),
      variablesNamed: Type.Optional(Type.Record(Type.String(), Type.String())),
      buttons: Type.Optional(Type.Array(Type.Object({ index: Type.Integer({ minimum: 0 }) }))),
    }),
  ),
  options: Type.Optional(
    Type.Object({
      scheduleAt: Type.Optional(Type.String({ format: 'date-time' })),
      metadata: Type.Optional(Type.Unknown()),
    }),
  ),
  sender: Type.Optional(
    Type.Union([Type.Object({ id: Type.String() }), Type.Array(Type.Integer()), Type.Literal('platform')]),
  ),
})

const Echo = Type.Object({ body: Type.Unknown() })

/** Routes of every kind that the server supports; `seen` counts the calls of the echo handler. */
export function demoRoutes(seen: { handlers: number } = { handlers: 0 }): Route[] {
  const echo = defineRoute({
    method: 'POST',
    url: '/demo/echo',
    auth: { permission: 'messages:create' },
    schema: { summary: 'Echo', tags: ['Demo'], body: DemoBody, response: { 200: success(Echo) } },
    handler(request) {
      seen.handlers++
      return { success: true, data: { body: request.body } }
    },
  })
  const large = defineRoute({
    method: 'POST',
    url: '/demo/large',
    auth: {},
    bodyLimit: 24 * 1_048_576,
    schema: {
      summary: 'Take much',
      tags: ['Demo'],
      body: Type.Object({ base64: Type.String() }),
      response: { 200: Type.Object({ size: Type.Integer() }) },
    },
    handler: request => ({ size: request.body.base64.length }),
  })
  const list = defineRoute({
    method: 'GET',
    url: '/demo/items',
    auth: { permission: 'messages:read' },
    schema: {
      summary: 'List items',
      tags: ['Demo'],
      querystring: pageQuery({
        status: Type.Optional(Type.Enum(['sent', 'failed'])),
        deep: Type.Optional(Type.Boolean()),
        q: Type.Optional(Type.String({ maxLength: 50 })),
      }),
      response: { 200: page(Type.Unknown()) },
    },
    handler: request => ({ success: true, data: [request.query], nextCursor: null }),
  })
  const read = defineRoute({
    method: 'GET',
    url: '/demo/items/:itemId',
    auth: {},
    schema: {
      summary: 'Read an item',
      tags: ['Demo'],
      params: Type.Object({ itemId: Type.String({ pattern: '^[\\w-]{1,40}$' }) }),
      response: { 200: Type.Object({ id: Type.String(), accountId: Type.String() }) },
    },
    handler: request => ({ id: request.params.itemId, accountId: request.caller.account.id }),
  })
  const write = defineRoute({
    method: 'PUT',
    url: '/demo/items/:itemId',
    auth: { ownersOnly: true },
    schema: {
      summary: 'Write an item',
      tags: ['Demo'],
      params: Type.Object({ itemId: Type.String() }),
      response: { 200: success(Type.Null()) },
    },
    handler: () => ({ success: true, data: null }),
  })
  const verify = defineRoute({
    method: 'POST',
    url: '/demo/verify',
    auth: {},
    rateGroup: 'verification_send',
    schema: { summary: 'Verify', tags: ['Demo'], response: { 200: success(Type.Null()) } },
    handler: () => ({ success: true, data: null }),
  })
  const handedOver = defineRoute({
    method: 'POST',
    url: '/demo/handed-over',
    auth: {},
    faults: 'handed over',
    schema: {
      summary: 'Take the faults too',
      tags: ['Demo'],
      headers: Type.Object({ 'Idempotency-Key': Type.Optional(Type.String({ maxLength: 200 })) }),
      body: DemoBody,
      response: { 200: Type.Object({ fault: Type.Unknown() }) },
    },
    handler: request => ({ fault: request.fault?.details ?? null }),
  })
  const operator = defineRoute({
    method: 'GET',
    url: '/demo/admin',
    auth: { operator: true },
    schema: { summary: 'Administer', tags: ['Demo'], response: { 200: success(Type.Null()) } },
    handler: () => ({ success: true, data: null }),
  })
  const fails = defineRoute({
    method: 'GET',
    url: '/demo/fails/:how',
    auth: { public: true },
    schema: {
      summary: 'Fail',
      tags: ['Demo'],
      params: Type.Object({ how: Type.String() }),
      response: { 200: Type.Object({}) },
      errors: ['INSUFFICIENT_BALANCE', 'PROVIDER_UNAVAILABLE'],
    },
    handler(request) {
      const { how } = request.params
      if (!Object.hasOwn(STREAM_FAILURES, how)) throw FAILURES[how]!()
      // A stream fails once the request has arrived.
      return setImmediate().then(() => Promise.reject(STREAM_FAILURES[how]!()))
    },
  })
  const slipped = defineRoute({
    method: 'GET',
    url: '/demo/slipped',
    auth: { public: true },
    schema: {
      summary: 'Say too much',
      tags: ['Demo'],
      response: { 200: Type.Object({ a: Type.Integer() }) },
    },
    handler: () => ({ a: 1, secret: 'x' }),
  })
  return [echo, large, list, read, write, verify, handedOver, operator, fails, slipped]
}

const FAILURES: Record<string, () => unknown> = {
  unknown: () => new Error('the password is hunter2'),
  string: () => 'the password is hunter2',
  status: () => Object.assign(new Error('hunter2'), { statusCode: 402, code: 'X' }),
  database: () => new DatabaseUnavailable(new Error('connect ECONNREFUSED /hunter2')),
  balance: () => new Problem('INSUFFICIENT_BALANCE', undefined, { extra: { attemptsRemaining: 0 } }),
  provider: () => new Problem('PROVIDER_UNAVAILABLE', undefined, { retryAfterSeconds: 7 }),
  unlisted: () => new Problem('CONFLICT'),
}

const STREAM_FAILURES: Record<string, () => Error> = {
  reset: () => Object.assign(new Error('aborted: hunter2'), { code: 'ECONNRESET' }),
  closed: () => Object.assign(new Error('hunter2'), { code: 'ERR_STREAM_PREMATURE_CLOSE' }),
}
