import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Static, TObject, TSchema } from 'typebox'
import type { Caller, SignedIn } from '../contract/caller.ts'
import type { Permission } from '../contract/enums.ts'
import type { ErrorCode, Problem } from '../contract/errors.ts'
import type { Asset } from '../core/media/asset.ts'
import type { AccountId, RequestId } from '../lib/ids.ts'

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
 * `routes.ts` lists them all. What is declared here is also what is validated
 * and what `/openapi.json` says; error answers are added there by themselves.
 * A handler returns its body, or throws a `Problem`; another status is set with
 * `reply.code(201)`. A string or Buffer is sent as it stands, so a handler that
 * has its JSON already sets the content type and returns it.
 */
export function defineRoute<S extends RouteSchema, A extends RouteAuth>(spec: RouteSpec<S, A>): Route {
  return spec as unknown as Route
}

/** Who may come in. */
export type RouteAuth =
  /** Anybody; with `sameSite`, no other site's page in somebody's browser. */
  | { public: true; sameSite?: true }
  /** Whoever is signed in to the console. */
  | { session: true }
  /** The operator's token, or an operator who is signed in. */
  | { operator: true }
  /** A valid key, or whoever is signed in and names an account; with `permission`, one that has it on an account whose phone is verified. */
  | { permission?: Permission; ownersOnly?: boolean }

/** How a change is noted; who asked, from where and for which account is known by itself. */
export type AuditSpec = {
  /** A noun and what was done to it, as in `api_key.create`. */
  action: string
  /** The fields of the body that are told; nothing else of it is. */
  keeps?: readonly string[]
  /** The fields of the answer’s `data` that are told beside them. */
  tells?: readonly string[]
  /**
   * The path parameter, or the field of the answer, that names what was changed. By default what a create
   * made, else the last parameter; where there is neither, whose it is: the login, the account, the platform.
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
  /** Path parameters, all of them strings; one that does not fit is a 404. */
  params?: TObject
  /** Strings, integers, numbers, booleans; converted from text, with their defaults filled in. */
  querystring?: TObject
  /** Request headers besides the key, named as on the wire. */
  headers?: TObject
  body?: TSchema
  /** Success bodies by status. A binary answer declares a string with `contentMediaType`. */
  response: Readonly<Record<number, TSchema>>
  /** Headers of its answers besides those that every answer has. */
  answerHeaders?: readonly ('Idempotency-Replayed' | 'X-Sandbox')[]
  /** Codes besides those that access, validation and limits bring. */
  errors?: readonly ErrorCode[]
}

export type RouteSpec<S extends RouteSchema, A extends RouteAuth> = {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** With `:name` for parameters. */
  url: string
  auth: A
  /** Noted in the audit log when it was done: every change that is no send. */
  audit?: AuditSpec
  /** `api` when absent; only for routes that take a key. */
  rateGroup?: RateGroup
  schema: S
  /** Largest body, in bytes; 1 MB when absent. */
  bodyLimit?: number
  /**
   * `refused` (when absent): a request that does not fit the schema never
   * reaches the handler. `handed over`: it does, with `request.fault` set, for
   * operations that must store the refusal before they answer it.
   */
  faults?: 'refused' | 'handed over'
  /** All fields of the body may be absent, and so may the body. */
  bodyOptional?: boolean
  /**
   * Takes a body of any type, and hands over its bytes as they came: for what is signed. What nobody awaits
   * is a 404 before a byte of it is read: its sender is anybody.
   */
  rawBody?: { isAwaited(params: Readonly<Record<string, string>>): Promise<boolean> }
  /** Takes a JSON body of this schema, which the handler reads itself, as it comes in. */
  streamed?: { body: TSchema }
  /** Takes multipart/form-data too, or alone. */
  form?: FormSpec
  /** For browsers: sent under the pages' security policy, and left out of the OpenAPI document. */
  page?: boolean
  handler(request: RouteRequest<S, A>, reply: FastifyReply): unknown
}

/**
 * How a route takes a form. Its text fields become a body that is held against
 * the route's schema like any other; its file is an asset by the time the handler
 * is called, in `request.upload`, and is taken back afterwards unless somebody
 * needs it: a template, or a message on its way.
 */
export type FormSpec = {
  /** Fields that carry a file; one of them, once. */
  files: readonly string[]
  /** No JSON body: the form must come, and have its file. */
  only?: true
  /** The file stays although nobody needs it yet. */
  keeps?: true
  /** Text fields besides the body's, for the documentation. */
  fields?: Readonly<Record<string, TSchema>>
  /** The body that the text fields stand for; by the route's schema where absent. */
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

/** A route of any schema, as the server and the documentation take it. */
export type Route = RouteSpec<RouteSchema, RouteAuth>

export type Upload = { field: string; asset: Asset }

declare module 'fastify' {
  interface FastifyRequest {
    /** Set before the handler of a route that takes a key. */
    caller: Caller | null
    /** Who asks, where it is a person in the console. */
    signedIn: SignedIn | null
    /** The account that somebody began to act for by a route that needs no key. */
    joined: AccountId | null
    /** What does not fit the schema, on routes that have faults handed over. */
    fault: Problem | null
    /** The file of a form, and the field that it was in. */
    upload: Upload | null
  }
}
