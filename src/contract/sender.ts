import { type Static, Type } from 'typebox'
import { withPattern } from './pattern.ts'

export const SENDER_STATUSES = ['pending', 'approved', 'rejected'] as const
export type SenderStatus = (typeof SENDER_STATUSES)[number]

/** An SMS sender name as its account sees it. */
export const SmsSenderView = Type.Object({
  id: Type.String(),
  name: Type.String(),
  status: Type.Enum(SENDER_STATUSES),
  isDefault: Type.Boolean(),
  webhookConfigured: Type.Boolean(),
  reason: Type.Optional(
    Type.String({ description: "The operator's reason for a rejection; absent otherwise" }),
  ),
})
export type SmsSenderView = Static<typeof SmsSenderView>

/** An account's request for a sender name. */
export const SmsSenderRequest = Type.Object({
  name: Type.String({
    minLength: 1,
    maxLength: 50,
    description: '3–11 letters, digits, spaces, `.`, `-` or `_` with at least one letter, or 3–15 digits',
  }),
  webhookUrl: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 2_048,
      description: 'An https URL at a public address, called when the name is approved or rejected',
    }),
  ),
  webhookSecret: Type.Optional(
    Type.String({
      // Sent in a header: visible ASCII, spaces only inside.
      ...withPattern('^[!-~](?:[ -~]*[!-~])?$', 'must be printable ASCII, without a space at either end'),
      maxLength: 256,
      description: 'Required with `webhookUrl`; never returned',
    }),
  ),
})
export type SmsSenderRequest = Static<typeof SmsSenderRequest>
