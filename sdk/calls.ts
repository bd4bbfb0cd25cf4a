import type { Paths } from './api.ts'

export type Method = 'get' | 'post' | 'put' | 'patch' | 'delete'

/** Paths that support the method `M`. */
export type PathsWith<M extends Method> = {
  [P in keyof Paths]: Paths[P] extends Record<M, unknown> ? P : never
}[keyof Paths]

type Operation<P extends keyof Paths, M extends Method> = Paths[P][M & keyof Paths[P]]

/** The body of a successful response of `path` to `M`. */
export type Answer<P extends keyof Paths, M extends Method> = Success<Operation<P, M>>

type Success<O> = O extends { responses: infer R }
  ? ContentOf<R[keyof R & (200 | 201 | 202 | 204 | 207)]>
  : never
type ContentOf<R> = R extends { content: infer C } ? C[keyof C] : never

/** The options of a request: its parameters and body, as the operation defines them. */
export type Init<O> = Path<O> & Query<O> & Body<O> & Key<O> & Extras

type Extras = {
  headers?: Record<string, string> | undefined
  signal?: AbortSignal | undefined
  /** How to read a response that is not JSON. */
  parseAs?: 'text' | 'blob' | undefined
}

type Path<O> = O extends { parameters: { path: infer P } } ? { path: P } : { path?: never }
type Query<O> = O extends { parameters: { query: infer Q } }
  ? { query: Q }
  : O extends { parameters: { query?: infer Q } }
    ? { query?: Q }
    : { query?: never }
type Body<O> = O extends { requestBody: { content: infer C } } ? { body: C[keyof C] } : { body?: never }

type Key<O> =
  TakesKey<O> extends true
    ? O extends { parameters: { header: unknown } }
      ? { idempotencyKey: string }
      : {
          /** Makes repetitions safe, and so enables the client's own retries. */
          idempotencyKey?: string | undefined
        }
    : { idempotencyKey?: never }
type TakesKey<O> = O extends { parameters: { header?: infer H } }
  ? [NonNullable<H>] extends [never]
    ? false
    : 'Idempotency-Key' extends keyof NonNullable<H>
      ? true
      : false
  : false

/** Paths whose POST takes an idempotency key. */
type KeyedPath = {
  [P in keyof Paths]: Paths[P] extends { post: infer O } ? (TakesKey<O> extends true ? P : never) : never
}[keyof Paths]

/**
 * At any other path the server ignores the key, so that a repetition could do the same twice. The type makes
 * sure that the list is complete.
 */
export const KEYED_PATHS: Readonly<Record<KeyedPath, true>> = {
  '/api/admin/accounts': true,
  '/api/admin/accounts/{id}/credits': true,
  '/api/v2/messages/bulk': true,
  '/api/v2/messages/send': true,
  '/api/v2/verification/send': true,
}

/** The options of `M` on `path`. */
export type CallInit<P extends keyof Paths, M extends Method> = Init<Operation<P, M>>

/** The options are optional if nothing is required. */
type Arguments<I> = Record<never, never> extends I ? [init?: I] : [init: I]

export type Call<M extends Method> = <P extends PathsWith<M>>(
  path: P,
  ...init: Arguments<CallInit<P, M>>
) => Promise<Answer<P, M>>
