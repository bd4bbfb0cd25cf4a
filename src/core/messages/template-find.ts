import type { Channel, KeyMode, MessageType } from '../../contract/enums.ts'
import { isSms } from '../../contract/enums.ts'
import { invalid } from '../../contract/errors.ts'
import { SANDBOX } from '../../contract/sandbox.ts'
import type { SingleSendBody } from '../../contract/send.ts'
import { PLATFORM_SENDER, type TemplateSubType } from '../../contract/template.ts'
import { PLATFORM } from '../accounts/platform.ts'
import type { ConnectionSnapshot } from '../connections/snapshot.ts'
import { type Recipient, reaches, smsChannelOf } from '../routing/recipient.ts'
import { requestedOfficialSender } from '../senders/official-route.ts'
import { normalizeLanguage } from '../templates/draft.ts'
import type { AccountTemplatesSnapshot, TemplateSnapshot } from '../templates/snapshot.ts'
import { isUsable } from '../templates/transitions.ts'
import { unknownTemplate } from '../templates/view.ts'
import { checkCodeType } from './content.ts'

/** The template that a send names, and the field that names it. */
export type NamedTemplate = { template: TemplateSnapshot; path: 'template.id' | 'template.key' }

/** The message type of each template type; of `free`, unless the send names another one. */
const MESSAGE_TYPE: Record<TemplateSubType, MessageType> = {
  otp: 'otp',
  utility: 'utility',
  marketing: 'marketing',
  free: 'free_text',
}

/**
 * Finds the template of a send. Throws a Problem if it is unknown or not usable; null if the send names none.
 * `contextChannel`: the channel of the conversation, if the send names one.
 */
export function findTemplate(
  body: SingleSendBody,
  recipient: Recipient,
  templates: AccountTemplatesSnapshot,
  contextChannel: Channel | null,
): NamedTemplate | null {
  if (!body.template) return null
  const { id, key } = body.template
  if (id === undefined && key === undefined) throw invalid('template', 'needs an id or a key')
  const template =
    id === undefined ? findByKey(body, recipient, templates, contextChannel) : findById(body, templates)
  const path = id === undefined ? 'template.key' : 'template.id'
  if (!isUsable(template.status)) {
    throw invalid(
      path,
      `the template "${template.name}" is ${template.status}: it must be approved or active`,
    )
  }
  return { template, path }
}

function findById({ template: use }: SingleSendBody, templates: AccountTemplatesSnapshot): TemplateSnapshot {
  const { id = '', key, language } = use!
  const found = templates.byId.get(id)
  if (!found) throw unknownTemplate('template.id')
  if (key !== undefined && key !== found.name) {
    throw invalid('template.key', `contradicts template.id, whose name is ${found.name}`)
  }
  if (language !== undefined && found.language !== '' && normalizeLanguage(language) !== found.language) {
    throw invalid('template.language', `must be ${found.language} for this template`)
  }
  return found
}

/** Several templates may have the name: language, channel and recipient select one; else the default is used. */
function findByKey(
  { template: use, channel }: SingleSendBody,
  recipient: Recipient,
  templates: AccountTemplatesSnapshot,
  contextChannel: Channel | null,
): TemplateSnapshot {
  const { key = '', language } = use!
  const named = templates.byName.get(key)
  if (!named) throw unknownTemplate('template.key')
  const spoken = language === undefined ? named : inLanguage(named, language)
  const asked = channel === undefined || channel === 'auto' ? null : channel
  const over = asked ?? contextChannel
  const fitting =
    over === null
      ? narrow(spoken, each => channelsOf(each).some(own => reaches(own, recipient)))
      : spoken.filter(each => channelsOf(each).includes(over))
  if (fitting.length === 0) {
    const path = asked === null ? 'conversationContext.moduleType' : 'channel'
    throw invalid(path, `${describeChannels(spoken)}, not ${over}`)
  }
  const usable = narrow(fitting, each => isUsable(each.status))
  // The account's own templates take precedence over the platform's.
  const own = narrow(usable, each => each.accountId !== PLATFORM)
  // Templates without a language fit every language, but one in the requested language fits better.
  const exact = language === undefined ? own : narrow(own, each => each.language !== '')
  if (exact.length === 1) return exact[0]!
  const chosen = exact.find(each => templates.defaultOf(each.category, each.subType)?.id === each.id)
  return chosen ?? ambiguous(key, exact, over)
}

function inLanguage(named: readonly TemplateSnapshot[], language: string): readonly TemplateSnapshot[] {
  const wanted = normalizeLanguage(language)
  const found = named.filter(each => each.language === wanted || each.language === '')
  if (found.length > 0) return found
  throw invalid('template.language', `must be one of ${languagesOf(named)}`)
}

/** Those that satisfy the condition; all of them if none does, so that the error names what is wrong with them. */
function narrow(
  templates: readonly TemplateSnapshot[],
  holds: (template: TemplateSnapshot) => boolean,
): readonly TemplateSnapshot[] {
  const found = templates.filter(holds)
  return found.length > 0 ? found : templates
}

