import type { KeyMode, Permission } from '../../../src/contract/enums.ts'

/** What an operation requires of its caller. */
type Demand = { permission?: Permission; owner?: true; mode?: KeyMode }

/** The rights of a caller that acts for an account. */
export type Holding = { permissions: readonly Permission[]; owner: boolean; mode: KeyMode }

/** A caller and what it may use below `/api/v2`, `/api/admin` and `/api/console`; a status is a refusal. */
export type Caller = {
  headers: Record<string, string>
  holds: Holding | 401 | 403
  admin: 'let in' | 401 | 403
  console: 'let in' | 401
}

const CREATE: Demand = { permission: 'messages:create' }
const READ: Demand = { permission: 'messages:read' }
const OWNER: Demand = { owner: true }
const ANY: Demand = {}

/** What every operation below `/api/v2` requires; repeated here so that no rule changes by mistake. */
export const DEMANDS: Readonly<Record<string, Demand>> = {
  'POST /messages/send': CREATE,
  'POST /messages/estimate': CREATE,
  'GET /messages': READ,
  'GET /messages/policies': CREATE,
  'GET /messages/events': READ,
  'GET /messages/:messageId': ANY,
  'POST /messages/:messageId/cancel': CREATE,
  'POST /messages/bulk': CREATE,
  'GET /messages/bulk': READ,
  'GET /messages/bulk/:jobId': READ,
  'GET /messages/bulk/:jobId/rows': READ,
  'GET /messages/bulk/:jobId/events': READ,
  'POST /messages/bulk/:jobId/pause': CREATE,
  'POST /messages/bulk/:jobId/resume': CREATE,
  'POST /messages/bulk/:jobId/cancel': CREATE,
  'POST /verification/send': CREATE,
  'POST /verification/resend': CREATE,
  'POST /verification/verify': CREATE,
  'GET /verification/blocks': ANY,
  'GET /verification/stats': ANY,
  'GET /verification/:verificationId': ANY,
  'GET /inbound': READ,
  'GET /inbound/events': READ,
  'GET /inbound/:inboundId': READ,
  'GET /inbound/:inboundId/media/:index': READ,
  'POST /suppressions': CREATE,
  'GET /suppressions': ANY,
  'DELETE /suppressions/:id': CREATE,
  'GET /account': ANY,
  'PATCH /account': OWNER,
  'GET /wallet': ANY,
  'PATCH /wallet': { ...OWNER, ...CREATE },
  'GET /wallet/ledger': ANY,
  'GET /stats': ANY,
  'GET /sandbox/messages': { mode: 'test' },
  'POST /templates/media': CREATE,
  'GET /templates/media/:assetId': ANY,
  'DELETE /templates/media/:assetId': CREATE,
  'POST /templates': CREATE,
  'GET /templates': ANY,
  'GET /templates/platform': CREATE,
  'GET /templates/:id': ANY,
  'DELETE /templates/:id': CREATE,
  'POST /templates/:id/default': CREATE,
  'POST /templates/:id/enable': CREATE,
  'POST /templates/:id/disable': CREATE,
  'POST /templates/:id/preview': CREATE,
  'POST /sms-senders': { ...OWNER, ...CREATE },
  'GET /sms-senders': CREATE,
  'POST /sms-senders/:id/default': CREATE,
  'GET /official-senders': ANY,
  'POST /official-senders/:id/default': CREATE,
  'POST /chatapp-sessions': CREATE,
  'GET /chatapp-sessions': CREATE,
  'GET /chatapp-sessions/:name': CREATE,
  'GET /chatapp-sessions/:name/chats': CREATE,
  'POST /chatapp-sessions/:name/restart': CREATE,
  'DELETE /chatapp-sessions/:name': CREATE,
  'POST /botapp-bots': CREATE,
  'GET /botapp-bots': CREATE,
  'DELETE /botapp-bots/:botId': CREATE,
  'GET /botapp-bots/:botId/subscribers': ANY,
  'POST /webhooks': CREATE,
  'GET /webhooks': CREATE,
  'GET /webhooks/:id': CREATE,
  'PATCH /webhooks/:id': CREATE,
  'DELETE /webhooks/:id': CREATE,
  'POST /webhooks/:id/test': CREATE,
  'POST /webhooks/:id/rotate': CREATE,
  'POST /webhooks/:id/replay': CREATE,
  'GET /webhooks/:id/deliveries': CREATE,
  'GET /webhooks/:id/deliveries/:deliveryId': CREATE,
  'POST /webhooks/:id/deliveries/:deliveryId/replay': CREATE,
  'POST /webhooks/deliveries/:deliveryId/replay': CREATE,
  'GET /members': OWNER,
  'PATCH /members/:id': OWNER,
  'DELETE /members/:id': OWNER,
  'GET /members/invitations': OWNER,
  'POST /members/invitations': OWNER,
  'DELETE /members/invitations/:id': { ...OWNER, mode: 'live' },
  'GET /api-keys': { permission: 'api_keys:read' },
  'POST /api-keys': { permission: 'api_keys:write' },
  'DELETE /api-keys/:id': { permission: 'api_keys:write' },
  'POST /api-keys/:id/rotate': { permission: 'api_keys:write' },
  'GET /audit': OWNER,
}

/** The expected outcome of an operation for a caller. */
export function expectedOf(
  { holds, admin, console }: Caller,
  method: string,
  url: string,
): 'let in' | 401 | 403 {
  if (url.startsWith('/api/admin/')) return admin
  if (url.startsWith('/api/console/')) return console
  if (typeof holds === 'number') return holds
  const {
    permission,
    owner = false,
    mode = holds.mode,
  } = DEMANDS[`${method} ${url.slice('/api/v2'.length)}`]!
  const lacks = permission !== undefined && !holds.permissions.includes(permission)
  return lacks || (owner && !holds.owner) || mode !== holds.mode ? 403 : 'let in'
}
