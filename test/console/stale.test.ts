import type { Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type Console, chooseMode, hold, PERSON, setUp, startConsole, type Window } from './support.ts'

let server: Console
let window: Window

beforeAll(async () => {
  server = await startConsole()
  window = await server.open()
  await setUp(window)
}, 60_000)
beforeEach(({ task, onTestFailed }) => onTestFailed(() => server.takePictures(task.name)))
afterAll(() => server.stop())

describe('a switch of the mode', { timeout: 60_000 }, () => {
  it('does not make a live message of a test that is tried again after it', async () => {
    const { page, go, context } = window
    const held = hold(window, '**/api/v2/messages/send', 'POST')
    await go('/send')
    await page.getByLabel('To', { exact: true }).fill('+12025550165')
    await page.getByRole('textbox', { name: 'Text' }).fill('Begun as a test')
    await page.getByRole('button', { name: 'Send to the sandbox' }).click()
    const route = await held
    await chooseMode(page, 'Live')
    await route.abort('connectionreset')
    await page.getByRole('dialog', { name: /\+12025550165/ }).waitFor()
    expect(await messages('+12025550165')).toMatchObject([{ mode: 'test' }])
    await context.unrouteAll()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await chooseMode(page, 'Test')
  })

  it('does not make a live job of one for the sandbox whose rows are being written', async () => {
    const { page, go, context } = await signedInWindow()
    await context.addInitScript(`{
      const { postMessage } = Worker.prototype
      Worker.prototype.postMessage = function (message, ...rest) {
        const send = () => postMessage.call(this, message, ...rest)
        if (message.what === 'body') globalThis.writeRows = send
        else send()
      }
    }`)
    await go('/bulk/new')
    await page.locator('input[type=file]').setInputFiles({
      name: 'people.csv',
      mimeType: 'text/csv',
      buffer: Buffer.from('to,text\n+12025550166,In a job\n'),
    })
    await page.getByRole('button', { name: 'Next' }).click()
    await page.getByText('1 row looks good').waitFor()
    await page.getByRole('button', { name: 'Next' }).click()
    await page.getByRole('button', { name: 'Send 1 message to the sandbox' }).click()
    await page.waitForFunction('globalThis.writeRows !== undefined')
    await chooseMode(page, 'Live')
    await page.evaluate('globalThis.writeRows()')
    await page.getByText('Completed').first().waitFor()
    expect(await messages('+12025550166')).toMatchObject([{ mode: 'test' }])
    await context.close()
  })

  it('does not add a message of the other mode to the list, which was reported just before', async () => {
    const { page, go, context } = await signedInWindow()
    await page.clock.install()
    await server.app.call('/api/v2/messages/send', {
      method: 'POST',
      key: server.app.demoKey,
      body: { to: '+12025550167', text: 'Of the test' },
    })
    const { body } = await server.app.call('/api/v2/messages?to=%2B12025550167', {
      key: server.app.demoKey,
    })
    const held = hold({ context }, '**/api/v2/messages/events*', 'GET')
    await go('/messages')
    await page.getByRole('row').filter({ hasText: 'Of the test' }).waitFor()
    const stream = await held
    await page.clock.pauseAt(Date.now() + 60_000)
    const [message] = body['data'] as object[]
    await stream.fulfill({
      contentType: 'text/event-stream',
      body: `id: 1\nevent: message\ndata: ${JSON.stringify(message)}\n\n`,
    })
    await chooseMode(page, 'Live')
    for (let step = 0; step < 20; step++) await page.clock.runFor(50)
    await page.getByText('No messages yet').or(page.getByText('No message matches')).first().waitFor()
    expect(await page.getByRole('row').filter({ hasText: 'Of the test' }).count()).toBe(0)
    await context.close()
  })

  it('keeps what was typed in a copy of a template, and in the settings', async () => {
    const { page, go } = window
    const id = await createTemplate('copied_one')
    await go(`/templates/new?from=${id}`)
    await page.getByLabel('Name').fill('typed_before')
    await chooseMode(page, 'Live')
    await page.getByLabel('Name').waitFor()
    expect(await page.getByLabel('Name').inputValue()).toBe('typed_before')
    await go('/account')
    await page.getByRole('switch', { name: /^Hold marketing messages at night/ }).click()
    await page.getByLabel('From').fill('19:30')
    await chooseMode(page, 'Test')
    await page.getByLabel('From').waitFor()
    expect(await page.getByLabel('From').inputValue()).toBe('19:30')
  })
})

describe('a dialog that was closed while its request was running', { timeout: 60_000 }, () => {
  it('does not close the one that was opened after it', async () => {
    const { page, go, context } = window
    const held = hold(window, '**/api/v2/suppressions', 'POST')
    await go('/suppressions')
    await addRecipient(page, '+12025550181')
    await page.getByRole('button', { name: 'Add to the list' }).click()
    const route = await held
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await addRecipient(page, '+12025550182')
    await route.continue()
    await page.getByText('+12025550181 no longer gets marketing.').waitFor()
    expect(await page.getByLabel('Recipient', { exact: true }).last().inputValue()).toBe('+12025550182')
    await context.unrouteAll()
  })
})

