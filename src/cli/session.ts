import { renderUnicodeCompact } from 'uqr'
import type { WebSessionChat, WebSessionRow, WebSessionView } from '../contract/web-session.ts'
import { API_KEY_HINT, clientCommand } from './client-command.ts'
import { PAGE_OPTIONS, pageQuery } from './query.ts'
import { card, table } from './show.ts'

const pathOf = ([name]: string[]) => `/chatapp-sessions/${name}`

export const create = clientCommand({
  usage: `session create NAME [--phone PHONE]   ${API_KEY_HINT}`,
  argCount: 1,
  options: { phone: { type: 'string' } },
  call: given =>
    given.client.api('POST', '/chatapp-sessions', { name: given.args[0], phone: given.text('phone') }),
  show(answer) {
    const { session } = answer['data'] as { session: WebSessionView }
    return `${cardOf(session)}\n\n${session.notice}\n\nNext: posthorn session show ${session.name}`
  },
})

export const list = clientCommand({
  usage: `session list [--limit 50] [--cursor CURSOR]   ${API_KEY_HINT}`,
  argCount: 0,
  options: PAGE_OPTIONS,
  call: given => given.client.api('GET', `/chatapp-sessions${pageQuery(given)}`),
  show: answer =>
    table(
      ['name', 'state', 'phone', 'per minute', 'opened', 'why'],
      (answer['data'] as WebSessionRow[]).map(each => [
        each.name,
        each.state,
        each.phone,
        each.pace.messagesPerMinute,
        each.openedAt,
        each.detail,
      ]),
    ),
})

export const show = clientCommand({
  usage: `session show NAME   ${API_KEY_HINT}`,
  argCount: 1,
  call: ({ client, pathArgs }) => client.api('GET', pathOf(pathArgs)),
  show: answer => showSession(answer['data'] as WebSessionView),
})

export const chats = clientCommand({
  usage: `session chats NAME [--kind group] [--limit 50] [--cursor CURSOR]   ${API_KEY_HINT}`,
  argCount: 1,
  options: { kind: { type: 'string' }, ...PAGE_OPTIONS },
  call: given => given.client.api('GET', `${pathOf(given.pathArgs)}/chats${pageQuery(given, 'kind')}`),
  show: answer =>
    table(
      ['chat', 'kind', 'name', 'last message'],
      (answer['data'] as WebSessionChat[]).map(each => [
        each.chatId,
        each.kind,
        each.name,
        each.lastMessageAt,
      ]),
    ),
})

export const restart = clientCommand({
  usage: `session restart NAME   ${API_KEY_HINT}`,
  argCount: 1,
  call: ({ client, pathArgs }) => client.api('POST', `${pathOf(pathArgs)}/restart`),
  show: answer => showSession(answer['data'] as WebSessionView),
})

export const remove = clientCommand({
  usage: `session remove NAME   ${API_KEY_HINT}`,
  argCount: 1,
  call: ({ client, pathArgs }) => client.api('DELETE', pathOf(pathArgs)),
  show: () => 'The session is logged out, and its keys are deleted.',
})

/** Includes the QR code, to be scanned from the terminal. */
function showSession(session: WebSessionView): string {
  if (session.qr) return `${cardOf(session)}\n\n${renderUnicodeCompact(session.qr.text)}`
  return cardOf(session)
}

function cardOf(session: WebSessionView): string {
  return card([
    ['name', session.name],
    ['state', session.sandbox ? `${session.state}, in the sandbox` : session.state],
    ['why', session.detail],
    ['phone', session.phone],
    ['per minute', session.pace.messagesPerMinute],
    ['warm at', session.pace.warmAt],
    ['code', session.pairingCode?.code],
    ['code until', session.pairingCode?.expiresAt ?? session.qr?.expiresAt],
  ])
}
