import { type Static, Type } from 'typebox'
import { AdminKey } from './admin.ts'
import { KEY_MODES, KEY_ROLES, PERMISSIONS } from './enums.ts'
import { Name } from './name.ts'

/** A key as its account sees it. */
export const ApiKey = AdminKey
export type ApiKey = AdminKey

export const ApiKeyCreate = Type.Object({
  name: Name,
  mode: Type.Enum(KEY_MODES),
  permissions: Type.Array(Type.Enum(PERMISSIONS), { maxItems: PERMISSIONS.length }),
  role: Type.Optional(
    Type.Enum(KEY_ROLES, {
      description: "By default member; only an owner's key may use operations for owners",
    }),
  ),
  expiresAt: Type.Optional(Type.String({ maxLength: 40, description: 'ISO 8601, in the future' })),
})
export type ApiKeyCreate = Static<typeof ApiKeyCreate>

/** The only response that contains the key itself. */
export const ApiKeyMade = Type.Object({ key: ApiKey, apiKey: Type.String() })

const MAX_OVERLAP_SECONDS = 30 * 86_400

export const ApiKeyRotate = Type.Object({
  overlapSeconds: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: MAX_OVERLAP_SECONDS,
      description: 'How long the old key stays valid; by default a day; 0 ends it at once',
    }),
  ),
})
export type ApiKeyRotate = Static<typeof ApiKeyRotate>

export const ApiKeyRotated = Type.Object({ key: ApiKey, apiKey: Type.String(), previous: ApiKey })
