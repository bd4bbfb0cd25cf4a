import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Static, TObject, TSchema } from 'typebox'
import type { Caller, SignedIn } from '../contract/caller.ts'
import type { Permission } from '../contract/enums.ts'
import type { ErrorCode, Problem } from '../contract/errors.ts'
import type { Asset } from '../core/media/asset.ts'
import type { AccountId, RequestId } from '../lib/ids.ts'
import type { HeaderName } from './openapi-headers.ts'

/**
 * One endpoint, one file: its schema, its route and its handler.
 *
 *     export const accountRead = (deps: { accounts: Accounts }) =>
 *       defineRoute({
 *         method: 'GET',
 *         url: '/api/v2/account',
 *         auth: {},                                // any valid key
 *         schema: {
 *           summary: 'Read the account',
 *           tags: ['Account'],
 *           response: { 200: success(Account) },
 *         },
 *         handler: async request => ({ success: true, data: await deps.accounts.read(request.caller) }),
 *       })
 *
 * `routes.ts` lists them all. The schemas declared here validate the requests, and are in `/openapi.json`,
 * where the error responses are added automatically. A handler returns its body, or throws a `Problem`. It sets
 * another status by `reply.code(201)`. A string or Buffer is sent unchanged, so a handler whose body is
 * already JSON sets the content type itself.
 */
export function defineRoute<S extends RouteSchema, A extends RouteAuth>(spec: RouteSpec<S, A>): Route {
  return spec as unknown as Route
}

/** Who may call a route. */
export type RouteAuth =
  /** Anyone; with `sameSite`, not from pages of other sites in a browser. */
  | { public: true; sameSite?: true }
  /** A person who is signed in to the console. */
  | { session: true }
  /** The operator's token, or an operator who is signed in. */
  | { operator: true }
  /**
   * A valid key, or a signed-in person who names an account. With `permission`, the caller must have it, and the
   * account's phone must be verified.
   */
  | { permission?: Permission; ownersOnly?: boolean }

/** How the audit log records a change. The caller, the address and the account are added automatically. */
export type AuditSpec = {
  /** A noun and a verb, such as `api_key.create`. */
  action: string
  /** The fields of the body that are recorded. */
  bodyFields?: readonly string[]
  /** The fields of the response's `data` that are recorded too. */
  responseFields?: readonly string[]
  /**
   * The path parameter, or the field of the response, that identifies what was changed. By default the id of
   * what was created, else the last path parameter, else the owner: the login, the account or the platform.
   */
  target?: string
}

/** Operations that share a token bucket per account. */
export type RateGroup = 'api' | 'verification_send'

export type RouteSchema = {
  /** In the imperative, a few words. */
  summary: string
  /** Markdown. */
  description?: string
  tags: readonly string[]
  /** Path parameters, all strings; an invalid one is a 404. */
  params?: TObject
  /** Strings, integers, numbers, booleans; converted from text, with their defaults filled in. */
  querystring?: TObject
  /** Request headers other than the key. */
  headers?: TObject
  body?: TSchema
  /** Success bodies by status. A binary answer declares a string with `contentMediaType`. */
  response: Readonly<Record<number, TSchema>>
  /** Response headers in addition to those of every response. */
  answerHeaders?: readonly HeaderName[]
  /** More of them, for responses with one status. */
  headersByStatus?: Readonly<Record<number, readonly HeaderName[]>>
  /** Error codes in addition to those of access, validation and limits. */
  errors?: readonly ErrorCode[]
}

export type RouteSpec<S extends RouteSchema, A extends RouteAuth> = {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** With `:name` for parameters. */
  url: string
  auth: A
  /** Recorded in the audit log on success; for every change except sends. */
  audit?: AuditSpec
  /** `api` when absent; only for routes that take a key. */
  rateGroup?: RateGroup
  schema: S
  /** Largest body, in bytes; 1 MB when absent. */
  bodyLimit?: number
  /**
   * `refused` (the default): an invalid request does not reach the handler. `handed over`: it does, with
   * `request.fault` set, for operations that must store the error response under an idempotency key.
   */
  faults?: 'refused' | 'handed over'
  /** All fields of the body may be absent, and so may the body. */
  bodyOptional?: boolean
  /**
   * Accepts a body of any type, and passes its raw bytes to the handler, for signed calls. A call that is not
   * expected is a 404 before its body is read, since anyone can send it.
   */
  rawBody?: { isExpected(params: Readonly<Record<string, string>>): Promise<boolean> }
  /** Accepts a JSON body of this schema; the handler reads it as a stream. */
  streamed?: { body: TSchema }
  /** Accepts multipart/form-data too, or only that. */
  form?: FormSpec
  /** A page for browsers: it has the security headers of pages, and is not in the OpenAPI document. */
  page?: boolean
  handler(request: RouteRequest<S, A>, reply: FastifyReply): unknown
}

/**
 * How a route accepts a form. Its text fields become a body, which is validated against the route's schema. Its
 * file is stored as an asset, in `request.upload`, before the handler is called. It is discarded afterwards,
 * unless a template or a waiting message uses it.
 */
export type FormSpec = {
  /** The names of the file's field; a form has one file. */
  files: readonly string[]
  /** JSON is not accepted: the request must be a form with a file. */
  isFormRequired?: true
  /** The file is kept although nothing uses it yet. */
  keepsFile?: true
  /** Text fields in addition to the body's, for the documentation. */
  fields?: Readonly<Record<string, TSchema>>
  /** Converts the text fields to a body; by default according to the route's schema. */
  toBody?(fields: ReadonlyMap<string, string>): unknown
}

type Infer<T> = T extends TSchema ? Static<T> : undefined

export type RouteRequest<S extends RouteSchema, A extends RouteAuth = RouteAuth> = Omit<
  FastifyRequest,
  'id' | 'params' | 'query' | 'body' | 'caller' | 'signedIn'
> & {
  id: RequestId
  params: Infer<S['params']>
  query: Infer<S['querystring']>
  body: Infer<S['body']>
  caller: A extends { public: true } | { operator: true } | { session: true } ? null : Caller
  signedIn: A extends { session: true } ? SignedIn : SignedIn | null
}

/** A route with any schema, for the server and the documentation. */
export type Route = RouteSpec<RouteSchema, RouteAuth>

export type AuditedAccount = { accountId: AccountId; changes: Record<string, unknown> }

export type Upload = {
  field: string
  asset: Asset
  /** Why the asset was not kept; with `faults: 'handed over'` for the handler to throw. */
  refusal: Problem | null
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Set before the handler of a route that takes a key. */
    caller: Caller | null
    /** The signed-in person, for requests of the console. */
    signedIn: SignedIn | null
    /** The account that a person joined by this request, on routes without a key. */
    joinedAccountId: AccountId | null
    /** Accounts whose audit logs record the request as well, with what it changed there. */
    alsoAudited: readonly AuditedAccount[] | null
    /** The validation error, on routes with `faults: 'handed over'`. */
    fault: Problem | null
    /** The file of a form, and its field. */
    upload: Upload | null
  }
}
