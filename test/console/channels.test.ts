import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { contacts, event, METADATA, signatureOf, wrote } from '../channels/whatsapp-cloud/calls.ts'
import { whatsAppCloudFixture } from '../channels/whatsapp-cloud.exchange.ts'
import { type ChatappServer, startChatappServer } from '../support/chatapp-server.ts'
import { type HttpPeer, startHttpPeer } from '../support/http-peer.ts'
import { type Receiver, startReceiver } from '../support/receiver.ts'
import { startTelegram, type Telegram } from '../support/telegram.ts'
import { connectWebSessions } from '../support/web-sessions.ts'
import { type Console, findBarriers, setUp, startConsole, takePicture, type Window } from './support.ts'

const XSS = '<img src=x onerror="window.broken=1">'
const CHAT = 100_001

let server: Console
let window: Window
let receiver: Receiver
let telegram: Telegram
let chatapp: ChatappServer
/** The WhatsApp Business API, which also serves the media that people send. */
let meta: HttpPeer

beforeAll(async () => {
  ;[server, receiver, telegram, chatapp, meta] = await Promise.all([
    startConsole({ env: { POSTHORN_ALLOW_PRIVATE_HOSTS: '127.0.0.1' } }),
    startReceiver(),
    startTelegram(),
    startChatappServer({ login: 'qr' }),
    startHttpPeer(({ path }, count) => {
      if (path === '/file') return { status: 200, body: '<b>What there is</b>' }
      if (!path.startsWith('/v25.0/4711?')) return whatsAppCloudFixture.taken(count)
      const body = JSON.stringify({ url: `${meta.url}/file`, mime_type: 'text/html' })
      return { status: 200, headers: { 'Content-Type': 'application/json' }, body }
    }),
  ])
  await server.app.admin('POST', '/connections', {
    provider: 'telegram',
    name: 'Telegram',
    channels: ['botapp_bot'],
    config: { apiRoot: telegram.apiRoot },
  })
  await connectWebSessions(server.app, chatapp.url)
  window = await server.open()
  await setUp(window)
  await chooseLive(window)
}, 60_000)
beforeEach(({ task, onTestFailed }) => onTestFailed(() => server.takePictures(task.name)))
afterAll(async () => {
  await server.stop()
  await Promise.all([receiver.close(), telegram.close(), chatapp.close(), meta.close()])
})

describe('SMS senders', { timeout: 60_000 }, () => {
  it('are requested, approved by the operator, reported to a webhook, and made the default', async () => {
    const { page, go } = window
    await go('/sms-senders')
    await page.getByRole('button', { name: 'Request a name' }).first().click()
    const form = page.getByRole('dialog')
    await form.getByLabel('Name').fill('!')
    await form.getByRole('button', { name: 'Request the name' }).click()
    await form.locator('[aria-invalid="true"]').waitFor()
    await form.getByLabel('Name').fill('Acme Shop')
    await form.getByLabel('Webhook URL').fill(receiver.url('/senders'))
    await form.getByLabel('Secret').fill('a secret of ours')
    await form.getByRole('button', { name: 'Request the name' }).click()
    const row = page.getByRole('row').filter({ hasText: 'Acme Shop' })
    await row.getByText('In review').waitFor()

    const { body } = await server.app.admin('GET', '/sms-senders?status=pending')
    const [asked] = body['data'] as { id: string }[]
    expect((await server.app.admin('POST', `/sms-senders/${asked!.id}/approve`)).status).toBe(200)
    await receiver.count(1)
    expect(receiver.got[0]).toMatchObject({ path: '/senders', text: expect.stringContaining(asked!.id) })
    await row.getByText('Approved').waitFor()
    await row.getByRole('button', { name: 'Make default: Acme Shop' }).click()
    await row.getByText('Default', { exact: true }).waitFor()
    await takePicture(page, 'sms-senders')
    expect(await findBarriers(page)).toEqual([])
  })
})

