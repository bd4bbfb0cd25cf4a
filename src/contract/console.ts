import { type Static, Type } from 'typebox'
import { KEY_ROLES, PERMISSIONS } from './enums.ts'
import { IsoTime, nullable } from './envelope.ts'
import { Name } from './name.ts'
import { withPattern } from './pattern.ts'

/**
 * Schemas of sign-in and the person's own profile, `/api/console`. For everything else the console uses the
 * public API and the operator's.
 */

export const EmailField = Type.String({ minLength: 3, maxLength: 254, description: 'An e-mail address' })
/** The password of an existing login: it may be shorter than today's minimum. */
const Password = Type.String({ minLength: 1, maxLength: 200 })
export const MIN_PASSWORD_LENGTH = 10
export const NewPassword = Type.String({
  minLength: MIN_PASSWORD_LENGTH,
  maxLength: 200,
  description: 'Any characters; must differ from the e-mail address',
})
const Totp = Type.String({
  minLength: 6,
  maxLength: 20,
  description: 'Six digits from the authenticator app, or a recovery code',
})
const InvitationToken = Type.String({
  minLength: 1,
  maxLength: 200,
  description: 'The part of the link after the #',
})

export const SetupState = Type.Object({
  needed: Type.Boolean({ description: 'No login exists yet; the first one can be created' }),
  operatorToken: Type.Boolean({
    description:
      'The first login requires the operator token, since the server can be reached from other ' + 'machines',
  }),
})
export type SetupState = Static<typeof SetupState>

export const SetupBody = Type.Object({
  email: EmailField,
  name: Name,
  password: NewPassword,
  operatorToken: Type.Optional(Type.String({ minLength: 1, maxLength: 500 })),
})
export type SetupBody = Static<typeof SetupBody>

export const LoginBody = Type.Object({ email: EmailField, password: Password, totp: Type.Optional(Totp) })
export type LoginBody = Static<typeof LoginBody>

export const MembershipView = Type.Object({
  account: Type.Object({
    id: Type.String(),
    name: Type.String(),
    status: Type.Enum(['active', 'suspended'] as const),
    homeCountry: Type.String(),
    currency: Type.String(),
  }),
  role: Type.Enum(KEY_ROLES),
  permissions: Type.Array(Type.Enum(PERMISSIONS)),
})
export type MembershipView = Static<typeof MembershipView>

export const UserView = Type.Object({
  id: Type.String(),
  email: Type.String(),
  name: Type.String(),
  operator: Type.Boolean(),
  totp: Type.Boolean({ description: 'The second factor is on' }),
  recoveryCodesLeft: Type.Integer(),
  createdAt: IsoTime,
})
export type UserView = Static<typeof UserView>

/** The signed-in person, and the accounts that they may act for. */
export const SessionView = Type.Object({
  user: UserView,
  memberships: Type.Array(MembershipView),
  csrfToken: Type.String({ description: 'To be sent as `X-CSRF-Token` with every request except GET' }),
  session: Type.Object({
    id: Type.String(),
    createdAt: IsoTime,
    expiresAt: Type.String({
      format: 'date-time',
      description: 'The latest time; 12 hours without use end the session too',
    }),
  }),
})
export type SessionView = Static<typeof SessionView>

/** One session of a signed-in person. */
export const SessionRow = Type.Object({
  id: Type.String(),
  current: Type.Boolean({ description: 'The session of this request' }),
  createdAt: IsoTime,
  lastSeenAt: IsoTime,
  ip: nullable(Type.String()),
  userAgent: nullable(Type.String()),
})
export type SessionRow = Static<typeof SessionRow>

export const UserUpdate = Type.Object({ name: Type.Optional(Name) })
export type UserUpdate = Static<typeof UserUpdate>

export const PasswordChange = Type.Object({ currentPassword: Password, newPassword: NewPassword })
export type PasswordChange = Static<typeof PasswordChange>

export const PasswordProof = Type.Object({ password: Password })

export const TotpStart = Type.Object({
  secret: Type.String({ description: 'Base32, for manual entry' }),
  uri: Type.String({ description: '`otpauth://…`, for a QR code' }),
})
export type TotpStart = Static<typeof TotpStart>

export const TotpConfirm = Type.Object({
  code: Type.String({
    ...withPattern('^[0-9]{6}$', 'must be six digits'),
    description: 'The code that the authenticator app shows',
  }),
})

export const TotpDone = Type.Object({
  recoveryCodes: Type.Array(Type.String(), {
    description: 'Each works once; only this response contains them',
  }),
  session: SessionView,
})
export type TotpDone = Static<typeof TotpDone>

export const InvitationRead = Type.Object({ token: InvitationToken })

/** What a link is for, shown to the person who opens it. */
export const InvitationPreview = Type.Object({
  kind: Type.Enum(['invitation', 'reset'] as const, {
    description: '`reset`: a new password for an existing login',
  }),
  email: Type.String(),
  accountName: nullable(Type.String({ description: 'Null for an invitation as operator' })),
  role: nullable(Type.Enum([...KEY_ROLES, 'operator'] as const)),
  hasLogin: Type.Boolean({ description: 'A login exists; its password accepts the invitation' }),
  expiresAt: IsoTime,
})
export type InvitationPreview = Static<typeof InvitationPreview>

export const InvitationAccept = Type.Object({
  token: InvitationToken,
  name: Type.Optional(Name),
  password: Type.String({
    minLength: 1,
    maxLength: 200,
    description: 'A new password, or that of the existing login',
  }),
  totp: Type.Optional(Totp),
})
export type InvitationAccept = Static<typeof InvitationAccept>

export const InvitationAccepted = Type.Object({
  ...SessionView.properties,
  joined: nullable(Type.String({ description: 'The account that the person joined, if any' })),
})
export type InvitationAccepted = Static<typeof InvitationAccepted>
