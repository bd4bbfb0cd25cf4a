import { Secret, TOTP } from 'otpauth'
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import {
  type Console,
  createLogin,
  findBarriers,
  PERSON,
  setUp,
  signIn,
  startConsole,
  takePicture,
  type Window,
} from './support.ts'

let server: Console
let window: Window

/** Sets the browser’s clock an hour ahead of the server’s. */
const FAST_CLOCK = `{
  const { now } = Date
  Date = class extends Date {
    static now = () => now() + 3_600_000
    constructor(...given) {
      super(...(given.length === 0 ? [now() + 3_600_000] : given))
    }
  }
}`

beforeAll(async () => {
  server = await startConsole()
  window = await server.open()
  await window.context.addInitScript(FAST_CLOCK)
}, 60_000)
beforeEach(({ task, onTestFailed }) => onTestFailed(() => server.takePictures(task.name)))
afterAll(() => server.stop())

describe('signing in', { timeout: 60_000 }, () => {
  it('shows the API’s error messages at the fields of the first login', async () => {
    const { page, go } = window
    await go('/')
    await page.getByLabel('Your name').fill('Ada')
    await page.getByLabel('E-mail').fill('nobody')
    await page.getByLabel('Password', { exact: true }).fill('short')
    await page.getByRole('button', { name: 'Create login' }).click()
    await page.getByText('Must have at least 10 characters').waitFor()
    expect(await findBarriers(page)).toEqual([])
    await takePicture(page, 'setup')
  })

  it('leads from the first login to the first message, with a test key that works as copied', async () => {
    const { page } = window
    await setUp(window)
    // As on plain http, where neither is available.
    await page.evaluate('delete Crypto.prototype.randomUUID; delete Navigator.prototype.clipboard')
    await page.evaluate(`addEventListener('copy', ({ target }) => { window.copied = target.value })`)
    await page.getByRole('button', { name: 'Create a test key' }).click()
    const apiKey = await page.getByLabel('The test key').inputValue()
    await page.getByRole('button', { name: /^Copy / }).click()
    expect(await page.evaluate('window.copied')).toContain(apiKey)
    expect(await page.getByRole('region', { name: 'curl' }).textContent()).toContain(apiKey)
    const sent = await server.app.call('/api/v2/messages/send', {
      method: 'POST',
      key: apiKey,
      body: { to: '+12025550123', text: 'Sent by a program' },
    })
    expect(sent.status).toBe(200)
    await page.getByText('Sent by a program').waitFor()
    await page.getByRole('button', { name: 'Or send it from here' }).click()
    await page.getByText('It works').waitFor()
    await takePicture(page, 'welcome')
    expect(window.faults).toEqual([])
  })

  it('offers no first login when one exists', async () => {
    const other = await server.open()
    await other.go('/')
    await other.page.getByRole('heading', { name: 'Sign in' }).waitFor()
    await takePicture(other.page, 'sign-in')
    expect(await findBarriers(other.page)).toEqual([])
    await signIn(other, { email: PERSON.email, password: 'not the password' })
    await other.page.getByRole('alert').waitFor()
    await signIn(other)
    await other.page.getByRole('heading', { name: 'Overview' }).waitFor()
    // Signing out does not require signing in first. This page sends no requests by itself.
    await other.go('/profile')
    await other.page.getByText('this session').waitFor()
    await endSessions(other)
    await other.page.getByRole('button', { name: /Signed in as/ }).click()
    await other.page.getByRole('menuitem', { name: 'Sign out' }).click()
    await other.page.getByRole('heading', { name: 'Sign in' }).waitFor()
    await other.context.close()
  })

  it('keeps the input when the session ends, and continues after signing in again', async () => {
    const { page, go } = window
    await go('/send')
    await page.getByLabel('To', { exact: true }).fill('+12025550177')
    await page.getByRole('button', { name: 'Send to the sandbox' }).click()
    await page.locator('textarea:focus[aria-invalid="true"]').waitFor()
    await page.getByRole('textbox', { name: 'Text' }).fill('A long text that nobody wants to type twice')
    await page.getByText('It can be sent', { exact: true }).waitFor()
    const send = page.getByRole('button', { name: 'Send to the sandbox' })
    await endSessions(window)
    // A background request of the page may have failed before: then the dialog already covers the button.
    await send.dispatchEvent('click')
    await page.getByText('Your session has ended').waitFor()
    await takePicture(page, 'session-ended')
    await page.getByRole('dialog').getByLabel('Password', { exact: true }).fill(PERSON.password)
    await page.getByRole('dialog').getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('dialog', { name: /\+12025550177/ }).waitFor()
    expect(await page.getByRole('textbox', { name: 'Text' }).inputValue()).toBe(
      'A long text that nobody wants to type twice',
    )
    const [kept] = await inbox('+12025550177')
    expect(kept).toMatchObject({ text: 'A long text that nobody wants to type twice' })
  })

  it('keeps a dialog open behind the sign-in dialog, also when Escape is pressed', async () => {
    const { page, go } = window
    await go('/keys')
    await page.getByRole('button', { name: 'New key' }).first().click()
    await page.getByLabel('Name').fill('Half typed')
    await endSessions(window)
    await page.getByLabel('Name').press('Enter')
    const again = page.getByRole('dialog', { name: 'Your session has ended' })
    const password = again.getByLabel('Password', { exact: true })
    await password.press('Escape')
    expect(await page.getByLabel('Name').inputValue()).toBe('Half typed')
    await password.fill(PERSON.password)
    await password.press('Enter')
    await page.getByRole('button', { name: 'I have saved it' }).click()
    await page.getByRole('row').filter({ hasText: 'Half typed' }).waitFor()
  })

  it('accepts a second factor, or a recovery code in its place', async () => {
    const { page, go } = window
    await go('/profile')
    await page.getByRole('button', { name: 'Turn it on' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Password', { exact: true }).fill(PERSON.password)
    await dialog.getByRole('button', { name: 'Continue' }).click()
    await dialog.getByRole('img', { name: 'The secret, for your authenticator app' }).waitFor()
    await takePicture(page, 'second-factor')
    await dialog.locator('input[data-path=code]:focus').waitFor()
    const secret = (await dialog.getByText(/^[A-Z2-7]{16,}/).textContent())!.trim()
    await dialog.getByLabel('Code').fill('12')
    await dialog.getByRole('button', { name: 'Turn it on' }).click()
    await dialog.getByText('Must be six digits').waitFor()
    const code = new TOTP({ secret: Secret.fromBase32(secret) }).generate()
    await dialog.getByLabel('Code').fill(`${code.slice(0, 3)} ${code.slice(3)}`)
    await dialog.getByRole('button', { name: 'Turn it on' }).click()
    const codes = (await dialog.getByRole('region', { name: 'Recovery codes' }).textContent())!.split('\n')
    await dialog.locator('button:focus', { hasText: 'Copy' }).waitFor()
    // The codes are shown only once.
    await page.keyboard.press('Escape')
    await dialog.getByRole('button', { name: 'I have saved them' }).click()

    const other = await server.open()
    await other.go('/')
    await signIn(other)
    await other.page.getByLabel('Code').fill('not-a-code')
    await other.page.getByRole('button', { name: 'Verify' }).click()
    await other.page.getByRole('alert').waitFor()
    await other.page.getByRole('button', { name: 'Use another login' }).click()
    await signIn(other)
    await other.page.getByLabel('Code').fill(codes[0]!)
    await other.page.getByRole('button', { name: 'Verify' }).click()
    await other.page.getByRole('heading', { name: 'Overview' }).waitFor()

    await go('/profile')
    await page.getByText(/\b9 recovery codes/).waitFor()
    await page.getByRole('button', { name: 'Sign out there' }).first().click()
    await page.getByRole('button', { name: 'Sign out there' }).waitFor({ state: 'detached' })
    await page.locator('ul:focus', { hasText: 'this session' }).waitFor()
    expect((await other.page.request.get('/api/console/session')).status()).toBe(401)
    await other.context.close()
  })

  it('does not show a sign-out that failed as done', async () => {
    const { page, go, context } = window
    await go('/profile')
    await page.getByText('this session').waitFor()
    await context.route('**/api/console/logout', route => route.abort('connectionrefused'))
    await page.getByRole('button', { name: /Signed in as/ }).click()
    await page.getByRole('menuitem', { name: 'Sign out' }).click()
    await page.getByText('You are still signed in').waitFor()
    await page.getByRole('heading', { name: 'Your login' }).waitFor()
    await context.unroute('**/api/console/logout')
  })

  it('continues by itself when the server is back', async () => {
    const { page, go, context } = window
    await context.route('**/api/console/**', route => route.abort('connectionrefused'))
    await go('/profile')
    await page.getByText('The server does not answer').waitFor()
    await context.unroute('**/api/console/**')
    await page.getByText('this session').waitFor()
  })

  it('keeps the page while the server is away, and loads a new page when it is back', async () => {
    const { page, go, turn, context } = window
    await go('/profile')
    await page.getByText('this session').waitFor()
    await context.route('**', route => route.abort('connectionrefused'))
    for (const path of ['/endpoints', '/inbound']) {
      await turn(path)
      await page.getByRole('heading', { name: 'The server does not answer' }).waitFor()
    }
    await turn('/profile')
    await page.getByText('this session').waitFor()
    await turn('/endpoints')
    await page.getByRole('heading', { name: 'The server does not answer' }).waitFor()
    await context.unroute('**')
    await page.getByRole('heading', { name: 'Webhooks' }).waitFor()
  })

  it('sends requests although the browser reports that it is offline', async () => {
    const { page, go, turn } = window
    await go('/profile')
    await page.getByText('this session').waitFor()
    await page.evaluate(`dispatchEvent(new Event('offline'))`)
    await turn('/keys')
    await page.getByRole('row').nth(1).waitFor()
  })

  it('keeps all tabs signed in when the password is changed', async () => {
    const { page, go, context } = window
    const second = await context.newPage()
    await second.goto('/keys')
    await second.getByRole('button', { name: 'New key' }).click()
    await go('/profile')
    await page.getByLabel('Current password').fill(PERSON.password)
    await page.getByLabel('New password').fill(`${PERSON.password}, another one`)
    const [followed] = await Promise.all([
      second.waitForResponse('**/api/console/session'),
      page.getByRole('button', { name: 'Change the password' }).click(),
    ])
    expect(followed.status()).toBe(200)
    await second.getByRole('dialog').getByLabel('Name').fill('Made in the other tab')
    await second.getByRole('button', { name: 'Create the key' }).click()
    await second.getByRole('button', { name: 'I have saved it' }).click()
    await second.close()
  })

  it('is ended in all tabs by signing out, and until then tabs show each other’s changes', async () => {
    const { page, context } = window
    const second = await context.newPage()
    await second.goto('/keys')
    await second.getByRole('row').nth(1).waitFor()
    await window.go('/keys')
    await page.getByRole('button', { name: 'New key' }).click()
    await page.getByRole('dialog').getByLabel('Name').fill('Seen in both')
    await page.getByRole('button', { name: 'Create the key' }).click()
    await page.getByRole('button', { name: 'I have saved it' }).click()
    await second.getByRole('row').filter({ hasText: 'Seen in both' }).waitFor()
    await second.getByRole('button', { name: 'New key' }).click()
    await second.getByRole('dialog').getByLabel('Name').fill('Half typed')
    await page.getByRole('button', { name: /Signed in as/ }).click()
    await page.getByRole('menuitem', { name: 'Sign out' }).click()
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    expect((await page.request.get('/api/console/session')).status()).toBe(401)
    const ended = second.getByRole('dialog', { name: 'Your session has ended' })
    await ended.getByRole('button', { name: 'Sign out', exact: true }).waitFor()
    expect(await second.getByLabel('Name').inputValue()).toBe('Half typed')
    await ended.getByRole('button', { name: 'Sign out', exact: true }).click()
    await second.getByRole('heading', { name: 'Sign in' }).waitFor()
  })
})

describe('the first login of a server with several accounts', { timeout: 60_000 }, () => {
  it('belongs to none of the accounts, and starts on an operator page', async () => {
    const crowded = await startConsole()
    onTestFinished(() => crowded.stop())
    await crowded.app.createAccount()
    const first = await crowded.open()
    await createLogin(first)
    await first.page.getByRole('heading', { name: 'Sender review' }).waitFor()
    expect(first.faults).toEqual([])
  })
})

/** As another window or the operator would end them. */
async function endSessions({ context }: Window): Promise<void> {
  await context.clearCookies()
}

async function inbox(to: string): Promise<unknown[]> {
  const { body } = await server.app.call(`/api/v2/sandbox/messages?to=${encodeURIComponent(to)}`, {
    key: server.app.demoKey,
  })
  return body['data'] as unknown[]
}