describe('bots', { timeout: 60_000 }, () => {
  it('are added by their token, list their subscribers, and link to a new message', async () => {
    const { page, go } = window
    await go('/bots')
    await page.getByRole('button', { name: 'Add a bot' }).first().click()
    await page.getByLabel('Token').fill('1:nobody')
    await page.getByRole('dialog').getByRole('button', { name: 'Add the bot' }).click()
    await page.getByText('The bot platform does not know this token').waitFor()
    await page.getByLabel('Token').fill(telegram.token)
    await page.getByRole('dialog').getByRole('button', { name: 'Add the bot' }).click()
    await page.getByText('No subscribers yet').waitFor()
    await telegram.say(CHAT, '/start spring')
    const row = page.getByRole('table', { name: 'Subscribers' }).getByRole('row').nth(1)
    await row.getByText('spring').waitFor()
    await page.getByLabel('Name, username or chat id').fill('nobody like that')
    await page.getByText('No matching subscribers').waitFor()
    await page.getByRole('button', { name: 'Clear filters' }).first().click()
    expect(await findBarriers(page)).toEqual([])
    await takePicture(page, 'bot')
    await row.getByRole('link', { name: /^Write to/ }).click()
    await page.getByText('In a conversation of the Telegram bot').waitFor()
    expect(await page.getByLabel('To', { exact: true }).inputValue()).toBe(String(CHAT))
    await page.getByRole('textbox', { name: 'Text' }).fill('Hello by hand')
    await page.getByRole('button', { name: 'Send', exact: true }).click()
    await telegram.called('sendMessage', 1)
    expect(telegram.callsOf('sendMessage')[0]!.body).toMatchObject({ text: 'Hello by hand' })
    await page.keyboard.press('Escape')
  })

  it('list many subscribers in pages, each with its own URL', async () => {
    const { page, go } = window
    await Promise.all(Array.from({ length: 50 }, (_, at) => telegram.say(300_000 + at, '/start')))
    await go('/bots')
    await page.getByRole('table', { name: 'Bots' }).getByRole('row').nth(1).click()
    await page.getByText('51 subscribers').waitFor()
    const rows = page.getByRole('table', { name: 'Subscribers' })
    expect(await rows.getAttribute('aria-rowcount')).toBe('51')
    await page.getByRole('button', { name: 'The next page' }).click()
    await page.locator('[role="table"][aria-rowcount="2"]').waitFor()
    expect(page.url()).toMatch(/[?&]page=2$/)
    expect(await findBarriers(page)).toEqual([])
    await page.getByRole('button', { name: 'The previous page' }).click()
    await page.locator('[role="table"][aria-rowcount="51"]').waitFor()
    expect(page.url()).not.toContain('page=')
  })

  it('show inbound messages, filtered by the URL and as a conversation that can be answered', async () => {
    const { page, go, context } = window
    await telegram.say(CHAT, `Is it open today? ${XSS}`)
    const [stream] = await Promise.all([
      page.waitForResponse(answer => answer.url().includes('/inbound/events')),
      go('/inbound?channel=botapp_bot'),
    ])
    expect(stream.status()).toBe(200)
    const rows = page.getByRole('table', { name: 'Inbound messages' }).getByRole('row')
    await rows.filter({ hasText: XSS }).click()
    const panel = page.getByRole('dialog')
    const talk = panel.getByRole('list', { name: 'The conversation' })
    await talk.getByText(XSS).waitFor()
    await talk.getByText('Hello by hand').waitFor()
    expect(page.url()).toMatch(/\/inbound\/inb_\w+\?channel=botapp_bot$/)
    const answer = panel.getByLabel('Your reply')
    const send = panel.getByRole('button', { name: 'Reply' })
    await answer.fill('Until six')
    const typed = Promise.withResolvers<void>()
    await page.route('**/api/v2/messages/send', route => typed.promise.then(() => route.continue()))
    await send.click()
    // Text typed while the reply is being sent is kept.
    await answer.fill('Until six. And at eight')
    typed.resolve()
    await telegram.called('sendMessage', 2)
    expect(telegram.callsOf('sendMessage')[1]!.body).toMatchObject({ text: 'Until six' })
    await talk.getByText('Until six').waitFor()
    await send.and(page.locator(':enabled')).waitFor()
    expect(await answer.inputValue()).toBe('. And at eight')
    await page.unroute('**/api/v2/messages/send')
    await answer.fill('')
    await telegram.say(CHAT, 'Told by the stream')
    await talk.getByText('Told by the stream').waitFor()
    await rows.filter({ hasText: 'Told by the stream' }).waitFor()
    expect(await findBarriers(page)).toEqual([])
    await takePicture(page, 'inbound-conversation')
    await go('/inbound?from=%2B4915112345678')
    await page.getByText('Nothing matches these filters').waitFor()
    expect(await page.evaluate('window.broken')).toBe(undefined)
    // Without the event stream, the console polls.
    await context.route('**/inbound/events*', route => route.abort())
    await go('/inbound')
    await telegram.say(CHAT, 'Asked for')
    await rows.filter({ hasText: 'Asked for' }).waitFor()
    await context.unroute('**/inbound/events*')
  })

  it('send a reply once whose response was lost, also when the panel was closed and opened again', async () => {
    const { page, go, context } = window
    await telegram.say(CHAT, 'Once, please')
    await go('/inbound?channel=botapp_bot')
    const row = page.getByRole('row').filter({ hasText: 'Once, please' })
    const panel = page.getByRole('dialog')
    async function reply(): Promise<void> {
      await row.click()
      await panel.getByLabel('Your reply').fill('Sent once')
      await panel.getByRole('button', { name: 'Reply' }).click()
    }
    await context.route('**/api/v2/messages/send', async route => {
      await route.fetch()
      await route.abort('connectionreset')
    })
    await reply()
    await panel.getByText('The server does not answer').waitFor()
    await page.keyboard.press('Escape')
    await panel.waitFor({ state: 'detached' })
    await context.unroute('**/api/v2/messages/send')
    await reply()
    await page.getByText('The reply is on its way.').first().waitFor()
    const sent = telegram.callsOf('sendMessage').map(({ body }) => (body as { text: string }).text)
    expect(sent.filter(text => text === 'Sent once')).toHaveLength(1)
  })
})

