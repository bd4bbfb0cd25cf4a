import type { FastifySchemaCompiler } from 'fastify'
import { Compile } from 'typebox/schema'
import { Settings } from 'typebox/system'
import { type Detail, type ErrorCode, Problem } from '../contract/errors.ts'
import { joinPath, pathStep } from '../lib/json-path.ts'
import { UnreadableBody } from './json-body.ts'
import { queryFault } from './query.ts'
import { explainFaults, type SchemaFault } from './schema-faults.ts'

/** Most faults in one response. */
const MAX_DETAILS = 20
/** Faults are explained from the whole value, up to this many items and characters. */
const MAX_EXPLAINED_ITEMS = 20_001
/**
 * In UTF-16 code units, longer than the longest text in any schema, so that a text that is too long is still
 * reported. Schemas count code points, which may have two units each.
 */
const MAX_EXPLAINED_LENGTH = 1_200_000

// Each alternative of a union counts, before they are merged into one detail.
Settings.Set({ maxErrors: 5 * MAX_DETAILS })

type Part = 'body' | 'querystring' | 'params' | 'headers'
type JsonSchema = {
  properties?: Record<string, { type?: string; default?: unknown }>
  /** The error code for invalid path parameters; NOT_FOUND by default. */
  notFound?: ErrorCode
}
type Checked = { value: unknown } | { error: Problem }

/**
 * Fastify's compiler for the validator of each part of a route. Values of a body are not converted, and
 * unknown fields are ignored. Compiled at first use, which makes the start faster.
 */
export const validatorCompiler: FastifySchemaCompiler<unknown> = ({ schema, httpPart }) => {
  const name = (httpPart ?? 'body') as Part
  const check = lazily(() => createCheck(schema as JsonSchema, name === 'querystring' ? queryPath : joinPath))
  const part = PARTS[name]
  return value => part(value, schema as JsonSchema, check)
}

const PARTS: Record<Part, (value: unknown, schema: JsonSchema, check: Check) => Checked> = {
  body: checkBody,
  querystring: checkQuery,
  params: checkParams,
  headers: checkHeaders,
}

function checkBody(body: unknown, _schema: JsonSchema, check: Check): Checked {
  if (body instanceof UnreadableBody) return { error: body.problem }
  if (body === null || body === undefined) {
    return refused([{ path: '', message: 'a JSON body is required' }])
  }
  const details = check(body)
  return details === null ? { value: body } : refused(details)
}

function checkQuery(query: unknown, schema: JsonSchema, check: Check): Checked {
  const unreadable = queryFault(query)
  if (unreadable) return refused([unreadable])
  const texts = query as Record<string, string | string[] | undefined>
  const values: Record<string, unknown> = {}
  for (const [name, { type, default: fallback }] of Object.entries(schema.properties ?? {})) {
    const text = texts[name]
    if (text === undefined) {
      if (fallback !== undefined) values[name] = fallback
    } else if (Array.isArray(text) && type !== 'array') {
      return refused([{ path: name, message: 'must be given once only' }])
    } else values[name] = fromText(text, type)
  }
  const details = check(values)
  return details === null ? { value: values } : refused(details)
}

/** A query name is shown unchanged, with its dots. */
function queryPath([name, ...steps]: readonly (string | number)[]): string {
  return `${name ?? ''}${steps.map(pathStep).join('')}`
}

/** A text that does not match the declared type remains a string, and fails validation. */
function fromText(text: string | string[], type: string | undefined): unknown {
  if (typeof text !== 'string') return text
  if (type === 'integer' && /^-?\d{1,15}$/.test(text)) return Number(text)
  if (type === 'number' && /^-?\d{1,15}(\.\d{1,15})?$/.test(text)) return Number(text)
  if (type === 'boolean' && (text === 'true' || text === 'false')) return text === 'true'
  return text
}

/** An invalid path parameter gets the same response as an id that does not exist. */
function checkParams(params: unknown, { notFound = 'NOT_FOUND' }: JsonSchema, check: Check): Checked {
  const texts = Object.values(params as Record<string, string>)
  const storable = texts.every(text => text.isWellFormed() && !text.includes('\0'))
  return storable && check(params) === null ? { value: params } : { error: new Problem(notFound) }
}

function checkHeaders(headers: unknown, schema: JsonSchema, check: Check): Checked {
  const given = headers as Record<string, unknown>
  const values: Record<string, unknown> = {}
  for (const name of Object.keys(schema.properties ?? {})) {
    const text = given[name.toLowerCase()]
    if (text !== undefined) values[name] = text
  }
  const details = check(values)
  return details === null ? { value: headers } : refused(details)
}

function refused(details: readonly Detail[]): { error: Problem } {
  const first = details[0]!
  const text = first.path === '' ? first.message : `${first.path}: ${first.message}`
  return { error: new Problem('VALIDATION_ERROR', text, { details }) }
}

/** Null for a valid value; otherwise its faults, at least one. */
type Check = (value: unknown) => readonly Detail[] | null

/** Checks values against a schema, and explains the faults to the sender. */
export function createCheck(schema: object, toPath = joinPath): Check {
  const validator = Compile(schema)
  return value => {
    if (validator.Check(value)) return null
    const [, faults] = validator.Errors(cut(value))
    const details = explainFaults(faults as SchemaFault[], value, schema).slice(0, MAX_DETAILS)
    if (details.length === 0) return [{ path: '', message: 'does not match the schema' }]
    return details.map(({ steps, message }) => ({ path: toPath(steps), message }))
  }
}

function lazily(create: () => Check): Check {
  let check: Check | undefined
  return value => {
    check ??= create()
    return check(value)
  }
}

/** The value with long texts and lists truncated; the parser bounds the depth. */
function cut(value: unknown): unknown {
  if (typeof value === 'string') return value.slice(0, MAX_EXPLAINED_LENGTH)
  if (Array.isArray(value)) return value.slice(0, MAX_EXPLAINED_ITEMS).map(cut)
  if (value === null || typeof value !== 'object') return value
  const members = Object.entries(value).slice(0, MAX_EXPLAINED_ITEMS)
  return Object.fromEntries(members.map(([key, member]) => [key, cut(member)]))
}
