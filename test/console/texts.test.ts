import type { Locator, Request, Route } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Answer } from '../support/app.ts'
import { type Console, setUp, startConsole, type Window } from './support.ts'

/** Input that could run as code where others read it. */
const CORPUS = [
  '<script>window.hurt = 1</script>',
  '<img src=x onerror="window.hurt = 2">',
  '"><svg onload="window.hurt = 3">',
  "javascript:window.hurt=4//'-->",
  '<iframe srcdoc="<script>parent.hurt=5</script>"></iframe>',
  '{{constructor.constructor("window.hurt=6")()}}',
  '<a href="javascript:window.hurt=7">click</a>',
  '\u202egnirts desrever\u2066<b>bold</b>',
  '</textarea></title><style>*{display:none}</style>',
]

const LISTS = /\/api\/v2\/messages\?/

let server: Console
let window: Window

beforeAll(async () => {
  server = await startConsole()
  window = await server.open()
  await setUp(window)
}, 60_000)
beforeEach(({ task, onTestFailed }) => onTestFailed(() => server.takePictures(task.name)))
afterEach(() => window.context.unrouteAll())
afterAll(() => server.stop())

describe('text written by other people', { timeout: 60_000 }, () => {
  it('is shown as text in every list and panel, and never runs', async () => {
    const { page, go } = window
    for (const text of CORPUS) await send({ to: '+12025550123', text })
    await send({
      to: 'mail@example.com',
      text: `<h1>Mail</h1>${CORPUS.slice(0, 8).join('')}`,
      content: { subject: CORPUS[1] },
    })
    for (const path of ['/messages', '/sandbox']) {
      await go(path)
      for (const text of CORPUS) await page.getByRole('row').filter({ hasText: text }).first().waitFor()
      for (const text of CORPUS.slice(0, 3)) {
        await page.getByRole('row').filter({ hasText: text }).first().click()
        await page.getByRole('dialog').getByText(text).first().waitFor()
        await page.keyboard.press('Escape')
        await page.getByRole('dialog').waitFor({ state: 'detached' })
      }
    }
    expect(await payloadEffect()).toBeNull()
  })

  it('in an e-mail is shown in a frame that runs no scripts', async () => {
    const { page, go } = window
    await go('/sandbox?to=mail%40example.com')
    await page.getByRole('row').nth(1).click()
    const frame = page.locator('iframe[title="The e-mail"]')
    await frame.waitFor()
    expect(await frame.getAttribute('sandbox')).toBe('')
    await page.frameLocator('iframe[title="The e-mail"]').getByRole('heading', { name: 'Mail' }).waitFor()
    expect(await payloadEffect()).toBeNull()
  })

  it('is shown as text in names and in URLs of the console', async () => {
    const { page, go } = window
    await go('/keys')
    for (const name of CORPUS.slice(0, 3)) {
      await page.getByRole('button', { name: 'New key' }).click()
      await page.getByRole('dialog').getByLabel('Name').fill(name)
      await page.getByRole('button', { name: 'Create the key' }).click()
      await page.getByRole('button', { name: 'I have saved it' }).click()
      await page.getByRole('row').filter({ hasText: name }).waitFor()
    }
    await go(`/send?text=${encodeURIComponent(CORPUS[1]!)}&to=${encodeURIComponent(CORPUS[2]!)}`)
    await page.getByText('It cannot be sent').waitFor()
    // An out-of-range year is shown as typed, and does not break the page.
    await page.getByLabel('Send at').fill('12026-11-22T10:00')
    const said = page.getByRole('region', { name: 'curl' })
    await said.getByText('"scheduleAt": "12026-11-22T10:00"').waitFor()
    await go(`/${encodeURIComponent(CORPUS[0]!)}`)
    await page.getByText('Page not found').waitFor()
    expect(await payloadEffect()).toBeNull()
  })
})

describe('a server that does not answer', { timeout: 60_000 }, () => {
  it('is reported, and the page continues when it is back', async () => {
    const { page, go, context } = window
    await go('/messages')
    await page.getByRole('row').nth(1).waitFor()
    await context.route('**/*', route => route.abort('connectionrefused'))
    // The open stream is not broken by that, but a new one cannot be opened.
    await page.getByLabel('Live updates').uncheck()
    await page.getByLabel('Live updates').check()
    await page.getByText('The server does not answer. The data shown may be outdated').waitFor()
    expect(await page.getByRole('row').count()).toBeGreaterThan(1)
    await context.unroute('**/*')
    await page.getByText('The server does not answer').waitFor({ state: 'detached' })
    await send({ to: '+12025550123', text: 'Sent after it was back' })
    await page.getByRole('row').filter({ hasText: 'Sent after it was back' }).waitFor()
  })
})

