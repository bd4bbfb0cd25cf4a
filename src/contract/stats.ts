import { type Static, Type } from 'typebox'
import { CHANNELS } from './enums.ts'
import { IsoTime, nullable } from './envelope.ts'

const COUNT = Type.Integer({ minimum: 0 })

export const MessageStatsQuery = Type.Object({
  from: Type.Optional(
    Type.String({ maxLength: 40, description: 'ISO 8601; by default one day before `to`' }),
  ),
  to: Type.Optional(Type.String({ maxLength: 40, description: 'ISO 8601, exclusive; by default now' })),
  interval: Type.Enum(['hour', 'day'] as const, { default: 'hour', description: 'In UTC' }),
  groupBy: Type.Optional(Type.Enum(['channel'] as const)),
  mode: Type.Optional(
    Type.Enum(['live', 'test'] as const, { description: 'By default the mode of the key' }),
  ),
})
export type MessageStatsQuery = Static<typeof MessageStatsQuery>

const COUNTS = {
  sent: Type.Integer({ minimum: 0, description: 'Accepted by a provider' }),
  delivered: COUNT,
  undelivered: COUNT,
  failed: COUNT,
  unknown: Type.Integer({ minimum: 0, description: 'Attempts that had an unknown outcome' }),
  cancelled: COUNT,
  cost: Type.Number({ description: 'The amount charged, less refunds' }),
}

/** The counts of one hour or day. */
export const MessageStatsRow = Type.Object({
  at: Type.String({ format: 'date-time', description: 'The start of the hour or day' }),
  channel: nullable(Type.Enum(CHANNELS)),
  ...COUNTS,
})
export type MessageStatsRow = Static<typeof MessageStatsRow>

export const MessageStats = Type.Object({
  from: IsoTime,
  to: IsoTime,
  interval: Type.Enum(['hour', 'day'] as const),
  mode: Type.Enum(['live', 'test'] as const),
  currency: Type.String(),
  total: Type.Object(COUNTS),
  now: Type.Object({
    waiting: Type.Integer({
      minimum: 0,
      description:
        'Scheduled, queued and sending messages; counted up to 10,000, among the newest 20,000 of both modes',
    }),
    waitingMore: Type.Boolean({
      description: 'Whether there may be more waiting messages than were counted',
    }),
    unknown: Type.Integer({
      minimum: 0,
      description:
        'Messages whose outcome is still unknown; counted in the same way, separately from waiting ones',
    }),
    unknownMore: Type.Boolean({
      description: 'Whether there may be more unknown messages than were counted',
    }),
  }),
  rows: Type.Array(MessageStatsRow, {
    description: 'In order; hours and days without any counts are omitted',
  }),
})
export type MessageStats = Static<typeof MessageStats>
