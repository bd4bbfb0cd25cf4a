import { type Static, Type } from 'typebox'
import { CHANNELS } from './enums.ts'
import { IsoTime, nullable } from './envelope.ts'

const COUNT = Type.Integer({ minimum: 0 })

export const MessageStatsQuery = Type.Object({
  from: Type.Optional(
    Type.String({ maxLength: 40, description: 'ISO 8601; a day before `to` unless given' }),
  ),
  to: Type.Optional(Type.String({ maxLength: 40, description: 'ISO 8601, not included; now unless given' })),
  interval: Type.Enum(['hour', 'day'] as const, { default: 'hour', description: 'UTC' }),
  groupBy: Type.Optional(Type.Enum(['channel'] as const)),
  mode: Type.Optional(Type.Enum(['live', 'test'] as const, { description: 'By default that of the key' })),
})
export type MessageStatsQuery = Static<typeof MessageStatsQuery>

const COUNTS = {
  sent: Type.Integer({ minimum: 0, description: 'Taken by a provider' }),
  delivered: COUNT,
  undelivered: COUNT,
  failed: COUNT,
  unknown: Type.Integer({ minimum: 0, description: 'Attempts whose outcome nobody knew' }),
  cancelled: COUNT,
  cost: Type.Number({ description: 'What was paid, less what came back' }),
}

/** The counts of one hour or day. */
export const MessageStatsRow = Type.Object({
  at: Type.String({ format: 'date-time', description: 'When it begins' }),
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
      description: 'Scheduled and queued; counted up to 10,000, among the newest 20,000 of both modes',
    }),
    waitingMore: Type.Boolean({ description: 'Whether more may wait than were counted' }),
    unknown: Type.Integer({
      minimum: 0,
      description: 'Still unknown; counted likewise, apart from what waits',
    }),
    unknownMore: Type.Boolean({ description: 'Whether more may be unknown than were counted' }),
  }),
  rows: Type.Array(MessageStatsRow, {
    description: 'In order; hours and days without anything are left out',
  }),
})
export type MessageStats = Static<typeof MessageStats>
