import { inWords } from '../../parts/status-badge.tsx'

/** By what was changed; the API takes the first part of an action for all of its group. */
const NAMES: Readonly<Record<string, string>> = {
  api_key: 'API keys',
  member: 'Members',
  invitation: 'Invitations',
  sms_sender: 'SMS senders',
  official_sender: 'Official senders',
  template: 'Templates',
  webhook: 'Webhooks',
  suppression: 'Suppressions',
  bulk_job: 'Bulk jobs',
  bot: 'Bots',
  web_session: 'Web sessions',
  wallet: 'Wallet',
  account: 'Account',
  connection: 'Connections',
}
export const GROUPS = Object.entries(NAMES).map(([value, label]) => ({ value, label }))

const VERBS: Readonly<Record<string, string>> = {
  create: 'created',
  update: 'changed',
  delete: 'removed',
  revoke: 'revoked',
  rotate: 'rotated',
  accept: 'accepted',
  approve: 'approved',
  reject: 'rejected',
  default: 'made the default',
  enable: 'enabled',
  disable: 'disabled',
  restart: 'restarted',
  replay: 'replayed',
  pause: 'paused',
  resume: 'resumed',
  cancel: 'cancelled',
  credit: 'credited',
}

/** `api_key.create` is "API keys: created". */
export function actionInWords(action: string): string {
  const [group = '', what = ''] = action.split('.')
  return what === ''
    ? inWords(group)
    : `${NAMES[group] ?? inWords(group)}: ${VERBS[what] ?? what.replaceAll('_', ' ')}`
}
