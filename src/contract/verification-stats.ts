import { type Static, Type } from 'typebox'
import { CHANNELS } from './enums.ts'
import { nullable, oneOf, pageQuery } from './envelope.ts'

const Day = (description: string) => Type.Optional(Type.String({ maxLength: 10, description }))

export const StatsQuery = pageQuery({
  from: Day('The first day, in UTC, as in 2030-01-31; 30 days where absent'),
  to: Day('The last day; today where absent'),
  groupBy: Type.Optional(
    Type.String({ maxLength: 40, description: 'Some of `day`, `channel` and `country`, parted by commas' }),
  ),
})
export type StatsQuery = Static<typeof StatsQuery>

export const StatsRow = Type.Object({
  day: nullable(
    Type.String({ description: 'On which the verifications began; null when not grouped by it' }),
  ),
  channel: nullable(oneOf(CHANNELS)),
  country: nullable(Type.String({ description: 'Null too for recipients without one' })),
  started: Type.Integer({ description: 'Verifications of which at least one code was taken by a provider' }),
  sent: Type.Integer({
    description: 'Codes that providers took, resends and every channel of a fan-out included',
  }),
  delivered: Type.Integer({ description: 'Those of which a provider said that they arrived' }),
  verified: Type.Integer(),
  conversion: nullable(Type.Number({ description: 'verified / started; null where nothing started' })),
  cost: Type.Number({ description: 'Of the codes that were charged' }),
  currency: Type.String(),
  blocked: Type.Integer({ description: 'Sends that the fraud guard refused' }),
})
export type StatsRow = Static<typeof StatsRow>
