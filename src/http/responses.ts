import type { FastifyInstance, FastifySerializerCompiler } from 'fastify'
import { Compile } from 'typebox/schema'
import { errorCodes, OTHER_CODES } from './openapi.ts'
import type { Route } from './route.ts'

/**
 * Answers are written as they are: a serializer built from the schema would
 * drop what the schema forgot and turn null into "" without a word. Instead,
 * with `check`, every answer that its schema does not describe to the last
 * field throws; tests and development run so. Compiled at first use, as the
 * validators are.
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

/** Likewise for refusals: one whose code is not among those that the description of its route lists fails loudly. */
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
    // Without a code it is Fastify's own, which says what was thrown here.
    if (code === undefined || codes.has(code)) done(null, payload)
    else done(new Error(`${route} responds with ${code}, which its schema does not list`))
  })
}

/** A path of its own is not described by the one with parameters that the router gave it to. */
const COMMON_CODES = [...OTHER_CODES, 'METHOD_NOT_ALLOWED']

/** The same schema, in which every object has no members but those it names. */
function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed)
  if (typeof schema !== 'object' || schema === null) return schema
  const copy = Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, closed(value)]))
  const isObject = copy['type'] === 'object' && copy['properties'] !== undefined
  return isObject && copy['additionalProperties'] === undefined
    ? { ...copy, additionalProperties: false }
    : copy
}
