import type { Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type Console, chooseMode, hold, PERSON, setUp, startConsole, type Window } from './support.ts'

const DAY_MS = 86_400_000

let server: Console
let window: Window

beforeAll(async () => {
  server = await startConsole()
  window = await server.open()
  await setUp(window)
}, 60_000)
beforeEach(({ task, onTestFailed }) => onTestFailed(() => server.takePictures(task.name)))
afterAll(() => server.stop())

describe('a send', { timeout: 60_000 }, () => {
  it('is sent in live mode although the response to the same send in test mode was lost', async () => {
    const { page, go, context } = window
    await go('/send')
    await page.getByLabel('To', { exact: true }).fill('+12025550161')
    await page.getByRole('textbox', { name: 'Text' }).fill('Once in each mode')
    await context.route('**/api/v2/messages/send', async route => {
      await route.fetch()
      await route.abort('connectionreset')
    })
    await page.getByRole('button', { name: 'Send to the sandbox' }).click()
    await page.locator('form').getByText('The server does not answer').waitFor()
    await context.unroute('**/api/v2/messages/send')
    await chooseMode(page, 'Live')
    await page.getByRole('button', { name: 'Send', exact: true }).click()
    await page.getByText('The message is on its way.').waitFor()
    const sent = await messages('to=%2B12025550161')
    expect(sent.map(({ mode }) => mode).toSorted()).toEqual(['live', 'test'])
    await page.keyboard.press('Escape')
    await chooseMode(page, 'Test')
  })

  it('keeps the variables of its template when the mode is switched', async () => {
    const { page, go } = window
    const { body } = await server.app.call('/api/v2/templates', {
      method: 'POST',
      key: server.app.demoKey,
      body: { name: 'two_parts', category: 'sms', subType: 'utility', content: 'Hi {{1}}, {{2}}' },
    })
    const id = (body['data'] as { template: { id: string } }).template.id
    await go(`/send?templateId=${id}`)
    await page.getByLabel('To', { exact: true }).fill('+12025550162')
    await page.getByLabel('{{1}}').fill('Ada')
    await page.getByLabel('{{2}}').fill('welcome')
    await chooseMode(page, 'Live')
    await page.getByRole('button', { name: 'Send', exact: true }).waitFor()
    await page.getByLabel('{{2}}').waitFor()
    await chooseMode(page, 'Test')
    await page.getByLabel('{{2}}').waitFor()
    await page.getByRole('button', { name: 'Send to the sandbox' }).click()
    await page.getByRole('dialog', { name: /\+12025550162/ }).waitFor()
    expect(await messages('to=%2B12025550162')).toMatchObject([{ text: 'Hi Ada, welcome' }])
  })

  it('that is to wait is not sent at once when its time is typed only in part', async () => {
    const { page, go } = window
    await go('/send')
    await page.getByLabel('To', { exact: true }).fill('+12025550169')
    await page.getByRole('textbox', { name: 'Text' }).fill('Later')
    const sendAt = page.getByLabel('Send at')
    await sendAt.focus()
    await page.keyboard.type('31122029')
    await page.keyboard.press('Enter')
    await page
      .getByText(/^Not complete/)
      .or(page.getByText('The message is in the sandbox.'))
      .waitFor()
    expect(await messages('to=%2B12025550169')).toEqual([])
    await sendAt.fill(new Date(Date.now() + DAY_MS).toISOString().slice(0, 16))
    await page.getByRole('button', { name: 'Send to the sandbox' }).click()
    await page.getByRole('dialog', { name: /\+12025550169/ }).waitFor()
    expect(await messages('to=%2B12025550169')).toMatchObject([{ status: 'scheduled' }])
  })

  it('that is to wait is not sent at another time when its time is skipped as clocks go forward', async () => {
    const { page, go, context } = await signedInWindow(0, 'America/New_York')
    await go('/send')
    await page.getByLabel('To', { exact: true }).fill('+12025550168')
    await page.getByRole('textbox', { name: 'Text' }).fill('In no hour')
    await page.getByLabel('Send at').fill(nextSkippedTime())
    await page.getByRole('button', { name: 'Send to the sandbox' }).click()
    await page
      .getByText(/or no such time/)
      .or(page.getByRole('dialog', { name: /\+12025550168/ }))
      .waitFor()
    expect(await messages('to=%2B12025550168')).toEqual([])
    await context.close()
  })

  it('can be written again from the panel that shows it', async () => {
    const { page, go } = window
    await go('/send')
    await page.getByLabel('To', { exact: true }).fill('+12025550163')
    await page.getByRole('textbox', { name: 'Text' }).fill('Again')
    await page.getByRole('button', { name: 'Send to the sandbox' }).click()
    const panel = page.getByRole('dialog', { name: /\+12025550163/ })
    await panel.getByRole('link', { name: 'Send again' }).click()
    await panel.waitFor({ state: 'detached' })
    expect(await page.getByRole('textbox', { name: 'Text' }).inputValue()).toBe('Again')
  })
})

