import type { Route } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import {
  type Console,
  findBarriers,
  PERSON,
  setUp,
  startConsole,
  takePicture,
  type Window,
} from './support.ts'

const GRACE = 'Grace <img src=x onerror="window.broken=1">'

let server: Console
let owner: Window
let member: Window
let accountId: string

beforeAll(async () => {
  server = await startConsole()
  owner = await server.open()
  await setUp(owner)
  accountId = await demoAccount(server)
}, 60_000)
beforeEach(({ task, onTestFailed }) => onTestFailed(() => server.takePictures(task.name)))
afterAll(() => server.stop())

describe('the wallet', { timeout: 60_000 }, () => {
  it('shows the balance and all movements, filtered by the URL, and sets the low-balance alert', async () => {
    const { page, go } = owner
    await server.app.admin('POST', `/accounts/${accountId}/credits`, {
      amount: 12.5,
      note: '<b>Invoice 17</b>',
    })
    await server.app.admin('POST', `/accounts/${accountId}/credits`, { amount: 100_000.123456 })
    await go('/wallet')
    const rows = page.getByRole('table', { name: 'Movements of the wallet' }).getByRole('row')
    await rows
      .filter({ hasText: '<b>Invoice 17</b>' })
      .getByText(/\+.*12\.50/)
      .waitFor()
    await page.getByRole('button', { name: 'Low balance' }).click()
    await page.getByLabel(/^Alert below/).fill('1000000')
    await page.getByRole('button', { name: 'Set the threshold' }).click()
    await page.getByText(/^below .*1,000,000\.00/).waitFor()
    expect(await findBarriers(page)).toEqual([])
    await takePicture(page, 'wallet')
    const amount = rows.getByText(/\+.*100,000\.123456$/).locator('xpath=ancestor::*[@role="cell"]')
    for (const width of [320, 900, 1360]) {
      await page.setViewportSize({ width, height: 860 })
      await expect.poll(() => amount.evaluate(isShownWhole), { message: `${width} px` }).toBe(true)
    }
    await go('/wallet?source=messages')
    await page.getByText('No movement matches these filters').waitFor()
  })
})

