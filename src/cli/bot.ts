import type { BotSubscriber, BotView, SubscriberPage } from '../contract/bot.ts'
import { API_KEY_HINT, clientCommand } from './client-command.ts'
import { readTextFile } from './files.ts'
import { PAGE_OPTIONS, pageQuery } from './query.ts'
import { card, table } from './show.ts'

export const add = clientCommand({
  usage: `bot add --file TOKEN_FILE|-   ${API_KEY_HINT}`,
  argCount: 0,
  options: { file: { type: 'string' } },
  call: given =>
    given.client.api('POST', '/botapp-bots', { token: readTextFile(given.required('file')).trim() }),
  show(answer) {
    const { bot } = answer['data'] as { bot: BotView }
    return card([
      ['id', bot.id],
      ['name', bot.name],
      ['username', bot.username],
      ['state', bot.state],
      ['updates by', bot.mode],
      ['problem', bot.problem?.detail ?? null],
      ['subscribers', bot.subscribers],
    ])
  },
})

export const list = clientCommand({
  usage: `bot list [--limit 50] [--cursor CURSOR]   ${API_KEY_HINT}`,
  argCount: 0,
  options: PAGE_OPTIONS,
  call: given => given.client.api('GET', `/botapp-bots${pageQuery(given)}`),
  show: answer =>
    table(
      ['id', 'username', 'name', 'state', 'updates by', 'problem', 'subscribers', 'last update'],
      (answer['data'] as BotView[]).map(each => [
        each.id,
        each.username,
        each.name,
        each.state,
        each.sandbox ? 'sandbox' : each.mode,
        each.problem?.code ?? null,
        each.subscribers,
        each.lastUpdateAt,
      ]),
    ),
})

export const remove = clientCommand({
  usage: `bot remove BOT   ${API_KEY_HINT}`,
  argCount: 1,
  call: ({ client, pathArgs }) => client.api('DELETE', `/botapp-bots/${pathArgs[0]}`),
  show: answer => `${(answer['data'] as { id: string }).id} is removed.`,
})

export const subscribers = clientCommand({
  usage: `bot subscribers BOT [--q TEXT] [--page 1] [--limit 50]   ${API_KEY_HINT}`,
  argCount: 1,
  options: { q: { type: 'string' }, page: { type: 'string' }, limit: { type: 'string' } },
  call: given => {
    const path = `/botapp-bots/${given.pathArgs[0]}/subscribers`
    return given.client.api('GET', `${path}${pageQuery(given, 'q', 'page')}`)
  },
  show(answer) {
    const { subscribers: rows, page, total, hasMore } = answer['data'] as SubscriberPage['data']
    const more = hasMore ? `\n${total} in all: --page ${page + 1}` : ''
    return `${tableOf(rows)}${more}`
  },
})

function tableOf(rows: readonly BotSubscriber[]): string {
  return table(
    ['chat', 'username', 'name', 'payload', 'last seen', 'blocked'],
    rows.map(each => [
      each.chatId,
      each.username,
      [each.firstName, each.lastName].filter(name => name !== null).join(' '),
      each.startPayload,
      each.lastSeenAt,
      each.blockedAt,
    ]),
  )
}
