import { type Static, Type } from 'typebox'
import { EmailField } from './console.ts'
import { KEY_MODES, KEY_ROLES, PERMISSIONS } from './enums.ts'
import { IsoTime, nullable } from './envelope.ts'

/** Schemas of members and invitations. */

/** A member's default permissions; owners have all permissions. */
export const MEMBER_PERMISSIONS = ['messages:create', 'messages:read'] as const

const Role = Type.Enum(KEY_ROLES)
const Permissions = Type.Array(Type.Enum(PERMISSIONS), {
  maxItems: PERMISSIONS.length,
  description: 'For a member; an owner has all permissions. By default messages:create and messages:read',
})
const MaybeTime = nullable(IsoTime)

export const Member = Type.Object({
  id: Type.String(),
  email: Type.String(),
  name: Type.String(),
  role: Role,
  permissions: Type.Array(Type.Enum(PERMISSIONS)),
  totp: Type.Boolean({ description: 'The member has a second factor' }),
  lastSeenAt: MaybeTime,
  joinedAt: IsoTime,
})
export type Member = Static<typeof Member>

export const MemberUpdate = Type.Object({
  role: Type.Optional(Role),
  permissions: Type.Optional(Permissions),
})
export type MemberUpdate = Static<typeof MemberUpdate>

/** A key of a person who was removed: it belongs to the account, and stays valid. */
export const MadeKey = Type.Object({
  id: Type.String(),
  accountId: Type.String(),
  name: Type.String(),
  mode: Type.Enum(KEY_MODES),
  role: Role,
})
export type MadeKey = Static<typeof MadeKey>

export const MemberRemoved = Type.Object({
  id: Type.String(),
  deleted: Type.Literal(true),
  apiKeys: Type.Array(MadeKey, {
    description:
      'Keys that stay valid: those that the person created, and those created with such keys. Revoke ' +
      'the ones that the person may still know',
  }),
})
export type MemberRemoved = Static<typeof MemberRemoved>

export const InvitationCreate = Type.Object({
  email: EmailField,
  role: Role,
  permissions: Type.Optional(Permissions),
  mail: Type.Optional(
    Type.Boolean({
      description: "Send the link by e-mail, over the connection that the account's own e-mails would use",
    }),
  ),
})
export type InvitationCreate = Static<typeof InvitationCreate>

export const Invitation = Type.Object({
  id: Type.String(),
  email: Type.String(),
  role: Type.Enum([...KEY_ROLES, 'operator'] as const),
  permissions: Type.Array(Type.Enum(PERMISSIONS)),
  status: Type.Enum(['pending', 'accepted', 'expired'] as const),
  invitedBy: Type.String(),
  createdAt: IsoTime,
  expiresAt: IsoTime,
  acceptedAt: MaybeTime,
})
export type Invitation = Static<typeof Invitation>

export const MAIL_STATES = ['sent', 'queued', 'failed', 'no_connection', 'not_asked'] as const

/** The only response with the link. */
export const InvitationMade = Type.Object({
  invitation: Invitation,
  link: Type.String({ description: 'Only for the invited person; only this response contains it' }),
  mail: Type.Enum(MAIL_STATES, {
    description:
      '`no_connection`: e-mail only has the sandbox, which others can read; pass the link on yourself',
  }),
})
export type InvitationMade = Static<typeof InvitationMade>

// The operator's

export const Person = Type.Object({
  id: Type.String(),
  email: Type.String(),
  name: Type.String(),
  operator: Type.Boolean(),
  totp: Type.Boolean(),
  memberships: Type.Array(
    Type.Object({
      accountId: Type.String(),
      accountName: Type.String(),
      role: Role,
      permissions: Type.Array(Type.Enum(PERMISSIONS)),
    }),
  ),
  lastSeenAt: MaybeTime,
  createdAt: IsoTime,
})
export type Person = Static<typeof Person>

export const MembershipCreate = Type.Object({
  userId: Type.String({ maxLength: 40 }),
  accountId: Type.String({ maxLength: 40 }),
  role: Role,
  permissions: Type.Optional(Permissions),
})
export type MembershipCreate = Static<typeof MembershipCreate>

export const PersonUpdate = Type.Object({ operator: Type.Optional(Type.Boolean()) })
export type PersonUpdate = Static<typeof PersonUpdate>

export const AdminInvitationCreate = Type.Object({
  email: EmailField,
  role: Type.Enum([...KEY_ROLES, 'operator'] as const),
  accountId: Type.Optional(Type.String({ maxLength: 40, description: 'Required for owner and member' })),
  permissions: Type.Optional(Permissions),
})
export type AdminInvitationCreate = Static<typeof AdminInvitationCreate>

export const AdminInvitation = Type.Object({
  ...Invitation.properties,
  accountId: nullable(Type.String()),
  accountName: nullable(Type.String()),
})
export type AdminInvitation = Static<typeof AdminInvitation>

export const AdminInvitationMade = Type.Object({ invitation: AdminInvitation, link: Type.String() })
export type AdminInvitationMade = Static<typeof AdminInvitationMade>

export const AdminInvitationRemoved = Type.Object({
  id: Type.String(),
  accountId: nullable(Type.String({ description: 'Null for an invitation of an operator' })),
  deleted: Type.Literal(true),
})
export type AdminInvitationRemoved = Static<typeof AdminInvitationRemoved>

export const ResetMade = Type.Object({
  link: Type.String({
    description: 'Sets a new password and removes the second factor; only this response contains it',
  }),
  expiresAt: IsoTime,
})
export type ResetMade = Static<typeof ResetMade>