describe('API keys', { timeout: 60_000 }, () => {
  it('can be rotated, and the old key keeps working during its grace period', async () => {
    const { page, turn } = owner
    await turn('/keys')
    const menu = page.getByRole('button', { name: 'Actions for Owner (test)' })
    await menu.focus()
    await page.keyboard.press('Enter')
    await page.getByRole('menuitem', { name: 'Revoke' }).waitFor()
    expect(await findBarriers(page)).toEqual([])
    await page.getByRole('menuitem', { name: 'Revoke' }).press('Enter')
    await page.getByRole('dialog', { name: 'Revoke this key?' }).waitFor()
    await page.keyboard.press('Escape')
    // The keyboard focus returns to where it was.
    await page.locator('[aria-label="Actions for Owner (test)"]:focus').waitFor()
    await menu.click()
    await page.getByRole('menuitem', { name: 'Rotate' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Rotate' }).click()
    const shown = page.getByRole('region', { name: 'The new key' })
    const key = (await shown.textContent())!
    expect(key).toMatch(/^ph_test_\w+$/)
    expect(await findBarriers(page)).toEqual([])
    // The keyboard shortcuts of the navigation must not leave a page that shows a key only once.
    await page.getByRole('button', { name: 'I have saved it' }).focus()
    await page.keyboard.press('g')
    await page.keyboard.press('o')
    expect(await shown.textContent()).toBe(key)
    expect(new URL(page.url()).pathname).toBe('/keys')
    await page.getByRole('button', { name: 'I have saved it' }).click()
    for (const either of [key, server.app.demoKey])
      expect((await server.app.call('/api/v2/account', { key: either })).status).toBe(200)
    expect(await page.content()).not.toContain(key)
  })
})

describe('members', { timeout: 60_000 }, () => {
  it('are invited by a link that is shown once, and join by it', async () => {
    const { page, go } = owner
    await go('/members')
    await page.getByRole('button', { name: 'Invite somebody' }).first().click()
    const form = page.getByRole('dialog')
    await form.getByLabel('E-mail', { exact: true }).fill('nobody')
    await form.getByRole('button', { name: 'Invite' }).click()
    await form.locator('[aria-invalid="true"]').waitFor()
    await form.getByLabel('E-mail', { exact: true }).fill('grace@example.com')
    await form.getByRole('button', { name: 'Invite' }).click()
    const link = page.getByRole('region', { name: 'The link' })
    const { pathname, hash } = new URL((await link.textContent())!)
    await takePicture(page, 'invitation-link')
    await page.getByRole('button', { name: 'Done' }).click()
    const invited = page.getByRole('table', { name: 'Invitations' }).getByRole('row')
    await invited.filter({ hasText: 'grace@example.com' }).getByText('Pending').waitFor()

    member = await server.open()
    await member.go(pathname + hash)
    await member.page.getByLabel('Your name').fill(GRACE)
    await member.page.getByLabel('New password').fill('another long sentence')
    await member.page.getByRole('button', { name: 'Join' }).click()
    await member.page.getByRole('heading', { name: 'Overview' }).waitFor()
  })

  it('have no owner actions in the console, and the API rejects each one', () => expectNoOwnerActions(member))

  it('can be given other permissions, and removed', async () => {
    const { page, go } = owner
    await go('/members')
    const grace = page.getByRole('table', { name: 'Members' }).getByRole('row').filter({ hasText: GRACE })
    await grace.getByText('send, read').waitFor()
    expect(await findBarriers(page)).toEqual([])
    await takePicture(page, 'members')
    await grace.getByRole('button', { name: /^Actions for/ }).click()
    await page.getByRole('menuitem', { name: 'Change role and permissions' }).click()
    await page.getByRole('dialog').getByLabel('api_keys:read').check()
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
    await grace.getByText('send, read, see keys').waitFor()
    await grace.getByRole('button', { name: /^Actions for/ }).click()
    await page.getByRole('menuitem', { name: 'Remove' }).click()
    await page.getByRole('button', { name: 'Remove the member' }).click()
    await grace.waitFor({ state: 'detached' })
    expect(await page.evaluate('window.broken')).toBe(undefined)
    // A login without an account is not an operator’s login.
    await member.go('/messages')
    await member.page.getByText('You belong to no account').waitFor()
    expect(await member.page.getByText('Operator', { exact: false }).count()).toBe(0)
    await member.context.close()
  })

  it('cannot be removed when they are the last owner', async () => {
    const { page } = owner
    await page.getByRole('button', { name: 'Actions for Ada' }).click()
    await page.getByRole('menuitem', { name: 'Remove' }).click()
    await page.getByRole('button', { name: 'Remove the member' }).click()
    await page.getByRole('dialog').getByRole('alert').waitFor()
    await page.getByRole('button', { name: 'Go back' }).click()
  })
})

describe('the audit log', { timeout: 60_000 }, () => {
  it('shows who performed an action and with which input, filtered by the URL', async () => {
    const { page, go } = owner
    await go('/audit?action=member')
    const rows = page.getByRole('table', { name: 'Audit log' }).getByRole('row')
    await rows.filter({ hasText: 'Members: removed' }).getByText('Ada').waitFor()
    await rows.filter({ hasText: 'Members: changed' }).click()
    await page.getByRole('region', { name: 'Requested changes' }).getByText('api_keys:read').waitFor()
    expect(await findBarriers(page)).toEqual([])
    await takePicture(page, 'audit-entry')
    await page.getByRole('button', { name: 'Show all their actions' }).click()
    await rows.filter({ hasText: 'Invitations: created' }).waitFor({ state: 'detached' })
    expect(page.url()).toMatch(/actorId=usr_\w+/)
  })
})

describe('the account', { timeout: 60_000 }, () => {
  it('has quiet hours, and shows an error at the field when their start and end are equal', async () => {
    const { page, go } = owner
    await go('/account')
    await page.getByRole('switch', { name: /^Hold marketing messages at night/ }).click()
    await page.getByLabel('From', { exact: true }).fill('22:00')
    await page.getByLabel('Until').fill('22:00')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.locator('[aria-invalid="true"]').waitFor()
    await page.getByLabel('Until').fill('07:30')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Marketing messages wait from 22:00 to 07:30.').waitFor()
    expect(await findBarriers(page)).toEqual([])
    await takePicture(page, 'account')
    expect(owner.faults).toEqual([])
  })
})

describe('a person who belongs to two accounts', { timeout: 60_000 }, () => {
  it('sees and changes only the data of the selected account', async () => {
    const { page, go, turn } = owner
    const { app } = server
    const other = await app.createAccount()
    const { body } = await app.admin('POST', '/members/invitations', {
      email: PERSON.email,
      role: 'owner',
      accountId: other.id,
    })
    const token = new URL((body['data'] as { link: string }).link).hash.slice(1)
    const accept = { method: 'POST', body: { token, password: PERSON.password } }
    expect((await app.call('/api/console/invitations/accept', accept)).status).toBe(200)

    await go('/account')
    const waits = page.getByRole('switch', { name: /^Hold marketing messages at night/ })
    expect(await page.getByLabel('Until').inputValue()).toBe('07:30')
    await choose(page, 'Acme')
    await waits.and(page.locator(':not(:checked)')).waitFor()
    // The data is cached already: a form that stayed mounted would show the other account’s values.
    await choose(page, 'Demo')
    expect(await page.getByLabel('Until').inputValue()).toBe('07:30')

    await turn('/messages')
    await page.getByText('No messages yet').waitFor()
    await choose(page, 'Acme')
    await page.getByText('No messages yet').waitFor()
    for (const key of [app.demoKey, other.testKey]) {
      const text = key === app.demoKey ? 'Of the other one' : 'Of this one'
      await app.call('/api/v2/messages/send', { method: 'POST', key, body: { to: '+12025550123', text } })
    }
    await page.getByRole('row').filter({ hasText: 'Of this one' }).getByText('Delivered').waitFor()
    expect(await page.getByText('Of the other one').count()).toBe(0)
    await choose(page, 'Demo')
    await page.getByRole('row').filter({ hasText: 'Of the other one' }).waitFor()
  })
})

describe('an action', { timeout: 60_000 }, () => {
  it('is performed once on a double click', async () => {
    const { page, go } = owner
    await go('/welcome')
    await page.getByRole('button', { name: 'Create a test key' }).dblclick()
    await page.getByLabel('The test key').waitFor()
    await page.getByRole('button', { name: 'Or send it from here' }).dblclick()
    await page.getByText('It works').waitFor()
    await go('/keys')
    await page.getByRole('row').filter({ hasText: 'First steps' }).waitFor()
    expect(await page.getByRole('row').filter({ hasText: 'First steps' }).count()).toBe(1)
    await go('/messages?to=%2B12025550123')
    await page.getByRole('row').filter({ hasText: 'Hello from Posthorn' }).waitFor()
    expect(await page.getByRole('row').filter({ hasText: 'Hello from Posthorn' }).count()).toBe(1)
  })

  it.each([
    ['lost', (route: Route) => route.abort('connectionreset')],
    ['cut off', (route: Route) => route.fulfill({ status: 201, body: '{"success":tr' })],
    ['replaced by a proxy', (route: Route) => route.fulfill({ status: 524, body: '<h1>Timeout</h1>' })],
  ])('whose response was %s shows its result before it is repeated', async (how, respond) => {
    const { page, go, context } = owner
    await go('/keys')
    await context.route('**/api/v2/api-keys', async route => {
      if (route.request().method() !== 'POST') return route.fallback()
      await route.fetch()
      await respond(route)
    })
    await page.getByRole('button', { name: 'New key' }).click()
    await page.getByRole('dialog').getByLabel('Name').fill(`Made, and the response was ${how}`)
    await page.getByRole('button', { name: 'Create the key' }).click()
    await page.getByRole('dialog').getByText('The action may have been done all the same').waitFor()
    await context.unroute('**/api/v2/api-keys')
    await page
      .getByRole('row')
      .filter({ hasText: `Made, and the response was ${how}` })
      .waitFor()
    await page.keyboard.press('Escape')
  })
})

/** Uses the account switch above the navigation. */
async function choose(page: Window['page'], name: string): Promise<void> {
  const nav = page.getByRole('navigation', { name: 'Pages' })
  await nav.getByRole('button').first().click()
  await page.getByRole('menuitem', { name }).click()
  await nav.getByRole('button', { name }).waitFor()
}

/** The actions are neither in the navigation nor on the pages, and the API rejects each. */
async function expectNoOwnerActions({ page, go, turn }: Window): Promise<void> {
  const links = await page.getByRole('navigation', { name: 'Pages' }).getByRole('link').all()
  const hrefs = await Promise.all(links.map(link => link.getAttribute('href')))
  expect(hrefs).toContain('/wallet')
  expect(hrefs).not.toContain('/members')
  expect(hrefs).not.toContain('/audit')
  await go('/members')
  await page.getByText('Page not found').waitFor()
  await turn('/sms-senders')
  await page.getByText('Owners of the account can request one').waitFor()
  expect(await page.getByRole('button', { name: 'Request a name' }).count()).toBe(0)
  await turn('/wallet')
  await page.getByText('Movements').waitFor()
  expect(await page.getByRole('button', { name: 'Low balance' }).count()).toBe(0)
  await turn('/account')
  await page.getByText('Only owners of the account can change this').waitFor()
  expect(await page.getByText('Hold marketing messages at night').count()).toBe(0)
  const refused = [
    await asSignedIn(page, 'GET', '/api/v2/members'),
    await asSignedIn(page, 'GET', '/api/v2/audit'),
    await asSignedIn(page, 'POST', '/api/v2/sms-senders', { name: 'Acme Shop' }),
    await asSignedIn(page, 'PATCH', '/api/v2/wallet', { lowBalance: 1 }),
    await asSignedIn(page, 'PATCH', '/api/v2/account', { quietHours: null }),
  ]
  expect(refused).toEqual([403, 403, 403, 403, 403])
}

type Cell = { scrollWidth: number; clientWidth: number; scrollHeight: number; clientHeight: number }

/** Whether nothing of a cell’s text is cut off; runs in the page. */
function isShownWhole({ scrollWidth, clientWidth, scrollHeight, clientHeight }: Cell): boolean {
  return scrollWidth <= clientWidth && scrollHeight <= clientHeight
}

/** The status of a request sent with the session of this page. */
async function asSignedIn(
  page: Window['page'],
  method: string,
  path: string,
  body?: object,
): Promise<number> {
  const session = await page.request.get('/api/console/session')
  const { data } = (await session.json()) as { data: { csrfToken: string } }
  const answer = await page.request.fetch(path, {
    method,
    headers: { 'x-csrf-token': data.csrfToken, 'x-posthorn-account': accountId },
    ...(body && { data: body }),
  })
  return answer.status()
}

async function demoAccount({ app }: Console): Promise<string> {
  const { body } = await app.call('/api/v2/account', { key: app.demoKey })
  return (body['data'] as { id: string }).id
}
