import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { BatchResult } from '../../../src/contract/send.ts'
import { type Id, toUuid } from '../../../src/lib/ids.ts'
import { messageIdOf, startTestApp, type TestAccount, type TestApp } from '../../support/app.ts'
import { createTemplateCalls, OFFICIAL, SMS, type TemplateCalls } from '../templates/support.ts'
import { allInvalidAt, invalidAt, refused } from './refusal.ts'

const PHONE = '+12025550100'
const FOREIGN = '+4915112345678'

let app: TestApp
let account: TestAccount
let templates: TemplateCalls
beforeAll(async () => {
  app = await startTestApp()
  account = await app.createAccount()
  templates = createTemplateCalls(app, account)
})
afterAll(() => app.stop())

async function sent(body: Record<string, unknown>, live = true) {
  const answer = await app.during(account.send(body, { live }))
  expect(answer.status, answer.text).toBe(200)
  return answer.body as {
    resolved: { channel: string; channels: string[] }
    billing: { parts?: number; estimatedCost: number }
    tracking: { messageId: string }
  }
}

async function approved(body: Record<string, unknown>) {
  const template = await templates.decided((await templates.made(body)).id)
  expect(template.status).toBe('approved')
  return template
}

async function inboxOf(to: string) {
  const [first] = await app.until(
    () => account.inbox(to),
    items => items.length > 0,
  )
  return first!
}

describe('an SMS template', () => {
  let id: string
  beforeAll(async () => {
    id = (await templates.made(SMS)).id
  })

  test('is sent over local or international SMS, and priced by the parts of its rendered text', async () => {
    const template = { id, variablesIndexed: ['4711', 'x'.repeat(160)] }
    const home = await sent({ to: PHONE, template })
    expect(home.resolved).toMatchObject({ channel: 'local_sms', channels: ['local_sms'] })
    expect(home.billing.parts).toBe(2)
    const abroad = await sent({
      to: FOREIGN,
      channel: 'auto',
      template: { ...template, variablesIndexed: ['1', '€'] },
    })
    expect(abroad.resolved.channel).toBe('int_sms')
    const message = await account.message(home.tracking.messageId)
    expect(message).toMatchObject({
      templateId: id,
      messageType: 'utility',
      text: `Order 4711 is ${'x'.repeat(160)}.`,
    })
    expect(await account.messages(`?templateId=${id}`)).toHaveLength(2)
  })

  test('can be named by its key, and accepts values named by number', async () => {
    const named = { key: 'order_update', variablesNamed: { '2': 'here', '1': '4712' } }
    const { tracking } = await sent({
      to: PHONE,
      messageType: 'utility',
      channel: 'local_sms',
      template: named,
    })
    expect((await account.message(tracking.messageId)).text).toBe('Order 4712 is here.')
  })

  test('is rendered by an estimate too', async () => {
    const body = { to: PHONE, template: { id, variablesIndexed: ['4713', '中'] } }
    const answer = await app.call('/api/v2/messages/estimate', { method: 'POST', key: account.liveKey, body })
    expect(answer.body['data']).toMatchObject({
      deliverable: true,
      rendered: { text: 'Order 4713 is 中.' },
      sms: { encoding: 'UCS-2', parts: 1 },
    })
  })

  test('requires exactly the values of its placeholders', async () => {
    const to = PHONE
    const with_ = (more: object) => ({ to, template: { id, ...more } })
    await allInvalidAt(
      account,
      [with_({}), with_({ variablesIndexed: ['1'] }), with_({ variablesIndexed: ['1', '2', '3'] })],
      'template.variablesIndexed',
    )
    await allInvalidAt(
      account,
      [
        with_({ variablesIndexed: ['1', '2'], variablesNamed: { '1': 'a', '2': 'b' } }),
        with_({ variablesNamed: { '1': 'a' } }),
      ],
      'template.variablesNamed',
    )
    await invalidAt(
      account,
      with_({ variablesNamed: { '1': 'a', '2': 'b', '3': 'c' } }),
      'template.variablesNamed["3"]',
    )
    await invalidAt(
      account,
      with_({ variablesNamed: { '1': 'a', name: 'b' } }),
      'template.variablesNamed.name',
    )
    await invalidAt(
      account,
      with_({ variablesNamed: { ['x'.repeat(100_000)]: 'a' } }),
      `template.variablesNamed["${'x'.repeat(64)}…"]`,
    )
    await invalidAt(
      account,
      with_({ variablesIndexed: ['1', '2'], buttonVariables: [{ index: 0, text: 'x' }] }),
      'template.buttonVariables[0].index',
    )
  })

  test('rejects a contradicting channel, message type, recipient, text or header', async () => {
    const template = { id, variablesIndexed: ['1', '2'] }
    const ok = { to: PHONE, template }
    await allInvalidAt(
      account,
      [
        { ...ok, channel: 'email_user' },
        { ...ok, channel: 'official_chatapp' },
        { ...ok, channel: 'int_sms' },
      ],
      'channel',
    )
    await invalidAt(account, { ...ok, messageType: 'otp' }, 'messageType')
    await invalidAt(account, { ...ok, to: 'ada@example.com' }, 'to')
    await invalidAt(account, { ...ok, content: { text: 'Hi' } }, 'content.text')
    await invalidAt(account, { ...ok, text: 'Hi' }, 'text')
    await invalidAt(
      account,
      { ...ok, template: { ...template, headerMediaUrl: 'https://example.com/a.png' } },
      'template.headerMediaUrl',
    )
  })

  test('is limited to ten parts when rendered', async () => {
    await invalidAt(
      account,
      { to: PHONE, template: { id, variablesIndexed: ['1', 'x'.repeat(1_600)] } },
      'template',
    )
  })
})

