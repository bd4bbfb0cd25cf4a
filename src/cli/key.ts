import type { AdminKey } from '../contract/admin.ts'
import { PERMISSIONS } from '../contract/enums.ts'
import { clientCommand } from './client-command.ts'
import { card } from './show.ts'

export const create = clientCommand({
  usage:
    'key create ACCOUNT --name NAME [--mode live|test] [--role owner|member] [--permission messages:create]… ' +
    '[--expires 2030-01-31T00:00:00Z]   (by default a live owner key with every permission)',
  argCount: 1,
  options: {
    name: { type: 'string' },
    mode: { type: 'string' },
    role: { type: 'string' },
    permission: { type: 'string', multiple: true },
    expires: { type: 'string' },
  },
  call: given =>
    given.client.admin('POST', `/accounts/${given.pathArgs[0]}/keys`, {
      name: given.required('name'),
      mode: given.text('mode') ?? 'live',
      role: given.text('role') ?? 'owner',
      permissions: given.texts('permission') ?? PERMISSIONS,
      expiresAt: given.text('expires'),
    }),
  show(answer) {
    const { key, apiKey } = answer['data'] as { key: AdminKey; apiKey: string }
    return `${cardOf(key)}\n\nThe key is shown only once:\n${apiKey}`
  },
})

export const revoke = clientCommand({
  usage: 'key revoke ACCOUNT KEY',
  argCount: 2,
  call: ({ client, pathArgs: [account, key] }) => client.admin('DELETE', `/accounts/${account}/keys/${key}`),
  show: answer => cardOf(answer['data'] as AdminKey),
})

export const rotate = clientCommand({
  usage: 'key rotate ACCOUNT KEY [--overlap SECONDS]   (the old key stays valid for a day by default)',
  argCount: 2,
  options: { overlap: { type: 'string' } },
  call(given) {
    const [account, key] = given.pathArgs
    return given.client.admin('POST', `/accounts/${account}/keys/${key}/rotate`, {
      overlapSeconds: given.number('overlap'),
    })
  },
  show(answer) {
    const { key, apiKey, previous } = answer['data'] as { key: AdminKey; apiKey: string; previous: AdminKey }
    const until = previous.revokedAt === null ? `works until ${previous.expiresAt}` : 'is revoked'
    return `${cardOf(key)}\n\nThe key is shown only once:\n${apiKey}\n\nThe old key, ${previous.id}, ${until}.`
  },
})

function cardOf(key: AdminKey): string {
  return card([
    ['id', key.id],
    ['name', key.name],
    ['mode', key.mode],
    ['role', key.role],
    ['permissions', key.permissions],
    ['expires', key.expiresAt],
    ['revoked', key.revokedAt],
  ])
}
