import type { AdminInvitation, MemberRemoved, Person, ResetMade } from '../contract/member.ts'
import { clientCommand } from './client-command.ts'
import { PAGE_OPTIONS, queryOf } from './query.ts'
import { card, table } from './show.ts'

export const list = clientCommand({
  usage: 'member list [--account ACCOUNT] [--find TEXT] [--limit 50] [--cursor CURSOR]',
  argCount: 0,
  options: {
    account: { type: 'string' },
    find: { type: 'string' },
    ...PAGE_OPTIONS,
  },
  call(given) {
    const asked = { limit: 'limit', cursor: 'cursor', accountId: 'account', q: 'find' }
    return given.client.admin('GET', `/members${queryOf(given, asked)}`)
  },
  show: answer =>
    table(
      ['id', 'e-mail', 'name', 'operator', 'second factor', 'accounts', 'last seen'],
      (answer['data'] as Person[]).map(person => [
        person.id,
        person.email,
        person.name,
        person.operator,
        person.totp,
        person.memberships.map(({ accountName, role }) => `${accountName} (${role})`),
        person.lastSeenAt,
      ]),
    ),
})

export const invite = clientCommand({
  usage:
    'member invite EMAIL --role owner|member|operator [--account ACCOUNT] [--permission messages:read]…' +
    '   (the account is for owners and members)',
  argCount: 1,
  options: {
    role: { type: 'string' },
    account: { type: 'string' },
    permission: { type: 'string', multiple: true },
  },
  call: given =>
    given.client.admin('POST', '/members/invitations', {
      email: given.args[0],
      role: given.required('role'),
      accountId: given.text('account'),
      permissions: given.texts('permission'),
    }),
  show(answer) {
    const { invitation, link } = answer['data'] as { invitation: AdminInvitation; link: string }
    const facts = card([
      ['id', invitation.id],
      ['e-mail', invitation.email],
      ['role', invitation.role],
      ['account', invitation.accountName],
      ['expires', invitation.expiresAt],
    ])
    return `${facts}\n\nThe link is shown only once, and works once:\n${link}`
  },
})

export const remove = clientCommand({
  usage: 'member remove USER [--account ACCOUNT]   (from one account, or the login as a whole)',
  argCount: 1,
  options: { account: { type: 'string' } },
  call: given =>
    given.client.admin('DELETE', `/members/${given.pathArgs[0]}${queryOf(given, { accountId: 'account' })}`),
  show(answer) {
    const { apiKeys } = answer['data'] as MemberRemoved
    const out = 'The person is removed, on every node within a second.'
    if (apiKeys.length === 0) return out
    const keys = apiKeys.map(({ id, accountId, name, mode, role }) => [id, accountId, name, mode, role])
    return `${out}\n\nAPI keys that they created stay valid:\n${table(['id', 'account', 'name', 'mode', 'role'], keys)}`
  },
})

export const reset = clientCommand({
  usage: 'member reset USER   (creates a link to set a new password; using it turns off the second factor)',
  argCount: 1,
  call: ({ client, pathArgs }) => client.admin('POST', `/members/${pathArgs[0]}/reset`),
  show(answer) {
    const { link, expiresAt } = answer['data'] as ResetMade
    return `The link is shown only once, and works once, until ${expiresAt}:\n${link}`
  },
})