describe('a template that cannot be used', () => {
  test('is rejected with 404 when it is unknown or another account’s', async () => {
    const other = createTemplateCalls(app, await app.createAccount())
    const foreign = await other.made({ ...SMS, name: 'foreign' })
    const notFound = (path: string) => ({ status: 404, code: 'NOT_FOUND', paths: [path] })
    for (const id of ['nothing', 'tpl_01m7zfya87e70a0k047jvs2kk8', foreign.id]) {
      await refused(account, { to: PHONE, template: { id } }, notFound('template.id'))
    }
    await refused(account, { to: PHONE, template: { key: 'foreign' } }, notFound('template.key'))
    await invalidAt(account, { to: PHONE, template: {} }, 'template')
  })

  test('is rejected with 400 when it is disabled, pending or rejected', async () => {
    const { id } = await templates.made({ ...SMS, name: 'switched', content: 'Hi' })
    expect((await templates.call('POST', `/${id}/disable`)).status).toBe(200)
    await invalidAt(account, { to: PHONE, template: { id } }, 'template.id')
    await invalidAt(account, { to: PHONE, template: { key: 'switched' } }, 'template.key')
    expect((await templates.call('POST', `/${id}/enable`)).status).toBe(200)
    await sent({ to: PHONE, template: { id } })
    const pending = await templates.made({ ...OFFICIAL, name: 'will_be_rejected' })
    const use = { to: PHONE, template: { id: pending.id, variablesIndexed: ['1', '2'] } }
    await invalidAt(account, use, 'template.id')
    expect((await templates.decided(pending.id)).status).toBe('rejected')
    await invalidAt(account, use, 'template.id')
  })

  test('is rejected when its key has several languages and none is named, unless one is the default', async () => {
    const body = { ...OFFICIAL, name: 'greeting', body: 'Hello', bodyParameters: undefined }
    const en = await approved({ ...body, language: 'en_US' })
    const de = await approved({ ...body, language: 'de', body: 'Hallo' })
    const key = 'greeting'
    const refusal = await invalidAt(account, { to: PHONE, template: { key } }, 'template.language')
    expect(refusal.body['error']).toContain('de, en_US')
    await invalidAt(account, { to: PHONE, template: { key, language: 'fr' } }, 'template.language')
    await invalidAt(account, { to: PHONE, template: { id: de.id, language: 'en' } }, 'template.language')
    const { tracking } = await sent({ to: PHONE, template: { key, language: 'en-US' } })
    expect((await account.message(tracking.messageId)).templateId).toBe(en.id)
    expect((await templates.call('POST', `/${de.id}/default`)).status).toBe(200)
    const byDefault = await sent({ to: PHONE, template: { key } })
    expect((await account.message(byDefault.tracking.messageId)).text).toBe('Hallo')
  })
})

