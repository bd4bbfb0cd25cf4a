import type { Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type Receiver, startReceiver } from '../support/receiver.ts'
import { type Console, findBarriers, setUp, startConsole, takePicture, type Window } from './support.ts'

const XSS = '<img src=x onerror="window.broken=1"><script>window.broken=1</script>'

/** One pixel. */
const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)

let server: Console
let window: Window

beforeAll(async () => {
  server = await startConsole({ env: { POSTHORN_ALLOW_PRIVATE_HOSTS: '127.0.0.1' } })
  window = await server.open()
  await setUp(window)
}, 60_000)
beforeEach(({ task, onTestFailed }) => onTestFailed(() => server.takePictures(task.name)))
afterAll(() => server.stop())

describe('templates', { timeout: 60_000 }, () => {
  it('for SMS can be written with a count of parts and a preview, saved and sent', async () => {
    const { page, go } = window
    await go('/templates')
    await page.getByRole('link', { name: 'New template' }).first().click()
    await page.getByLabel('Name').fill('Order Update')
    await page
      .getByRole('textbox', { name: 'Text', exact: true })
      .fill(`Hi {{1}}, order {{2}} is on its way. ${'x'.repeat(124)}`)
    await page.getByLabel('Example of {{1}}').fill('Ada')
    await page.getByLabel('Example of {{2}}').fill('4711')
    const counted = await partsOf(`Hi Ada, order 4711 is on its way. ${'x'.repeat(124)}`)
    await page.getByText(`${counted.characters} characters of GSM-7 · ${counted.parts} part`).waitFor()
    await page.getByRole('textbox', { name: 'Text', exact: true }).fill(`Hi {{1}} ✓ {{2}} ${XSS}`)
    await page.getByText('of UCS-2').waitFor()
    const phone = page.getByRole('figure', { name: 'How it looks on a phone' })
    expect(await phone.innerText()).toContain(`Hi Ada ✓ 4711 ${XSS}`)
    expect(await findBarriers(page)).toEqual([])
    // More text than the phone preview can show, so that it can be scrolled by keyboard.
    await page
      .getByRole('textbox', { name: 'Text', exact: true })
      .fill(`Hi {{1}} {{2}} ${'long words '.repeat(80)}`)
    await phone.getByText('long words').waitFor()
    expect(await findBarriers(page)).toEqual([])
    await page.getByRole('textbox', { name: 'Text', exact: true }).fill(`Hi {{1}} ✓ {{2}} ${XSS}`)
    await page.getByRole('button', { name: 'Save the template' }).click()
    await page.getByRole('heading', { name: 'order_update' }).waitFor()
    await page.getByLabel('To', { exact: true }).fill('+12025550140')
    await page.getByText('Local SMS via sandbox').waitFor()
    await page.getByRole('button', { name: 'Send to the sandbox' }).click()
    const accepted = page.getByText('The message is accepted.')
    await accepted.waitFor()
    await page.getByLabel('To', { exact: true }).fill('+12025550002')
    await page.getByRole('button', { name: 'Send to the sandbox' }).click()
    await page.getByText('The sandbox refuses recipients that end in 0002').waitFor()
    expect(await accepted.count()).toBe(0)
    await page.getByLabel('To', { exact: true }).fill('+12025550140')
    await page.getByRole('button', { name: 'Send to the sandbox' }).click()
    await page.getByRole('link', { name: 'the sandbox inbox' }).click()
    await page
      .getByRole('row')
      .filter({ hasText: `Hi Ada ✓ 4711 ${XSS}` })
      .first()
      .waitFor()
    expect(await page.evaluate('window.broken')).toBe(undefined)
  })

  it('for WhatsApp show the provider’s approval or rejection without a reload', async () => {
    const { page, go } = window
    await submitOfficial(page, 'spring_sale')
    await page.getByText('Waiting for the provider').waitFor()
    await page.getByText('Approved', { exact: true }).waitFor()
    await page.getByText('Send a test').waitFor()
    await takePicture(page, 'template-approved')
    await go(`/send?to=%2B12025550141&templateId=${page.url().split('/').at(-1)}`)
    await page.getByLabel('{{1}}').fill('Ada')
    await page.getByLabel('Button 1: end of the URL').fill('spring')
    await page.getByText('It can be sent', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Send to the sandbox' }).click()
    await page.getByRole('dialog').getByText('Only today, Ada: a fifth off.').waitFor()
    await submitOfficial(page, 'reject_me')
    await page.getByText('The provider rejected it').waitFor()
    await page.getByText('The sandbox rejects templates').waitFor()
    expect(await findBarriers(page)).toEqual([])
    await page.getByRole('link', { name: 'Write a new one from it' }).click()
    await page.getByRole('heading', { name: 'New template' }).waitFor()
    expect(await page.getByRole('textbox', { name: 'Text', exact: true }).inputValue()).toBe(
      'Only today, {{1}}: a fifth off.',
    )
  })

  it('stay in the list when the provider decides on the last pending one', async () => {
    await submitOfficial(window.page, 'summer_sale')
    const id = window.page.url().split('/').at(-1)
    const { body } = await server.app.call(`/api/v2/templates/${id}`, { key: server.app.demoKey })
    const made = body['data'] as object
    const fresh = await server.open()
    await fresh.context.addCookies(await window.context.cookies())
    const { page, go } = fresh
    await page.clock.install()
    let decided = false
    const slow = Promise.withResolvers<void>()
    const asked = Promise.withResolvers<void>()
    await page.route(/api\/v2\/templates(\?status=\w+)?$/, async route => {
      const { searchParams } = new URL(route.request().url())
      const answer = await (await route.fetch()).json()
      const isIn = (searchParams.get('status') ?? 'active') === (decided ? 'active' : 'pending')
      const others = answer.data.filter(({ name }: { name: string }) => name !== 'summer_sale')
      if (!searchParams.has('status')) {
        asked.resolve()
        await slow.promise
      }
      await route.fulfill({
        json: {
          ...answer,
          data: isIn ? [...others, { ...made, status: decided ? 'approved' : 'pending' }] : others,
        },
      })
    })
    const known = page.waitForResponse('**/templates?status=pending')
    await go('/templates')
    await Promise.all([known, asked.promise])
    // The list of active templates is longer, and its response arrives later.
    await page.clock.runFor(1_000)
    slow.resolve()
    const row = page.getByRole('row').filter({ hasText: 'summer_sale' })
    await row.getByText('Pending').waitFor()
    decided = true
    const told = page.waitForResponse('**/templates?status=pending')
    await page.clock.runFor(1_500)
    await told
    await row.getByText('Approved').waitFor()
    // A request that is still running is answered before its context is closed.
    await page.unrouteAll({ behavior: 'wait' })
    await fresh.context.close()
  })

  it('accept a file for their header, and reject one of another type', async () => {
    const { page, go } = window
    await go('/templates/new')
    await page.getByText('WhatsApp Business', { exact: true }).click()
    await page.getByText('Image', { exact: true }).click()
    const file = page.locator('input[type=file]')
    await file.setInputFiles({ name: 'photo.png', mimeType: 'text/plain', buffer: Buffer.from('no picture') })
    await page.getByText('photo.png is of type document, not image.').waitFor()
    await file.setInputFiles({ name: 'photo.png', mimeType: 'image/png', buffer: PNG })
    await page.getByRole('button', { name: 'Remove the file' }).waitFor()
    const seen = page.getByRole('img', { name: 'The header' })
    await seen.waitFor()
    const width = await seen.evaluate(async element => {
      const image = element as unknown as { decode(): Promise<void>; naturalWidth: number }
      await image.decode()
      return image.naturalWidth
    })
    expect(width).toBe(1)
    // The same file can be chosen again after it was corrected.
    expect(await file.inputValue()).toBe('')
    // An upload that is still running is cancelled when the header type changes.
    await page.route('**/templates/media', () => {})
    await file.setInputFiles({ name: 'other.png', mimeType: 'image/png', buffer: PNG })
    const [given] = await Promise.all([
      page.waitForEvent('requestfailed'),
      page.getByText('Document', { exact: true }).click(),
    ])
    expect(given.url()).toMatch(/\/templates\/media$/)
    await page.unroute('**/templates/media')
    await page.getByText('No document yet').waitFor()
  })

  it('that the API rejects show the reason at the field and keep the input', async () => {
    const { page, go } = window
    await go('/templates/new')
    await page.getByLabel('Name').fill('order_2')
    await page.getByRole('textbox', { name: 'Text', exact: true }).fill('{{1}} and {{3}}')
    await page.getByRole('button', { name: 'Save the template' }).click()
    await page.getByText(/\{\{2\}\} is missing/).waitFor()
    expect(await page.getByLabel('Name').getAttribute('aria-invalid')).toBe('true')
    expect(await page.getByRole('textbox', { name: 'Text', exact: true }).inputValue()).toBe(
      '{{1}} and {{3}}',
    )
    await page.getByText('WhatsApp Business', { exact: true }).click()
    await page.getByLabel('Name').fill('timeout_news')
    await page.getByRole('textbox', { name: 'Text', exact: true }).fill('News of today')
    await page.getByRole('button', { name: 'Submit for approval' }).click()
    await page.getByRole('alert').waitFor()
    // The provider is unavailable, not the server.
    expect(await page.getByText('The data shown may be outdated').count()).toBe(0)
    await go('/templates?status=rejected')
    await page.getByRole('row').filter({ hasText: 'reject_me' }).waitFor()
    expect(await page.getByRole('row').filter({ hasText: 'spring_sale' }).count()).toBe(0)
  })

  it('for e-mail are previewed in a frame that runs no scripts', async () => {
    const { page, go, faults } = window
    await go('/templates/new')
    await page.getByText('E-mail', { exact: true }).click()
    await page.getByLabel('Name').fill('welcome_mail')
    await page.getByLabel('Subject').fill('Welcome, {{1}}')
    await page.getByLabel('Text or HTML').fill(`<h1>Hello {{1}}</h1>${XSS}`)
    await page.getByLabel('Example of {{1}}').fill('<b>Ada</b>')
    const mail = page.frameLocator('iframe[title="The e-mail"]')
    await mail.getByRole('heading', { name: 'Hello <b>Ada</b>' }).waitFor()
    await page.getByRole('button', { name: 'Save the template' }).click()
    await page.getByRole('heading', { name: 'welcome_mail' }).waitFor()
    await mail.getByRole('heading', { name: 'Hello <b>Ada</b>' }).waitFor()
    expect(await page.evaluate('window.broken')).toBe(undefined)
    // Only the faults of blocked content in the frame are expected.
    expect(faults.filter(fault => !fault.includes('about:srcdoc'))).toEqual([])
    faults.length = 0
  })
})

describe('verification', { timeout: 60_000 }, () => {
  it('sends a code, rejects a wrong one, accepts the right one, and updates the statistics', async () => {
    const { page, turn } = window
    await turn('/verification')
    await page.getByText('No verifications in this period').waitFor()
    await page.getByRole('link', { name: 'Try it' }).click()
    await page.getByLabel('To', { exact: true }).fill('+12025550150')
    await page.getByRole('button', { name: 'Send a test code' }).click()
    const words = page.getByText(/Your verification code is \d{6}/)
    await words.waitFor()
    const code = /\d{6}/.exec(await words.innerText())![0]
    await page.getByLabel('Digit 1').click()
    await page.keyboard.type(code === '000000' ? '111111' : '000000')
    await page.getByText('4 attempts are left').waitFor()
    expect(await findBarriers(page)).toEqual([])
    await page.keyboard.type(code)
    await page.getByText('Verified', { exact: true }).waitFor()
    await page.getByRole('tab', { name: 'Statistics' }).click()
    await page.getByText('100 % converted').waitFor()
    await page.getByRole('row', { name: /^United States 1 1 / }).waitFor()
    await takePicture(page, 'verification-statistics')
    expect(await findBarriers(page)).toEqual([])
  })

  it('has settings that apply from the next code', async () => {
    const { page, go, context } = window
    await context.route(/\/api\/v2\/templates$/, route =>
      route.fulfill({ status: 403, json: { success: false, code: 'FORBIDDEN', error: 'Not these.' } }),
    )
    await go('/verification/settings')
    await page.getByRole('alert').getByText('Not these.').waitFor()
    await context.unroute(/\/api\/v2\/templates$/)
    await go('/verification/settings')
    await page.getByRole('slider').first().focus()
    await page.keyboard.press('ArrowRight')
    await page.getByText('7 digits').waitFor()
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('The settings apply from the next code.').waitFor()
    await page.getByRole('tab', { name: 'Try it' }).click()
    await page.getByLabel('To', { exact: true }).fill('+12025550151')
    await page.getByRole('button', { name: 'Send a test code' }).click()
    await page.getByText(/Your verification code is \d{7}$/).waitFor()
    await page.getByLabel('Digit 7').waitFor()
  })
})

describe('a settings form', { timeout: 60_000 }, () => {
  it('keeps its input when reloading the saved values fails', async () => {
    const { page, go, context } = window
    await go('/verification/settings')
    const life = page.getByRole('slider', { name: /^Valid for/ })
    await life.press('Home')
    const typed = await life.getAttribute('aria-valuenow')
    await page.route('**/api/v2/account', async route =>
      route.fulfill({ response: await route.fetch({ url: `${server.app.url}/api/v2/none` }) }),
    )
    const asked = page.waitForResponse('**/api/v2/account')
    // Like another tab that has changed the account.
    const other = await context.newPage()
    await other.goto('/profile')
    await other.evaluate(
      `new BroadcastChannel('posthorn').postMessage({ kind: 'changed', paths: ['/api/v2/account'] })`,
    )
    await (await asked).finished()
    await page.evaluate('new Promise(drawn => requestAnimationFrame(() => requestAnimationFrame(drawn)))')
    await other.close()
    await page.unroute('**/api/v2/account')
    await page.getByRole('button', { name: 'Save' }).waitFor()
    expect(await life.getAttribute('aria-valuenow')).toBe(typed)
  })
})

describe('webhooks', { timeout: 60_000 }, () => {
  let receiver: Receiver

  beforeAll(async () => {
    receiver = await startReceiver()
  })
  afterAll(() => receiver.close())

  it('can be created, show their secret once, and list and replay their deliveries', async () => {
    const { page, turn } = window
    await turn('/endpoints')
    await page.getByRole('button', { name: 'New endpoint' }).first().click()
    const form = page.getByRole('dialog', { name: 'New endpoint' })
    await form.getByLabel('Address').fill('http://10.0.0.1/')
    await form.getByRole('button', { name: 'Create the endpoint' }).click()
    await form.locator('[data-path="url"][aria-invalid="true"]').waitFor()
    await form.getByLabel('Address').fill(receiver.url('/hook'))
    await form.getByRole('button', { name: 'Create the endpoint' }).click()
    const secret = page.getByRole('dialog', { name: 'The endpoint’s secret' })
    await secret.getByText(/^whsec_/).waitFor()
    expect(await findBarriers(page)).toEqual([])
    await secret.getByRole('button', { name: 'I have saved it' }).click()
    await page.getByRole('button', { name: 'Send a test' }).click()
    await page.getByRole('row').filter({ hasText: 'webhook.test' }).click()
    const panel = page.getByRole('dialog')
    await panel.getByText('HTTP 200').waitFor()
    await panel.getByText('"type": "webhook.test"').waitFor()
    await takePicture(page, 'webhook-delivery')
    expect(await findBarriers(page)).toEqual([])
    await panel.getByRole('button', { name: 'Send it again' }).click()
    await panel.getByText('Replay of').waitFor()
    await panel.getByText('HTTP 200').waitFor()
    // The endpoint receives every event, including the receipt of the code sent before.
    const tests = receiver.got.filter(({ body }) => body['type'] === 'webhook.test')
    expect(tests).toHaveLength(2)
    expect(new Set(tests.map(({ headers }) => headers['webhook-id'])).size).toBe(1)
  })

  it('show a payload with all digits of the numbers in its metadata', async () => {
    const { page } = window
    const { status } = await server.app.call('/api/v2/messages/send', {
      method: 'POST',
      key: server.app.demoKey,
      headers: { 'content-type': 'application/json' },
      body: '{"to": "+12025550155", "text": "Long", "options": {"metadata": {"order": 9007199254740993}}}',
    })
    expect(status).toBe(200)
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await page.getByRole('row').filter({ hasText: 'message.sent' }).first().click()
    const payload = page.getByRole('region', { name: 'The payload' })
    await payload.getByText('"order": 9007199254740993').waitFor()
  })
})

describe('the suppression list', { timeout: 60_000 }, () => {
  it('is left by the Tab key after one row and its button, and shows an error after Escape', async () => {
    const { page, go } = window
    for (const to of ['+12025550161', '+12025550162', '+12025550163'])
      await server.app.call('/api/v2/suppressions', { method: 'POST', key: server.app.demoKey, body: { to } })
    await go('/suppressions')
    await page.getByRole('row').nth(3).waitFor()
    const focused = page.locator(':focus')
    await page.getByRole('region', { name: 'Suppressed recipients' }).focus()
    await page.keyboard.press('Tab')
    await page.keyboard.press('ArrowDown')
    expect(await focused.getAttribute('aria-rowindex')).toBe('3')
    const [to] = /\+\d+/.exec(await focused.innerText())!
    await page.keyboard.press('Tab')
    expect(await focused.getAttribute('aria-label')).toBe(`Remove ${to} from the list`)
    await page.keyboard.press('Tab')
    expect(await page.locator('[role="row"] :focus, [role="row"]:focus').count()).toBe(0)
    // A failure is shown even if Escape is pressed while the request is running.
    const asked = Promise.withResolvers<void>()
    const heard = Promise.withResolvers<void>()
    await page.route('**/api/v2/suppressions/*', async route => {
      asked.resolve()
      await heard.promise
      await route.abort()
    })
    await page.getByRole('button', { name: `Remove ${to} from the list` }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('button', { name: 'Remove from the list' }).click()
    await asked.promise
    await page.keyboard.press('Escape')
    heard.resolve()
    await dialog.getByRole('alert').waitFor()
    await page.unroute('**/api/v2/suppressions/*')
    await dialog.getByRole('button', { name: 'Go back' }).click()
    await dialog.waitFor({ state: 'detached' })
  })

  it('adds a recipient, finds it by the URL, and removes it', async () => {
    const { page, go, faults } = window
    await go('/suppressions')
    await page.getByRole('button', { name: 'Add a recipient' }).first().click()
    const form = page.getByRole('dialog', { name: 'Add a recipient' })
    await form.getByLabel('Recipient').fill('nobody')
    await form.getByRole('button', { name: 'Add to the list' }).click()
    await form.locator('[data-path="to"][aria-invalid="true"]').waitFor()
    await form.getByLabel('Recipient').fill('+12025550160')
    await form.getByLabel('Reason').fill(XSS)
    await form.getByRole('button', { name: 'Add to the list' }).click()
    await go(`/suppressions?to=${encodeURIComponent('+12025550160')}`)
    await page.getByRole('row').filter({ hasText: XSS }).waitFor()
    expect(await findBarriers(page)).toEqual([])
    // Input that is not applied yet is cleared together with the filters.
    await go('/suppressions?channel=local_sms')
    const to = page.getByRole('textbox', { name: 'Recipient' })
    await to.fill('+1202')
    await page.getByRole('button', { name: 'Clear filters' }).first().click()
    expect(await to.inputValue()).toBe('')
    expect(page.url()).toMatch(/\/suppressions$/)
    await go(`/suppressions?to=${encodeURIComponent('+12025550160')}`)
    await page.getByRole('button', { name: 'Remove +12025550160 from the list' }).click()
    await page.getByRole('button', { name: 'Remove from the list', exact: true }).click()
    await page.getByText('No recipient matches these filters').waitFor()
    expect(await page.evaluate('window.broken')).toBe(undefined)
    expect(faults).toEqual([])
  })

  it('moves the keyboard focus to the next row when a row is removed', async () => {
    const { page, go } = window
    for (const to of ['+12025550171', '+12025550172', '+12025550173']) {
      const body = { channel: 'local_sms', to }
      const { status } = await server.app.call('/api/v2/suppressions', {
        method: 'POST',
        key: server.app.demoKey,
        body,
      })
      expect(status).toBe(201)
    }
    await go('/suppressions')
    // Clicked: the dialog moves the focus to its first button a moment after it opens, which may be between the focus
    // and the key of a `press`.
    const confirm = page.getByRole('button', { name: 'Remove from the list', exact: true })
    await page.getByRole('button', { name: 'Remove +12025550172 from the list' }).press('Enter')
    await confirm.click()
    await page.locator('[role=row]:focus', { hasText: '+12025550171' }).waitFor()
    // After the last row is removed, the empty list takes the focus.
    await go(`/suppressions?to=${encodeURIComponent('+12025550171')}`)
    await page.getByRole('button', { name: 'Remove +12025550171 from the list' }).press('Enter')
    await confirm.click()
    const empty = page.getByRole('region', { name: 'Suppressed recipients' })
    await empty.and(page.locator(':focus')).getByText('No recipient matches these filters').waitFor()
  })
})

async function submitOfficial(page: Page, name: string): Promise<void> {
  await page.goto('/templates/new')
  await page.getByText('WhatsApp Business', { exact: true }).click()
  await page.getByLabel('Name').fill(name)
  await page.getByText('Marketing', { exact: true }).click()
  await page.getByRole('textbox', { name: 'Text', exact: true }).fill('Only today, {{1}}: a fifth off.')
  await page.getByLabel('Example of {{1}}').fill('Ada')
  await page.getByRole('button', { name: 'Add a button' }).click()
  await page.getByLabel('Text of button 1').fill('To the shop')
  await page.getByLabel('Address of button 1').fill('https://shop.example/{{1}}')
  await page.getByLabel('Example address of button 1').fill('https://shop.example/sale')
  await page.getByRole('button', { name: 'Submit for approval' }).click()
  await page.getByRole('heading', { name }).waitFor()
}

/** The parts as the server counts them. */
async function partsOf(text: string): Promise<{ characters: number; parts: number }> {
  const { body } = await server.app.call('/api/v2/messages/estimate', {
    method: 'POST',
    key: server.app.demoKey,
    body: { to: '+12025550140', messageType: 'utility', text },
  })
  return (body['data'] as { sms: { characters: number; parts: number } }).sms
}
