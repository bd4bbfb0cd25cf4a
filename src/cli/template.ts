import type { TemplateView } from '../contract/template.ts'
import type { Body } from './client.ts'
import { API_KEY_HINT, clientCommand } from './client-command.ts'
import { readJsonFile } from './files.ts'
import { PAGE_OPTIONS, pageQuery } from './query.ts'
import { card, table } from './show.ts'

export const list = clientCommand({
  usage: `template list [--category sms] [--status active] [--provider internal] [--limit 50] [--cursor CURSOR]   (all when neither is given; with --key or POSTHORN_API_KEY)`,
  argCount: 0,
  options: {
    category: { type: 'string' },
    status: { type: 'string' },
    provider: { type: 'string' },
    ...PAGE_OPTIONS,
  },
  call: given => given.client.api('GET', `/templates${pageQuery(given, 'category', 'status', 'provider')}`),
  show: answer =>
    table(
      ['id', 'name', 'category', 'type', 'language', 'status', 'default', 'sender'],
      (answer['data'] as TemplateView[]).map(each => [
        each.id,
        each.name,
        each.category,
        each.subType,
        each.language,
        each.status,
        each.isDefault,
        each.officialSenderId,
      ]),
    ),
})

export const create = clientCommand({
  usage:
    'template create --name NAME --category sms|message|email|chatapp --type utility|otp|marketing|free --text TEXT ' +
    `[--subject TEXT] [--language en] [--provider PROVIDER] [--file more.json]   ${API_KEY_HINT}`,
  argCount: 0,
  options: {
    name: { type: 'string' },
    category: { type: 'string' },
    type: { type: 'string' },
    text: { type: 'string' },
    subject: { type: 'string' },
    language: { type: 'string' },
    provider: { type: 'string' },
    file: { type: 'string' },
  },
  call(given) {
    const file = given.text('file')
    const category = given.text('category')
    const words = {
      name: given.text('name'),
      category,
      subType: given.text('type'),
      [category === 'chatapp' ? 'body' : 'content']: given.text('text'),
      emailSubject: given.text('subject'),
      language: given.text('language'),
      provider: given.text('provider'),
    }
    const said = Object.fromEntries(Object.entries(words).filter(([, value]) => value !== undefined))
    // Options of the command line override the file.
    const body = { ...(file === undefined ? {} : (readJsonFile(file) as object)), ...said }
    return given.client.api('POST', '/templates', body)
  },
  show: answer => cardOf((answer['data'] as { template: Partial<TemplateView> }).template),
})

export const remove = clientCommand({
  usage: `template delete TEMPLATE   ${API_KEY_HINT}`,
  argCount: 1,
  call: ({ client, pathArgs }) => client.api('DELETE', `/templates/${pathArgs[0]}`),
  show: answer => `${(answer['data'] as Body)['id']} is deleted.`,
})

function cardOf(template: Partial<TemplateView>): string {
  return card([
    ['id', template.id],
    ['name', template.name],
    ['category', template.category],
    ['status', template.status],
  ])
}
