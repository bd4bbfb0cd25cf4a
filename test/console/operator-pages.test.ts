import { readFile } from 'node:fs/promises'
import type { Download, Locator, Page, Route } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type SmtpPeer, startSmtpServer } from '../support/smtp-server.ts'
import {
  type Console,
  findBarriers,
  PERSON,
  setUp,
  startConsole,
  takePicture,
  type Window,
} from './support.ts'

const XSS = '<img src=x onerror="window.broken=1">'

/** One pixel. */
const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)

let server: Console
let mail: SmtpPeer
let window: Window

beforeAll(async () => {
  ;[server, mail] = await Promise.all([startConsole(), startSmtpServer({}, { allowInsecureAuth: true })])
  window = await server.open()
  await setUp(window)
}, 60_000)
beforeEach(({ task, onTestFailed }) => onTestFailed(() => server.takePictures(task.name)))
afterAll(async () => {
  await server.stop()
  await mail.close()
})

describe('the operator', { timeout: 60_000 }, () => {
  it('reviews a sender id with its checks, and rejects it with a reason', async () => {
    const { page, go } = window
    await requestSenders(['Acme', 'Amaz0nPay', '47110'])
    await go('/operator/senders')
    await row(page, 'Amaz0nPay').press('Enter')
    const panel = page.getByRole('dialog', { name: 'Amaz0nPay' })
    await panel.getByRole('link', { name: 'Demo' }).waitFor()
    await panel
      .getByRole('listitem')
      .filter({ hasText: 'No digits in place of letters' })
      .getByLabel('Not met')
      .waitFor()
    await panel.getByText('47110').waitFor()
    expect(await findBarriers(page)).toEqual([])
    await takePicture(page, 'operator-review')
    await panel.getByRole('button', { name: 'Reject…' }).click()
    const reject = page.getByRole('dialog', { name: 'Reject the name' })
    await reject.getByRole('button', { name: 'Reject the name' }).click()
    await reject.locator('.mantine-InputWrapper-error').waitFor()
    await reject.getByLabel('Reason').fill(`Not yours ${XSS}`)
    await reject.getByRole('button', { name: 'Reject the name' }).click()
    await panel.getByText(`Not yours ${XSS}`).waitFor()
    await page.keyboard.press('Escape')
    await row(page, 'Acme').click()
    await page.getByRole('button', { name: 'Approve the name' }).click()
    await page.getByRole('dialog', { name: 'Acme' }).getByText('Approved').first().waitFor()
    const { body } = await server.app.admin('GET', '/sms-senders')
    const found = (body['data'] as { name: string; status: string; reason: string }[]).map(
      ({ name, status, reason }) => [name, status, reason],
    )
    expect(found).toContainEqual(['Amaz0nPay', 'rejected', `Not yours ${XSS}`])
    expect(found).toContainEqual(['Acme', 'approved', null])
    await go('/sms-senders')
    await row(page, 'Amaz0nPay').click()
    await page.getByRole('dialog', { name: 'Amaz0nPay' }).getByText(`Not yours ${XSS}`).waitFor()
    expect(await page.evaluate('window.broken')).toBe(undefined)
  })

  it('opens a sender id or a person by link even when the list beside it does not show it', async () => {
    const { page, go } = window
    const made = await server.app.admin('POST', '/sms-senders', { name: 'Approved' })
    const { id } = (made.body['data'] as { smsSender: { id: string } }).smsSender
    await go(`/operator/senders/${id}`)
    await page.getByRole('dialog', { name: 'Approved' }).getByText('A platform name').waitFor()
    const people = (await server.app.admin('GET', '/members')).body['data'] as { id: string }[]
    await go(`/operator/people/${people[0]!.id}?q=nobody-of-this-name`)
    await page.getByRole('dialog', { name: PERSON.name }).getByText(PERSON.email).waitFor()
    await go('/operator/people/usr_01m84n0sqte82f1yq8k3v8zz9a')
    await page.getByRole('dialog', { name: 'Person' }).getByText('This does not exist').waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'hidden' })
  })

  it('creates one account when the request is repeated after its response was lost', async () => {
    const { page, go } = window
    await go('/operator/accounts')
    await page.getByRole('button', { name: 'New account' }).click()
    await page.getByLabel('Name', { exact: true }).fill('Twin')
    await page.getByLabel('Home country').fill('de')
    await page.getByLabel('Currency').fill('eur')
    await page.route('**/api/admin/accounts', dropResponse)
    await page.getByRole('button', { name: 'Create the account' }).click()
    await page.getByRole('dialog').getByText('The server does not answer').waitFor()
    await page.unroute('**/api/admin/accounts')
    await page.getByRole('button', { name: 'Create the account' }).click()
    await page.getByText('An earlier attempt created the account').waitFor()
    await page.getByRole('button', { name: 'Open the account' }).click()
    await page.getByRole('heading', { name: 'Twin' }).waitFor()
    const { body } = await server.app.admin('GET', '/accounts')
    expect((body['data'] as { name: string }[]).filter(({ name }) => name === 'Twin')).toHaveLength(1)
  })

  it('finds an account by part of its name or by its id, with the search in the URL', async () => {
    const { page, go } = window
    for (const name of ['Needle & Sons', 'Haystack'])
      await server.app.admin('POST', '/accounts', { name, homeCountry: 'DE', currency: 'EUR' })
    const { body } = await server.app.admin('GET', '/accounts?q=haystack')
    const [{ id }] = body['data'] as [{ id: string }]
    await go('/operator/accounts')
    const search = page.getByRole('textbox', { name: 'Name or id' })
    await row(page, 'Haystack').waitFor()
    await search.fill('needle &')
    await row(page, 'Haystack').waitFor({ state: 'detached' })
    await row(page, 'Needle & Sons').waitFor()
    expect(new URL(page.url()).searchParams.get('q')).toBe('needle &')
    await search.fill(id)
    await row(page, 'Haystack').waitFor()
    await row(page, 'Needle & Sons').waitFor({ state: 'detached' })
    await go('/operator/accounts?q=nobody-of-this-name')
    await page.getByText('No matching accounts').waitFor()
    expect(await findBarriers(page)).toEqual([])
    await page.locator('main').getByRole('button', { name: 'Clear filters' }).last().click()
    await row(page, 'Haystack').waitFor()
  })

  it('changes only the fields that were edited, and keeps and shows concurrent changes by another operator', async () => {
    const { page, go, context } = window
    const made = await server.app.admin('POST', '/accounts', {
      name: 'Shared',
      homeCountry: 'DE',
      currency: 'EUR',
    })
    expect(made.status, made.text).toBe(201)
    const { id } = (made.body['data'] as { account: { id: string } }).account
    await go(`/operator/accounts/${id}`)
    await page.getByLabel('Name', { exact: true }).fill('Renamed')
    const other = await context.newPage()
    await other.goto(`/operator/accounts/${id}`)
    await other.getByRole('combobox', { name: 'State', exact: true }).click()
    await other.getByRole('option', { name: /^Suspended/ }).click()
    await other.getByRole('button', { name: 'Save the account' }).click()
    await other.getByText('The account is changed.').waitFor()
    await other.close()
    await page.locator('main').getByText('Suspended', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Save the account' }).click()
    await page.getByText('The account is changed.').waitFor()
    const { body } = await server.app.admin('GET', `/accounts/${id}`)
    expect(body['data']).toMatchObject({ name: 'Renamed', status: 'suspended' })
    expect(await page.getByRole('combobox', { name: 'State', exact: true }).inputValue()).toMatch(
      /^Suspended/,
    )
  })

  it('creates an account, changes its plan, and adds credit once although a response was lost', async () => {
    const { page, go } = window
    await go('/operator/accounts')
    await page.getByRole('button', { name: 'New account' }).click()
    await page.getByLabel('Name', { exact: true }).fill(`Shop ${XSS}`)
    await page.getByLabel('Home country').fill('zz')
    await page.getByLabel('Currency').fill('eur')
    await page.getByRole('button', { name: 'Create the account' }).click()
    await page
      .getByText(/country/i)
      .and(page.locator('.mantine-InputWrapper-error'))
      .waitFor()
    await page.getByLabel('Home country').fill('de')
    await page.getByRole('button', { name: 'Create the account' }).click()
    await page.getByText(/^ph_live_/).waitFor()
    await page.getByRole('button', { name: 'I have saved them' }).click()
    await page.getByRole('heading', { name: `Shop ${XSS}` }).waitFor()
    await page.getByLabel('Requests').fill('7')
    const plan = page.getByLabel('Plan', { exact: true })
    const called = await plan.inputValue()
    await plan.fill('')
    await page.getByRole('button', { name: 'Save the plan' }).click()
    // The account form has a field of this name, too.
    await page.locator('[data-path="name"][aria-invalid="true"]:focus').waitFor()
    await plan.fill(called)
    await page.getByRole('button', { name: 'Save the plan' }).click()
    await page.getByText('The plan applies').waitFor()
    await page.getByRole('button', { name: 'Add credit' }).click()
    await page.getByLabel('Amount in EUR').fill('1,250')
    await page.getByRole('button', { name: 'Add the credit' }).click()
    await page.getByText('Must be a number').waitFor()
    // A decimal comma, as amounts are pasted in some countries: not a hundred times as much.
    await page.getByLabel('Amount in EUR').fill('12,50')
    // The credit is booked but the response is lost: a repeated request must not book it again.
    await page.route('**/credits', dropResponse)
    await page.getByRole('button', { name: 'Add the credit' }).click()
    await page.getByRole('dialog').getByText('The server does not answer').waitFor()
    await page.unroute('**/credits')
    await page.getByRole('button', { name: 'Add the credit' }).click()
    await page.getByText('The balance is €12.50 now.').waitFor()
    expect(await findBarriers(page)).toEqual([])
    await takePicture(page, 'operator-account')
    const { body } = await server.app.admin('GET', `/accounts/${page.url().split('/').at(-1)}`)
    expect(body['data']).toMatchObject({ plan: { rateLimitPerSecond: 7 }, wallet: { balance: 12.5 } })
  })

  it('sets an account’s channel order and fraud rules, revokes its key, and invites its first owner', async () => {
    const { page } = window
    const account = `/accounts/${page.url().split('/').at(-1)}`
    await page.getByRole('button', { name: 'Actions for Owner (live)' }).click()
    // Neither by mouse, since a notification may cover the item, nor by keyboard, since the menu takes the focus a
    // moment after it opens, which may be between the focus and the key of a `press`.
    await page.getByRole('menuitem', { name: 'Revoke' }).dispatchEvent('click')
    await page.getByRole('button', { name: 'Revoke the key' }).click()
    await row(page, 'Owner (live)').getByText('Revoked').waitFor()
    await page.getByRole('tab', { name: 'Sending' }).click()
    await page.getByText('By conversion').click()
    await page.getByText('5 of 100 codes').waitFor()
    await page.getByRole('slider').last().focus()
    await page.keyboard.press('ArrowRight')
    await page.getByRole('button', { name: 'Save the code settings' }).click()
    await page.getByText('The settings apply from the account’s next code.').waitFor()
    expect(await findBarriers(page)).toEqual([])
    await page.getByRole('tab', { name: 'Fraud rules' }).click()
    const daily = page.getByRole('group', { name: 'Daily cap' })
    await daily.getByLabel('At most').fill('3')
    await page.getByRole('button', { name: 'Save the rules' }).click()
    await page.getByText('The rules apply').waitFor()
    await page.getByRole('tab', { name: 'People' }).click()
    await page.getByRole('button', { name: 'Invite somebody' }).click()
    const form = page.getByRole('dialog', { name: 'Invite somebody' })
    await form.getByRole('button', { name: 'Invite' }).click()
    await form.locator('[data-path="email"][aria-invalid="true"]').waitFor()
    await form.getByLabel('E-mail').fill('first@example.com')
    await form.getByRole('button', { name: 'Invite' }).click()
    await page.getByRole('region', { name: 'The link' }).getByText('/invitation#').waitFor()
    await page.getByRole('button', { name: 'Done' }).click()
    const [shop, fraud, invited] = await Promise.all([
      server.app.admin('GET', account),
      server.app.admin('GET', `${account}/fraud`),
      server.app.admin('GET', '/members/invitations'),
    ])
    expect(shop.body['data']).toMatchObject({ verification: { channelOrder: 'learned', trialPercent: 6 } })
    expect(fraud.body['data']).toMatchObject({ settings: { spend: { dailyCap: 3 } } })
    expect(invited.body['data']).toMatchObject([{ email: 'first@example.com', role: 'owner' }])
  })

  it('exports the prices as CSV, and imports them after the changes are confirmed', async () => {
    const { page, go } = window
    await server.app.admin('PUT', '/prices', {
      prices: [
        { channel: 'local_sms', country: '*', price: 0.05, currency: 'USD' },
        { channel: 'int_sms', prefix: '44', messageType: 'otp', price: 0.04, currency: 'USD' },
      ],
    })
    await go('/operator/prices')
    await row(page, '+44').waitFor()
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Save as CSV' }).click(),
    ])
    const saved = await textOf(download)
    expect(saved.split('\r\n')[0]).toBe('channel,country,prefix,messageType,price,currency')
    const wrong = saved.replace('\r\n', '\r\n,,,,,\r\n').replace('0.04', 'four').split('\r\n')
    await uploadPrices(page, wrong.join('\r\n'))
    await page
      .getByRole('alert')
      .getByRole('listitem')
      .filter({ hasText: 'must be a number' })
      .getByText(`Line ${wrong.findIndex(line => line.includes('four')) + 1}:`)
      .waitFor()
    // Which of the two prices counts must not be guessed.
    await uploadPrices(page, 'channel,price,currency,Price\r\nemail_user,0.001,USD,0.002\r\n')
    await page.getByRole('alert').getByText('names a column more than once: price.').waitFor()
    await uploadPrices(page, saved.replace('0.04', '0.041').replace('USD', 'XXQ'))
    const dialog = page.getByRole('dialog', { name: 'Replace the price list?' })
    await dialog.getByRole('button', { name: 'Replace the list' }).click()
    await dialog.getByText(/^Line \d/).waitFor()
    await dialog.getByRole('button', { name: 'Keep the list as it is' }).click()
    await uploadPrices(page, `${saved.replace('0.04', '0.041')}email_user,*,,*,0.001,USD\r\n`)
    await dialog.getByText('1 changed').waitFor()
    await dialog.getByText('1 new').waitFor()
    expect(await findBarriers(page)).toEqual([])
    await takePicture(page, 'operator-prices')
    await dialog.getByRole('button', { name: 'Replace the list' }).click()
    // The dialog has the same rows, before they are stored.
    await dialog.waitFor({ state: 'hidden' })
    await row(page, 'E-mail').waitFor()
    await row(page, '$0.041').waitFor()
    const { body } = await server.app.admin('GET', '/prices')
    expect((body['data'] as { price: number }[]).map(({ price }) => price).toSorted()).toEqual([
      0.001, 0.041, 0.05,
    ])
  })

  it('adds a connection with the form of its provider, and tests, edits and disables it', async () => {
    const { page, go } = window
    await go('/operator/connections/new')
    await choose(page, 'Provider', 'smtp')
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('Mail of ours')
    await page.getByRole('textbox', { name: 'Host' }).fill('127.0.0.1')
    await page.getByRole('textbox', { name: 'Port' }).fill(String(mail.port))
    await page.getByRole('textbox', { name: 'From' }).fill('nobody')
    await page.getByRole('textbox', { name: 'Password' }).fill('a'.repeat(4_097))
    await page.getByRole('textbox', { name: 'User' }).fill('ada')
    await choose(page, 'Secure', 'No')
    expect(await findBarriers(page)).toEqual([])
    await page.getByRole('button', { name: 'Create the connection' }).click()
    await page.getByText('Must be one e-mail address, or `Name <address>`').waitFor()
    for (const name of ['From', 'Password'])
      expect(await page.getByRole('textbox', { name }).getAttribute('aria-invalid'), name).toBe('true')
    await page.getByRole('textbox', { name: 'From' }).fill('Posthorn <news@example.com>')
    await page.getByRole('textbox', { name: 'Password' }).fill('a-secret')
    // After a fault that belongs to no field, the focus stays where it was.
    await page.route('**/api/admin/connections', route => route.abort())
    await page.getByRole('button', { name: 'Create the connection' }).click()
    await page.getByText('The server does not answer', { exact: true }).waitFor()
    await page.locator('button:focus', { hasText: 'Create the connection' }).waitFor()
    await page.unroute('**/api/admin/connections')
    await page.getByRole('button', { name: 'Create the connection' }).click()
    await page.getByRole('heading', { name: 'Mail of ours' }).waitFor()
    await page.getByRole('button', { name: 'Test it' }).click()
    await page.getByText('The connection works').waitFor()
    await page.getByText('A value is set').waitFor()
    expect(await page.content()).not.toContain('a-secret')
    await page.getByRole('textbox', { name: 'User' }).fill('')
    await page.getByRole('button', { name: 'Remove it: Password' }).click()
    await page.getByText('The value is removed when you save.').waitFor()
    await page.getByRole('button', { name: 'Save the connection' }).click()
    await page.getByText('Mail of ours is saved').waitFor()
    await page.getByText('A value is set').waitFor({ state: 'detached' })
    await page.locator('button:focus', { hasText: 'Save the connection' }).waitFor()
    expect(await page.getByText('The connection works').count()).toBe(0)
    const connections = await server.app.admin('GET', '/connections')
    expect((connections.body['data'] as object[])[0]).toMatchObject({ name: 'Mail of ours', secretsSet: [] })
    expect(await findBarriers(page)).toEqual([])
    await takePicture(page, 'operator-connection')
    await page.getByRole('button', { name: 'Disable' }).click()
    await page.getByText('The connection is disabled: it sends no more messages.').waitFor()
    await page.getByRole('link', { name: 'All connections' }).click()
    await row(page, 'Mail of ours').getByText('Disabled').waitFor()
  })

  it('keeps the edited fields of a connection, and the fields that were changed elsewhere meanwhile', async () => {
    const { page, turn } = window
    const { id } = (await connections())[0]!
    await turn('/operator/connections')
    await row(page, 'Mail of ours').press('Enter')
    await page.getByRole('textbox', { name: /^EHLO name/i }).fill('mail.example.com')
    await page.getByRole('textbox', { name: 'Attempts' }).fill('3')
    const other = await server.app.admin('PATCH', `/connections/${id}`, {
      priorityOrder: 7,
      retryPolicy: { maxAttempts: 5, backoffMs: 700 },
      config: { from: 'Ours <ours@example.com>' },
    })
    expect(other.status, other.text).toBe(200)
    // The page reloads the connection periodically.
    await expect
      .poll(() => page.getByRole('textbox', { name: 'Order' }).inputValue(), { timeout: 20_000 })
      .toBe('7')
    await page.getByRole('button', { name: 'Save the connection' }).click()
    await page.getByText('Mail of ours is saved').waitFor()
    expect((await connections())[0]).toMatchObject({
      priorityOrder: 7,
      retryPolicy: { maxAttempts: 3, backoffMs: 700 },
      config: { ehloName: 'mail.example.com', from: 'Ours <ours@example.com>' },
    })
  })

  it('changes the order in which connections are tried', async () => {
    const { page } = window
    await page.getByRole('link', { name: 'Policies' }).click()
    const order = page.getByRole('region', { name: 'Order of connections' })
    await order.getByRole('row').nth(1).getByText('Mail of ours').waitFor()
    await order.getByRole('button', { name: 'Try Sandbox earlier' }).click()
    await page.getByText('Sandbox is tried earlier now.').waitFor()
    await order.getByRole('row').nth(1).getByText('Sandbox').first().waitFor()
    const { body } = await server.app.admin('GET', '/policies')
    expect((body['data'] as { connectionName: string }[])[0]!.connectionName).toBe('Sandbox')
    expect(await findBarriers(page)).toEqual([])
    await takePicture(page, 'operator-policies')
    await order.getByRole('button', { name: 'Try Sandbox later' }).click()
    await order.getByRole('row').nth(1).getByText('Mail of ours').waitFor()
  })

  it('sets fraud rules, creates platform templates, and finds both in the audit log', async () => {
    const { page, go, turn } = window
    await turn('/operator/fraud')
    const daily = page.getByRole('group', { name: 'Daily cap' })
    await daily.getByLabel('At most').fill('25')
    await choose(page, 'Action', 'Block', daily)
    await page.getByRole('button', { name: 'Save the rules' }).click()
    await page.getByText('The rules apply').waitFor()
    const { body } = await server.app.admin('GET', '/fraud')
    expect(body['data']).toMatchObject({ settings: { spend: { mode: 'block', dailyCap: 25 } } })
    await page.getByRole('link', { name: 'Platform templates' }).click()
    await page.getByRole('link', { name: 'New platform template' }).first().click()
    await page.getByLabel('Name', { exact: true }).fill('shared_2')
    await page.getByRole('textbox', { name: 'Text', exact: true }).fill(`{{1}} is your code ${XSS}`)
    await page.getByRole('button', { name: 'Save the template' }).click()
    await page.locator('[data-path="name"][aria-invalid="true"]').waitFor()
    await page.getByLabel('Name', { exact: true }).fill('shared_code')
    await page.getByRole('button', { name: 'Save the template' }).click()
    await row(page, 'shared_code').click()
    await page.getByRole('dialog', { name: 'shared_code' }).getByText(XSS).waitFor()
    expect(await findBarriers(page)).toEqual([])
    await go('/operator/templates/new')
    await page.getByText('WhatsApp Business', { exact: true }).click()
    await page.getByText('Utility', { exact: true }).click()
    await page.getByText('Image', { exact: true }).click()
    await page
      .locator('input[type=file]')
      .setInputFiles({ name: 'logo.png', mimeType: 'image/png', buffer: PNG })
    await page.getByRole('img', { name: 'The header' }).waitFor()
    await page.getByLabel('Name', { exact: true }).fill('shared_news')
    await page.getByRole('textbox', { name: 'Text', exact: true }).fill('Something is new.')
    await page.getByRole('button', { name: 'Submit for approval' }).click()
    await page.waitForURL(/\/operator\/templates\?status=pending$/)
    await go('/operator/audit')
    await row(page, 'fraud').first().waitFor()
    await row(page, 'Templates: create').first().waitFor()
    expect(await page.evaluate('window.broken')).toBe(undefined)
    expect(window.faults).toEqual([])
  })

  it('sees queues, nodes and unknown outcomes', async () => {
    const { page, turn } = window
    await turn('/operator/queues')
    await page.getByText('Longest wait').first().waitFor()
    await page.getByRole('link', { name: 'Nodes' }).click()
    await page.getByText('(this one)').waitFor()
    await page.getByRole('link', { name: 'Unknown outcomes' }).click()
    await page.getByText('Every outcome is known').waitFor()
    // A test message has a price, but no money is held for it.
    const { demoKey: key, call } = server.app
    await call('/api/v2/messages/send', {
      method: 'POST',
      key,
      body: { to: '+12025550005', text: 'Did it come?' },
    })
    await page.getByRole('row').filter({ hasText: '+12025550005' }).click()
    await page.getByRole('dialog').getByText('Price', { exact: true }).waitFor()
    expect(await page.getByText(/\bheld\b/i).count()).toBe(0)
  })
})

