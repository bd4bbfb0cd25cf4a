import { compile } from 'json-schema-to-typescript'
import { canonicalize } from '../../src/lib/canonical-json.ts'

/** A JSON Schema, or another part of an OpenAPI document. */
type Json = { [key: string]: unknown }
type Operation = {
  operationId: string
  summary: string
  parameters?: { name: string; in: 'path' | 'query' | 'header'; required: boolean; schema: Json }[]
  requestBody?: { content: Content }
  responses: Record<string, { content?: Content }>
}
type Content = Record<string, { schema: Json }>
export type OpenApi = {
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, Json> }
}

export const HEAD = `// Made by "npm run sdk" from the table of routes, and never by hand.

`

/**
 * Generates TypeScript from an OpenAPI document: a type for each schema of the contract (`named`), for each
 * query, body and response, and `Paths` as openapi-fetch needs it.
 */
export async function generateTypes(openApi: OpenApi, named: ReadonlyMap<string, Json>): Promise<string> {
  const schemas = createSchemas(named)
  const error = schemas.typeOf('ErrorBody', openApi.components.schemas['Error']!)
  const paths = Object.entries(openApi.paths).map(([path, operations]) => {
    const methods = Object.entries(operations).map(
      ([method, operation]) => `    ${method}: ${writeOperation(operation, schemas, error)}`,
    )
    return `  '${path}': {\n${methods.join('\n')}\n  }`
  })
  return `${HEAD}${await schemas.write()}\nexport interface Paths {\n${paths.join('\n')}\n}\n`
}

type Schemas = ReturnType<typeof createSchemas>

/** Collects type definitions; a schema that the contract names becomes one type, wherever it is used. */
function createSchemas(named: ReadonlyMap<string, Json>) {
  const nameOf = new Map([...named].map(([name, schema]) => [canonicalize(schema), name]))
  const definitions = new Map<string, Json>()

  function add(name: string, schema: Json): string {
    definitions.set(name, shared(schema, name) as Json)
    return name
  }

  /** The type of `schema`: the contract's if it has one, otherwise a new one called `name`. */
  function typeOf(name: string, schema: Json): string {
    const known = nameOf.get(canonicalize(schema))
    return known === undefined ? add(name, schema) : reference(known)
  }

  function reference(name: string): string {
    if (!definitions.has(name)) add(name, named.get(name)!)
    return name
  }

  function shared(value: unknown, within: string): unknown {
    if (Array.isArray(value)) return value.map(item => shared(item, within))
    if (typeof value !== 'object' || value === null) return value
    const schema = value as Json
    if (isEmptySchema(schema)) return { ...schema, tsType: 'unknown' }
    const known = nameOf.get(canonicalize(schema))
    if (known !== undefined && known !== within) return { $ref: `#/definitions/${reference(known)}` }
    return Object.fromEntries(
      Object.entries(schema).map(([key, item]) => [key, sharedMember(key, item, within)]),
    )
  }

  function sharedMember(key: string, value: unknown, within: string): unknown {
    if (!['properties', 'patternProperties'].includes(key)) return shared(value, within)
    const members = Object.entries(value as Json).map(([name, item]) => [name, shared(item, within)])
    return Object.fromEntries(members)
  }

  return {
    add,
    typeOf,
    async write(): Promise<string> {
      const root = { title: 'Root', type: 'object', definitions: Object.fromEntries(definitions) }
      const text = await compile(root as never, 'Root', {
        additionalProperties: false,
        bannerComment: '',
        ignoreMinAndMaxItems: true,
        unreachableDefinitions: true,
        style: { singleQuote: true, semi: false, printWidth: 110 },
      })
      return withoutReferences(text)
    },
  }
}

/** Removes the generator's comments about references, and its empty root type. */
function withoutReferences(text: string): string {
  return text
    .replace(/export interface Root \{\s*\}\n/, '')
    .replaceAll(
      /^ +\* This interface was referenced by `undefined`'s JSON-Schema definition\n +\* via the `patternProperty` .*\n/gm,
      '',
    )
    .replaceAll(
      / \* This (?:interface|type) was referenced by `Root`'s JSON-Schema\n \* via the `definition` "\w+"\.\n(?: \*\n(?= \* This ))?/g,
      '',
    )
    .replaceAll(/^ *\/\*\*\n(?: +\*\n)* +\*\/\n/gm, '')
    .replaceAll(/\n(?: \*\n)+ \*\//g, '\n */')
}

const EMPTY_KEYS = new Set(['description', 'default', 'deprecated'])

/** A schema that allows any value; the generator would make an empty object of it. */
function isEmptySchema(schema: Json): boolean {
  return Object.keys(schema).every(key => EMPTY_KEYS.has(key))
}

function writeOperation(operation: Operation, schemas: Schemas, error: string): string {
  const name = capitalized(operation.operationId)
  const answers = Object.entries(operation.responses).map(
    ([status, { content }]) =>
      `        ${status}: { ${writeAnswer(`${name}${status}`, content, schemas, error)} }`,
  )
  return `{
      parameters: ${writeParameters(name, operation.parameters ?? [], schemas)}
${writeBody(name, operation, schemas)}      responses: {
${answers.join('\n')}
      }
    }`
}

function writeParameters(
  name: string,
  parameters: NonNullable<Operation['parameters']>,
  schemas: Schemas,
): string {
  const places = (['path', 'query', 'header'] as const).map(place => {
    const own = parameters.filter(parameter => parameter.in === place)
    if (own.length === 0) return `${place}?: never`
    const required = own.filter(parameter => parameter.required).map(parameter => parameter.name)
    const properties = Object.fromEntries(own.map(parameter => [parameter.name, parameter.schema]))
    const type = schemas.typeOf(`${name}${capitalized(place)}`, { type: 'object', properties, required })
    return `${place}${required.length === 0 ? '?' : ''}: ${type}`
  })
  return `{ ${places.join('; ')} }`
}

function writeBody(name: string, { requestBody }: Operation, schemas: Schemas): string {
  if (!requestBody) return ''
  const types = Object.entries(requestBody.content).map(([type, { schema }]) => {
    const known = type === 'application/json' ? schemas.typeOf(`${name}Body`, schema) : 'FormData'
    return `'${type}': ${known}`
  })
  return `      requestBody: { content: { ${types.join('; ')} } }\n`
}

function writeAnswer(name: string, content: Content | undefined, schemas: Schemas, error: string): string {
  if (!content) return 'content?: never'
  const types = Object.entries(content).map(([type, { schema }]) => {
    if (schema['$ref'] === '#/components/schemas/Error') return `'${type}': ${error}`
    return `'${type}': ${type === 'application/json' ? schemas.typeOf(name, schema) : 'string'}`
  })
  return `content: { ${types.join('; ')} }`
}

function capitalized(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1)
}
