import type { FastifySerializerCompiler } from 'fastify'
import { Compile } from 'typebox/schema'

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
        throw new Error(`${method} ${url} ${httpStatus} does not fit its own schema: ${list}`)
      }
      return text
    }
  }
}

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
