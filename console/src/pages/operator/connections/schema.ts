import { inWords } from '../../../parts/status-badge.tsx'

/** As much of JSON Schema as providers describe their configuration by. */
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

/** What a field is drawn as; `maybe` is a switch that may be left alone, `json` has no form of its own. */
export type Kind = 'group' | 'choice' | 'switch' | 'maybe' | 'number' | 'text' | 'long' | 'json'

/** PEM and the like. */
const LONG_CHARACTERS = 4_097

export function kindOf(schema: Schema): Kind {
  if (choicesOf(schema)) return 'choice'
  if (schema.type === 'object' && schema.properties) return 'group'
  if (schema.type === 'boolean') return schema.default === undefined ? 'maybe' : 'switch'
  if (schema.type === 'integer' || schema.type === 'number') return 'number'
  if (schema.type === 'string') return (schema.maxLength ?? 0) >= LONG_CHARACTERS ? 'long' : 'text'
  return 'json'
}

/** The words among which one chooses, where they are all that it may be. */
export function choicesOf({ enum: words, anyOf }: Schema): string[] | null {
  const choices = words ?? anyOf?.map(({ const: word }) => word)
  return choices?.every(word => typeof word === 'string') ? (choices as string[]) : null
}

/** Written large by everybody. */
const SHORT = /\b(?:ca|dkim|http|id|ip|json|npi|sid|sms|tls|ton|url|xml)\b/gi

/** `systemId` is "System ID". */
export function labelOf(name: string): string {
  const words = name.replaceAll(
    /([a-z])([A-Z])/g,
    (_, end: string, start: string) => `${end} ${start.toLowerCase()}`,
  )
  return inWords(words).replaceAll(SHORT, short => short.toUpperCase())
}

export type Drawn = Record<string, unknown>

/** What the form begins with: what stands, else what the schema presets where a value must be. */
export function toDrawn(schema: Schema, config: Drawn): Drawn {
  const needed = schema.required ?? []
  return Object.fromEntries(
    Object.entries(schema.properties ?? {}).map(([name, field]) => [
      name,
      drawnOf(field, config[name], needed.includes(name)),
    ]),
  )
}

function drawnOf(schema: Schema, value: unknown, needed: boolean): unknown {
  const known = value ?? (needed ? schema.default : undefined)
  switch (kindOf(schema)) {
    case 'group':
      return known === undefined && !needed ? null : toDrawn(schema, (known ?? {}) as Drawn)
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

/** Text that should be JSON, and is not; `path` is its field's. */
export class BadJson extends Error {
  readonly path: string

  constructor(path: string) {
    super('This is no JSON.')
    this.path = path
  }
}

/** What was drawn as the API takes it, without what was left empty. Throws `BadJson`. */
export function fromDrawn(schema: Schema, drawn: Drawn, path = 'config'): Drawn {
  const entries = Object.entries(schema.properties ?? {}).flatMap(([name, field]) => {
    const value = given(field, drawn[name], `${path}.${name}`)
    return value === undefined ? [] : [[name, value] as const]
  })
  return Object.fromEntries(entries)
}

function given(schema: Schema, value: unknown, path: string): unknown {
  if (value === '' || value === null || value === undefined) return undefined
  const kind = kindOf(schema)
  if (kind === 'group') return fromDrawn(schema, value as Drawn, path)
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
