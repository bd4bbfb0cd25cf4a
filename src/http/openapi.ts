import type { TObject, TSchema } from 'typebox'
import { ErrorBody } from '../contract/envelope.ts'
import { CATALOGUE, type ErrorCode } from '../contract/errors.ts'
import { BODY_EXAMPLES, keyExamples } from './openapi-examples.ts'
import { HEADERS, type HeaderName } from './openapi-headers.ts'
import type { FormSpec, Route } from './route.ts'

export type OpenApiInfo = {
  version: string
  /** The URL under which clients reach the API, if it is configured. */
  publicUrl?: string
}

type Json = Record<string, unknown>

/**
 * The OpenAPI 3.1 document of `routes`. TypeBox schemas are JSON Schema 2020-12, which OpenAPI 3.1 uses, so they
 * are included unchanged.
 */
export function buildOpenApi(routes: readonly Route[], info: OpenApiInfo): Json {
  const shown = routes.filter(route => !route.page)
  return {
    openapi: '3.1.0',
    info: {
      title: 'Posthorn',
      version: info.version,
      description:
        'Messages and verification codes over SMS, chat apps, bots and e-mail, with one key and one API.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: info.publicUrl ?? '/' }],
    tags: [...new Set(shown.flatMap(route => route.schema.tags))].map(name => ({ name })),
    paths: toPaths(shown),
    components: {
      schemas: { Error: ErrorBody },
      headers: HEADERS,
      securitySchemes: {
        apiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key' },
        operator: { type: 'http', scheme: 'bearer', description: 'The operator token.' },
        session: {
          type: 'apiKey',
          in: 'cookie',
          name: 'posthorn_session',
          description:
            'A person who is signed in to the console. Requires the header `X-Posthorn-Account` in place of ' +
            'a key, and accepts `X-Posthorn-Mode` (`live` or `test`); every request except GET requires ' +
            '`X-CSRF-Token`.',
        },
      },
    },
  }
}

function toPaths(routes: readonly Route[]): Json {
  const paths: Record<string, Json> = {}
  for (const route of routes) {
    const path = route.url.replace(/:(\w+)/g, '{$1}')
    paths[path] ??= {}
    paths[path][route.method.toLowerCase()] = toOperation(route)
  }
  return paths
}

function toOperation(route: Route): Json {
  const { schema } = route
  const parameters = [
    ...toParameters('path', schema.params),
    ...toParameters('query', schema.querystring),
    ...toParameters('header', schema.headers).map(each => completeKeyOf(route, each)),
  ]
  return {
    operationId: operationId(route),
    summary: schema.summary,
    ...(schema.description === undefined ? {} : { description: schema.description }),
    tags: schema.tags,
    security: securityOf(route),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...toRequestBody(route),
    responses: { ...toSuccesses(route), ...toErrors(route), default: OTHER_ANSWER },
  }
}

function toRequestBody({ method, url, schema, form, streamed, bodyOptional = false }: Route): Json {
  const body = schema.body ?? streamed?.body
  if (body === undefined && !form) return {}
  const examples = BODY_EXAMPLES[`${method} ${url}`]
  const content = {
    ...(body !== undefined && { 'application/json': { schema: body, ...(examples && { examples }) } }),
    ...(form && { 'multipart/form-data': { schema: formSchema(body, form) } }),
  }
  return { requestBody: { required: !bodyOptional, content } }
}

/** Each field of the body is a part of the form, as is the file; objects and arrays are sent as JSON. */
function formSchema(body: TSchema | undefined, form: FormSpec): Json {
  const { properties = {}, required = [] } = (body ?? {}) as { properties?: Json; required?: string[] }
  const files = form.files.map(name => [
    name,
    { type: 'string', contentMediaType: 'application/octet-stream' },
  ])
  return {
    type: 'object',
    properties: { ...properties, ...form.fields, ...Object.fromEntries(files) },
    required: form.isFormRequired ? [...form.files] : required,
  }
}

/** For `GET /api/v2/messages/:messageId` it is `getMessagesByMessageId`. */
function operationId(route: Route): string {
  const steps = route.url.replace(/^\/api\/(v\d+\/)?/, '').split(/[/.]/)
  const words = steps.flatMap(step => (step.startsWith(':') ? ['by', step.slice(1)] : step.split('-')))
  return route.method.toLowerCase() + words.filter(Boolean).map(capitalized).join('')
}

function capitalized(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1)
}

function securityOf({ auth }: Route): Json[] {
  if ('public' in auth) return []
  if ('session' in auth) return [{ session: [] }]
  return [...('operator' in auth ? [{ operator: [] }] : [{ apiKey: [] }]), { session: [] }]
}

type ParameterSchema = TSchema & { description?: string; default?: unknown }

function toParameters(place: 'path' | 'query' | 'header', schema: TObject | undefined): Json[] {
  if (!schema) return []
  const required = new Set<string>(schema.required)
  return Object.entries(schema.properties as Record<string, ParameterSchema>).map(([name, value]) => ({
    name,
    in: place,
    // A parameter with a default may be absent, although its schema requires it for the handler.
    required: required.has(name) && value.default === undefined,
    ...(value.description === undefined ? {} : { description: value.description }),
    schema: value,
  }))
}

/** An idempotency key whose absence has its own error is optional in the schema, and yet required. */
function completeKeyOf({ method, url, schema }: Route, parameter: Json): Json {
  if (parameter['name'] !== 'Idempotency-Key') return parameter
  const isRequired = schema.errors?.includes('IDEMPOTENCY_KEY_REQUIRED')
  return { ...parameter, ...(isRequired && { required: true }), ...keyExamples(`${method} ${url}`) }
}

