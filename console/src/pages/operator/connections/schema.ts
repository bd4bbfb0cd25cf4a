import { humanize } from '../../../parts/status-badge.tsx'

/** The part of JSON Schema that providers use for their configuration. */
export type Schema = {
  type?: string
  properties?: Record<string, Schema>
  required?: string[]
  enum?: unknown[]
  anyOf?: Schema[]
  const?: unknown
  default?: unknown
  description?: string
  minimum?: number
  maximum?: number
  maxLength?: number
}

/** The control of a field; `maybe` is a switch that may be unset, `json` is edited as text. */
export type Kind = 'group' | 'choice' | 'switch' | 'maybe' | 'number' | 'text' | 'long' | 'json'

/** Longer texts, such as PEM, get a text area. */
const LONG_CHARACTERS = 4_097

export function kindOf(schema: Schema): Kind {
  if (choicesOf(schema)) return 'choice'
  if (schema.type === 'object' && schema.properties) return 'group'
  if (schema.type === 'boolean') return schema.default === undefined ? 'maybe' : 'switch'
  if (schema.type === 'integer' || schema.type === 'number') return 'number'
  if (schema.type === 'string') return (schema.maxLength ?? 0) >= LONG_CHARACTERS ? 'long' : 'text'
  return 'json'
}

/** The choices of a field, if it allows only certain texts; null otherwise. */
export function choicesOf({ enum: words, anyOf }: Schema): string[] | null {
  const choices = words ?? anyOf?.map(({ const: word }) => word)
  return choices?.every(word => typeof word === 'string') ? (choices as string[]) : null
}

/** Abbreviations in upper case. */
const SHORT = /\b(?:ca|dkim|http|id|ip|json|npi|sid|sms|tls|ton|url|xml)\b/gi

/** `systemId` is "System ID". */
export function labelOf(name: string): string {
  const words = name.replaceAll(
    /([a-z])([A-Z])/g,
    (_, end: string, start: string) => `${end} ${start.toLowerCase()}`,
  )
  return humanize(words).replaceAll(SHORT, short => short.toUpperCase())
}

export type FormConfig = Record<string, unknown>

/** The initial values: the current ones, or the schema's defaults of required fields. */
export function toFormConfig(schema: Schema, config: FormConfig): FormConfig {
  const needed = schema.required ?? []
  return Object.fromEntries(
    Object.entries(schema.properties ?? {}).map(([name, field]) => [
      name,
      formValueOf(field, config[name], needed.includes(name)),
    ]),
  )
}

function formValueOf(schema: Schema, value: unknown, needed: boolean): unknown {
  const known = value ?? (needed ? schema.default : undefined)
  switch (kindOf(schema)) {
    case 'group':
      return known === undefined && !needed ? null : toFormConfig(schema, (known ?? {}) as FormConfig)
    case 'switch':
      return known ?? schema.default ?? false
    case 'choice':
      return known ?? null
    case 'maybe':
      return known === undefined ? null : String(known)
    case 'json':
      return known === undefined ? '' : JSON.stringify(known, null, 2)
    default:
      return known ?? ''
  }
}

/** Invalid JSON in a text; `path` is its field. */
export class BadJson extends Error {
  readonly path: string

  constructor(path: string) {
    super('This is not valid JSON.')
    this.path = path
  }
}

/** Converts the form's values for the API, without empty ones. Throws `BadJson`. */
export function fromFormConfig(schema: Schema, drawn: FormConfig, path = 'config'): FormConfig {
  const entries = Object.entries(schema.properties ?? {}).flatMap(([name, field]) => {
    const value = configValueOf(field, drawn[name], `${path}.${name}`)
    return value === undefined ? [] : [[name, value] as const]
  })
  return Object.fromEntries(entries)
}

function configValueOf(schema: Schema, value: unknown, path: string): unknown {
  if (value === '' || value === null || value === undefined) return undefined
  const kind = kindOf(schema)
  if (kind === 'group') return fromFormConfig(schema, value as FormConfig, path)
  if (kind === 'maybe') return value === 'true'
  return kind === 'json' ? parse(value as string, path) : value
}

function parse(text: string, path: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new BadJson(path)
  }
}
