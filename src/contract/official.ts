import { type Static, Type } from 'typebox'
import { IsoTime, nullable } from './envelope.ts'
import { TemplateSender } from './template.ts'

/** An official sender as its account sees it: the fields that templates show, and the provider's status. */
export const OfficialSender = Type.Object({
  ...TemplateSender.properties,
  status: Type.String({
    description:
      '`disabled` where the operator turned it off, `unknown` until the provider has said anything, else the provider’s own word in lower case, such as `connected`, `flagged` or `banned`',
  }),
  qualityRating: nullable(Type.String({ description: 'In the provider’s words, such as `GREEN`' })),
  messagingLimit: nullable(
    Type.String({
      description:
        'With how many recipients it may begin a conversation in 24 hours, in the provider’s words, such as `TIER_1K`',
    }),
  ),
  lastCheckedAt: nullable(IsoTime),
})
export type OfficialSender = Static<typeof OfficialSender>

export const OfficialSenderQuery = Type.Object({
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 500, description: 'Rows of one page; without it, all there are' }),
  ),
  cursor: Type.Optional(
    Type.String({ minLength: 1, maxLength: 500, description: 'From `nextCursor`; opaque' }),
  ),
})
export type OfficialSenderQuery = Static<typeof OfficialSenderQuery>