/** Asks for what decides. `over`: the channel, where it is known. */
function ambiguous(key: string, found: readonly TemplateSnapshot[], over: Channel | null): never {
  const channels = new Set(found.map(each => channelsOf(each).join(' or ')))
  if (over === null && channels.size > 1) {
    throw invalid(
      'channel',
      `must be given: there are templates "${key}" for ${[...channels].join(', and for ')}`,
    )
  }
  if (new Set(found.map(each => each.language)).size > 1)
    throw invalid('template.language', `must be given, one of ${languagesOf(found)}`)
  throw invalid(
    'template.key',
    `there are several templates "${key}" in this language for this channel: give an id, ${found.map(each => each.id).join(' or ')}`,
  )
}

function describeChannels(templates: readonly TemplateSnapshot[]): string {
  const { name } = templates[0]!
  const channels = [...new Set(templates.flatMap(channelsOf))].join(' or ')
  return templates.length === 1
    ? `the template "${name}" is for ${channels}`
    : `the templates "${name}" are for ${channels}`
}

function languagesOf(templates: readonly TemplateSnapshot[]): string {
  return [...new Set(templates.map(each => each.language || 'none'))].sort().join(', ')
}

/** The message type of a send by template. Throws a 400 if the body names one that does not fit, or has a code that it is not for. */
export function typeByTemplate(body: SingleSendBody, { template }: NamedTemplate): MessageType {
  const type = body.messageType ?? MESSAGE_TYPE[template.subType]
  checkTypeFits(type, template)
  checkCodeType(body, type)
  return type
}

/** Throws a 400 unless the template is of this type, or free: that says nothing of its purpose, but it is not for codes. */
function checkTypeFits(type: MessageType, { subType, official }: TemplateSnapshot): void {
  const own = MESSAGE_TYPE[subType]
  if (type === own) return
  // An official one was approved for one purpose, as marketing at providers that know no other for free text.
  if (subType === 'free' && !official && type !== 'otp') return
  throw invalid('messageType', `contradicts the template, which is of type ${own}`)
}

/** The channels over which a template can be sent. */
export function channelsOf({
  category,
  provider,
}: Pick<TemplateSnapshot, 'category' | 'provider'>): readonly Channel[] {
  switch (category) {
    case 'sms':
      return ['local_sms', 'int_sms']
    case 'email':
      return ['email_user']
    case 'chatapp':
      return provider === 'official_provider' ? ['official_chatapp'] : ['user_chatapp_session']
    case 'message':
      return provider === 'internal' ? ['user_chatapp_session', 'botapp_bot'] : ['user_chatapp_session']
  }
}

/** The channel for a send with a template. Throws a 400 if the body names one that does not fit. */
export function channelByTemplate(
  body: SingleSendBody,
  { template }: NamedTemplate,
  recipient: Recipient,
  contextChannel: Channel | null,
  homeCountry: string,
): Channel {
  const own = channelsOf(template)
  const words = describeChannels([template])
  const asked = body.channel === 'auto' ? undefined : body.channel
  if (asked !== undefined && !own.includes(asked)) throw invalid('channel', `${words}, not ${asked}`)
  if (contextChannel !== null && !own.includes(contextChannel)) {
    throw invalid('conversationContext.moduleType', `${words}, not ${contextChannel}`)
  }
  const channel = asked ?? contextChannel ?? defaultChannelOf(own, recipient, homeCountry)
  if (channel === 'botapp_bot' && contextChannel === null) {
    throw invalid('conversationContext', 'is required for channel botapp_bot')
  }
  return channel
}

function defaultChannelOf(own: readonly Channel[], recipient: Recipient, homeCountry: string): Channel {
  if (own.some(isSms)) {
    return smsChannelOf(recipient.kind === 'phone' ? recipient.country : null, homeCountry)
  }
  return own.find(channel => reaches(channel, recipient)) ?? own[0]!
}

/**
 * The connections that may carry a template: an official template only the one of the sender that it
 * is approved for. Templates that the sandbox approved, and all sends with test keys, go over the
 * sandbox.
 */
export function connectionsByTemplate(
  body: SingleSendBody,
  { template, path }: NamedTemplate,
  mode: KeyMode,
  connections: readonly ConnectionSnapshot[],
): readonly ConnectionSnapshot[] {
  const { official } = template
  if (!official) return connections
  if (mode === 'test') return connections
  checkOfficialSender(body, official)
  const bound = connections.find(each => each.id === official.connectionId)
  if (!bound) throw invalid(path, 'the connection that the template was approved for has been removed')
  if (bound.provider !== SANDBOX) return [bound]
  const hasReal = connections.some(
    each => each.provider !== SANDBOX && each.channels.includes('official_chatapp'),
  )
  if (hasReal)
    throw invalid(
      path,
      'the template was approved by the sandbox only; create it again to submit it to the provider',
    )
  return connections
}

function checkOfficialSender(
  body: SingleSendBody,
  { connectionId, onPlatformNumber }: NonNullable<TemplateSnapshot['official']>,
): void {
  const asked = requestedOfficialSender(body)
  const own = onPlatformNumber ? PLATFORM_SENDER : connectionId
  if (!asked || asked.id === own) return
  throw invalid(asked.path, `the template is bound to the official sender ${own}`)
}