describe('an e-mail template', () => {
  test('is rendered with its subject, and its values are escaped', async () => {
    const { id } = await templates.made({
      name: 'welcome',
      category: 'email',
      subType: 'utility',
      emailSubject: 'Welcome, {{1}}',
      content: '<h1>Dear {{1}}</h1>',
    })
    const to = 'ada@example.com'
    const { resolved } = await sent({ to, template: { id, variablesIndexed: ['Ada\n<b>&</b>'] } }, false)
    expect(resolved.channel).toBe('email_user')
    expect(await inboxOf(to)).toMatchObject({
      subject: 'Welcome, Ada <b>&</b>',
      html: '<h1>Dear Ada\n&lt;b&gt;&amp;&lt;/b&gt;</h1>',
      text: null,
    })
    await invalidAt(account, { to: PHONE, template: { id, variablesIndexed: ['a'] } }, 'to')
    await invalidAt(
      account,
      { to, template: { id, variablesIndexed: ['a'] }, content: { subject: 'Mine' } },
      'content.subject',
    )
  })
})

describe('a chat template', () => {
  test('is sent over a session, and a message template over the recipient’s channel', async () => {
    const session = await templates.made({
      name: 'hi',
      category: 'chatapp',
      subType: 'free',
      templateTarget: 'user_session',
      headerType: 'text',
      headerValue: 'Hello {{1}}',
      body: 'How are you, {{1}}?',
    })
    const one = await sent({ to: PHONE, template: { id: session.id, variablesIndexed: ['Ada'] } })
    expect(one.resolved.channel).toBe('user_chatapp_session')
    expect((await account.message(one.tracking.messageId)).text).toBe('Hello Ada\n\nHow are you, Ada?')

    const { id } = await templates.made({
      name: 'note',
      category: 'message',
      subType: 'free',
      content: 'Note {{1}}',
    })
    const template = { id, variablesIndexed: ['7'] }
    expect((await sent({ to: '120363020000000099@g.us', template })).resolved.channel).toBe(
      'user_chatapp_session',
    )
    const conversationContext = { moduleType: 'botapp_bot', accountId: 'bot', chatId: '7000000004' }
    expect((await sent({ to: '7000000004', template, conversationContext })).resolved.channel).toBe(
      'botapp_bot',
    )
    await invalidAt(account, { to: '7000000004', template }, 'conversationContext')
    await invalidAt(
      account,
      {
        to: PHONE,
        template: { id: session.id, variablesIndexed: ['Ada'] },
        conversationContext: { moduleType: 'chatapp_official', accountId: 'a', chatId: PHONE },
      },
      'conversationContext.moduleType',
    )
  })
})

