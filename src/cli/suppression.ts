import type { SuppressionView } from '../contract/suppression.ts'
import { API_KEY_HINT, clientCommand } from './client-command.ts'
import { PAGE_OPTIONS, pageQuery } from './query.ts'
import { card, table } from './show.ts'

export const list = clientCommand({
  usage: `suppression list [--to RECIPIENT] [--channel CHANNEL] [--limit 50] [--cursor CURSOR]   ${API_KEY_HINT}`,
  argCount: 0,
  options: {
    to: { type: 'string' },
    channel: { type: 'string' },
    ...PAGE_OPTIONS,
  },
  call: given => given.client.api('GET', `/suppressions${pageQuery(given, 'to', 'channel')}`),
  show: answer =>
    table(
      ['id', 'to', 'channel', 'source', 'reason', 'created'],
      (answer['data'] as SuppressionView[]).map(each => [
        each.id,
        each.to,
        each.channel ?? 'all',
        each.source,
        each.reason,
        each.createdAt,
      ]),
    ),
})

export const add = clientCommand({
  usage: `suppression add RECIPIENT [--channel CHANNEL] [--reason TEXT]   ${API_KEY_HINT}`,
  argCount: 1,
  options: { channel: { type: 'string' }, reason: { type: 'string' } },
  call: given =>
    given.client.api('POST', '/suppressions', {
      to: given.args[0],
      channel: given.text('channel'),
      reason: given.text('reason'),
    }),
  show(answer) {
    const { suppression } = answer['data'] as { suppression: SuppressionView }
    return card([
      ['id', suppression.id],
      ['to', suppression.to],
      ['channel', suppression.channel ?? 'all'],
      ['source', suppression.source],
      ['reason', suppression.reason],
    ])
  },
})

export const remove = clientCommand({
  usage: `suppression remove SUPPRESSION   ${API_KEY_HINT}`,
  argCount: 1,
  call: ({ client, pathArgs }) => client.api('DELETE', `/suppressions/${pathArgs[0]}`),
  show: () => 'The suppression is removed: the recipient can get marketing again.',
})