describe('a page that was left while a request was running', { timeout: 60_000 }, () => {
  it('does not take the person away from where they are now', async () => {
    const { page, go, turn, context } = window
    const held = hold(window, '**/api/v2/templates', 'POST')
    await go('/templates/new')
    await page.getByLabel('Name').fill('slow_one')
    await page.getByRole('textbox', { name: 'Text', exact: true }).fill('Slow')
    await page.getByRole('button', { name: 'Save the template' }).click()
    const route = await held
    await turn('/send')
    await page.getByRole('textbox', { name: 'Text' }).fill('Typed meanwhile')
    await route.continue()
    await page.getByText('slow_one can be sent.').waitFor()
    expect(new URL(page.url()).pathname).toBe('/send')
    expect(await page.getByRole('textbox', { name: 'Text' }).inputValue()).toBe('Typed meanwhile')
    await context.unrouteAll()
  })

  it('tells that it failed', async () => {
    const { page, go, turn, context } = window
    const held = hold(window, '**/api/v2/templates', 'POST')
    await go('/templates/new')
    await page.getByLabel('Name').fill('slow_two')
    await page.getByRole('textbox', { name: 'Text', exact: true }).fill('Slow')
    await page.getByRole('button', { name: 'Save the template' }).click()
    const route = await held
    await turn('/wallet')
    await page.getByText('Movements').waitFor()
    await route.fulfill(REFUSED)
    await page.getByRole('alert').filter({ hasText: 'Refused by the test' }).waitFor({ timeout: 5_000 })
    await context.unrouteAll()
  })

  it('tells that an action of a row failed', async () => {
    const { page, go, turn, context } = window
    await go('/profile')
    const held = hold(window, '**/api/v2/templates/*/disable', 'POST')
    await turn('/templates')
    await page.getByRole('button', { name: 'Actions for two_parts' }).click()
    await page.getByRole('menuitem', { name: 'Disable' }).click()
    const route = await held
    await turn('/wallet')
    await page.getByText('Movements').waitFor()
    await route.fulfill(REFUSED)
    await page.getByText('Refused by the test').waitFor({ timeout: 5_000 })
    await context.unrouteAll()
  })
})

describe('a tab', { timeout: 60_000 }, () => {
  it('that did not hear of a new session of the same person sends what was typed in it', async () => {
    const { page, go } = window
    await go('/send')
    await page.getByLabel('To', { exact: true }).fill('+12025550164')
    await page.getByRole('textbox', { name: 'Text' }).fill('Typed in the old session')
    const { email, password } = PERSON
    const entered = await page.request.post('/api/console/login', { data: { email, password } })
    expect(entered.status()).toBe(200)
    await page.getByRole('button', { name: 'Send to the sandbox' }).click()
    await page.getByRole('dialog', { name: /\+12025550164/ }).waitFor()
    expect(await messages('to=%2B12025550164')).toMatchObject([{ text: 'Typed in the old session' }])
    await page.keyboard.press('Escape')
  })
})

