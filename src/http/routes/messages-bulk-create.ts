import { Type } from 'typebox'
import { BulkCreate, BulkCreated } from '../../contract/bulk.ts'
import { Problem } from '../../contract/errors.ts'
import { isUsableKey, MAX_KEY_CHARACTERS } from '../../contract/idempotency-key.ts'
import { type BulkIntake, requireSubscription } from '../../core/bulk/intake.ts'
import { viewJob } from '../../core/bulk/view.ts'
import type { Clock } from '../../lib/clock.ts'
import { type Keys, type PeopleAccess, requireStillAllowed } from '../auth.ts'
import { type BulkBodyLimits, readBulkBody } from '../bulk-body.ts'
import { discardRest } from '../discard-rest.ts'
import { idempotencyKeyOf } from '../idempotency-key.ts'
import { requireJson } from '../json-body.ts'
import { defineRoute } from '../route.ts'

const PERMISSION = 'messages:create'
/** The rest of a refused body is read and discarded, up to this multiple of its limit; then the connection is cut. */
const OVERRUN = 2

/** `POST /api/v2/messages/bulk`: queues many different messages, sent at their own rate. */
export const messagesBulkCreate = (deps: {
  bulkIntake: BulkIntake
  bulkLimits: BulkBodyLimits
  clock: Clock
  keys: Keys
  access: PeopleAccess
}) =>
  defineRoute({
    method: 'POST',
    url: '/api/v2/messages/bulk',
    auth: { permission: PERMISSION },
    streamed: { body: BulkCreate },
    schema: {
      summary: 'Queue many messages',
      description:
        'Each item of `messages` is a send to one recipient. The body is processed as a stream, with any ' +
        'number of rows. Nothing is sent until every row has been validated; read the job to see its ' +
        'progress. The same key with the same body returns the same job, with `Idempotency-Replayed: ' +
        'true`.',
      tags: ['Bulk'],
      headers: Type.Object({
        // Optional in the schema, because its absence has its own error code.
        'Idempotency-Key': Type.Optional(
          Type.String({ description: `1 to ${MAX_KEY_CHARACTERS} characters` }),
        ),
      }),
      answerHeaders: ['Idempotency-Replayed'],
      response: { 202: BulkCreated },
      errors: [
        'IDEMPOTENCY_KEY_REQUIRED',
        'IDEMPOTENCY_KEY_INVALID',
        'SUBSCRIPTION_INACTIVE',
        'INVALID_REQUEST_BODY',
        'MESSAGES_PER_SECOND_INVALID',
        'MESSAGES_REQUIRED',
        'INVALID_MESSAGE',
        'REQUEST_TIMEOUT',
        'IDEMPOTENCY_CONFLICT',
      ],
    },
    async handler(request, reply) {
      try {
        const { caller } = request
        const key = readKey(idempotencyKeyOf(request, invalidKey))
        requireSubscription(caller)
        requireJson(request)
        const body = readBulkBody(request.raw, deps.bulkLimits, deps.clock)
        // A body may take minutes to arrive, in which its key may have been revoked.
        const pieces = endWith(body, () =>
          requireStillAllowed(request as never, PERMISSION, deps.keys, deps.access),
        )
        const { job, replayed } = await deps.bulkIntake.receive({ caller, key, pieces })
        if (replayed) reply.header('Idempotency-Replayed', 'true')
        reply.code(202)
        return { success: true, ...viewJob(job) }
      } catch (error) {
        discardRest(request.raw, deps.bulkLimits.mostBytes * OVERRUN)
        throw error
      }
    },
  })

function readKey(key: string | undefined): string {
  if (key === undefined) throw new Problem('IDEMPOTENCY_KEY_REQUIRED')
  if (!isUsableKey(key)) throw invalidKey(`must have 1 to ${MAX_KEY_CHARACTERS} characters`)
  return key
}

function invalidKey(message: string): Problem {
  return new Problem('IDEMPOTENCY_KEY_INVALID', `Idempotency-Key ${message}.`)
}

async function* endWith<Item>(items: AsyncIterable<Item>, check: () => Promise<void>): AsyncGenerator<Item> {
  yield* items
  await check()
}