describe('media that people send', { timeout: 60_000 }, () => {
  it('are saved as a download, and never opened in the browser', async () => {
    const { page, go } = window
    const file = { id: '4711', mime_type: 'text/html', filename: `menu${XSS}.html` }
    await writeOfficially({ type: 'document', document: file })
    await go('/inbound?channel=official_chatapp')
    await page.getByRole('table', { name: 'Inbound messages' }).getByRole('row').nth(1).click()
    const save = page.getByRole('dialog').getByRole('button', { name: 'Save menu' })
    const [download] = await Promise.all([page.waitForEvent('download'), save.click()])
    expect(await readFile(await download.path(), 'utf8')).toBe('<b>What there is</b>')
    expect(download.suggestedFilename()).toMatch(/^menu.*\.html$/)
    expect(await page.evaluate('window.broken')).toBe(undefined)
    expect(page.url()).toMatch(/\/inbound\/inb_\w+/)
  })
})

describe('locations and contact cards that people send', { timeout: 60_000 }, () => {
  it('are shown as text, a location with a link to a map', async () => {
    const { page, go } = window
    const place = { latitude: 37.442162518, longitude: -122.161535, name: `Philz${XSS}` }
    await writeOfficially({ type: 'location', location: place }, 'wamid.2')
    const phones = [{ phone: '+1 (415) 555-0829', wa_id: '14155550829' }]
    const card = { name: { formatted_name: `Barbara${XSS}` }, phones, emails: [{ email: 'b@example.com' }] }
    await writeOfficially({ type: 'contacts', contacts: [card] }, 'wamid.3')
    await go('/inbound?channel=official_chatapp')
    const rows = page.getByRole('table', { name: 'Inbound messages' }).getByRole('row')
    await rows.filter({ hasText: 'Philz' }).waitFor()
    await rows.filter({ hasText: 'Barbara' }).click()
    const talk = page.getByRole('list', { name: 'The conversation' })
    for (const words of [`Barbara${XSS}`, '+14155550829', 'b@example.com', `Philz${XSS}`])
      await talk.getByText(words).waitFor()
    const link = talk.getByRole('link', { name: '37.442163, -122.161535' })
    expect(await link.getAttribute('href')).toContain('?mlat=37.442162518&mlon=-122.161535#')
    expect(await findBarriers(page)).toEqual([])
    await takePicture(page, 'inbound-place')
    expect(await page.evaluate('window.broken')).toBe(undefined)
  })
})

