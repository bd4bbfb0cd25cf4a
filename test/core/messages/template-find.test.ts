import { describe, expect, test } from 'vitest'
import type { Channel } from '../../../src/contract/enums.ts'
import type { SingleSendBody } from '../../../src/contract/send.ts'
import { PLATFORM } from '../../../src/core/accounts/platform.ts'
import type { ConnectionSnapshot } from '../../../src/core/connections/snapshot.ts'
import {
  channelByTemplate,
  connectionsByTemplate,
  findTemplate,
} from '../../../src/core/messages/template-find.ts'
import type { Recipient } from '../../../src/core/routing/recipient.ts'
import type { AccountTemplatesSnapshot, TemplateSnapshot } from '../../../src/core/templates/snapshot.ts'
import type { AccountId } from '../../../src/lib/ids.ts'

const ACCOUNT: AccountId = 'acc_1'
const PHONE: Recipient = { kind: 'phone', address: '+12025550100', country: 'US' }
const MAIL: Recipient = { kind: 'email', address: 'a@example.com' }
const CHAT: Recipient = { kind: 'chat', address: '7' }

const template = (id: string, more: Partial<TemplateSnapshot> = {}) =>
  ({
    id,
    accountId: ACCOUNT,
    name: 'greeting',
    category: 'sms',
    subType: 'free',
    language: '',
    provider: 'internal',
    status: 'active',
    official: null,
    ...more,
  }) as TemplateSnapshot

const snapshot = (
  templates: TemplateSnapshot[],
  chosen: TemplateSnapshot | null = null,
): AccountTemplatesSnapshot => ({
  byId: new Map(templates.map(each => [each.id, each])),
  byName: Map.groupBy(templates, each => each.name),
  defaultOf: () => chosen,
})
const body = (use: object, more: Partial<SingleSendBody> = {}) =>
  ({ to: '+12025550100', template: use, ...more }) as SingleSendBody

describe('findTemplate by key', () => {
  const sms = template('tpl_sms')
  const mail = template('tpl_mail', { category: 'email' })
  const chat = template('tpl_chat', { category: 'chatapp', provider: 'user_session' })
  const find = (
    use: object,
    recipient: Recipient = PHONE,
    more: Partial<SingleSendBody> = {},
    all = [sms, mail, chat],
    context: Channel | null = null,
  ) => findTemplate(body({ key: 'greeting', ...use }, more), recipient, snapshot(all), context)?.template.id

  test('chooses the template by channel and recipient, and throws if they do not decide', () => {
    expect(find({}, MAIL)).toBe('tpl_mail')
    expect(find({}, PHONE, { channel: 'user_chatapp_session' })).toBe('tpl_chat')
    expect(find({}, PHONE, { channel: 'int_sms' })).toBe('tpl_sms')
    expect(() => find({})).toThrow('channel: must be given')
  })

  test('asks for the channel where templates in one language are for several, unless a conversation decides', () => {
    const web = template('tpl_web', { category: 'chatapp', provider: 'user_session', language: 'en' })
    const [en, de] = ['en', 'de'].map(language =>
      template(`tpl_${language}`, { category: 'chatapp', provider: 'official_provider', language }),
    ) as [TemplateSnapshot, TemplateSnapshot]
    const all = [en, de, web]
    for (const use of [{ language: 'en' }, {}]) {
      expect(() => find(use, PHONE, {}, all)).toThrow(
        /^channel: must be given: .* for official_chatapp, and for user_chatapp_session$/,
      )
    }
    expect(find({ language: 'en' }, PHONE, { channel: 'official_chatapp' }, all)).toBe('tpl_en')
    expect(find({}, PHONE, { channel: 'user_chatapp_session' }, all)).toBe('tpl_web')
    expect(find({}, PHONE, {}, all, 'user_chatapp_session')).toBe('tpl_web')
    expect(find({}, PHONE, { channel: 'auto' }, all, 'user_chatapp_session')).toBe('tpl_web')
    expect(() => find({}, PHONE, { channel: 'official_chatapp' }, all)).toThrow('template.language: must be')
  })

  test('asks for the id where neither the channel nor the language can decide', () => {
    const web = template('tpl_web', { category: 'chatapp', provider: 'user_session', language: 'en' })
    const message = template('tpl_message', { category: 'message', language: 'en' })
    const german = template('tpl_de', { category: 'message', language: 'de' })
    const over = { channel: 'user_chatapp_session' } as const
    for (const use of [{ language: 'en' }, {}]) {
      expect(() => find(use, PHONE, over, [web, message])).toThrow(
        'template.key: there are several templates "greeting" in this language for this channel: give an id, tpl_web or tpl_message',
      )
    }
    expect(() => find({ language: 'en' }, CHAT, {}, [web, message], 'user_chatapp_session')).toThrow(
      'template.key: ',
    )
    expect(() => find({}, PHONE, over, [web, german])).toThrow(
      'template.language: must be given, one of de, en',
    )
    expect(find({ language: 'en' }, CHAT, {}, [web, message], 'botapp_bot')).toBe('tpl_message')
  })

  test('names the channels of all templates where none is for the requested one', () => {
    const words =
      'the templates "greeting" are for local_sms or int_sms or email_user or user_chatapp_session'
    expect(() => find({}, PHONE, { channel: 'official_chatapp' })).toThrow(
      `channel: ${words}, not official_chatapp`,
    )
    expect(() => find({}, PHONE, {}, [sms, mail, chat], 'botapp_bot')).toThrow(
      `conversationContext.moduleType: ${words}, not botapp_bot`,
    )
  })

  test('prefers active templates, then those of the account', () => {
    const own = template('tpl_own')
    const platform = template('tpl_platform', { accountId: PLATFORM })
    const disabled = template('tpl_off', { status: 'disabled' })
    expect(find({}, PHONE, {}, [own, platform])).toBe('tpl_own')
    expect(find({}, PHONE, {}, [disabled, platform])).toBe('tpl_platform')
    expect(() => find({}, PHONE, {}, [disabled])).toThrow('is disabled')
  })

  test('chooses the template by language, else the default, and throws if there is neither', () => {
    const [en, de] = ['en_US', 'de'].map(language => template(`tpl_${language}`, { language })) as [
      TemplateSnapshot,
      TemplateSnapshot,
    ]
    expect(find({ language: 'en-US' }, PHONE, {}, [en, de])).toBe('tpl_en_US')
    expect(() => find({ language: 'fr' }, PHONE, {}, [en, de])).toThrow('one of de, en_US')
    expect(() => find({}, PHONE, {}, [en, de])).toThrow('one of de, en_US')
    expect(findTemplate(body({ key: 'greeting' }), PHONE, snapshot([en, de], de), null)?.template.id).toBe(
      'tpl_de',
    )
  })

  test('prefers the template in the requested language to one without a language', () => {
    const de = template('tpl_de', { language: 'de' })
    expect(find({ language: 'de' }, PHONE, {}, [sms, de])).toBe('tpl_de')
    expect(find({ language: 'fr' }, PHONE, {}, [sms, de])).toBe('tpl_sms')
    const mailDe = template('tpl_mail_de', { category: 'email', language: 'de' })
    expect(find({ language: 'de' }, PHONE, {}, [sms, mailDe])).toBe('tpl_sms')
  })
})