describe('a member', { timeout: 60_000 }, () => {
  it('has no access to the operator pages or API', async () => {
    const member = await server.open()
    await member.go(await invitation())
    const { page, go } = member
    await page.getByLabel('Your name').fill('Grace')
    await page.getByLabel('New password').fill('another long sentence')
    await page.getByRole('button', { name: 'Join' }).click()
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    expect(await page.locator('nav a[href^="/operator"]').count()).toBe(0)
    await go('/operator/connections')
    await page.getByText('Page not found').waitFor()
    expect(await page.evaluate(`fetch('/api/admin/connections').then(({ status }) => status)`)).toBe(403)
    await member.context.close()
  })
})

describe('an operator of more accounts than a response of the API has', { timeout: 60_000 }, () => {
  it('finds and sees each of them where one is chosen', async () => {
    const { page, go } = window
    await createAccounts(500)
    await go('/operator/people')
    await page.getByRole('button', { name: 'Invite somebody' }).first().click()
    const dialog = page.getByRole('dialog', { name: 'Invite somebody' })
    const account = dialog.getByRole('combobox', { name: 'Account' })
    await account.fill('demo')
    await page.getByRole('option', { name: 'Demo', exact: true }).click()
    expect(await account.inputValue()).toBe('Demo')
    const { body } = await server.app.admin('GET', '/accounts?q=Demo')
    const [{ id }] = body['data'] as [{ id: string }]
    await account.fill(id)
    await page.getByRole('option', { name: 'Demo', exact: true }).waitFor()
    await account.fill('nobody-of-this-name')
    await page.getByText('No matching accounts').waitFor()
    await go(`/operator/audit?accountId=${id}`)
    const filter = page.getByRole('combobox', { name: 'Every account' })
    await expect.poll(() => filter.inputValue(), { timeout: 20_000 }).toBe('Demo')
    await filter.click()
    await page.getByRole('option', { name: 'The platform' }).click()
    await expect.poll(() => new URL(page.url()).searchParams.get('accountId')).toBe('platform')
  })
})

