import { type Static, Type } from 'typebox'
import { CHANNELS } from './enums.ts'
import { IsoTime, nullable, oneOf, pageQuery } from './envelope.ts'

/** The source: the account or operator through the API, the recipient by a keyword such as STOP, or the provider. */
export const SUPPRESSION_SOURCES = ['api', 'stop', 'provider'] as const
export type SuppressionSource = (typeof SUPPRESSION_SOURCES)[number]

const To = Type.String({
  minLength: 1,
  maxLength: 320,
  description: 'A phone number in E.164, an e-mail address, a group id or a chat id',
})

export const SuppressionCreate = Type.Object({
  to: To,
  channel: Type.Optional(oneOf(CHANNELS, { description: 'If absent, every channel' })),
  reason: Type.Optional(Type.String({ maxLength: 500 })),
})
export type SuppressionCreate = Static<typeof SuppressionCreate>

/** A recipient who gets no marketing messages. */
export const SuppressionView = Type.Object({
  id: Type.String(),
  to: Type.String(),
  channel: nullable(oneOf(CHANNELS, { description: 'Null for every channel' })),
  source: oneOf(SUPPRESSION_SOURCES),
  reason: nullable(Type.String()),
  createdAt: IsoTime,
})
export type SuppressionView = Static<typeof SuppressionView>

/** A suppression that a recipient made at a number that accounts share. */
export const SharedSuppressionView = Type.Object({
  ...SuppressionView.properties,
  connectionId: nullable(
    Type.String({ description: 'The connection whose sender must not write to the recipient' }),
  ),
})
export type SharedSuppressionView = Static<typeof SharedSuppressionView>

export const SuppressionQuery = pageQuery({
  to: Type.Optional(To),
  channel: Type.Optional(oneOf(CHANNELS, { description: 'Only those of exactly this channel' })),
})
export type SuppressionQuery = Static<typeof SuppressionQuery>
