import { inWords } from '../../parts/status-badge.tsx'

/** By group; the API accepts the first part of an action as a filter for its group. */
const OF_ACCOUNTS: Readonly<Record<string, string>> = {
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
const OF_THE_PLATFORM: Readonly<Record<string, string>> = {
  connection: 'Connections',
  price: 'Prices',
  person: 'People',
  login: 'Logins',
}
const NAMES: typeof OF_ACCOUNTS = { ...OF_ACCOUNTS, ...OF_THE_PLATFORM }

const choices = (names: typeof NAMES) => Object.entries(names).map(([value, label]) => ({ value, label }))
export const ACCOUNT_GROUPS = choices(OF_ACCOUNTS)
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
export function actionInWords(action: string): string {
  const [group = '', what = ''] = action.split('.')
  return what === ''
    ? inWords(group)
    : `${NAMES[group] ?? inWords(group)}: ${VERBS[what] ?? what.replaceAll('_', ' ')}`
}
