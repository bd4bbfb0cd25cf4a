import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startTestApp, type TestApp } from '../../support/app.ts'
import { createTemplateCalls, OFFICIAL, refusedAt, SMS, type TemplateCalls } from './support.ts'

/** Create requests that break a rule: each error names its fields, and nothing is stored. */

let app: TestApp
let templates: TemplateCalls
beforeAll(async () => {
  app = await startTestApp()
  templates = createTemplateCalls(app, await app.createAccount())
})
afterAll(() => app.stop())

const OTP = { name: 'code', category: 'chatapp', subType: 'otp' }
const EMAIL = { name: 'mail', category: 'email', subType: 'free', emailSubject: 'Hi', content: 'Hi' }
const SESSION = { name: 'hi', category: 'chatapp', subType: 'free', provider: 'user_session', body: 'Hi' }
const APP = { packageName: 'com.example.app', signatureHash: 'K8a+5/uYxQ1' }

const BROKEN: [string, string[], Record<string, unknown>[]][] = [
  [
    'a name that is empty, too long or contains invalid characters',
    ['name'],
    ['Order', 'order Update', '1order', 'order1', '_order', 'order-update', 'órder', '', 'a'.repeat(201)].map(
      name => ({ ...SMS, name }),
    ),
  ],
  [
    'a name that is missing or not a string',
    ['name'],
    [
      { ...SMS, name: undefined },
      { ...SMS, name: null },
      { ...SMS, name: 7 },
    ],
  ],
  ['an unknown category', ['category'], [{ ...SMS, category: 'fax' }]],
  [
    'a sub type that is unknown or missing',
    ['subType'],
    [
      { ...SMS, subType: 'spam' },
      { ...SMS, subType: undefined },
    ],
  ],
  [
    'a provider that does not carry the category',
    ['provider'],
    [
      { ...SMS, provider: 'official_provider' },
      { ...SMS, provider: 'user_session' },
      { ...EMAIL, provider: 'official_provider' },
      { ...OFFICIAL, provider: 'internal' },
      { ...SMS, category: 'message', provider: 'official_provider' },
    ],
  ],
  [
    'a target that contradicts provider or category',
    ['templateTarget'],
    [
      { ...SMS, templateTarget: 'user_session' },
      { ...OFFICIAL, provider: 'official_provider', templateTarget: 'user_session' },
    ],
  ],
  [
    'an official sender that is unknown, or that the template cannot have',
    ['officialSenderId'],
    [
      { ...OFFICIAL, officialSenderId: 'cnn_01m7zfya87e70a0k047jvs2kk8' },
      { ...OFFICIAL, officialSenderId: 'nobody' },
      { ...SMS, officialSenderId: 'platform' },
      { ...SESSION, officialSenderId: 'platform' },
    ],
  ],
  ['an invalid language', ['language'], ['English', 'e1', 'EN'].map(language => ({ ...OFFICIAL, language }))],
  [
    'a content that is empty or missing',
    ['content'],
    [
      { ...SMS, content: undefined },
      { ...SMS, content: '' },
    ],
  ],
  ['a missing body', ['body'], [{ ...OFFICIAL, body: undefined, bodyParameters: undefined }]],
  ['an e-mail without a subject', ['emailSubject'], [{ ...EMAIL, emailSubject: undefined }]],
  [
    'an e-mail subject of two lines',
    ['emailSubject'],
    [{ ...EMAIL, emailSubject: 'Hi\r\nBcc: a@example.com' }],
  ],
  ['a subject for an SMS template', ['emailSubject'], [{ ...SMS, emailSubject: 'Hi' }]],
  [
    'gaps between placeholders, and malformed placeholders',
    ['content'],
    [
      '{{2}}',
      '{{1}} {{3}}',
      '{{0}}',
      '{{name}}',
      '{{01}}',
      '{{ 1 }}',
      '{{1}',
      '{{}}',
      '{{101}}',
      '{{{1}}}',
    ].map(content => ({ ...SMS, content })),
  ],
  [
    'a text for SMS that has too many parts whatever its values are',
    ['content'],
    ['x'.repeat(1_531), `${'ж'.repeat(670)}!`, `${'ж'.repeat(335)}{{1}}${'ж'.repeat(336)}`].map(content => ({
      ...SMS,
      content,
    })),
  ],
  [
    'a gap between the placeholders of subject and content',
    ['content'],
    [{ ...EMAIL, emailSubject: '{{3}}', content: '{{1}}' }],
  ],
  [
    'a body that is too long',
    ['body'],
    [{ ...OFFICIAL, body: 'a'.repeat(1_025), bodyParameters: undefined }],
  ],
  [
    'examples for a placeholder that does not exist or already has one',
    ['bodyParameters[1].index'],
    [1, 3].map(index => ({
      ...OFFICIAL,
      bodyParameters: [
        { index: 1, label: 'a' },
        { index, label: 'b' },
      ],
    })),
  ],
  [
    'examples with an invalid index',
    ['bodyParameters[0].index'],
    [0, 1.5].map(index => ({ ...OFFICIAL, bodyParameters: [{ index, label: 'a' }] })),
  ],
  ['a text header without text', ['headerValue'], [{ ...OFFICIAL, headerType: 'text' }]],
  [
    'a header with a gap in its placeholders, two of them or a malformed one',
    ['headerValue'],
    ['{{4}}', '{{1}} and {{2}}', '{{name}}'].map(headerValue => ({
      ...OFFICIAL,
      headerType: 'text',
      headerValue,
    })),
  ],
  ['a header text without a header type', ['headerValue'], [{ ...OFFICIAL, headerValue: 'News' }]],
  [
    'a header that the template cannot have, or of an unknown type',
    ['headerType'],
    [
      { ...SMS, headerType: 'text', headerValue: 'News' },
      { ...EMAIL, headerType: 'image' },
      { ...SESSION, headerType: 'video' },
      { ...OTP, headerType: 'text', headerValue: 'News' },
      { ...OFFICIAL, headerType: 'sticker' },
    ],
  ],
  ['a media header without a file', ['headerAssetId'], [{ ...OFFICIAL, headerType: 'image' }]],
  [
    'a file for a text header',
    ['headerMediaUrl'],
    [{ ...OFFICIAL, headerType: 'text', headerValue: 'Hi', headerMediaUrl: 'https://example.com/a.png' }],
  ],
  [
    'a footer that the template cannot have',
    ['footer'],
    [
      { ...SMS, footer: 'Bye' },
      { ...EMAIL, footer: 'Bye' },
    ],
  ],
  ['a footer with a placeholder', ['footer'], [{ ...OFFICIAL, footer: 'Bye {{1}}' }]],
  [
    'buttons that the template cannot have, or too many of a type',
    ['buttons'],
    [
      { ...SMS, buttons: [{ type: 'quick_reply', text: 'Yes' }] },
      { ...SESSION, buttons: [{ type: 'quick_reply', text: 'Yes' }] },
      { ...OTP, buttons: [{ type: 'quick_reply', text: 'Yes' }] },
      { ...OFFICIAL, buttons: Array(3).fill({ type: 'url', text: 'Go', url: 'https://example.com' }) },
      { ...OFFICIAL, buttons: Array(11).fill({ type: 'quick_reply', text: 'Yes' }) },
    ],
  ],
  [
    'a url button without a valid URL, or with an invalid placeholder',
    ['buttons[0].url'],
    [
      undefined,
      'example.com',
      'ftp://example.com',
      'https://example.com/{{1}}/x',
      'https://example.com/{{2}}',
    ].map(url => ({ ...OFFICIAL, buttons: [{ type: 'url', text: 'Go', url }] })),
  ],
  [
    'a phone button without a valid number',
    ['buttons[0].phoneNumber'],
    [undefined, '0123', 'call us'].map(phoneNumber => ({
      ...OFFICIAL,
      buttons: [{ type: 'phone', text: 'Call', phoneNumber }],
    })),
  ],
  [
    'a button of an unknown type',
    ['buttons[0].type'],
    [{ ...OFFICIAL, buttons: [{ type: 'fax', text: 'Fax' }] }],
  ],
  ['buttons that are not a list', ['buttons'], [{ ...OFFICIAL, buttons: 'none' }]],
  [
    'a codeExpirationMinutes that is out of range or not an integer',
    ['codeExpirationMinutes'],
    [0, 91, 1.5, '10'].map(codeExpirationMinutes => ({ ...OTP, codeExpirationMinutes })),
  ],
  [
    'zero_tap without accepted terms',
    ['zeroTapTermsAccepted'],
    [
      { ...OTP, ...APP, otpType: 'zero_tap' },
      { ...OTP, ...APP, otpType: 'zero_tap', zeroTapTermsAccepted: false },
    ],
  ],
  [
    'app fields that are missing, invalid or given for copy_code',
    ['packageName', 'signatureHash'],
    [
      { ...OTP, otpType: 'zero_tap', zeroTapTermsAccepted: true },
      { ...OTP, otpType: 'one_tap' },
      { ...OTP, otpType: 'one_tap', packageName: 'app', signatureHash: 'short' },
      { ...OTP, otpType: 'copy_code', ...APP },
    ],
  ],
  [
    'an otpType for a template that is not an official OTP',
    ['otpType'],
    [
      { ...OFFICIAL, otpType: 'copy_code' },
      { ...SMS, otpType: 'one_tap' },
    ],
  ],
  [
    'a security recommendation for a template that is not an OTP',
    ['addSecurityRecommendation'],
    [{ ...OFFICIAL, addSecurityRecommendation: true }],
  ],
  [
    'an OTP without a placeholder for its code',
    ['content'],
    [{ ...SMS, subType: 'otp', content: 'Your code' }],
  ],
  ['an official OTP with more than one placeholder', ['body'], [{ ...OTP, body: '{{1}} {{2}}' }]],
  [
    'manual_external_id without a providerTemplateId, or the reverse',
    ['providerTemplateId'],
    [
      { ...OFFICIAL, creationMode: 'manual_external_id' },
      { ...OFFICIAL, providerTemplateId: '123' },
    ],
  ],
  [
    'manual_external_id for a template that is not official',
    ['creationMode'],
    [{ ...SMS, creationMode: 'manual_external_id', providerTemplateId: '123' }],
  ],
  [
    'a manualVariableCount that differs from the body',
    ['manualVariableCount'],
    [{ ...OFFICIAL, creationMode: 'manual_external_id', providerTemplateId: '123', manualVariableCount: 3 }],
  ],
]

describe('POST /api/v2/templates rejects', () => {
  test.each(BROKEN)('%s', async (_, paths, bodies) => {
    for (const body of bodies) await refusedAt(templates, body, paths)
  })

  test('several faults in one response', async () => {
    await refusedAt(
      templates,
      {
        ...OFFICIAL,
        name: 'Order',
        body: '{{2}}',
        bodyParameters: undefined,
        footer: '{{1}}',
        otpType: 'one_tap',
      },
      ['name', 'body', 'footer', 'otpType'],
    )
  })

  test('a name that is too long, and states the limit', async () => {
    const answer = await refusedAt(templates, { ...SMS, name: 'a'.repeat(201) }, ['name'])
    expect(answer.body['error']).toMatch(/^name: Invalid template name: .* 200 characters at most$/)
  })

  test('an unknown header asset', async () => {
    for (const headerAssetId of ['nothing', 'ast_01m7zfya87e70a0k047jvs2kk8']) {
      await refusedAt(templates, { ...OFFICIAL, headerType: 'image', headerAssetId }, ['headerAssetId'])
    }
  })

  test('a body that is not an object', async () => {
    for (const body of ['[]', '"x"', '7', '{"name":']) {
      expect((await templates.create(body)).status).toBe(400)
    }
  })
})
