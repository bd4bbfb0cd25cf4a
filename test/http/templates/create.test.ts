import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startTestApp, type TestAccount, type TestApp } from '../../support/app.ts'
import { createTemplateCalls, OFFICIAL, SMS, type TemplateCalls } from './support.ts'

let app: TestApp
let account: TestAccount
let templates: TemplateCalls
beforeAll(async () => {
  app = await startTestApp()
  account = await app.createAccount()
  templates = createTemplateCalls(app, account)
})
afterAll(() => app.stop())

describe('POST /api/v2/templates', () => {
  test('creates an SMS template that is active at once, and returns exactly four fields', async () => {
    const answer = await templates.create(SMS)
    expect(answer.status, answer.text).toBe(201)
    const id = expect.stringMatching(/^tpl_/)
    expect(answer.body).toEqual({
      success: true,
      data: { template: { id, name: 'order_update', category: 'sms', status: 'active' } },
      message: 'The template is active.',
    })
    const { template } = answer.body['data'] as { template: { id: string } }
    expect(await templates.read(template.id)).toMatchObject({
      ...SMS,
      provider: 'internal',
      language: null,
      indexedPlaceholders: ['{{1}}', '{{2}}'],
      officialSender: null,
      isDefault: false,
    })
  })

  test('creates an e-mail template with the placeholders of both subject and content', async () => {
    const template = await templates.made({
      name: 'welcome',
      category: 'email',
      subType: 'utility',
      emailSubject: 'Hello {{2}}',
      content: '<p>Dear {{1}}</p>',
    })
    expect(template).toMatchObject({
      status: 'active',
      emailSubject: 'Hello {{2}}',
      indexedPlaceholders: ['{{1}}', '{{2}}'],
    })
  })

  test('creates a local session template by templateTarget or provider, without a footer', async () => {
    const body = { category: 'chatapp', subType: 'free', body: 'Hi {{1}}', footer: 'Bye' }
    const asTarget = await templates.made({ ...body, name: 'hi_target', templateTarget: 'user_session' })
    const asProvider = await templates.made({ ...body, name: 'hi_provider', provider: 'user_session' })
    for (const template of [asTarget, asProvider]) {
      expect(template).toMatchObject({
        provider: 'user_session',
        status: 'active',
        footer: null,
        body: 'Hi {{1}}',
      })
    }
  })

  test('creates an official template that is pending until the provider decides', async () => {
    const template = await templates.made({
      ...OFFICIAL,
      name: 'parcel',
      headerType: 'text',
      headerValue: 'News of {{1}}',
      footer: 'Acme',
      buttons: [
        {
          type: 'url',
          text: 'Track',
          url: 'https://example.com/t/{{1}}',
          urlExample: 'https://example.com/t/4711',
        },
        { type: 'phone', text: 'Call us', phoneNumber: '+1 (202) 555-0123' },
      ],
    })
    expect(template).toMatchObject({
      status: 'pending',
      provider: 'official_provider',
      officialSenderId: 'platform',
      isPlatformNumber: true,
      officialSender: { id: 'platform', scope: 'platform', isPlatform: true, label: null, phoneNumber: null },
      headerType: 'text',
      headerValue: 'News of {{1}}',
      footer: 'Acme',
      parameters: ['4711', 'on its way'],
      urlButtonVariables: [{ index: 0, subType: 'url', example: 'https://example.com/t/4711' }],
      buttons: [{ type: 'url' }, { type: 'phone', phoneNumber: '+12025550123' }],
      allowsHeaderMediaOverride: false,
    })
    expect(await templates.list('?category=chatapp&provider=official_provider')).toEqual([])
    expect(await templates.list('?status=pending')).toMatchObject([{ id: template.id }])
    expect(await templates.decided(template.id)).toMatchObject({ status: 'approved', statusReason: null })
  })

  test('returns each button with its URL as it was given', async () => {
    const fixed = {
      type: 'url',
      text: 'Shop',
      url: 'https://example.com/shop',
      urlExample: 'https://example.com/shop',
    }
    const call = { type: 'phone', text: 'Call us', url: 'tel:+12025550123' }
    const named = { type: 'phone', text: 'Call us', phoneNumber: '+12025550123' }
    const { buttons } = await templates.made({ ...OFFICIAL, name: 'shop', buttons: [fixed, call] })
    expect(buttons).toEqual([fixed, { ...call, phoneNumber: '+12025550123' }])
    const other = await templates.made({ ...OFFICIAL, name: 'call', buttons: [named] })
    expect(other.buttons).toEqual([{ ...named, url: 'tel:+12025550123' }])
  })

  test('creates an official template that is rejected with the provider’s reason', async () => {
    const { id } = await templates.made({ ...OFFICIAL, name: 'please_reject_me' })
    const template = await templates.decided(id)
    expect(template.status).toBe('rejected')
    expect(template.statusReason).toEqual(expect.any(String))
  })

  test('returns 503 while the provider is unavailable, and stores nothing', async () => {
    const before = await templates.count()
    for (const _ of [1, 2]) {
      const answer = await templates.create({ ...OFFICIAL, name: 'runs_into_timeout' })
      expect([answer.status, answer.body['code']], answer.text).toEqual([503, 'PROVIDER_UNAVAILABLE'])
      expect(answer.headers.get('retry-after')).toBe('5')
      expect(await templates.count()).toBe(before)
    }
  })

  test('succeeds when the request is repeated after the provider was unavailable', async () => {
    const before = await templates.count()
    const body = { ...OFFICIAL, name: 'sent_again' }
    // The sandbox is unavailable while it cannot store a template.
    const rename = (from: string, to: string) =>
      app.db.query({ name: `rename_${from}`, text: `alter table ${from} rename to ${to}` })
    await rename('sandbox_templates', 'sandbox_templates_away')
    try {
      const answer = await templates.create(body)
      expect([answer.status, answer.body['code']], answer.text).toEqual([503, 'PROVIDER_UNAVAILABLE'])
    } finally {
      await rename('sandbox_templates_away', 'sandbox_templates')
    }
    const { id } = await templates.made(body)
    expect(await templates.decided(id)).toMatchObject({ name: 'sent_again', status: 'approved' })
    expect(await templates.count()).toBe(before + 1)
  })

  test.each([
    ['copy_code', { otpButtonText: 'Copy', codeExpirationMinutes: 90, addSecurityRecommendation: true }],
    ['one_tap', { packageName: 'com.example.app', signatureHash: 'K8a+5/uYxQ1' }],
    [
      'zero_tap',
      { packageName: 'com.example.app', signatureHash: 'K8a+5/uYxQ1', zeroTapTermsAccepted: true },
    ],
  ])('creates an official OTP template of type %s', async (otpType, fields) => {
    const template = await templates.made({
      name: `code_${otpType}`,
      category: 'chatapp',
      subType: 'otp',
      otpType,
      ...fields,
    })
    const { zeroTapTermsAccepted: _, ...shown } = fields as Record<string, unknown>
    expect(template).toMatchObject({ otpType, status: 'pending', indexedPlaceholders: ['{{1}}'], ...shown })
  })

  test('accepts OTP fields that are false on a template of another type', async () => {
    const nothing = { addSecurityRecommendation: false, zeroTapTermsAccepted: false }
    const template = await templates.made({ ...OFFICIAL, name: 'no_code', ...nothing })
    expect(template).toMatchObject({ otpType: null, addSecurityRecommendation: null })
  })

  test('creates a template bound to an existing one of the provider', async () => {
    const template = await templates.made({
      name: 'bound',
      category: 'chatapp',
      subType: 'marketing',
      creationMode: 'manual_external_id',
      providerTemplateId: '1234567890',
      manualVariableCount: 3,
    })
    expect(template).toMatchObject({
      providerTemplateId: '1234567890',
      manualProvider: 'official_provider',
      indexedPlaceholders: ['{{1}}', '{{2}}', '{{3}}'],
      body: null,
    })
  })

  test('returns 409 for the same name, language and provider in one account', async () => {
    await templates.made({ ...OFFICIAL, name: 'twice' })
    for (const body of [{ ...OFFICIAL, name: 'twice' }, SMS]) {
      const again = await templates.create(body)
      expect([again.status, again.body['code']], again.text).toEqual([409, 'TEMPLATE_EXISTS'])
    }
    await templates.made({ ...OFFICIAL, name: 'twice', language: 'de' })
    const other = createTemplateCalls(app, await app.createAccount())
    await other.made({ ...OFFICIAL, name: 'twice' })
  })

  test('creates one template for concurrent requests with the same name', async () => {
    const answers = await app.during(
      Promise.all([1, 2, 3, 4].map(() => templates.create({ ...OFFICIAL, name: 'at_once' }))),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409])
  })

  test('needs the permission messages:create', async () => {
    const made = await app.admin('POST', `/accounts/${account.id}/keys`, {
      name: 'reader',
      mode: 'live',
      role: 'member',
      permissions: ['messages:read'],
    })
    const reader = createTemplateCalls(app, account, (made.body['data'] as { apiKey: string }).apiKey)
    expect((await reader.create(SMS)).status).toBe(403)
    expect((await reader.call('GET', '/platform')).status).toBe(403)
    expect((await reader.call('GET', '')).status).toBe(200)
  })
})
