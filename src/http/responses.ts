import type { FastifyInstance, FastifySerializerCompiler } from 'fastify'
import { Compile } from 'typebox/schema'
import { errorCodes, headersOf, OTHER_CODES } from './openapi.ts'
import { HEADERS } from './openapi-headers.ts'
import type { Route } from './route.ts'

/**
 * Serializes responses with JSON.stringify: a serializer built from the schema would silently drop fields that
 * the schema lacks and turn null into "". With `check`, as in tests and development, a response that does not
 * match its schema, or has a field that the schema lacks, throws. Compiled at first use, like the validators.
 */
export function responseCompiler(check: boolean): FastifySerializerCompiler<unknown> {
  if (!check) return () => JSON.stringify
  return ({ schema, method, url, httpStatus }) => {
    let validator: ReturnType<typeof Compile> | undefined
    return data => {
      validator ??= Compile(closed(schema) as object)
      const text = JSON.stringify(data)
      const sent = JSON.parse(text)
      if (!validator.Check(sent)) {
        const [, faults] = validator.Errors(sent)
        const list = faults.map(fault => `${fault.instancePath || '/'} ${fault.message}`).join('; ')
        throw new Error(`${method} ${url} ${httpStatus} does not match its own schema: ${list}`)
      }
      return text
    }
  }
}

/** The same for error responses: throws if the OpenAPI description of the route does not list the error code. */
export function checkErrorCodes(app: FastifyInstance, routes: readonly Route[]): void {
  const listed = new Map(
    routes.map(route => [
      `${route.method} ${route.url}`,
      new Set<string>([...errorCodes(route), ...COMMON_CODES]),
    ]),
  )
  app.addHook('onSend', (request, reply, payload, done) => {
    const route = `${request.method} ${request.routeOptions.url}`
    const codes = listed.get(route)
    const isRefusal =
      reply.statusCode >= 400 && String(reply.getHeader('Content-Type')).startsWith('application/json')
    if (!codes || !isRefusal || typeof payload !== 'string') return done(null, payload)
    const { code } = JSON.parse(payload) as { code?: string }
    // Without a code it is Fastify's own response, which reports the error thrown here.
    if (code === undefined || codes.has(code)) done(null, payload)
    else done(new Error(`${route} responds with ${code}, which its schema does not list`))
  })
}

/** The same for headers: throws if a response has one that the description of its route and status does not list. */
export function checkHeaders(app: FastifyInstance, routes: readonly Route[]): void {
  const described = new Map(
    routes.filter(route => !route.page).map(route => [`${route.method} ${route.url}`, route]),
  )
  app.addHook('onSend', (request, reply, payload, done) => {
    const name = `${request.method} ${request.routeOptions.url}`
    const route = described.get(name)
    const listed = route && headersOf(route, reply.statusCode)
    const other = listed && Object.keys(HEADERS).find(each => reply.hasHeader(each) && !listed.has(each))
    if (!other) done(null, payload)
    else
      done(new Error(`${name} ${reply.statusCode} has the header ${other}, which its schema does not list`))
  })
}

/** METHOD_NOT_ALLOWED: the router may match a fixed path to a route with parameters, which does not list it. */
const COMMON_CODES = [...OTHER_CODES, 'METHOD_NOT_ALLOWED']

/** The schema with additional properties forbidden in every object. */
function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed)
  if (typeof schema !== 'object' || schema === null) return schema
  const copy = Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, closed(value)]))
  const isObject = copy['type'] === 'object' && copy['properties'] !== undefined
  return isObject && copy['additionalProperties'] === undefined
    ? { ...copy, additionalProperties: false }
    : copy
}
