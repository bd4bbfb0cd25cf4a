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
  test('of an SMS answers with four fields alone, and is active at once', async () => {
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

  test('of an e-mail keeps its subject, and counts the places of both', async () => {
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

  test('of a web session is local, whichever way it is said, and has no footer', async () => {
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

  test('of an official one is pending until the provider has decided', async () => {
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

  test('shows each button with its address as it was given', async () => {
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

  test('is rejected with the provider’s reason', async () => {
    const { id } = await templates.made({ ...OFFICIAL, name: 'please_reject_me' })
    const template = await templates.decided(id)
    expect(template.status).toBe('rejected')
    expect(template.statusReason).toEqual(expect.any(String))
  })

  test('stores nothing while the provider is unavailable, and may be repeated', async () => {
    const before = await templates.count()
    for (const _ of [1, 2]) {
      const answer = await templates.create({ ...OFFICIAL, name: 'runs_into_timeout' })
      expect([answer.status, answer.body['code']], answer.text).toEqual([503, 'PROVIDER_UNAVAILABLE'])
      expect(answer.headers.get('retry-after')).toBe('5')
      expect(await templates.count()).toBe(before)
    }
  })

  test.each([
    ['copy_code', { otpButtonText: 'Copy', codeExpirationMinutes: 90, addSecurityRecommendation: true }],
    ['one_tap', { packageName: 'com.example.app', signatureHash: 'K8a+5/uYxQ1' }],
    [
      'zero_tap',
      { packageName: 'com.example.app', signatureHash: 'K8a+5/uYxQ1', zeroTapTermsAccepted: true },
    ],
  ])('takes an official OTP of type %s, whose words are the platform’s', async (otpType, fields) => {
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

  test('takes fields of an OTP elsewhere that ask for nothing', async () => {
    const nothing = { addSecurityRecommendation: false, zeroTapTermsAccepted: false }
    const template = await templates.made({ ...OFFICIAL, name: 'no_code', ...nothing })
    expect(template).toMatchObject({ otpType: null, addSecurityRecommendation: null })
  })

  test('binds what stands at the provider already', async () => {
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

  test('is one of its name, language and provider', async () => {
    await templates.made({ ...OFFICIAL, name: 'twice' })
    for (const body of [{ ...OFFICIAL, name: 'twice' }, SMS]) {
      const again = await templates.create(body)
      expect([again.status, again.body['code']], again.text).toEqual([409, 'TEMPLATE_EXISTS'])
    }
    await templates.made({ ...OFFICIAL, name: 'twice', language: 'de' })
    const other = createTemplateCalls(app, await app.createAccount())
    await other.made({ ...OFFICIAL, name: 'twice' })
  })

  test('is made once, however many ask at the same time', async () => {
    const answers = await app.during(
      Promise.all([1, 2, 3, 4].map(() => templates.create({ ...OFFICIAL, name: 'at_once' }))),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409])
  })

  test('needs the permission', async () => {
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
