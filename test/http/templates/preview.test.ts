import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Estimate } from '../../../src/contract/estimate.ts'
import type { TemplatePreview } from '../../../src/contract/template.ts'
import { startTestApp, type TestAccount, type TestApp } from '../../support/app.ts'
import { createTemplateCalls, OFFICIAL, type TemplateCalls } from './support.ts'

let app: TestApp
let account: TestAccount
let templates: TemplateCalls
beforeAll(async () => {
  app = await startTestApp()
  account = await app.createAccount()
  templates = createTemplateCalls(app, account)
})
afterAll(() => app.stop())

const SMS = { category: 'sms', subType: 'utility', content: 'News: {{1}}' }
const MAIL = { category: 'email', subType: 'utility', emailSubject: '{{1}}', content: '<p>{{1}}</p>' }
const CHAT = { category: 'chatapp', provider: 'user_session', subType: 'utility', body: 'News: {{1}}' }
const BUTTON = { type: 'url', text: 'Track', url: 'https://example.com/t/{{1}}' }
const CODE = { category: 'chatapp', subType: 'otp', language: 'en', otpType: 'copy_code' }

const text = (characters: number) => ({ variablesIndexed: ['a'.repeat(characters)] })
const values = (...variablesIndexed: string[]) => ({ variablesIndexed })
const end = (text: string, index = 0) => ({ buttonVariables: [{ index, text }] })

/** Templates, and uses of each that a send takes, and others that it refuses. */
const CASES: [kind: string, template: { category: string }, taken: object[], refused: object[]][] = [
  [
    'an SMS',
    SMS,
    [text(1), text(1_500), { variablesNamed: { '1': 'x' } }],
    [text(1_600), { ...text(1), ...end('x') }, values('1', '2')],
  ],
  ['an SMS of a value alone', { ...SMS, content: '{{1}}' } as typeof SMS, [text(1)], [text(0)]],
  ['an e-mail', MAIL, [text(4_096), values('<b>\n')], [values()]],
  [
    'a chat message with a header',
    { ...CHAT, headerType: 'text', headerValue: 'Acme' } as typeof CHAT,
    [text(4_000)],
    [text(4_090)],
  ],
  [
    'an official message',
    { ...OFFICIAL, footer: 'Acme', buttons: [BUTTON] } as typeof OFFICIAL,
    [{ ...values('1', '2'), ...end('x') }],
    [
      { ...values('1', '2'), ...end('x', 1) },
      { ...values('1', '2'), ...end('https://example.com') },
      { ...values('1', ' '), ...end('x') },
      { variablesNamed: { '1': 'a\nb', '2': 'c' }, ...end('x') },
    ],
  ],
  [
    'an official code',
    CODE,
    [values('4711'), { ...values('4711'), ...end('4711') }],
    [
      { ...values('4711'), ...end('4712') },
      { ...values('4711'), ...end('4711', 1) },
    ],
  ],
]

describe('POST /api/v2/templates/{id}/preview with values', () => {
  test.each(CASES)(
    'shows %s as an estimate does, and is refused for the same reason',
    async (kind, template, taken, refused) => {
      const { id } = await templates.made({ ...template, name: kind.replaceAll(/[^a-z]+/g, '_') })
      await templates.decided(id)
      const to = template.category === 'email' ? 'ada@example.com' : '+12025550123'

      async function estimated(use: object): Promise<Estimate> {
        const body = { to, template: { id, ...use } }
        const key = account.liveKey
        return (await app.call('/api/v2/messages/estimate', { method: 'POST', key, body })).body[
          'data'
        ] as Estimate
      }

      for (const use of taken) {
        const preview = await templates.call('POST', `/${id}/preview`, use)
        expect(preview.status, preview.text).toBe(200)
        const { header, text, footer, subject, sms } = preview.body['data'] as TemplatePreview
        const whole = [header?.text, text, footer].filter(part => part != null).join('\n\n')
        expect(await estimated(use)).toMatchObject({ reasons: [], rendered: { text: whole, subject }, sms })
      }
      for (const use of refused) {
        const { status, body } = await templates.call('POST', `/${id}/preview`, use)
        const { reasons } = await estimated(use)
        expect([status, body['details']]).toMatchObject([400, reasons.map(({ message }) => ({ message }))])
      }
    },
  )
})