function row(page: Page, text: string) {
  return page.getByRole('row').filter({ hasText: text })
}

async function choose(
  page: Page,
  label: string,
  option: string,
  within: Locator = page.locator('body'),
): Promise<void> {
  const combobox = within.getByRole('combobox', { name: label })
  const textbox = within.getByRole('textbox', { name: label })
  await combobox.or(textbox).first().click()
  await page.getByRole('option', { name: option, exact: true }).click()
}

async function uploadPrices(page: Page, csv: string): Promise<void> {
  await page
    .locator('input[type=file]')
    .setInputFiles({ name: 'prices.csv', mimeType: 'text/csv', buffer: Buffer.from(csv) })
}

async function textOf(download: Download): Promise<string> {
  return readFile(await download.path(), 'utf8')
}

async function connections(): Promise<{ id: string }[]> {
  const { body } = await server.app.admin('GET', '/connections')
  return (body['data'] as { id: string; name: string }[]).filter(({ name }) => name === 'Mail of ours')
}

async function requestSenders(names: readonly string[]): Promise<void> {
  for (const name of names) {
    const { status } = await server.app.call('/api/v2/sms-senders', {
      method: 'POST',
      key: server.app.demoKey,
      body: { name },
    })
    expect(status).toBe(201)
  }
}