describe('web sessions', { timeout: 60_000 }, () => {
  it('show the QR code that links a phone, and update when the phone is linked', async () => {
    const { page, go } = window
    await go('/sessions')
    await page.getByText('WhatsApp may ban the number').waitFor()
    await page.getByRole('button', { name: 'Link a phone' }).first().click()
    await page.getByLabel('Name').fill('front desk')
    await page.getByRole('button', { name: 'Continue' }).click()
    await page.locator('[aria-invalid="true"]').waitFor()
    await page.getByLabel('Name').fill('front-desk')
    await page.getByRole('button', { name: 'Continue' }).click()
    const code = page.getByRole('img', { name: 'The code to scan with the phone' })
    await code.waitFor()
    expect(await code.getAttribute('src')).toMatch(/^data:image\/svg\+xml/)
    await page.waitForFunction(`document.querySelector('img[alt^="The code"]').naturalWidth > 0`)
    expect(await findBarriers(page)).toEqual([])
    await takePicture(page, 'session-qr')
    chatapp.set({ login: 'success' })
    await page.getByRole('button', { name: 'Restart' }).click()
    await page.getByText('Open', { exact: true }).waitFor()
    await code.waitFor({ state: 'detached' })
    await takePicture(page, 'session-open')
    await page.getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('button', { name: 'Delete the session' }).click()
    await page.getByText('No phone is linked').waitFor()
  })

  it('show a pairing code to type when a phone number is given', async () => {
    const { page } = window
    chatapp.set({ login: 'qr' })
    await page.getByRole('button', { name: 'Link a phone' }).first().click()
    await page.getByLabel('Name').fill('counter')
    await page.getByText('Typing a code', { exact: true }).click()
    await page.getByLabel('Phone number').fill('+14155550123')
    await page.getByRole('button', { name: 'Continue' }).click()
    await page.getByText(/^[0-9A-Z]{4}-[0-9A-Z]{4}$/).waitFor()
    expect(await findBarriers(page)).toEqual([])
    await takePicture(page, 'session-code')
    expect(window.faults).toEqual([])
  })
})

/** A message to a number on WhatsApp Business, delivered and signed as the provider does. */
let official: string | null = null

async function writeOfficially(content: object, id = 'wamid.1'): Promise<void> {
  official ??= await connectOfficially()
  const timestamp = String(Math.floor(Date.now() / 1_000))
  const message = { ...wrote(content), id, timestamp }
  const value = { messaging_product: 'whatsapp', metadata: METADATA, contacts, messages: [message] }
  const body = JSON.stringify(event({ field: 'messages', value }))
  const { status } = await server.app.call(`/webhooks/whatsapp-cloud/${official}`, {
    method: 'POST',
    headers: { 'x-hub-signature-256': signatureOf(body) },
    body,
  })
  expect(status).toBe(200)
}

async function connectOfficially(): Promise<string> {
  const { body: made } = await server.app.admin('POST', '/connections', {
    provider: 'whatsapp-cloud',
    name: 'Official',
    channels: ['official_chatapp'],
    accountId: await demoAccount(),
    config: whatsAppCloudFixture.configFor(meta.url),
  })
  return (made['data'] as { connection: { id: string } }).connection.id
}

async function demoAccount(): Promise<string> {
  const { body } = await server.app.call('/api/v2/account', { key: server.app.demoKey })
  return (body['data'] as { id: string }).id
}

/** Does the same as the switch in the header. */
async function chooseLive({ page, go }: Window): Promise<void> {
  await page.evaluate(
    `sessionStorage.setItem('posthorn-choice', JSON.stringify({ accountId: null, mode: 'live' }))`,
  )
  await go('/')
  await page.getByRole('heading', { name: 'Overview' }).waitFor()
}