describe('what is shown only once', { timeout: 60_000 }, () => {
  it('names the person for whom it was created, also if the back button has led to another one', async () => {
    const { page, go, context } = window
    for (const name of ['first', 'other']) await createPerson(`${name}@example.com`)
    const held = hold(window, '**/api/admin/members/*/reset', 'POST')
    await go('/operator/people')
    const people = page.getByRole('table', { name: 'People' }).getByRole('row')
    await people.filter({ hasText: 'other@example.com' }).click()
    await page.getByRole('button', { name: 'Reset password…' }).waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await people.filter({ hasText: 'first@example.com' }).click()
    await page.getByRole('button', { name: 'Reset password…' }).click()
    await page.getByRole('button', { name: 'Create the link' }).click()
    const route = await held
    await page.goBack()
    await page.goBack()
    await page.getByRole('dialog', { name: 'other' }).waitFor()
    await route.continue()
    const link = page.getByRole('dialog', { name: 'Password reset link' })
    await link.getByText('Give the link to').waitFor()
    expect(await link.innerText()).toContain('first@example.com')
    await context.unrouteAll()
  })

  it('is shown where the person is, if they have left the page', async () => {
    const { page, go, turn, context } = window
    const held = hold(window, '**/api/v2/api-keys', 'POST')
    await go('/keys')
    await page.getByRole('button', { name: 'New key' }).click()
    await page.getByRole('dialog').getByLabel('Name').fill('Left behind')
    await page.getByRole('button', { name: 'Create the key' }).click()
    const route = await held
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await turn('/wallet')
    await page.getByText('Movements').waitFor()
    await route.continue()
    await page
      .getByRole('region', { name: 'Your new key' })
      .getByText(/^ph_(?:live|test)_/)
      .waitFor()
    await context.unrouteAll()
  })
})

describe('another operator', { timeout: 60_000 }, () => {
  it('whose fraud rules are newer than the form keeps them, and what was edited is added', async () => {
    const { page, go } = window
    await server.app.admin('PUT', '/fraud', { safe: ['+4479*', '+4478*'] })
    await go('/operator/fraud')
    await page.getByRole('group', { name: 'One recipient' }).getByLabel('Codes').fill('9')
    await page.locator('[data-path="safe"]').fill('+4477*')
    await page.keyboard.press('Enter')
    await server.app.admin('PUT', '/fraud', {
      spend: { dailyCap: 7 },
      recipient: { windowMinutes: 30 },
      safe: ['+4479*', '+4476*'],
    })
    await page.getByRole('button', { name: 'Save the rules' }).click()
    await page.getByText('The rules apply from the next code.').waitFor()
    const { body } = await server.app.admin('GET', '/fraud')
    expect((body['data'] as { settings: object }).settings).toEqual({
      recipient: { sends: 9, windowMinutes: 30 },
      spend: { dailyCap: 7 },
      safe: ['+4479*', '+4476*', '+4477*'],
    })
  })

  it('whose limits are newer than the form keeps them when the plan gets another name', async () => {
    const { page, go } = window
    const { id } = await server.app.createAccount()
    await go(`/operator/accounts/${id}`)
    await page.getByLabel('Plan', { exact: true }).fill('Renamed')
    await server.app.admin('PATCH', `/accounts/${id}`, { plan: { rateLimitPerSecond: 7 } })
    await page.getByRole('button', { name: 'Save the plan' }).click()
    await page.getByText('The plan applies from the next message.').waitFor()
    const { body } = await server.app.admin('GET', `/accounts/${id}`)
    expect(body['data']).toMatchObject({ plan: { name: 'Renamed', rateLimitPerSecond: 7 } })
  })

  it('who has changed the order of connections has them moved by one place all the same', async () => {
    const { page, go } = window
    const ids = new Map<string, string>()
    for (const [name, priorityOrder] of [
      ['Mail A', 301],
      ['Mail B', 311],
      ['Mail C', 321],
    ] as const)
      ids.set(name, await createMailConnection(name, priorityOrder))
    await go('/operator/policies')
    const order = page.getByRole('region', { name: 'Order of connections' })
    await order.getByText('Mail C').waitFor()
    await server.app.admin('PATCH', `/connections/${ids.get('Mail C')}`, { priorityOrder: 306 })
    await order.getByRole('button', { name: 'Try Mail A later' }).click()
    await page.getByText('Mail A is tried later now.').waitFor()
    expect(await mailOrder()).toEqual(['Mail C', 'Mail A', 'Mail B'])
  })

  it('who has changed a price since a file was read has it shown before it is replaced', async () => {
    const { page, go } = window
    const price = { channel: 'email_user', country: '*', price: 0.001, currency: 'USD' }
    expect((await server.app.admin('PUT', '/prices', { prices: [price] })).status).toBe(200)
    await go('/operator/prices')
    await page.locator('input[type=file]').setInputFiles({
      name: 'prices.csv',
      mimeType: 'text/csv',
      buffer: Buffer.from('channel,country,price,currency\nemail_user,*,0.002,USD\n'),
    })
    const dialog = page.getByRole('dialog', { name: 'Replace the price list?' })
    await dialog.getByText('1 changed').waitFor()
    const sms = { channel: 'int_sms', country: '*', price: 0.05, currency: 'USD' }
    await server.app.admin('PUT', '/prices', { prices: [price, sms] })
    await dialog.getByRole('button', { name: 'Replace the list' }).click()
    await dialog.getByText('1 removed').waitFor()
    const { body } = await server.app.admin('GET', '/prices')
    expect(body['data']).toHaveLength(2)
    await dialog.getByRole('button', { name: 'Replace the list' }).click()
    await page.getByText('1 prices apply from the next message.').waitFor()
  })

  it('does not take back what is typed while a connection is being saved', async () => {
    const { page, go, context } = window
    const id = await createMailConnection('Mail D', 331)
    const held = hold(window, `**/api/admin/connections/${id}`, 'PATCH')
    await go(`/operator/connections/${id}`)
    await page.locator('[data-path="name"]').fill('Mail D, renamed')
    await page.getByRole('button', { name: 'Save the connection' }).click()
    const route = await held
    await page.getByLabel('Attempts').fill('4')
    await route.continue()
    await page.getByText('Mail D, renamed is saved').waitFor()
    expect(await page.getByLabel('Attempts').inputValue()).toBe('4')
    await context.unrouteAll()
  })
})

