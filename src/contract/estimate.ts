import { type Static, Type } from 'typebox'
import { CHANNELS } from './enums.ts'
import { nullable, oneOf } from './envelope.ts'
import { SENDER_SOURCES } from './send.ts'

/** What a send with the same body would do; `POST /api/v2/messages/estimate` takes the body of a send. */
export const Estimate = Type.Object({
  deliverable: Type.Boolean({ description: 'Whether the send would be accepted now.' }),
  reasons: Type.Array(Type.Object({ code: Type.String(), path: Type.String(), message: Type.String() }), {
    description: 'Why it would not be accepted; empty if it would.',
  }),
  resolved: nullable(
    Type.Object({
      channel: oneOf(CHANNELS),
      provider: Type.String(),
      senderSource: oneOf(SENDER_SOURCES),
      channels: Type.Array(oneOf(CHANNELS)),
    }),
  ),
  rendered: nullable(Type.Object({ text: Type.String(), subject: nullable(Type.String()) })),
  sms: nullable(
    Type.Object({
      encoding: oneOf(['GSM-7', 'UCS-2'] as const),
      characters: Type.Integer({ description: 'Septets for GSM-7, UTF-16 code units for UCS-2.' }),
      parts: Type.Integer(),
    }),
  ),
  scheduledAt: Type.Optional(
    Type.String({ format: 'date-time', description: 'When the message would be sent; absent if at once' }),
  ),
  billing: nullable(
    Type.Object({
      estimatedCost: Type.Number(),
      currency: Type.String(),
      parts: Type.Optional(Type.Integer({ description: 'Only for SMS.' })),
      source: oneOf(['pool', 'wallet'] as const, {
        description: 'What pays for it; for a test key, what would pay for it with a live key.',
      }),
    }),
  ),
})
export type Estimate = Static<typeof Estimate>
