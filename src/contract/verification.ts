import { type Static, Type } from 'typebox'
import { CHANNELS, KEY_MODES, VERIFICATION_CHANNELS } from './enums.ts'
import { IsoTime, nullable, oneOf } from './envelope.ts'
import { SenderChoice } from './send.ts'

const To = Type.String({ minLength: 1, maxLength: 320, description: 'E.164 phone or e-mail address' })
const Reference = Type.String({ minLength: 1, maxLength: 200 })

/** The body of `POST /api/v2/verification/send`. */
export const VerificationSend = Type.Object({
  to: To,
  // Any text: an unknown channel is refused with the error that the contract defines.
  channel: Type.Optional(
    Type.String({ description: `${VERIFICATION_CHANNELS.join(', ')}; if absent, routing chooses` }),
  ),
  senderId: Type.Optional(Reference),
  officialSenderId: Type.Optional(Reference),
  sender: Type.Optional(SenderChoice),
  clientIp: Type.Optional(
    Type.String({ maxLength: 45, description: 'The address of the end user who requested the code' }),
  ),
  idempotencyKey: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
})
export type VerificationSend = Static<typeof VerificationSend>

const WHICH = {
  verificationId: Type.Optional(Reference),
  to: Type.Optional(To),
}

/** Either of the two identifiers, or both if they agree. */
export const VerificationResend = Type.Object({
  ...WHICH,
  clientIp: Type.Optional(
    Type.String({ maxLength: 45, description: 'The address of the end user who requested the code' }),
  ),
})
export type VerificationResend = Static<typeof VerificationResend>

export const VerificationCheck = Type.Object({
  ...WHICH,
  code: Type.String({
    minLength: 1,
    maxLength: 64,
    description: 'Digits of any script; spaces and hyphens are ignored',
  }),
})
export type VerificationCheck = Static<typeof VerificationCheck>

const Delivery = Type.Object({
  channel: Type.Enum(CHANNELS),
  messageId: Type.String(),
  status: Type.Enum(['sent', 'queued', 'failed'] as const),
})
export type VerificationDelivery = Static<typeof Delivery>

export const ORDER_SOURCES = ['learned', 'policy', 'trial'] as const

const Evidence = Type.Object({
  channel: Type.Enum(CHANNELS),
  codes: Type.Integer({ description: 'Weighted number of recent codes; older ones count less' }),
  conversion: Type.Number({ description: 'The estimated share of confirmed codes' }),
  deliverySeconds: Type.Number({ description: 'The estimated time until delivery' }),
})
export type ChannelEvidence = Static<typeof Evidence>

const Order = Type.Object({
  by: oneOf(ORDER_SOURCES, {
    description:
      '`learned`: by the results of earlier codes; `policy`: there is too little data; `trial`: a ' +
      'channel with little data goes first',
  }),
  country: Type.String(),
  channels: Type.Array(Evidence, { description: 'In the order in which they are tried' }),
})
/** How the order of channels was determined. */
export type ChannelOrder = Static<typeof Order>

/** The answer to a send and to a resend. */
export const VerificationAttempt = Type.Object({
  success: Type.Literal(true),
  verificationId: Type.String(),
  status: Type.Enum(['sent', 'queued', 'scheduled'] as const),
  channel: Type.Enum(CHANNELS),
  channels: Type.Optional(
    Type.Array(Type.Enum(CHANNELS), { description: 'Present if more than one channel succeeded' }),
  ),
  deliveries: Type.Optional(
    Type.Array(Delivery, { description: 'Present if the account sends codes over several channels at once' }),
  ),
  expiresAt: IsoTime,
  resendAvailableAt: IsoTime,
  resendCount: Type.Integer({ minimum: 0 }),
  resolved: Type.Optional(
    Type.Object(
      {
        channel: Type.Enum(CHANNELS),
        channels: Type.Array(Type.Enum(CHANNELS)),
        order: Order,
      },
      { description: 'Present if the account uses a learned order and several channels are possible' },
    ),
  ),
})
export type VerificationAttempt = Static<typeof VerificationAttempt>

export const Verified = Type.Object({
  success: Type.Literal(true),
  verificationId: Type.String(),
  status: Type.Literal('verified'),
  verifiedAt: IsoTime,
})
export type Verified = Static<typeof Verified>

export const VERIFICATION_STATUSES = [
  'pending',
  'verified',
  'expired',
  'exhausted',
  'superseded',
  'failed',
] as const
export type VerificationStatus = (typeof VERIFICATION_STATUSES)[number]

/** A verification as its account sees it. */
export const VerificationView = Type.Object({
  verificationId: Type.String(),
  mode: oneOf(KEY_MODES),
  status: oneOf(VERIFICATION_STATUSES),
  to: Type.String(),
  country: nullable(Type.String()),
  channel: oneOf(CHANNELS),
  messageIds: Type.Array(Type.String(), {
    description: 'In order, the original send before the resends; read each message for its channel and cost',
  }),
  attemptsRemaining: Type.Integer(),
  resendCount: Type.Integer(),
  createdAt: IsoTime,
  expiresAt: IsoTime,
  resendAvailableAt: nullable(IsoTime),
  verifiedAt: nullable(IsoTime),
})
export type VerificationView = Static<typeof VerificationView>