describe('a replay of a period', { timeout: 60_000 }, () => {
  it('begins where the dialog says that it begins, however long it is open', async () => {
    const { page, go, context } = await signedInWindow()
    const id = await createEndpoint()
    await page.clock.install()
    await go(`/endpoints/${id}`)
    await page.getByRole('button', { name: 'Actions for the endpoint' }).click()
    await page.getByRole('menuitem', { name: 'Replay a period' }).click()
    const from = await page.getByLabel('From').inputValue()
    await page.clock.fastForward('20:00')
    await page.getByLabel('Until').fill('2030-01-01T00:00:00')
    await page.getByLabel('Until').fill('2030-01-02T00:00:00')
    expect(await page.getByLabel('From').inputValue()).toBe(from)
    await context.close()
  })
})

async function messages(to: string): Promise<{ mode: string }[]> {
  const { body } = await server.app.call(`/api/v2/messages?to=${encodeURIComponent(to)}`, {
    key: server.app.demoKey,
  })
  return body['data'] as { mode: string }[]
}

async function createTemplate(name: string): Promise<string> {
  const { body } = await server.app.call('/api/v2/templates', {
    method: 'POST',
    key: server.app.demoKey,
    body: { name, category: 'sms', subType: 'utility', content: 'Hi' },
  })
  return (body['data'] as { template: { id: string } }).template.id
}

async function createEndpoint(): Promise<string> {
  const { body } = await server.app.call('/api/v2/webhooks', {
    method: 'POST',
    key: server.app.demoKey,
    body: { url: 'https://example.com/hook', events: ['*'] },
  })
  return (body['data'] as { webhook: { id: string } }).webhook.id
}

async function createPerson(email: string): Promise<void> {
  const { body } = await server.app.admin('POST', '/members/invitations', { email, role: 'operator' })
  const token = (body['data'] as { link: string }).link.split('#')[1]
  const { status } = await server.app.call('/api/console/invitations/accept', {
    method: 'POST',
    body: { token, name: email.split('@')[0], password: PERSON.password },
  })
  expect(status).toBe(200)
}

async function createMailConnection(name: string, priorityOrder: number): Promise<string> {
  const { body } = await server.app.admin('POST', '/connections', {
    provider: 'smtp',
    name,
    channels: ['email_user'],
    priorityOrder,
    config: { host: '127.0.0.1', port: 9, secure: false, from: 'no-reply@example.org' },
  })
  return (body['data'] as { connection: { id: string } }).connection.id
}

async function mailOrder(): Promise<string[]> {
  const { body } = await server.app.admin('GET', '/policies')
  return (body['data'] as { connectionName: string }[])
    .map(({ connectionName }) => connectionName)
    .filter(name => name.startsWith('Mail'))
}

async function addRecipient(page: Page, to: string): Promise<void> {
  await page.getByRole('button', { name: 'Add a recipient' }).first().click()
  await page.getByRole('dialog').getByLabel('Recipient').fill(to)
}

async function signedInWindow(): Promise<Window> {
  const other = await server.open()
  const answer = await other.page.request.post('/api/console/login', {
    data: { email: PERSON.email, password: PERSON.password },
  })
  expect(answer.status()).toBe(200)
  return other
}