describe('an official template', () => {
  test('is submitted with its values, and the message shows the rendered text', async () => {
    const { id } = await approved({
      ...OFFICIAL,
      name: 'parcel',
      headerType: 'text',
      headerValue: 'News, {{3}}',
      footer: 'Acme',
      buttons: [
        { type: 'quick_reply', text: 'Thanks' },
        { type: 'url', text: 'Track', url: 'https://example.com/t/{{1}}' },
      ],
    })
    const template = {
      id,
      variablesIndexed: ['4711', 'here', 'Ada'],
      buttonVariables: [{ index: 1, subType: 'url', text: 'abc' }],
    }
    const to = '+12025550171'
    const { resolved, tracking } = await sent({ to, officialSenderId: 'platform', template }, false)
    expect(resolved.channel).toBe('official_chatapp')
    expect((await account.message(tracking.messageId)).text).toBe('News, Ada\n\nOrder 4711 is here.\n\nAcme')
    expect((await inboxOf(to)).template).toMatchObject({
      name: 'parcel',
      language: 'en',
      header: { type: 'text', variables: ['Ada'] },
      body: ['4711', 'here'],
      buttons: [{ index: 1, subType: 'url', text: 'abc' }],
    })

    const use = (more: object) => ({ to: PHONE, template: { ...template, ...more } })
    await invalidAt(account, use({ buttonVariables: undefined }), 'template.buttonVariables')
    for (const index of [0, 2, 9]) {
      await invalidAt(
        account,
        use({ buttonVariables: [{ index, text: 'x' }] }),
        'template.buttonVariables[0].index',
      )
    }
    await invalidAt(
      account,
      use({ buttonVariables: [{ index: 1, text: '' }] }),
      'template.buttonVariables[0].text',
    )
    await invalidAt(
      account,
      use({ buttonVariables: [{ index: 1, text: 'https://example.com/t/abc' }] }),
      'template.buttonVariables[0].text',
    )
    await invalidAt(
      account,
      use({ buttonVariables: [template.buttonVariables[0], { index: 1, text: 'y' }] }),
      'template.buttonVariables[1].index',
    )
    await invalidAt(account, use({ variablesIndexed: ['1', '', '3'] }), 'template.variablesIndexed[1]')
    await invalidAt(account, use({ variablesIndexed: ['1', 'a\nb', '3'] }), 'template.variablesIndexed[1]')
    const named = { variablesIndexed: undefined, variablesNamed: { 1: '1', 2: '', 3: '3' } }
    await invalidAt(account, use(named), 'template.variablesNamed["2"]')
    await invalidAt(
      account,
      { ...use({}), officialSenderId: 'cnn_01m7zfya87e70a0k047jvs2kk8' },
      'officialSenderId',
    )
    await invalidAt(account, use({ headerMediaType: 'image' }), 'template.headerMediaType')
    const attachment = { type: 'document', base64: 'QUJD' }
    await invalidAt(account, { ...use({}), attachment }, 'attachment')
  })

  test('with a media header requires media of its type from a public URL with each send', async () => {
    const { id, allowsHeaderMediaOverride } = await approved({
      name: 'offer',
      category: 'chatapp',
      subType: 'marketing',
      creationMode: 'manual_external_id',
      providerTemplateId: '4711',
      manualVariableCount: 0,
      headerType: 'image',
    })
    expect(allowsHeaderMediaOverride).toBe(true)
    const url = 'https://example.com/a.png'
    const use = (template: object) => ({ to: PHONE, template: { id, ...template } })
    const estimate = async (template: object) => {
      const body = use(template)
      const answer = await app.call('/api/v2/messages/estimate', {
        method: 'POST',
        key: account.liveKey,
        body,
      })
      return answer.body['data']
    }
    expect(await estimate({ headerMediaUrl: url, headerMediaType: 'image' })).toMatchObject({
      deliverable: true,
    })
    expect(await estimate({ header: url })).toMatchObject({ deliverable: true })
    const missing = await invalidAt(account, use({}), 'template.headerMediaUrl')
    expect(missing.body['error']).toContain('the header is of type image')
    await invalidAt(account, use({ header: 'http://127.0.0.1/a.png' }), 'template.header')
    await invalidAt(account, use({ headerMediaUrl: 'https://10.0.0.1/a.png' }), 'template.headerMediaUrl')
    await invalidAt(
      account,
      use({ headerMediaUrl: url, headerMediaType: 'video' }),
      'template.headerMediaType',
    )
    await invalidAt(
      account,
      use({ headerMediaUrl: url, header: 'https://example.com/b.png' }),
      'template.header',
    )
    const asset = { headerAssetId: 'ast_01m7zfya87e70a0k047jvs2kk8' }
    await refused(account, use(asset), { status: 404, code: 'NOT_FOUND', paths: ['template.headerAssetId'] })
  })
})