describe('the back button', { timeout: 60_000 }, () => {
  it('does not leave a dialog for the next row', async () => {
    const { page, go } = window
    for (const name of ['FirstName', 'OtherName']) await ownerCall('/api/v2/sms-senders', { name })
    await go('/operator/senders')
    await page.getByRole('row').filter({ hasText: 'FirstName' }).click()
    await page.getByRole('button', { name: 'Reject…' }).click()
    await page.getByLabel('Reason').fill('Not this one')
    await page.goBack()
    await page.getByLabel('Reason').waitFor({ state: 'detached' })
    await page.getByRole('row').filter({ hasText: 'OtherName' }).click()
    await page.getByRole('button', { name: 'Approve the name' }).waitFor()
    expect(await page.getByRole('dialog', { name: 'Reject the name' }).count()).toBe(0)
  })
})

describe('a browser whose clock is a day', { timeout: 60_000 }, () => {
  for (const [word, byMs] of [
    ['behind', -DAY_MS],
    ['ahead', DAY_MS],
  ] as const) {
    it(`${word} shows times, periods and waits by the server’s clock`, async () => {
      const other = await signedInWindow(byMs)
      const { page } = other
      await other.go('/messages?period=1h&to=%2B12025550161')
      await page.getByRole('row').filter({ hasText: 'Once in each mode' }).waitFor({ timeout: 5_000 })
      expect(await page.getByRole('row').filter({ hasText: 'Once in each mode' }).innerText()).not.toMatch(
        /day|hr/,
      )
      await other.go('/')
      const sent = page.locator('.ph-card', { hasText: 'Sent' }).first()
      await page.getByText('Latest messages').waitFor()
      expect(await page.getByText('No test messages in this period').count()).toBe(0)
      expect(await sent.innerText()).not.toMatch(/\b0\b/)
      await other.go('/verification/try')
      await page.getByLabel('To', { exact: true }).fill(byMs < 0 ? '+12025550171' : '+12025550172')
      await page.getByRole('button', { name: 'Send a test code' }).click()
      await page.getByRole('button', { name: /^Send again in [1-6]?\d s$/ }).waitFor({ timeout: 5_000 })
      await other.context.close()
    })
  }
})

describe('the overview', { timeout: 60_000 }, () => {
  it('keeps its figures when a minute passes, also while the server is away', async () => {
    const { page, go, context } = await signedInWindow()
    await page.clock.install()
    await go('/')
    await page.getByText('so far').waitFor()
    await context.route('**/api/v2/stats**', route => route.abort('connectionrefused'))
    const told = page.getByRole('alert').filter({ hasText: 'The server does not answer' })
    // In steps, however many: a retry sets the time of the next one only after its own response.
    while (!(await told.isVisible())) await page.clock.runFor(5_000)
    expect(await page.getByText('so far').count()).toBe(1)
    await context.close()
  })
})

describe('a credit', { timeout: 60_000 }, () => {
  it('whose response was lost is added once, also when its dialog was closed and opened again', async () => {
    const { page, go, context } = window
    const { id } = await server.app.createAccount({ balance: 0 })
    await go(`/operator/accounts/${id}`)
    await context.route('**/credits', async route => {
      await route.fetch()
      await route.abort('connectionreset')
    })
    await addCredit(page, '25')
    await page.getByRole('dialog').getByText('The server does not answer').waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await context.unroute('**/credits')
    await addCredit(page, '25')
    await page.getByText(/^The balance is .* now\.$/).waitFor()
    const { body } = await server.app.admin('GET', `/accounts/${id}`)
    expect(body['data']).toMatchObject({ wallet: { credited: 25 } })
  })
})

