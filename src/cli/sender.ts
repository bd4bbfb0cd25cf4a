import type { AdminSender } from '../contract/admin.ts'
import { clientCommand } from './client-command.ts'
import { PAGE_OPTIONS, pageQuery } from './query.ts'
import { card, table } from './show.ts'

export const list = clientCommand({
  usage: 'sender list [--status pending|approved|rejected] [--limit 50] [--cursor CURSOR]',
  argCount: 0,
  options: { status: { type: 'string' }, ...PAGE_OPTIONS },
  call: given => given.client.admin('GET', `/sms-senders${pageQuery(given, 'status')}`),
  show: answer =>
    table(
      ['id', 'name', 'status', 'default', 'account', 'created'],
      (answer['data'] as AdminSender[]).map(each => [
        each.id,
        each.name,
        each.status,
        each.isDefault,
        each.accountId ?? 'platform',
        each.createdAt,
      ]),
    ),
})

export const approve = clientCommand({
  usage: 'sender approve SENDER',
  argCount: 1,
  call: ({ client, pathArgs }) => client.admin('POST', `/sms-senders/${pathArgs[0]}/approve`),
  show: answer => cardOf(answer['data'] as AdminSender),
})

export const reject = clientCommand({
  usage: 'sender reject SENDER --reason TEXT',
  argCount: 1,
  options: { reason: { type: 'string' } },
  call: given =>
    given.client.admin('POST', `/sms-senders/${given.pathArgs[0]}/reject`, {
      reason: given.required('reason'),
    }),
  show: answer => cardOf(answer['data'] as AdminSender),
})

function cardOf(sender: AdminSender): string {
  return card([
    ['id', sender.id],
    ['name', sender.name],
    ['status', sender.status],
    ['reason', sender.reason],
    ['account', sender.accountId ?? 'platform'],
  ])
}