describe('a one-time code', () => {
  test('in an official template is in its body and button, but not in the database, message or log', async () => {
    const { id } = await approved({
      name: 'login_code',
      category: 'chatapp',
      subType: 'otp',
      codeExpirationMinutes: 10,
    })
    const to = '+12025550172'
    const { tracking } = await sent({ to, template: { id, variablesIndexed: ['483920'] } }, false)
    expect((await inboxOf(to)).template).toMatchObject({
      name: 'login_code',
      body: ['483920'],
      buttons: [{ index: 0, subType: 'url', text: '483920' }],
    })
    const { rows } = await app.db.query({ name: 'all_messages', text: 'select content::text from messages' })
    expect(JSON.stringify(rows)).not.toContain('483920')
    expect(await account.message(tracking.messageId)).toMatchObject({ text: '••••••', messageType: 'otp' })
    expect(app.log.join('')).not.toContain('483920')
    await invalidAt(
      account,
      { to, template: { id, variablesIndexed: ['483920'], buttonVariables: [{ index: 0, text: '1' }] } },
      'template.buttonVariables[0].text',
    )
    const header = { headerMediaUrl: 'https://example.com/a.png' }
    await invalidAt(
      account,
      { to, template: { id, variablesIndexed: ['483920'], ...header } },
      'template.headerMediaUrl',
    )
  })

  test('of a scheduled message is stored encrypted, and sent complete', async () => {
    // A template of another account with the same name, which must not be used.
    await approved({ name: 'later_code', category: 'chatapp', subType: 'otp' })
    const to = '+12025550173'
    const inAnHour = new Date(Date.now() + 3_600_000).toISOString()
    const planned = await app.createAccount({ plan: { allowsScheduling: true } })
    const own = createTemplateCalls(app, planned)
    const later = await own.decided(
      (await own.made({ name: 'later_code', category: 'chatapp', subType: 'otp' })).id,
    )
    const answer = await planned.send({
      to,
      template: { key: 'later_code', variablesIndexed: ['771234'] },
      options: { scheduleAt: inAnHour },
    })
    expect(answer.status, answer.text).toBe(200)
    const messageId = messageIdOf(answer)
    expect(await planned.message(messageId)).toMatchObject({ status: 'scheduled', templateId: later.id })
    const { rows } = await app.db.query({ name: 'all_content', text: 'select content::text from messages' })
    expect(JSON.stringify(rows)).not.toContain('771234')
    await app.db.query({
      name: 'due_now',
      text: `update outbox set due_at = now() - interval '1 day' where message_id = $1`,
      values: [toUuid(messageId as Id)],
    })
    const [taken] = await app.until(
      () => planned.inbox(to),
      items => items.length > 0,
    )
    expect(taken!.template).toMatchObject({ body: ['771234'], buttons: [{ index: 0, text: '771234' }] })
    expect((await planned.message(messageId)).status).not.toBe('failed')
  })

  test('without text is sent with the account’s default template, else with the built-in text', async () => {
    const own = await app.createAccount()
    const calls = createTemplateCalls(app, own)
    const code = { messageType: 'otp', content: { otpCode: '112233' } }
    const text = async (to: string) =>
      (
        await app.until(
          () => own.inbox(to),
          items => items.length > 0,
        )
      )[0]!.text
    const ask = async (to: string) => {
      const answer = await app.during(own.send({ to, channel: 'local_sms', ...code }))
      expect(answer.status, answer.text).toBe(200)
      return text(to)
    }
    expect(await ask('+12025550181')).toBe('Your verification code is 112233')
    const { id } = await calls.made({ name: 'code', category: 'sms', subType: 'otp', content: 'Acme: {{1}}' })
    expect(await ask('+12025550182')).toBe('Your verification code is 112233')
    expect((await calls.call('POST', `/${id}/default`)).body['data']).toMatchObject({ id, isDefault: true })
    expect(await ask('+12025550183')).toBe('Acme: 112233')
    expect((await calls.call('POST', `/${id}/disable`)).status).toBe(200)
    expect(await ask('+12025550184')).toBe('Your verification code is 112233')
  })

  test('is sent over sessions and bots with the default template of their category', async () => {
    const own = await app.createAccount()
    const calls = createTemplateCalls(app, own)
    const bot = { moduleType: 'botapp_bot', accountId: 'bot_1', chatId: '7000000100' }
    const bodies = [
      { to: PHONE, channel: 'user_chatapp_session' },
      { to: bot.chatId, conversationContext: bot },
    ]
    const texts = () => Promise.all(bodies.map(textOf))
    async function textOf(body: object): Promise<string> {
      const { data } = (
        await app.call('/api/v2/messages/estimate', {
          method: 'POST',
          key: own.liveKey,
          body: { ...body, content: { otpCode: '112233' } },
        })
      ).body as { data: { rendered: { text: string } } }
      return data.rendered.text
    }
    const makeDefault = async (body: object) => {
      const { id } = await calls.made({ subType: 'otp', ...body })
      await calls.call('POST', `/${id}/default`)
    }
    await makeDefault({ name: 'both', category: 'message', content: 'Both: {{1}}' })
    expect(await texts()).toEqual(['Both: 112233', 'Both: 112233'])
    const session = { category: 'message', provider: 'user_session', content: 'Session: {{1}}' }
    await makeDefault({ name: 'session', ...session })
    expect(await texts()).toEqual(['Session: 112233', 'Your verification code is 112233'])
    const chatApp = { category: 'chatapp', provider: 'user_session', body: 'Chat app: {{1}}' }
    await makeDefault({ name: 'chat_app', ...chatApp })
    expect(await texts()).toEqual(['Chat app: 112233', 'Your verification code is 112233'])
  })

  test('is sent with the platform’s default template while the account’s default is disabled', async () => {
    const own = await app.createAccount()
    const calls = createTemplateCalls(app, own)
    const code = { category: 'sms', subType: 'otp' }
    const platform = { ...code, name: 'platform_code', content: 'Platform: {{1}}', isDefault: true }
    const made = await app.admin('POST', '/templates', platform)
    expect(made.status, made.text).toBe(201)
    const { id } = await calls.made({ ...code, name: 'own_code', content: 'Own: {{1}}' })
    const textNow = async () => {
      const body = { to: PHONE, channel: 'local_sms', content: { otpCode: '112233' } }
      const answer = await app.call('/api/v2/messages/estimate', { method: 'POST', key: own.liveKey, body })
      return (answer.body['data'] as { rendered: { text: string } }).rendered.text
    }
    const { template } = made.body['data'] as { template: { id: string } }
    /** The templates that reads show as the default: the one that sends use. */
    const shown = async () => {
      const both = await Promise.all([id, template.id].map(calls.read))
      return both.filter(({ isDefault }) => isDefault).map(({ name }) => name)
    }
    expect([await textNow(), await shown()]).toEqual(['Platform: 112233', ['platform_code']])
    await calls.call('POST', `/${id}/default`)
    expect([await textNow(), await shown()]).toEqual(['Own: 112233', ['own_code']])
    await calls.call('POST', `/${id}/disable`)
    expect([await textNow(), await shown()]).toEqual(['Platform: 112233', ['platform_code']])
    await calls.call('POST', `/${id}/enable`)
    expect([await textNow(), await shown()]).toEqual(['Own: 112233', ['own_code']])
    expect((await app.admin('DELETE', `/templates/${template.id}`)).status).toBe(200)
    await calls.call('POST', `/${id}/disable`)
    // Nothing takes the place of the account's choice.
    expect(await textNow()).toBe('Your verification code is 112233')
    expect(await calls.read(id)).toMatchObject({ status: 'disabled', isDefault: true })
  })

  test('fills the placeholder of the template, and must be among the values when these are given', async () => {
    const { id } = await templates.made({
      name: 'named_code',
      category: 'sms',
      subType: 'otp',
      content: 'Code {{1}}',
    })
    const to = '+12025550191'
    const { tracking } = await sent({ to, content: { otpCode: '998877' }, template: { id } }, false)
    expect((await inboxOf(to)).text).toBe('Code 998877')
    expect((await account.message(tracking.messageId)).messageType).toBe('otp')
    await invalidAt(
      account,
      { to, content: { otpCode: '998877' }, template: { id, variablesIndexed: ['1'] } },
      'content.otpCode',
    )
  })

  test('is rejected with a template of another type, whose text would be kept and shown', async () => {
    for (const subType of ['utility', 'marketing', 'free']) {
      const { id } = await templates.made({
        name: `no_code_${subType}`,
        category: 'sms',
        subType,
        content: 'Code {{1}}',
      })
      for (const template of [{ id }, { id, variablesIndexed: ['998877'] }]) {
        await invalidAt(account, { to: PHONE, content: { otpCode: '998877' }, template }, 'content.otpCode')
      }
    }
  })
})

describe('a batch', () => {
  test('with a template sends its rendered text to each recipient', async () => {
    const { id } = await templates.made({ ...SMS, name: 'batched' })
    const answer = await account.send({
      to: [PHONE, FOREIGN],
      template: { id, variablesIndexed: ['1', '2'] },
    })
    expect(answer.body).toMatchObject({ success: true, summary: { total: 2, failed: 0 } })
    const { results } = answer.body as unknown as BatchResult
    expect(results.map(({ to }) => to)).toEqual([PHONE, FOREIGN])
    for (const { to, messageId } of results) {
      const [item] = await app.until(
        async () => (await account.inbox(to)).filter(each => each.messageId === messageId),
        items => items.length > 0,
      )
      expect(item).toMatchObject({ text: 'Order 1 is 2.' })
      expect(await account.message(messageId!)).toMatchObject({ templateId: id, text: 'Order 1 is 2.' })
    }
  })
})