describe('another owner', { timeout: 60_000 }, () => {
  it('who suspends an account is not overruled by a form that was opened before', async () => {
    const { page, go } = window
    const { id } = await server.app.createAccount()
    await go(`/operator/accounts/${id}`)
    await page.getByLabel('Name', { exact: true }).fill('Renamed here')
    await server.app.admin('PATCH', `/accounts/${id}`, { status: 'suspended' })
    await page.getByRole('button', { name: 'Save the account' }).click()
    await page.getByText('The account is changed.').waitFor()
    const { body } = await server.app.admin('GET', `/accounts/${id}`)
    expect(body['data']).toMatchObject({ name: 'Renamed here', status: 'suspended' })
  })
})

describe('a list that cannot be read', { timeout: 60_000 }, () => {
  it('says so, also while it is polled, and shows its rows after another try', async () => {
    const { page, go, context } = window
    for (const url of ['**/api/v2/inbound?*', '**/api/v2/inbound/events'])
      await context.route(url, route => route.fulfill(BROKEN))
    await go('/inbound')
    const fault = page.getByRole('alert').filter({ hasText: 'Broken by the test' })
    await fault.waitFor()
    // The stream of changes does not get through: the page polls.
    const route = await hold(window, '**/api/v2/inbound?*', 'GET')
    expect(await fault.isVisible()).toBe(true)
    expect(await page.locator('#main [aria-busy="true"]').count()).toBe(0)
    await route.fulfill(BROKEN)
    await context.unrouteAll()
    await fault.getByRole('button', { name: 'Try again' }).click()
    await page.getByText('No inbound messages yet').waitFor()
  })
})

const BROKEN = {
  status: 500,
  contentType: 'application/json',
  body: JSON.stringify({
    success: false,
    code: 'INTERNAL_ERROR',
    error: 'Broken by the test.',
    requestId: 'req_test',
  }),
}

const REFUSED = {
  status: 409,
  contentType: 'application/json',
  body: JSON.stringify({
    success: false,
    code: 'CONFLICT',
    error: 'Refused by the test.',
    requestId: 'req_test',
  }),
}

async function addCredit(page: Page, amount: string): Promise<void> {
  await page.getByRole('button', { name: 'Add credit', exact: true }).click()
  await page.getByLabel(/^Amount/).fill(amount)
  await page.getByRole('button', { name: 'Add the credit' }).click()
}

async function messages(query: string): Promise<{ mode: string; text: string }[]> {
  const { body } = await server.app.call(`/api/v2/messages?${query}`, { key: server.app.demoKey })
  return body['data'] as { mode: string; text: string }[]
}

async function ownerCall(path: string, body: object): Promise<void> {
  const { page } = window
  const session = await page.request.get('/api/console/session')
  const { data } = (await session.json()) as {
    data: { csrfToken: string; memberships: { account: { id: string } }[] }
  }
  const answer = await page.request.post(path, {
    headers: {
      'x-csrf-token': data.csrfToken,
      'x-posthorn-account': data.memberships[0]!.account.id,
      'x-posthorn-mode': 'live',
    },
    data: body,
  })
  expect(answer.status()).toBe(201)
}

/** Half past two in New York, on the next second Sunday of March. */
function nextSkippedTime(): string {
  const now = new Date(server.app.now())
  const sundays = [now.getUTCFullYear(), now.getUTCFullYear() + 1].map(year => {
    const first = new Date(Date.UTC(year, 2, 1)).getUTCDay()
    return new Date(Date.UTC(year, 2, 8 + ((7 - first) % 7), 2, 30))
  })
  return sundays
    .find(time => time > now)!
    .toISOString()
    .slice(0, 16)
}

/** A window of its own session, with a clock that differs by `byMs` from the server's. */
async function signedInWindow(byMs = 0, timeZone?: string): Promise<Window> {
  const other = await server.open({ timeZone })
  await other.context.addInitScript(`{
    const { now } = Date
    Date = class extends Date {
      static now = () => now() + ${byMs}
      constructor(...given) {
        super(...(given.length === 0 ? [now() + ${byMs}] : given))
      }
    }
  }`)
  const answer = await other.page.request.post('/api/console/login', {
    data: { email: PERSON.email, password: PERSON.password },
  })
  expect(answer.status()).toBe(200)
  return other
}