function toSuccesses(route: Route): Json {
  const answers = Object.entries(route.schema.response).map(([status, schema]) => [
    status,
    {
      description: describe(schema),
      headers: toHeaders(listHeaders(route, Number(status))),
      // A 304 has no body: the client has the content.
      ...(status !== '304' && { content: toContent(schema) }),
    },
  ])
  return Object.fromEntries(answers)
}

/** The headers that a response of the route with this status may have; null for a status that is not described. */
export function headersOf(route: Route, status: number): ReadonlySet<string> | null {
  if (route.schema.response[status]) return new Set(listHeaders(route, status))
  const codes = errorCodes(route).filter(code => CATALOGUE[code].status === status)
  return codes.length === 0 ? null : new Set(listErrorHeaders(route, status, codes))
}

/** The headers of every response to an authenticated caller, and those that the route declares. */
function listHeaders({ auth, schema }: Route, status: number): HeaderName[] {
  return [
    'X-Request-Id',
    ...(takesKey(auth) ? (['RateLimit-Policy', 'RateLimit'] as const) : []),
    ...(schema.answerHeaders ?? []),
    ...(schema.headersByStatus?.[status] ?? []),
  ]
}

function toHeaders(names: readonly HeaderName[]): Json {
  return Object.fromEntries(names.map(name => [name, headerRef(name)]))
}

function takesKey(auth: Route['auth']): boolean {
  return !('public' in auth || 'operator' in auth || 'session' in auth)
}

function headerRef(name: HeaderName): Json {
  return { $ref: `#/components/headers/${name}` }
}

function describe(schema: TSchema): string {
  return (schema as { description?: string }).description ?? 'Success.'
}

/** The content type becomes the key, so it is removed from the schema. */
function toContent(schema: TSchema): Json {
  const { contentMediaType: type, ...rest } = schema as { contentMediaType?: string }
  return type === undefined ? asJson(schema) : { [type]: { schema: rest } }
}

function asJson(schema: unknown): Json {
  return { 'application/json': { schema } }
}

/** The errors that any request can get. A request that is not valid HTTP gets a VALIDATION_ERROR. */
export const OTHER_CODES = [
  'VALIDATION_ERROR',
  'REQUEST_TIMEOUT',
  'HEADERS_TOO_LARGE',
  'INTERNAL_ERROR',
  'SERVICE_UNAVAILABLE',
] as const satisfies readonly ErrorCode[]

const OTHER_ANSWER: Json = {
  description: `Any other error, with the same body: ${OTHER_CODES.map(code => `\`${code}\` (${CATALOGUE[code].status})`).join(', ')}.`,
  headers: { 'X-Request-Id': headerRef('X-Request-Id') },
  content: asJson({ $ref: '#/components/schemas/Error' }),
}

/** One response per status, listing its error codes. */
function toErrors(route: Route): Json {
  const byStatus = Map.groupBy(errorCodes(route), code => CATALOGUE[code].status)
  const answers = [...byStatus].map(([status, codes]) => [
    String(status),
    toErrorAnswer(route, status, codes),
  ])
  return Object.fromEntries(answers)
}

/** Conflicts that may end by themselves, such as with a request that is still under way. */
const PASSING_CONFLICTS: readonly ErrorCode[] = [
  'IDEMPOTENCY_KEY_CONFLICT',
  'IDEMPOTENCY_CONFLICT',
  'TEMPLATE_EXISTS',
]

function toErrorAnswer(route: Route, status: number, codes: readonly ErrorCode[]): Json {
  return {
    description: codes.map(code => `\`${code}\`: ${CATALOGUE[code].text}`).join('\n\n'),
    headers: toHeaders(listErrorHeaders(route, status, codes)),
    content: asJson({ $ref: '#/components/schemas/Error' }),
  }
}

function listErrorHeaders(route: Route, status: number, codes: readonly ErrorCode[]): HeaderName[] {
  // An unauthenticated request has no account, so no rate limit headers, unless its key ended while its body arrived.
  if (status === 401 && !route.streamed) return ['X-Request-Id', 'WWW-Authenticate']
  if (status === 401) return [...listHeaders(route, status), 'WWW-Authenticate']
  const waits = status === 429 || status === 503 || codes.some(code => PASSING_CONFLICTS.includes(code))
  return [...listHeaders(route, status), ...(waits ? (['Retry-After'] as const) : [])]
}

/** The error codes of access checks, validation and limits, and those that the route declares. */
export function errorCodes({ method, auth, schema, rawBody }: Route): ErrorCode[] {
  const codes = new Set<ErrorCode>(schema.errors)
  // A body that the route does not need must still be valid.
  const mayHaveBody = method !== 'GET'
  // With a session cookie, the header that names the account may be invalid.
  if (takesKey(auth)) codes.add('VALIDATION_ERROR')
  if (mayHaveBody || schema.params || schema.querystring || schema.headers) codes.add('VALIDATION_ERROR')
  if (mayHaveBody) codes.add('PAYLOAD_TOO_LARGE')
  if (mayHaveBody && !rawBody) codes.add('UNSUPPORTED_MEDIA_TYPE')
  if (schema.params && !('notFound' in schema.params)) codes.add('NOT_FOUND')
  if (!('public' in auth)) codes.add('UNAUTHORIZED').add('SERVICE_UNAVAILABLE')
  if (!('public' in auth) || auth.sameSite) codes.add('FORBIDDEN')
  const isCounted = 'session' in auth ? method !== 'GET' : !('public' in auth)
  if (isCounted) codes.add('RATE_LIMITED')
  return [...codes].sort((left, right) => CATALOGUE[left].status - CATALOGUE[right].status)
}
