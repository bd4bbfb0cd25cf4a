import type { TObject } from 'typebox'
import { invalid } from '../contract/errors.ts'
import { pathBelow } from '../lib/json-path.ts'
import { parseJson } from '../lib/json-source.ts'
import { dropNulls } from './json-body.ts'

type JsonSchema = { type?: string; enum?: readonly unknown[]; const?: unknown; anyOf?: readonly JsonSchema[] }

/**
 * The JSON body that the text fields of a form stand for: each field is read as
 * `schema` wants it, texts as they are, numbers and booleans from their spelling,
 * everything else as JSON. What does not fit stays text, and fails the schema;
 * a field that should be JSON and is none is a 400 that names it.
 */
export function toBody(fields: ReadonlyMap<string, string>, schema: TObject): Record<string, unknown> {
  const properties = schema.properties as Record<string, JsonSchema>
  const body: Record<string, unknown> = {}
  for (const [name, text] of fields) {
    const value = Object.hasOwn(properties, name) ? readField(name, text, properties[name]!) : text
    // An empty field of a page's form says as much as none.
    if (value !== null && value !== '') body[name] = value
  }
  return body
}

/** A field that holds a JSON object. */
export function readObject(name: string, text: string): Record<string, unknown> {
  const value = readJson(name, text)
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    return value as Record<string, unknown>
  }
  throw invalid(name, 'must be a JSON object')
}

function readField(name: string, text: string, schema: JsonSchema): unknown {
  if (text === '') return text
  if (takesText(schema)) return opensJson(text) && takesMore(schema) ? readJson(name, text) : text
  if (schema.type === 'boolean') return text === 'true' || text === 'false' ? text === 'true' : text
  if (schema.type === 'integer' || schema.type === 'number') {
    return /^-?\d{1,15}(\.\d{1,15})?$/.test(text) ? Number(text) : text
  }
  return readJson(name, text)
}

function readJson(name: string, text: string): unknown {
  const result = parseJson(Buffer.from(text))
  if (!result.ok) throw invalid(pathBelow(name, result.path), result.message)
  if (result.hasNulls) dropNulls(result.value)
  return result.value
}

function takesText({ type, enum: values, const: value, anyOf }: JsonSchema): boolean {
  if (anyOf) return anyOf.some(takesText)
  return (
    type === 'string' || typeof value === 'string' || values?.every(each => typeof each === 'string') === true
  )
}

/** Text, or something else: then the first letter decides. */
function takesMore({ anyOf }: JsonSchema): boolean {
  return anyOf?.some(each => each.type === 'array' || each.type === 'object') === true
}

function opensJson(text: string): boolean {
  return /^\s*[[{]/.test(text)
}
