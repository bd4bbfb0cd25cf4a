import { PATTERN_FAULT } from '../contract/pattern.ts'

/** A fault as the validator reports it, with its place in the value and in the schema. */
export type SchemaFault = {
  keyword: string
  /** JSON pointers. */
  instancePath: string
  schemaPath: string
  params: Record<string, unknown>
  message: string
}

export type Explained = { steps: (string | number)[]; message: string }

/**
 * Explains the faults of a value to its sender: one message per place, the alternatives of a union merged
 * ("must be a string or an array"), and for patterns the text that `schema` has for them.
 */
export function explainFaults(faults: readonly SchemaFault[], value: unknown, schema: object): Explained[] {
  const explained = new Map<string, Explained>()
  for (const { pointer, message } of withoutUnions(faults).flatMap(fault => describe(fault, schema))) {
    if (!explained.has(pointer)) explained.set(pointer, { steps: stepsOf(pointer, value), message })
  }
  return [...explained.values()]
}

/** Replaces the faults of each union by its message, from the end, where the outermost unions are. */
function withoutUnions(faults: readonly SchemaFault[]): SchemaFault[] {
  const union = faults.findLast(fault => fault.keyword === 'anyOf' || fault.keyword === 'oneOf')
  if (!union) return [...faults]
  const prefix = `${union.schemaPath}/${union.keyword}/`
  const isInside = (fault: SchemaFault) =>
    fault.schemaPath.startsWith(prefix) && fault.instancePath.startsWith(union.instancePath)
  const inside = faults.filter(isInside)
  const isOutside = (fault: SchemaFault) => fault !== union && !isInside(fault)
  const at = faults.indexOf(union)
  const before = faults.slice(0, at).filter(isOutside)
  const after = faults.slice(at).filter(isOutside)
  return [...withoutUnions(before), ...chooseBranch(union, inside, prefix), ...after]
}

/** Chooses the alternative whose type matches; if none matches, all are listed. */
function chooseBranch(union: SchemaFault, inside: readonly SchemaFault[], prefix: string): SchemaFault[] {
  const branches = [...Map.groupBy(inside, fault => branchOf(fault, prefix)).values()]
  const meant = branches.find(branch => !branch.some(fault => refusesWhole(fault, union)))
  if (meant) return withoutUnions(meant)
  const whole = inside.filter(fault => refusesWhole(fault, union))
  const values = whole.flatMap(allowedValues)
  // The type is right, but the value is not in the list of allowed values.
  const keyword = values.length > 0 ? 'enum' : 'type'
  const types = whole.flatMap(fault => (fault.keyword === 'type' ? [fault.params['type']].flat() : []))
  return [{ ...union, keyword, params: { allowedValues: values, type: [...new Set(types)] } }]
}

function branchOf(fault: SchemaFault, prefix: string): string {
  return fault.schemaPath.slice(prefix.length).split('/', 1)[0]!
}

function refusesWhole(fault: SchemaFault, union: SchemaFault): boolean {
  return fault.instancePath === union.instancePath && ['type', 'const', 'enum'].includes(fault.keyword)
}

function allowedValues(fault: SchemaFault): unknown[] {
  if (fault.keyword === 'const') return [fault.params['allowedValue']]
  return fault.keyword === 'enum' ? (fault.params['allowedValues'] as unknown[]) : []
}

/** One fault may cover several places: one for each missing property. */
function describe(fault: SchemaFault, schema: object): { pointer: string; message: string }[] {
  if (fault.keyword === 'required') {
    const names = fault.params['requiredProperties'] as string[]
    return names.map(name => ({
      pointer: `${fault.instancePath}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`,
      message: 'is required',
    }))
  }
  return [{ pointer: fault.instancePath, message: messageOf(fault, schema) }]
}

function messageOf({ keyword, params, message, schemaPath }: SchemaFault, schema: object): string {
  const limit = params['limit'] as number
  switch (keyword) {
    case 'type':
      return `must be ${[params['type']].flat().map(withArticle).join(' or ')}`
    case 'const':
      return `must be ${String(params['allowedValue'])}`
    case 'enum':
      return `must be one of ${(params['allowedValues'] as unknown[]).map(String).join(', ')}`
    case 'minLength':
      return limit === 1 ? 'must not be empty' : `must have at least ${limit} characters`
    case 'maxLength':
      return `must have at most ${limit} characters`
    case 'minItems':
      return limit === 1 ? 'must not be empty' : `must have at least ${limit} items`
    case 'maxItems':
      return `must have at most ${limit} items`
    case 'minProperties':
      return `must have at least ${limit} ${limit === 1 ? 'member' : 'members'}`
    case 'maxProperties':
      return `must have at most ${limit} members`
    case 'minimum':
      return `must be at least ${limit}`
    case 'maximum':
      return `must be at most ${limit}`
    case 'exclusiveMinimum':
      return `must be greater than ${limit}`
    case 'exclusiveMaximum':
      return `must be less than ${limit}`
    case 'multipleOf':
      return `must be a multiple of ${params['multipleOf']}`
    case 'uniqueItems':
      return 'must not repeat an item'
    case 'format':
      return FORMATS[params['format'] as string] ?? `must be a well-formed ${params['format']}`
    case 'pattern':
      return patternFaultAt(schema, schemaPath) ?? `must match ${params['pattern']}`
    default:
      return message
  }
}

/** The error text for the pattern at `path`, a pointer with its `#`, in a schema; null if it has none. */
function patternFaultAt(schema: object, path: string): string | null {
  let at: unknown = schema
  for (const part of path.split('/').slice(1))
    at = (at as Record<string, unknown> | undefined)?.[part.replaceAll('~1', '/').replaceAll('~0', '~')]
  const words = (at as Record<string, unknown> | undefined)?.[PATTERN_FAULT]
  return typeof words === 'string' ? words : null
}

const FORMATS: Record<string, string> = {
  'date-time': 'must be an ISO 8601 time with its offset, such as 2030-01-31T09:30:00Z',
  email: 'must be an e-mail address',
  uri: 'must be a URL',
  url: 'must be a URL',
  uuid: 'must be a UUID',
}

const ARTICLES: Record<string, string> = {
  string: 'a string',
  number: 'a number',
  integer: 'an integer',
  boolean: 'a boolean',
  object: 'an object',
  array: 'an array',
}

function withArticle(type: unknown): string {
  return ARTICLES[String(type)] ?? String(type)
}

/** The steps of a JSON pointer through `value`; numbers for indexes of arrays. */
function stepsOf(pointer: string, value: unknown): (string | number)[] {
  let at = value
  const steps: (string | number)[] = []
  for (const part of pointer.split('/').slice(1)) {
    const key = part.replaceAll('~1', '/').replaceAll('~0', '~')
    steps.push(Array.isArray(at) ? Number(key) : key)
    at = (at as Record<string, unknown> | undefined)?.[key]
  }
  return steps
}
