import type { Member, Permission } from '../../../../sdk/index.ts'

export const MEMBERS = '/api/v2/members'

export const RIGHTS: readonly (readonly [Permission, string])[] = [
  ['messages:create', 'Send, verify, manage templates, webhooks, bots and sessions'],
  ['messages:read', 'Read messages, bulk jobs and what came in'],
  ['api_keys:read', 'List keys'],
  ['api_keys:write', 'Make, rotate and revoke keys'],
]
/** What a new member may do unless one says otherwise. */
export const USUAL_RIGHTS: Permission[] = ['messages:create', 'messages:read']

const SHORT: Readonly<Record<Permission, string>> = {
  'messages:create': 'send',
  'messages:read': 'read',
  'api_keys:read': 'see keys',
  'api_keys:write': 'make keys',
}

export function rightsInWords({ role, permissions }: Pick<Member, 'role' | 'permissions'>): string {
  if (role === 'owner') return 'everything'
  return permissions.length === 0 ? 'look around' : permissions.map(each => SHORT[each] ?? each).join(', ')
}
