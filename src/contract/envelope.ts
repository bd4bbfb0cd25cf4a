import Type, { type TEnum, type TProperties, type TSchema } from 'typebox'
import { CATALOGUE, type Detail, type ErrorCode, type Problem } from './errors.ts'

/** `{success: true, data}`: the response of every operation without a schema of its own. */
export function success<T extends TSchema>(data: T) {
  return Type.Object({ success: Type.Literal(true), data })
}

/** A page of a list; `nextCursor` is null on the last page. */
export function page<T extends TSchema>(item: T) {
  return Type.Object({
    success: Type.Literal(true),
    data: Type.Array(item),
    nextCursor: Type.Union([Type.String(), Type.Null()], {
      description: 'Pass it as `cursor` for the next page; null on the last page.',
    }),
  })
}

/** The query of a list: `limit`, `cursor`, and the list's own filters. */
export function pageQuery<T extends TProperties>(filters: T) {
  return Type.Object({
    // Not optional in the parsed query: the default is filled in.
    limit: Type.Integer({ minimum: 1, maximum: 500, default: 50, description: 'Rows per page.' }),
    cursor: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 500,
        description: 'The `nextCursor` of the previous page; opaque.',
      }),
    ),
    ...filters,
  })
}

/** One of `values`, as an enum that the documentation lists. */
export function oneOf<const T extends string>(values: readonly T[], options: { description?: string } = {}) {
  return Type.Enum([...values] as T[], options) as TEnum<T[]>
}

export function nullable<T extends TSchema>(schema: T) {
  return Type.Union([schema, Type.Null()])
}

/** A time in the API. */
export const IsoTime = Type.String({ format: 'date-time', description: 'ISO 8601, UTC, with milliseconds.' })

/** A time of a request; `parseIsoTime` reads it, in more forms than the format date-time has. */
export const GivenTime = Type.String({ maxLength: 40, description: 'ISO 8601 with an offset' })

/** A recipient in the query of a list; `toStoredAddress` reads it. */
export const RecipientFilter = Type.String({
  minLength: 1,
  maxLength: 320,
  description: 'Only those to this recipient; a phone number in any spelling that a send accepts.',
})

/** The body of every error response. */
export const ErrorBody = Type.Object({
  success: Type.Literal(false),
  code: Type.Enum(Object.keys(CATALOGUE) as [ErrorCode, ...ErrorCode[]]),
  error: Type.String({ description: 'For people; programs match on `code`.' }),
  requestId: Type.String(),
  details: Type.Optional(
    Type.Array(Type.Object({ path: Type.String(), message: Type.String() }), {
      description: 'Each error, with its path in the body, query or headers.',
    }),
  ),
  retryAfterSeconds: Type.Optional(Type.Integer({ minimum: 1 })),
  attemptsRemaining: Type.Optional(
    Type.Integer({ minimum: 0, description: 'Only with VERIFICATION_CODE_INVALID.' }),
  ),
})

export type ErrorAnswer = {
  success: false
  code: ErrorCode
  error: string
  requestId: string
  details?: readonly Detail[]
  retryAfterSeconds?: number
  [extra: string]: unknown
}

/** The error body of a Problem; idempotent operations store it for replays. */
export function errorBody(problem: Problem, requestId: string): ErrorAnswer {
  const body: ErrorAnswer = { success: false, code: problem.code, error: problem.message, requestId }
  if (problem.details) body.details = problem.details
  if (problem.retryAfterSeconds !== undefined) body.retryAfterSeconds = problem.retryAfterSeconds
  return problem.extra ? Object.assign(body, problem.extra) : body
}
