import { type Static, Type } from 'typebox'
import { IsoTime, nullable } from './envelope.ts'
import { TemplateSender } from './template.ts'

/** An official sender as its account sees it: the fields that templates show, and the provider's status. */
export const OfficialSender = Type.Object({
  ...TemplateSender.properties,
  status: Type.String({
    description:
      '`disabled` if the operator disabled the sender, `unknown` until the provider has reported a ' +
      "status, else the provider's status in lower case, such as `connected`, `flagged` or `banned`",
  }),
  qualityRating: nullable(Type.String({ description: "The provider's value, such as `GREEN`" })),
  messagingLimit: nullable(
    Type.String({
      description: "The provider's limit for new conversations in 24 hours, such as `TIER_1K`",
    }),
  ),
  lastCheckedAt: nullable(IsoTime),
})
export type OfficialSender = Static<typeof OfficialSender>

export const OfficialSenderQuery = Type.Object({
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 500, description: 'Rows per page; if absent, all of them' }),
  ),
  cursor: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 500,
      description: 'The `nextCursor` of the previous page; opaque',
    }),
  ),
})
export type OfficialSenderQuery = Static<typeof OfficialSenderQuery>
