import { type Static, Type } from 'typebox'
import { CHANNELS } from './enums.ts'
import { nullable, oneOf, pageQuery } from './envelope.ts'

const Day = (description: string) => Type.Optional(Type.String({ maxLength: 10, description }))

export const StatsQuery = pageQuery({
  from: Day('The first day, in UTC, such as 2030-01-31; by default 30 days up to `to`'),
  to: Day('The last day, included; by default today'),
  groupBy: Type.Optional(
    Type.String({
      maxLength: 40,
      description: 'One or more of `day`, `channel` and `country`, separated by commas',
    }),
  ),
})
export type StatsQuery = Static<typeof StatsQuery>

export const StatsRow = Type.Object({
  day: nullable(
    Type.String({ description: 'The day on which the verifications began; null if not grouped by day' }),
  ),
  channel: nullable(oneOf(CHANNELS)),
  country: nullable(Type.String({ description: 'Also null for recipients without a country' })),
  started: Type.Integer({ description: 'Verifications with at least one code that a provider accepted' }),
  sent: Type.Integer({
    description: 'Codes that providers accepted; each resend, and each channel of a fan-out, counts',
  }),
  delivered: Type.Integer({ description: 'Codes with a delivery receipt' }),
  verified: Type.Integer(),
  conversion: nullable(Type.Number({ description: 'verified / started; null if nothing was started' })),
  cost: Type.Number({ description: 'The amount charged for codes' }),
  currency: Type.String(),
  blocked: Type.Integer({ description: 'Sends that the fraud guard refused' }),
})
export type StatsRow = Static<typeof StatsRow>
