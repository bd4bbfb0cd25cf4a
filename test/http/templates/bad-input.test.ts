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
    'a name with capitals, digits, spaces, hyphens, none, or too long a one',
    ['name'],
    ['Order', 'order Update', '1order', 'order1', '_order', 'order-update', 'órder', '', 'a'.repeat(201)].map(
      name => ({ ...SMS, name }),
    ),
  ],
  [
    'no name',
    ['name'],
    [
      { ...SMS, name: undefined },
      { ...SMS, name: null },
      { ...SMS, name: 7 },
    ],
  ],
  ['an unknown category', ['category'], [{ ...SMS, category: 'fax' }]],
  [
    'an unknown sub type',
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
    'an official sender that there is not, or for a template that has none',
    ['officialSenderId'],
    [
      { ...OFFICIAL, officialSenderId: 'cnn_01m7zfya87e70a0k047jvs2kk8' },
      { ...OFFICIAL, officialSenderId: 'nobody' },
      { ...SMS, officialSenderId: 'platform' },
      { ...SESSION, officialSenderId: 'platform' },
    ],
  ],
  [
    'a language that is none',
    ['language'],
    ['English', 'e1', 'EN'].map(language => ({ ...OFFICIAL, language })),
  ],
  [
    'no words',
    ['content'],
    [
      { ...SMS, content: undefined },
      { ...SMS, content: '' },
    ],
  ],
  ['no body', ['body'], [{ ...OFFICIAL, body: undefined, bodyParameters: undefined }]],
  ['no subject', ['emailSubject'], [{ ...EMAIL, emailSubject: undefined }]],
  ['a subject of two lines', ['emailSubject'], [{ ...EMAIL, emailSubject: 'Hi\r\nBcc: a@example.com' }]],
  ['a subject where there is none', ['emailSubject'], [{ ...SMS, emailSubject: 'Hi' }]],
  [
    'gaps between placeholders, and braces that are none',
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
  ['a gap over subject and body', ['content'], [{ ...EMAIL, emailSubject: '{{3}}', content: '{{1}}' }]],
  [
    'words that are too long',
    ['body'],
    [{ ...OFFICIAL, body: 'a'.repeat(1_025), bodyParameters: undefined }],
  ],
  [
    'examples of no placeholder, or twice',
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
    'examples that are none',
    ['bodyParameters[0].index'],
    [0, 1.5].map(index => ({ ...OFFICIAL, bodyParameters: [{ index, label: 'a' }] })),
  ],
  ['a text header without text', ['headerValue'], [{ ...OFFICIAL, headerType: 'text' }]],
  [
    'a header with a gap behind the body, or with two placeholders',
    ['headerValue'],
    ['{{4}}', '{{1}} and {{2}}', '{{name}}'].map(headerValue => ({
      ...OFFICIAL,
      headerType: 'text',
      headerValue,
    })),
  ],
  ['header text without its type', ['headerValue'], [{ ...OFFICIAL, headerValue: 'News' }]],
  [
    'a header where none is carried',
    ['headerType'],
    [
      { ...SMS, headerType: 'text', headerValue: 'News' },
      { ...EMAIL, headerType: 'image' },
      { ...SESSION, headerType: 'video' },
      { ...OTP, headerType: 'text', headerValue: 'News' },
      { ...OFFICIAL, headerType: 'sticker' },
    ],
  ],
  ['media without a file', ['headerAssetId'], [{ ...OFFICIAL, headerType: 'image' }]],
  [
    'a footer where none is carried',
    ['footer'],
    [
      { ...SMS, footer: 'Bye' },
      { ...EMAIL, footer: 'Bye' },
    ],
  ],
  ['a footer with a placeholder', ['footer'], [{ ...OFFICIAL, footer: 'Bye {{1}}' }]],
  [
    'buttons where none are carried, or too many of a kind',
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
    'a url button without an address, or with a placeholder that is not its end',
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
    'a phone button without a number',
    ['buttons[0].phoneNumber'],
    [undefined, '0123', 'call us'].map(phoneNumber => ({
      ...OFFICIAL,
      buttons: [{ type: 'phone', text: 'Call', phoneNumber }],
    })),
  ],
  ['a button of no kind', ['buttons[0].type'], [{ ...OFFICIAL, buttons: [{ type: 'fax', text: 'Fax' }] }]],
  ['buttons that are no list', ['buttons'], [{ ...OFFICIAL, buttons: 'none' }]],
  [
    'a code that expires at once, or too late',
    ['codeExpirationMinutes'],
    [0, 91, 1.5, '10'].map(codeExpirationMinutes => ({ ...OTP, codeExpirationMinutes })),
  ],
  [
    'zero_tap without terms',
    ['zeroTapTermsAccepted'],
    [
      { ...OTP, ...APP, otpType: 'zero_tap' },
      { ...OTP, ...APP, otpType: 'zero_tap', zeroTapTermsAccepted: false },
    ],
  ],
  [
    'zero_tap and one_tap without their application',
    ['packageName', 'signatureHash'],
    [
      { ...OTP, otpType: 'zero_tap', zeroTapTermsAccepted: true },
      { ...OTP, otpType: 'one_tap' },
      { ...OTP, otpType: 'one_tap', packageName: 'app', signatureHash: 'short' },
      { ...OTP, otpType: 'copy_code', ...APP },
    ],
  ],
  [
    'fields of an OTP elsewhere',
    ['otpType'],
    [
      { ...OFFICIAL, otpType: 'copy_code' },
      { ...SMS, otpType: 'one_tap' },
    ],
  ],
  [
    'the advice of an OTP elsewhere',
    ['addSecurityRecommendation'],
    [{ ...OFFICIAL, addSecurityRecommendation: true }],
  ],
  ['an OTP without a place for its code', ['content'], [{ ...SMS, subType: 'otp', content: 'Your code' }]],
  ['an official OTP with more places', ['body'], [{ ...OTP, body: '{{1}} {{2}}' }]],
  [
    'a binding without an id, or an id without a binding',
    ['providerTemplateId'],
    [
      { ...OFFICIAL, creationMode: 'manual_external_id' },
      { ...OFFICIAL, providerTemplateId: '123' },
    ],
  ],
  [
    'a binding of what is not official',
    ['creationMode'],
    [{ ...SMS, creationMode: 'manual_external_id', providerTemplateId: '123' }],
  ],
  [
    'a binding with another number of variables than its body',
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
