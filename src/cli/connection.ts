import type { ConnectionTest, ConnectionView, ConnectionWebhook } from '../contract/admin.ts'
import { misuse } from '../lib/refusal.ts'
import { clientCommand, type Invocation } from './client-command.ts'
import { readJsonFile } from './files.ts'
import { PAGE_OPTIONS, pageQuery } from './query.ts'
import { card, table } from './show.ts'

const FIELDS = {
  name: { type: 'string' },
  channel: { type: 'string', multiple: true },
  set: { type: 'string', multiple: true },
  config: { type: 'string' },
  priority: { type: 'string' },
  attempts: { type: 'string' },
  'backoff-ms': { type: 'string' },
  type: { type: 'string', multiple: true },
  mode: { type: 'string', multiple: true },
} as const
const FIELDS_USAGE =
  '[--set FIELD=VALUE]… [--config FILE.json|-] [--priority 100] [--attempts 4] [--backoff-ms 5000] ' +
  '[--type otp]… [--mode otp=plain_text]…'

export const add = clientCommand({
  usage:
    `connection add --provider smpp --name NAME --channel int_sms… ${FIELDS_USAGE} [--account ACCOUNT] ` +
    '[--disabled]   (secrets are better in --config than on the command line)',
  argCount: 0,
  options: {
    ...FIELDS,
    provider: { type: 'string' },
    account: { type: 'string' },
    disabled: { type: 'boolean' },
  },
  call: given =>
    given.client.admin('POST', '/connections', {
      ...fieldsOf(given),
      provider: given.required('provider'),
      name: given.required('name'),
      channels: given.texts('channel') ?? [],
      accountId: given.text('account'),
      enabled: !given.flag('disabled'),
    }),
  show: answer => cardOf((answer['data'] as { connection: ConnectionView }).connection),
})

export const list = clientCommand({
  usage: 'connection list [--limit 50] [--cursor CURSOR]',
  argCount: 0,
  options: PAGE_OPTIONS,
  call: given => given.client.admin('GET', `/connections${pageQuery(given)}`),
  show: answer =>
    table(
      ['id', 'provider', 'name', 'channels', 'enabled', 'priority', 'account', 'state'],
      (answer['data'] as ConnectionView[]).map(each => [
        each.id,
        each.provider,
        each.name,
        each.channels,
        each.enabled,
        each.priorityOrder,
        each.accountId ?? 'all',
        stateOf(each),
      ]),
    ),
})

export const update = clientCommand({
  usage:
    `connection update CONNECTION [--name NAME] [--channel int_sms]… ${FIELDS_USAGE} ` +
    '[--enable | --disable]   (--set FIELD=null clears one)',
  argCount: 1,
  options: { ...FIELDS, enable: { type: 'boolean' }, disable: { type: 'boolean' } },
  call: given =>
    given.client.admin('PATCH', `/connections/${given.pathArgs[0]}`, {
      ...fieldsOf(given),
      enabled: enabledOf(given),
    }),
  show: answer => cardOf(answer['data'] as ConnectionView),
})

export const remove = clientCommand({
  usage: 'connection remove CONNECTION',
  argCount: 1,
  call: ({ client, pathArgs }) => client.admin('DELETE', `/connections/${pathArgs[0]}`),
  show: answer => `${(answer['data'] as { id: string }).id} is removed.`,
})

export const webhook = clientCommand({
  usage: 'connection webhook CONNECTION',
  argCount: 1,
  call: ({ client, pathArgs }) => client.admin('GET', `/connections/${pathArgs[0]}/webhook`),
  show: answer =>
    (answer['data'] as ConnectionWebhook).url ??
    'This server has no public URL: set POSTHORN_PUBLIC_URL to the address at which providers reach it.',
})

export const test = clientCommand({
  usage: 'connection test CONNECTION',
  argCount: 1,
  call: ({ client, pathArgs }) => client.admin('POST', `/connections/${pathArgs[0]}/test`),
  show(answer) {
    const { ok, detail } = answer['data'] as ConnectionTest
    return `${ok ? 'works' : 'does not work'}: ${detail}`
  },
  isFailure: answer => !(answer['data'] as ConnectionTest).ok,
})

function fieldsOf(given: Invocation) {
  return {
    name: given.text('name'),
    channels: given.texts('channel'),
    config: configOf(given),
    priorityOrder: given.number('priority'),
    retryPolicy: { maxAttempts: given.number('attempts'), backoffMs: given.number('backoff-ms') },
    allowedTypes: given.texts('type'),
    sendModeByType: modesOf(given.texts('mode')),
  }
}

/** Whether the connection shall be enabled; undefined to leave it as it is. */
function enabledOf(given: Invocation): boolean | undefined {
  if (!given.flag('disable')) return given.flag('enable') || undefined
  // Either might be the one that was meant.
  if (given.flag('enable')) throw misuse('--enable and --disable exclude each other')
  return false
}

function modesOf(pairs: string[] | undefined): Record<string, string> | undefined {
  return (
    pairs &&
    Object.fromEntries(
      pairs.map(pair => {
        const [type = '', mode, ...rest] = pair.split('=')
        if (mode === undefined || rest.length > 0)
          throw misuse('--mode must be TYPE=MODE, such as otp=plain_text')
        return [type, mode]
      }),
    )
  )
}

/** The configuration: `--set` overrides `--config`; undefined if neither is given. */
function configOf(given: Invocation): Record<string, unknown> | undefined {
  const file = given.text('config')
  const pairs = given.texts('set')
  if (file === undefined && pairs === undefined) return undefined
  const read = file === undefined ? {} : readJsonFile(file)
  return { ...(read as Record<string, unknown>), ...Object.fromEntries((pairs ?? []).map(readPair)) }
}

/** The value is parsed as JSON if possible (2775, true, null), otherwise it is text. */
function readPair(pair: string): [string, unknown] {
  const at = pair.indexOf('=')
  if (at < 1) throw misuse('--set must be FIELD=VALUE, such as port=2775')
  const text = pair.slice(at + 1)
  try {
    return [pair.slice(0, at), JSON.parse(text)]
  } catch {
    return [pair.slice(0, at), text]
  }
}

/** The state of the link, and of the circuit unless it is closed. */
function stateOf({ state }: ConnectionView): string {
  return state.circuit === 'closed' ? state.link : `${state.link}, circuit ${state.circuit}`
}

function cardOf(connection: ConnectionView): string {
  const { maxAttempts, backoffMs } = connection.retryPolicy
  return card([
    ['id', connection.id],
    ['provider', connection.provider],
    ['name', connection.name],
    ['channels', connection.channels],
    ['account', connection.accountId ?? 'all'],
    ['enabled', connection.enabled],
    ['priority', connection.priorityOrder],
    ['attempts', `${maxAttempts}, ${backoffMs} ms apart at first`],
    ['types', connection.allowedTypes],
    ['modes', connection.sendModeByType],
    ['state', stateOf(connection)],
    ['config', connection.config],
    ['secrets set', connection.secretsSet],
  ])
}