describe('live updates of the message list', { timeout: 60_000 }, () => {
  it('arrive by the event stream, without a request for the list', async () => {
    const { page, go, context } = window
    const [opened] = await Promise.all([
      page.waitForResponse(answer => answer.url().includes('/messages/events')),
      go('/messages'),
    ])
    expect(opened.status()).toBe(200)
    await page.getByRole('row').nth(1).waitFor()
    // From here on only the stream can bring a row.
    await context.route(/\/api\/v2\/messages\?/, route => route.abort())
    await send({ to: '+12025550123', text: 'Told by the stream' })
    const row = page.getByRole('row').filter({ hasText: 'Told by the stream' })
    await row.getByText('Delivered').waitFor()
    await context.unroute(/\/api\/v2\/messages\?/)
  })

  it('are polled when the event stream is blocked', async () => {
    const { page, go, context } = window
    await context.route('**/messages/events*', route => route.abort())
    await go('/messages')
    await page.getByRole('row').nth(1).waitFor()
    await send({ to: '+12025550123', text: 'Asked for' })
    await page.getByRole('row').filter({ hasText: 'Asked for' }).getByText('Delivered').waitFor()
    await context.unroute('**/messages/events*')
  })

  it('are not overwritten by an older response that arrives later', async () => {
    const { page, go, context } = window
    const to = '+12025550311'
    const { id, row } = await schedule(to, 'Taken back')
    await go(`/messages?to=${encodeURIComponent(to)}`)
    await row.getByText('Scheduled').waitFor()
    // From here on only the stream can bring updates.
    await context.route(LISTS, () => {})
    const held = await holdFirstList(rows => [
      ...rows,
      { ...rows[0]!, messageId: 'msg_0', text: 'Held back' },
    ])
    // A new stream makes the console read the list again.
    await page.getByLabel('Live updates').uncheck()
    await page.getByLabel('Live updates').check()
    await held.begun
    await cancel(id)
    await row.getByText('Cancelled').waitFor()
    held.release()
    await page.getByRole('row').filter({ hasText: 'Held back' }).waitFor()
    await row.getByText('Cancelled').waitFor()
  })

  it('are read again when the first response was requested before the stream started', async () => {
    const { go, context } = window
    const to = '+12025550312'
    const { id, row } = await schedule(to, 'Taken back at once')
    const held = await holdFirstList()
    const again = Promise.withResolvers<void>()
    let streams = 0
    await context.route('**/messages/events*', route => {
      if (++streams > 1) return again.resolve()
      return route.fulfill({ contentType: 'text/event-stream', body: 'id: 1\nevent: reset\ndata: {}\n\n' })
    })
    await go(`/messages?to=${encodeURIComponent(to)}`)
    await Promise.all([held.begun, again.promise])
    await cancel(id)
    held.release()
    await row.getByText('Cancelled').waitFor()
  })

  it('do not cancel a running request, however many events arrive', async () => {
    const { page, go, context } = window
    const other = await server.open()
    await other.context.addCookies(await context.cookies())
    await Promise.all([go('/'), other.go('/messages')])
    await page.locator('#main a[href^="/messages/msg_"]').first().waitFor()
    const held = await holdFirstList()
    await send({ to: '+12025550123', text: 'One' })
    const asked = await held.begun
    const arrived = page.waitForEvent('requestfinished', request => request === asked)
    for (const text of ['Two', 'Three']) {
      await send({ to: '+12025550123', text })
      await other.page.getByRole('row').filter({ hasText: text }).getByText('Delivered').waitFor()
    }
    held.release()
    await arrived
    await other.context.close()
  })

  it('remove a row that no longer matches the status filter', async () => {
    const { page, go } = window
    const at = new Date(Date.now() + 3_600_000).toISOString()
    const sent = await send({ to: '+12025550123', text: 'Leaves the list', options: { scheduleAt: at } })
    await go('/messages?status=scheduled')
    const row = page.getByRole('row').filter({ hasText: 'Leaves the list' })
    await row.waitFor()
    const id = (sent.body['tracking'] as { messageId: string }).messageId
    await server.app.call(`/api/v2/messages/${id}/cancel`, { method: 'POST', key: server.app.demoKey })
    await row.waitFor({ state: 'detached' })
  })
})

describe('the security policy', () => {
  it('forbids inline scripts', async () => {
    const answer = await server.app.call('/messages', { headers: { accept: 'text/html' } })
    const policy = answer.headers.get('content-security-policy')!
    const directives = new Map(
      policy.split(';').map(each => each.trim().split(/ (.*)/s).slice(0, 2) as [string, string]),
    )
    expect(directives.get('script-src')).toBe("'self'")
    expect(directives.get('frame-ancestors')).toBe("'none'")
    expect(answer.headers.get('x-frame-options')).toBe('DENY')
    expect(directives.get('default-src')).toBe("'self'")
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff')
    expect(answer.headers.get('referrer-policy')).toBe('no-referrer')
    expect(answer.text).not.toMatch(/<script(?![^>]*\bsrc=)/)
  })
})

async function send(body: object): Promise<Answer> {
  const { app } = server
  const answer = await app.call('/api/v2/messages/send', { method: 'POST', key: app.demoKey, body })
  expect(answer.status, answer.text).toBe(200)
  return answer
}

/** A scheduled message, and its row. */
async function schedule(to: string, text: string): Promise<{ id: string; row: Locator }> {
  const scheduleAt = new Date(Date.now() + 3_600_000).toISOString()
  const sent = await send({ to, text, options: { scheduleAt } })
  const { messageId } = sent.body['tracking'] as { messageId: string }
  return { id: messageId, row: window.page.getByRole('row').filter({ hasText: text }) }
}

async function cancel(id: string): Promise<void> {
  const { app } = server
  const answer = await app.call(`/api/v2/messages/${id}/cancel`, { method: 'POST', key: app.demoKey })
  expect(answer.status, answer.text).toBe(200)
}

type Row = { messageId: string; text: string | null }

/**
 * Answers the next request for the message list as of now, with the rows changed by `change`, but only on
 * `release`.
 */
async function holdFirstList(change: (rows: Row[]) => Row[] = rows => rows) {
  const begun = Promise.withResolvers<Request>()
  const released = Promise.withResolvers<void>()
  const hold = async (route: Route) => {
    const response = await route.fetch()
    const body = (await response.json()) as { data: Row[] }
    begun.resolve(route.request())
    await released.promise
    await route.fulfill({ response, json: { ...body, data: change(body.data) } })
  }
  await window.context.route(LISTS, hold, { times: 1 })
  return { begun: begun.promise, release: released.resolve }
}

/** What a payload of the corpus sets when it runs. */
async function payloadEffect(): Promise<unknown> {
  return window.page.evaluate('window.hurt ?? null')
}
