import { type Static, Type } from 'typebox'
import { ActorView } from './actor.ts'
import { IsoTime, nullable, pageQuery } from './envelope.ts'

/** Who changed what, when and from where. */
export const AuditEntry = Type.Object({
  id: Type.String(),
  at: IsoTime,
  actor: ActorView,
  action: Type.String({ description: 'For example `api_key.create`' }),
  target: nullable(
    Type.String({
      description:
        'The id of what was changed, or its name if it has no id; `platform` for a change that applies ' +
        'to every account',
    }),
  ),
  changes: Type.Record(Type.String(), Type.Unknown(), {
    description: 'The requested changes, without secrets',
  }),
  ip: nullable(Type.String()),
  requestId: Type.String(),
})
export type AuditEntry = Static<typeof AuditEntry>

export const AdminAuditEntry = Type.Object({
  ...AuditEntry.properties,
  accountId: nullable(Type.String({ description: 'Null for changes of the platform' })),
})
export type AdminAuditEntry = Static<typeof AdminAuditEntry>

const FILTERS = {
  action: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 100,
      description: 'An action such as `api_key.create`, or a group such as `api_key`',
    }),
  ),
  actorId: Type.Optional(Type.String({ description: 'Of a login or a key; nothing matches a malformed id' })),
  from: Type.Optional(Type.String({ maxLength: 40, description: 'ISO 8601' })),
  to: Type.Optional(Type.String({ maxLength: 40, description: 'ISO 8601; exclusive' })),
}

export const AuditQuery = pageQuery(FILTERS)
export type AuditQuery = Static<typeof AuditQuery>

export const AdminAuditQuery = pageQuery({
  ...FILTERS,
  accountId: Type.Optional(
    Type.String({
      maxLength: 40,
      description: 'Only those of this account; `platform` for those of no account',
    }),
  ),
})
export type AdminAuditQuery = Static<typeof AdminAuditQuery>
