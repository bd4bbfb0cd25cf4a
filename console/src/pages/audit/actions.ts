import { humanize } from '../../parts/status-badge.tsx'

/** By group; the API accepts the first part of an action as a filter for its group. */
const ACCOUNT_GROUP_NAMES: Readonly<Record<string, string>> = {
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
  fraud: 'Fraud rules',
}
/** Of the platform, or of a login. */
const PLATFORM_GROUP_NAMES: Readonly<Record<string, string>> = {
  connection: 'Connections',
  price: 'Prices',
  person: 'People',
  login: 'Logins',
}
const NAMES: typeof ACCOUNT_GROUP_NAMES = { ...ACCOUNT_GROUP_NAMES, ...PLATFORM_GROUP_NAMES }

const choices = (names: typeof NAMES) => Object.entries(names).map(([value, label]) => ({ value, label }))
export const ACCOUNT_GROUPS = choices(ACCOUNT_GROUP_NAMES)
export const ALL_GROUPS = choices(NAMES)

const VERBS: Readonly<Record<string, string>> = {
  create: 'created',
  update: 'changed',
  delete: 'removed',
  replace: 'replaced',
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
  reset: 'reset link created',
  setup: 'first login created',
  enter: 'signed in',
  password: 'password changed',
  totp_on: 'second factor on',
  totp_off: 'second factor off',
  session_end: 'signed out elsewhere',
}

/** `api_key.create` is "API keys: created". */
export function actionLabel(action: string): string {
  const [group = '', what = ''] = action.split('.')
  return what === ''
    ? humanize(group)
    : `${NAMES[group] ?? humanize(group)}: ${VERBS[what] ?? what.replaceAll('_', ' ')}`
}