describe('channelByTemplate', () => {
  const channel = (
    of: TemplateSnapshot,
    recipient: Recipient,
    more: Partial<SingleSendBody> = {},
    context = null,
  ) => channelByTemplate(body({}, more), { template: of, path: 'template.id' }, recipient, context, 'US')

  test('returns the channel of the template, chosen by the recipient if there are several', () => {
    expect(channel(template('t'), PHONE)).toBe('local_sms')
    expect(channel(template('t'), { ...PHONE, country: 'DE' })).toBe('int_sms')
    expect(channel(template('t', { category: 'email' }), MAIL)).toBe('email_user')
    const message = template('t', { category: 'message' })
    expect(channel(message, PHONE)).toBe('user_chatapp_session')
    expect(() => channel(message, CHAT)).toThrow('conversationContext: is required')
    expect(channel(message, CHAT, {}, 'botapp_bot' as never)).toBe('botapp_bot')
  })
})

describe('connectionsByTemplate', () => {
  const connection = (id: string, provider: string) =>
    ({ id: `cnn_${id}`, provider, channels: ['official_chatapp'] }) as unknown as ConnectionSnapshot
  const [one, two, sandbox] = [
    connection('one', 'whatsapp-cloud'),
    connection('two', 'whatsapp-cloud'),
    connection('sandbox', 'sandbox'),
  ]
  const bound = (to: ConnectionSnapshot, onPlatformNumber = false) =>
    template('t', {
      category: 'chatapp',
      official: { connectionId: to.id, onPlatformNumber, providerName: 'greeting', providerTemplateId: null },
    })
  const over = (
    of: TemplateSnapshot,
    all: ConnectionSnapshot[],
    mode: 'live' | 'test' = 'live',
    more: Partial<SingleSendBody> = {},
  ) =>
    connectionsByTemplate(body({}, more), { template: of, path: 'template.id' }, mode, all).map(
      ({ id }) => id,
    )

  test('returns the connection that approved the template, and throws for any other', () => {
    expect(over(bound(two), [one, two, sandbox])).toEqual(['cnn_two'])
    expect(over(bound(two), [one, two, sandbox], 'live', { officialSenderId: two.id })).toEqual(['cnn_two'])
    expect(over(bound(two, true), [two], 'live', { sender: { officialId: 'platform' } })).toEqual(['cnn_two'])
    expect(() => over(bound(two), [one, two], 'live', { officialSenderId: one.id })).toThrow(
      'officialSenderId',
    )
    expect(() => over(bound(two), [one, two], 'live', { sender: { officialId: 'platform' } })).toThrow(
      'sender.officialId',
    )
    expect(() => over(bound(two), [one, sandbox])).toThrow('has been removed')
  })

  test('returns the sandbox for test keys, and for its own templates while there is no other connection', () => {
    expect(over(bound(two), [one, two, sandbox], 'test')).toContain('cnn_sandbox')
    expect(over(bound(sandbox, true), [sandbox])).toEqual(['cnn_sandbox'])
    expect(() => over(bound(sandbox, true), [one, sandbox])).toThrow('by the sandbox only')
  })
})
