import type { Member, Permission } from '../../../../sdk/index.ts'

export const MEMBERS = '/api/v2/members'

export const PERMISSIONS: readonly (readonly [Permission, string])[] = [
  ['messages:create', 'Send, verify, manage templates, webhooks, bots and sessions'],
  ['messages:read', 'Read messages, bulk jobs and inbound messages'],
  ['api_keys:read', 'List keys'],
  ['api_keys:write', 'Create, rotate and revoke keys'],
]
/** What a new member may do unless one says otherwise. */
export const DEFAULT_PERMISSIONS: Permission[] = ['messages:create', 'messages:read']

const SHORT: Readonly<Record<Permission, string>> = {
  'messages:create': 'send',
  'messages:read': 'read',
  'api_keys:read': 'see keys',
  'api_keys:write': 'manage keys',
}

export function permissionsLabel({ role, permissions }: Pick<Member, 'role' | 'permissions'>): string {
  if (role === 'owner') return 'everything'
  return permissions.length === 0 ? 'view only' : permissions.map(each => SHORT[each] ?? each).join(', ')
}
