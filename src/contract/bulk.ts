import { type Static, Type } from 'typebox'
import { KEY_MODES } from './enums.ts'
import { IsoTime, nullable, oneOf, pageQuery } from './envelope.ts'
import { SingleSendBody } from './send.ts'

/** The transitions are drawn in `docs/states.md`. */
export const BULK_STATUSES = [
  'accepting',
  'validating',
  'rejected',
  'queued',
  'running',
  'paused',
  'completed',
  'cancelled',
] as const
export type BulkStatus = (typeof BULK_STATUSES)[number]

export const PAUSE_REASONS = ['insufficient_balance', 'provider_rate_limit', 'user'] as const
export type PauseReason = (typeof PAUSE_REASONS)[number]

/** Why a job is rejected. */
export const BULK_ERRORS = ['VALIDATION_FAILED', 'INSUFFICIENT_BALANCE', 'INTAKE_INCOMPLETE'] as const
export type BulkError = (typeof BULK_ERRORS)[number]

export const ROW_STATUSES = ['pending', 'sent', 'failed', 'cancelled', 'invalid'] as const
export type RowStatus = (typeof ROW_STATUSES)[number]

/** The highest rate of a job, in messages a second; the plan of the account may allow less. */
export const MAX_PER_SECOND = 10
/** Longest name of a job. */
export const MAX_NAME_CHARACTERS = 200

const JOB_FIELDS = {
  id: Type.String(),
  name: Type.String({ description: 'Empty if none was given' }),
  status: oneOf(BULK_STATUSES),
  messagesPerSecond: nullable(
    Type.Integer({
      minimum: 1,
      maximum: MAX_PER_SECOND,
      description: 'Null only while the body is being received and the field has not arrived',
    }),
  ),
  pauseReason: nullable(oneOf(PAUSE_REASONS)),
  total: Type.Integer({ description: 'Number of rows; while accepting, the rows stored so far' }),
  validatedCount: Type.Integer({ description: 'Rows checked so far' }),
  counts: Type.Object({
    pending: Type.Integer({ description: 'Not settled: waiting, being sent, or unknown' }),
    sent: Type.Integer({ description: 'Accepted by a provider' }),
    failed: Type.Integer(),
    cancelled: Type.Integer(),
  }),
  errorCode: nullable(oneOf(BULK_ERRORS)),
  errorMessage: nullable(Type.String()),
  createdAt: IsoTime,
}

/** The body of a create. It is only for the documentation: the body is parsed while it is received. */
export const BulkCreate = Type.Object({
  name: Type.Optional(Type.String({ maxLength: MAX_NAME_CHARACTERS })),
  messagesPerSecond: Type.Integer({ minimum: 1, maximum: MAX_PER_SECOND }),
  messages: Type.Array(SingleSendBody, {
    minItems: 1,
    description: 'Any number. Each is a send to one recipient, without scheduleAt.',
  }),
})

export const BulkJob = Type.Object(JOB_FIELDS)
export type BulkJob = Static<typeof BulkJob>

/** The answer to a create: the job's fields at the top level, beside `success`. */
export const BulkCreated = Type.Object({ success: Type.Literal(true), ...JOB_FIELDS })
export const BulkAnswer = Type.Object({ success: Type.Literal(true), job: BulkJob })

export const BulkQuery = pageQuery({ status: Type.Optional(oneOf(BULK_STATUSES)) })
export type BulkQuery = Static<typeof BulkQuery>

/** A job id in a path; an invalid id is a job that does not exist. */
export const JobPath = Type.Object({ jobId: Type.String() }, { notFound: 'JOB_NOT_FOUND' })

/** One message of a job. */
export const BulkRow = Type.Object({
  index: Type.Integer({ description: 'Index in `messages`, from 0' }),
  to: Type.String(),
  status: oneOf(ROW_STATUSES),
  messageId: nullable(Type.String()),
  errorCode: nullable(Type.String()),
  errorMessage: nullable(Type.String()),
})
export type BulkRow = Static<typeof BulkRow>

export const BulkRowQuery = pageQuery({ status: Type.Optional(oneOf(ROW_STATUSES)) })
export type BulkRowQuery = Static<typeof BulkRowQuery>

/** `data` of a `bulk.*` event: the job at the time of the event. */
export const BulkEventData = Type.Object({
  jobId: Type.String(),
  mode: oneOf(KEY_MODES),
  name: Type.String(),
  status: oneOf(BULK_STATUSES),
  messagesPerSecond: nullable(Type.Integer()),
  pauseReason: nullable(oneOf(PAUSE_REASONS)),
  total: Type.Integer(),
  validatedCount: Type.Integer(),
  counts: BulkJob.properties.counts,
  errorCode: nullable(Type.String()),
  errorMessage: nullable(Type.String()),
})
export type BulkEventData = Static<typeof BulkEventData>