/** Copies of the first account, later than all others. */
async function createAccounts(count: number): Promise<void> {
  await server.app.db.query({
    name: 'create_accounts',
    text: `with made as (
             insert into accounts
             select copy.*
               from (select account from accounts account order by id limit 1) as demo,
                    generate_series(1, $1::integer) as number,
                    jsonb_populate_record(demo.account, jsonb_build_object(
                      'id', 'ffffffff-ffff-7fff-8fff-' || lpad(number::text, 12, '0'),
                      'name', 'Copy ' || number)) as copy
             returning id)
           insert into wallets (account_id) select id from made`,
    values: [count],
  })
}

/** The path of an invitation link. */
async function invitation(): Promise<string> {
  const accounts = await server.app.admin('GET', '/accounts')
  const demo = (accounts.body['data'] as { id: string; name: string }[]).find(({ name }) => name === 'Demo')
  const invited = await server.app.admin('POST', '/members/invitations', {
    email: 'grace@example.com',
    role: 'member',
    accountId: demo!.id,
  })
  const { pathname, hash } = new URL((invited.body['data'] as { link: string }).link)
  return pathname + hash
}

/** Performs the request and drops its response. */
async function dropResponse(route: Route): Promise<void> {
  if (route.request().method() !== 'POST') return route.fallback()
  await route.fetch()
  await route.abort()
}
