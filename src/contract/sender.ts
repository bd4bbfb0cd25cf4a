import { type Static, Type } from 'typebox'

export const SENDER_STATUSES = ['pending', 'approved', 'rejected'] as const
export type SenderStatus = (typeof SENDER_STATUSES)[number]

/** An SMS sender name as its account sees it. */
export const SmsSenderView = Type.Object({
  id: Type.String(),
  name: Type.String(),
  status: Type.Enum(SENDER_STATUSES),
  isDefault: Type.Boolean(),
  webhookConfigured: Type.Boolean(),
})
export type SmsSenderView = Static<typeof SmsSenderView>
