import type { Locator } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import {
  type Console,
  findBarriers,
  PERSON,
  setUp,
  startConsole,
  switchScheme,
  takePicture,
  type Window,
} from './support.ts'

/** Gzipped, at the first load of the largest page. */
const MAX_FIRST_LOAD_BYTES = 600_000
const MAX_PAINT_MS = 1_000
const MAX_INTERACTIVE_MS = 2_000
/** The limits hold on a machine that runs nothing else; a busy one gets this many times more. */
const NOISE = 4

let server: Console
let window: Window

beforeAll(async () => {
  server = await startConsole()
  window = await server.open()
  await setUp(window)
  await fillDemo()
}, 60_000)
beforeEach(({ task, onTestFailed }) => onTestFailed(() => server.takePictures(task.name)))
afterAll(() => server.stop())

describe('every page', { timeout: 120_000 }, () => {
  it('is accessible in both colour schemes, and logs no errors', async () => {
    const { page, turn, faults } = window
    const links = await page.getByRole('navigation', { name: 'Pages' }).getByRole('link').all()
    const hrefs = await Promise.all(links.map(link => link.getAttribute('href')))
    expect(hrefs).toContain('/messages')
    const found: Record<string, unknown> = {}
    for (const href of hrefs as string[]) {
      await turn(href)
      await settle(window)
      const name = href === '/' ? 'overview' : href.slice(1).replaceAll('/', '-')
      const light: unknown[] = await findBarriers(page)
      light.push(...(await columnsWithoutName(window)))
      await takePicture(page, `${name}-light`)
      await switchScheme(page, 'dark')
      const dark = await findBarriers(page, ['color-contrast'])
      await takePicture(page, `${name}-dark`)
      await switchScheme(page, 'light')
      if (light.length > 0 || dark.length > 0) found[href] = [...light, ...dark]
    }
    expect(found).toEqual({})
    expect(faults).toEqual([])
  })

  it('opens from the command palette and by its keyboard shortcut', async () => {
    const { page, go } = window
    await go('/operator/audit')
    await page.getByRole('heading', { name: 'Platform audit log' }).waitFor()
    // The last navigation link is in view, and the Tab key still starts at the top of the page.
    const link = (await page.locator('nav a[aria-current="page"]').boundingBox())!
    expect(link.y + link.height).toBeLessThan(page.viewportSize()!.height)
    await page.keyboard.press('Tab')
    expect(await page.locator(':focus').innerText()).toBe('Skip to the content')
    await page.keyboard.press('Control+k')
    await page.getByRole('dialog', { name: 'Command palette' }).waitFor()
    expect(await findBarriers(page)).toEqual([])
    await page.getByRole('textbox', { name: 'Search' }).fill('sandb')
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Sandbox inbox' }).waitFor()
    await page.keyboard.press('g')
    await page.keyboard.press('m')
    await page.getByRole('heading', { name: 'Messages' }).waitFor()
    await page.getByRole('row').nth(2).waitFor()
    await page.getByRole('region', { name: 'Messages' }).focus()
    await page.keyboard.press('Tab')
    await page.keyboard.press('ArrowDown')
    expect(await page.locator(':focus').getAttribute('aria-rowindex')).toBe('3')
    await page.keyboard.press('Tab')
    expect(await page.locator('[role="row"]:focus').count()).toBe(0)
    await page.keyboard.press('?')
    const shortcuts = page.getByRole('dialog', { name: 'Keyboard shortcuts' })
    await shortcuts.waitFor()
    expect(await findBarriers(page)).toEqual([])
    await page.keyboard.press('g')
    await page.keyboard.press('o')
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    await shortcuts.waitFor({ state: 'detached' })
    // Shortcuts also work while a radio button has the focus.
    await page.getByRole('radiogroup', { name: 'Mode' }).getByRole('radio', { checked: true }).focus()
    await page.keyboard.press('g')
    await page.keyboard.press('m')
    await page.waitForURL('**/messages')
  })

  it('fits on a phone screen', async () => {
    const phone = await server.open({ phone: true, dark: true })
    await phone.context.addCookies(await window.context.cookies())
    for (const path of ['/', '/messages', '/send', '/keys', '/audit', '/official-senders']) {
      await phone.go(path)
      await settle(phone)
      await takePicture(phone.page, `phone${path.replaceAll('/', '-')}`)
      expect(await overflowOf(phone), path).toBe(0)
      expect(await hiddenColumns(phone), path).toEqual([])
    }
    await phone.page.getByRole('button', { name: 'Open the navigation' }).click()
    await phone.turn('/keys')
    await phone.page.getByRole('heading', { name: 'API keys' }).waitFor()
    await phone.context.close()
  })
})

describe('a phone of 320 pixels', { timeout: 60_000 }, () => {
  it('shows all columns of a list that are for phones', async () => {
    const phone = await server.open({ phone: true })
    await phone.context.addCookies(await window.context.cookies())
    await phone.page.setViewportSize({ width: 320, height: 700 })
    for (const path of ['/messages', '/sandbox', '/keys', '/wallet', '/endpoints', '/members']) {
      await phone.go(path)
      await settle(phone)
      expect(await overflowOf(phone), path).toBe(0)
      expect(await hiddenColumns(phone), path).toEqual([])
    }
    await phone.context.close()
  })

  it('shows choices, and what a dialog asks about, as a whole', async () => {
    const phone = await server.open({ phone: true })
    await phone.context.addCookies(await window.context.cookies())
    const { page, go } = phone
    await page.setViewportSize({ width: 320, height: 700 })
    await go('/send')
    await page.getByRole('radiogroup', { name: 'Type' }).waitFor()
    expect(await cutTexts(phone)).toEqual([])
    await go('/sessions')
    await page.getByRole('button', { name: 'Link a phone' }).first().click()
    await page.getByRole('dialog').getByText('Typing a code').waitFor()
    expect(await cutTexts(phone)).toEqual([])
    await go('/members')
    await page.getByRole('button', { name: 'Invite somebody' }).first().click()
    const invite = page.getByRole('dialog')
    await invite.getByText('Owner: all permissions').waitFor()
    expect(await cutTexts(phone)).toEqual([])
    await invite
      .getByRole('textbox', { name: 'E-mail' })
      .fill(`${'accounts-payable-'.repeat(3)}west@example.com`)
    await invite.getByRole('button', { name: 'Invite', exact: true }).click()
    await page.getByRole('button', { name: 'Done' }).click()
    await page.getByRole('button', { name: /^Withdraw the invitation of/ }).click()
    await page.getByRole('dialog').getByText('stops working').waitFor()
    expect(await cutTexts(phone)).toEqual([])
    const { email, password } = PERSON
    await server.app.call('/api/console/login', { method: 'POST', body: { email, password } })
    await go('/profile')
    const end = page.getByRole('button', { name: 'Sign out there' }).first().locator('span').last()
    expect(await end.evaluate(isCutOff)).toBe(false)
    await phone.context.close()
  })
})

describe('a page that is printed', { timeout: 60_000 }, () => {
  it('has no navigation, and its list is not cut off; an open panel is printed alone', async () => {
    const paper = await server.open()
    await paper.context.addCookies(await window.context.cookies())
    const { page, go } = paper
    await page.setViewportSize({ width: 794, height: 400 })
    await go('/operator/prices')
    await settle(paper)
    const list = page.locator('#main [role="region"]')
    expect(await list.evaluate(isCutOff)).toBe(true)
    await page.emulateMedia({ media: 'print' })
    expect(await list.evaluate(isCutOff)).toBe(false)
    expect(await page.getByRole('navigation', { name: 'Pages' }).isVisible()).toBe(false)
    expect(await page.getByRole('banner').isVisible()).toBe(false)
    await page.emulateMedia({ media: 'screen' })
    await go('/messages')
    await page.getByRole('row').filter({ hasText: '+12025550002' }).click()
    const text = page.getByRole('dialog').getByText('This one is refused').first()
    await text.waitFor()
    await page.emulateMedia({ media: 'print' })
    expect(await text.isVisible()).toBe(true)
    expect(await page.locator('#main').isVisible()).toBe(false)
    await paper.context.close()
  })
})

describe('texts of twice the size', { timeout: 60_000 }, () => {
  it('fit into the columns of a list', async () => {
    const large = await server.open()
    await large.context.addCookies(await window.context.cookies())
    await large.page.addInitScript(
      `addEventListener('DOMContentLoaded', () => { document.documentElement.style.fontSize = '200%' })`,
    )
    for (const path of ['/messages', '/keys', '/sandbox']) {
      await large.go(path)
      await settle(large)
      await large.page.getByRole('row').nth(2).waitFor()
      await takePicture(large.page, `large${path.replaceAll('/', '-')}`)
      expect(await hiddenColumns(large), path).toEqual([])
      expect(await cutCells(large), path).toEqual([])
    }
    await large.context.close()
  })
})

describe('a list in a window of medium width', { timeout: 60_000 }, () => {
  it('leaves out columns that do not fit, and shows them again in a wide one', async () => {
    const { page, turn } = window
    const size = page.viewportSize()!
    const titles = page.locator('#main [role="columnheader"]')
    for (const path of ['/messages', '/sandbox', '/keys', '/members', '/operator/connections']) {
      await turn(path)
      await settle(window)
      await titles.first().waitFor()
      const last = titles.nth((await titles.count()) - 1)
      await page.setViewportSize({ width: 820, height: size.height })
      await last.waitFor({ state: 'detached' })
      expect(await hiddenColumns(window), path).toEqual([])
      expect(await overflowOf(window), path).toBe(0)
      await page.setViewportSize(size)
      await last.waitFor({ state: 'attached' })
    }
  })
})

describe('the console in a right-to-left layout', { timeout: 60_000 }, () => {
  it('is mirrored, without horizontal overflow', async () => {
    const mirrored = await server.open()
    await mirrored.context.addCookies(await window.context.cookies())
    await mirrored.context.addInitScript(`new MutationObserver((_, seen) => {
      document.documentElement.dir = 'rtl'
      seen.disconnect()
    }).observe(document, { childList: true, subtree: true })`)
    const { page, go } = mirrored
    await go('/messages')
    await settle(mirrored)
    const nav = await page.getByRole('navigation', { name: 'Pages' }).first().boundingBox()
    const title = await page.getByRole('heading', { name: 'Messages' }).boundingBox()
    expect(nav!.x).toBeGreaterThan(title!.x)
    expect(await overflowOf(mirrored)).toBe(0)
    await page.getByRole('row').nth(1).click()
    await page.getByRole('dialog').getByRole('list', { name: 'Timeline' }).waitFor()
    await takePicture(page, 'from-the-right')
    await mirrored.context.close()
  })
})

describe('the overview', { timeout: 60_000 }, () => {
  it('has room for large numbers on the chart axis', async () => {
    const { page, go } = window
    await page.route('**/api/v2/stats?*', async route => {
      const answer = await (await route.fetch()).json()
      const { from, total } = answer.data
      const rows = [{ ...total, at: from, channel: null, sent: 1_234_567 }]
      await route.fulfill({ json: { ...answer, data: { ...answer.data, rows } } })
    })
    await go('/')
    const largest = page.locator('.recharts-yAxis-tick-labels text').last()
    await largest.waitFor()
    expect((await largest.textContent())!.length).toBeGreaterThan(8)
    const chart = page.locator('section', { has: page.getByRole('heading', { name: 'Messages over time' }) })
    expect((await largest.boundingBox())!.x).toBeGreaterThan((await chart.boundingBox())!.x)
    await page.unroute('**/api/v2/stats?*')
  })

  it('links each figure to the list of its messages, or to none if no list has that number', async () => {
    const { page, go } = window
    const later = new Date(Date.now() + 3_600_000).toISOString()
    await send({ to: '+12025550123', text: 'Later', options: { scheduleAt: later } })
    await go('/?period=7d')
    await settle(window)
    const figure = (label: string) =>
      page.locator('#main .ph-card', { hasText: new RegExp(`^${label}`) }).first()
    for (const label of ['Sent', 'Delivered', 'Failed', 'Waiting'])
      expect(
        await figure(label).evaluate(element => (element as unknown as { tagName: string }).tagName),
        label,
      ).toBe('DIV')
    const linksOf = (label: string) =>
      figure(label)
        .getByRole('link')
        .evaluateAll(links => links.map(link => (link as unknown as { href: string }).href.split('?')[1]))
    expect(await linksOf('Failed')).toEqual(['status=failed&period=7d', 'status=undelivered&period=7d'])
    expect(await linksOf('Waiting')).toEqual(['status=scheduled', 'status=queued', 'status=sending'])
    await figure('Waiting').getByRole('link', { name: 'scheduled' }).click()
    await page.getByRole('row').filter({ hasText: 'Later' }).waitFor()
    // The server stops counting at this number.
    await page.route('**/api/v2/stats?*', async route => {
      const answer = await (await route.fetch()).json()
      Object.assign(answer.data.now, { waiting: 10_000, waitingMore: true })
      await route.fulfill({ json: answer })
    })
    await go('/')
    await figure('Waiting').getByText('10,000+').waitFor()
    await page.unroute('**/api/v2/stats?*')
  })
})

describe('the messages', { timeout: 60_000 }, () => {
  it('are cancelled without mentioning money when none was held', async () => {
    const { page, go } = window
    await go('/messages?status=scheduled')
    await page.getByRole('row').filter({ hasText: 'Later' }).click()
    await page.getByRole('button', { name: 'Cancel it' }).click()
    await page.getByText('It will not be sent.', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Cancel the message' }).click()
    await page.getByText('The message is cancelled.', { exact: true }).waitFor()
  })

  it('are requested only once when the message does not exist', async () => {
    const fresh = await server.open()
    await fresh.context.addCookies(await window.context.cookies())
    await fresh.page.clock.install()
    let asked = 0
    fresh.page.on('request', request => {
      if (request.url().endsWith('/api/v2/messages/msg_none')) asked++
    })
    await fresh.go('/messages/msg_none')
    const panel = fresh.page.getByRole('dialog')
    await panel.getByText('This does not exist').waitFor()
    await fresh.page.clock.runFor(9_000)
    // This request is answered after all earlier requests of the panel.
    await fresh.page.evaluate(`fetch('/readyz').then(answer => answer.text())`)
    expect(asked).toBe(1)
    await fresh.context.close()
  })

  it('are requested only once when the API rejects a filter of the URL', async () => {
    const fresh = await server.open()
    await fresh.context.addCookies(await window.context.cookies())
    await fresh.page.clock.install()
    const asked: string[] = []
    fresh.page.on('request', request => {
      const { pathname } = new URL(request.url())
      if (pathname.startsWith('/api/v2/messages')) asked.push(pathname)
    })
    await fresh.go('/messages?channel=pigeon')
    await fresh.page.getByText('channel: must be one of').waitFor()
    await fresh.page.clock.runFor(9_000)
    await fresh.page.evaluate(`fetch('/readyz').then(answer => answer.text())`)
    expect(asked.toSorted()).toEqual(['/api/v2/messages', '/api/v2/messages/events'])
    await fresh.context.close()
  })

  it('are filtered by the URL, open in a panel with their timeline, and can be sent again', async () => {
    const { page, go } = window
    await go('/messages?status=failed')
    const rows = page.getByRole('table', { name: 'Messages' }).getByRole('row')
    await rows.filter({ hasText: '+12025550002' }).click()
    const panel = page.getByRole('dialog')
    await panel.getByText('Failed').first().waitFor()
    await panel.getByText(/Attempt 1 via/).waitFor()
    expect(page.url()).toMatch(/\/messages\/msg_\w+\?status=failed$/)
    await takePicture(page, 'message-panel')
    expect(await findBarriers(page)).toEqual([])
    await panel.getByRole('link', { name: 'Send again' }).click()
    await page.getByRole('heading', { name: 'Send', exact: true }).waitFor()
    expect(await page.getByLabel('To', { exact: true }).inputValue()).toBe('+12025550002')
    // A long e-mail in a script that takes six characters per letter in a URL.
    const text = 'שלום '.repeat(1_000)
    const mail = await server.app.call('/api/v2/messages/send', {
      method: 'POST',
      key: server.app.demoKey,
      body: { to: 'long@example.com', text, content: { subject: 'Long' } },
    })
    await go(`/messages/${(mail.body['tracking'] as { messageId: string }).messageId}`)
    await panel.getByRole('link', { name: 'Send again' }).click()
    const words = page.getByRole('textbox', { name: 'Text' })
    await words.waitFor()
    const loaded = await page.reload()
    expect(loaded!.status()).toBe(200)
    expect(await words.inputValue()).toBe(text)
    expect(await page.getByLabel('Subject').inputValue()).toBe('Long')
  })
})

describe('a theme of high contrast', { timeout: 60_000 }, () => {
  it('shows which mode and which tab is chosen, and whether a switch is on', async () => {
    const contrast = await server.open({ highContrast: true })
    await contrast.context.addCookies(await window.context.cookies())
    const { page, go } = contrast
    const background = (of: Locator) =>
      of.evaluate(element => {
        type Styles = { getComputedStyle(of: unknown): { backgroundColor: string } }
        return (globalThis as unknown as Styles).getComputedStyle(element).backgroundColor
      })
    await go('/messages')
    const modes = page.getByRole('radiogroup', { name: 'Mode' })
    const [test, live] = [modes.locator('label[data-active]'), modes.locator('label:not([data-active])')]
    expect(await background(test)).not.toBe(await background(live))
    const thumb = page.locator('.mantine-Switch-thumb').first()
    expect(await background(thumb)).not.toBe(await background(page.locator('.mantine-Switch-track').first()))
    await go('/verification')
    const [chosen, other] = [
      page.locator('[role="tab"][aria-selected="true"]'),
      page.getByRole('tab', { name: 'Blocks' }),
    ]
    expect(await background(chosen)).not.toBe(await background(other))
    await contrast.context.close()
  })
})

describe('a long list', { timeout: 60_000 }, () => {
  it('is where it was left when the person comes back to it, and at its top when they follow a link', async () => {
    const { page, go, turn } = window
    await send({ to: Array.from({ length: 60 }, (_, at) => `+1202555${String(2_000 + at)}`), text: 'Many' })
    await go('/messages')
    const list = page.getByRole('region', { name: 'Messages' })
    const scrollTop = () => list.evaluate(element => (element as unknown as { scrollTop: number }).scrollTop)
    await list.evaluate(element =>
      (element as unknown as { scrollTo(x: number, y: number): void }).scrollTo(0, 900),
    )
    const row = page.locator('[data-index="22"]')
    await row.waitFor()
    const key = (await row.getAttribute('data-key'))!
    await turn('/keys')
    await page.getByRole('heading', { name: 'API keys' }).waitFor()
    await page.goBack()
    await page.locator(`[data-key="${key}"]`).waitFor()
    expect(await scrollTop()).toBe(900)
    await turn('/keys')
    await page.getByRole('heading', { name: 'API keys' }).waitFor()
    await turn('/messages')
    await page.locator('[data-index="0"]').waitFor()
    expect(await scrollTop()).toBe(0)
  })
})

describe('a tab', { timeout: 60_000 }, () => {
  it('keeps its mode when another tab changes to the other one, also after a reload', async () => {
    const { page, go, context } = window
    const mode = (of: typeof page) =>
      of.getByRole('radiogroup', { name: 'Mode' }).getByRole('radio', { checked: true })
    await go('/messages')
    expect(await mode(page).getAttribute('value')).toBe('test')
    const other = await context.newPage()
    await other.goto('/messages')
    await other.getByRole('radiogroup', { name: 'Mode' }).getByText('Live', { exact: true }).click()
    await other.reload()
    expect(await mode(other).getAttribute('value')).toBe('live')
    await page.reload()
    expect(await mode(page).getAttribute('value')).toBe('test')
    await other.getByRole('radiogroup', { name: 'Mode' }).getByText('Test', { exact: true }).click()
    await other.close()
  })
})

describe('an address without a page', { timeout: 60_000 }, () => {
  it('that names something that does not exist leads back to its list', async () => {
    const { page, go } = window
    for (const [path, back] of [
      ['/endpoints/whk_none', 'All endpoints'],
      ['/bulk/job_none', 'All jobs'],
      ['/templates/tpl_none', 'All templates'],
    ] as const) {
      await go(path)
      await page.getByText('This does not exist').waitFor()
      await page.getByRole('link', { name: back }).click()
      await page.waitForURL(new RegExp(`${path.slice(0, path.lastIndexOf('/'))}$`))
    }
  })

  it('says so in the heading and in the title of the tab, and offers a page', async () => {
    const { page, turn } = window
    await turn('/keys')
    await page.getByRole('heading', { name: 'API keys', level: 1 }).waitFor()
    await page.evaluate(`history.pushState(null, '', '/nowhere')`)
    await page.getByRole('heading', { name: 'Page not found', level: 1 }).waitFor()
    expect(await page.title()).toBe('Page not found · Posthorn')
    expect(await findBarriers(page)).toEqual([])
    await page.getByRole('link', { name: 'Go to overview' }).click()
    await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor()
  })
})

describe('the metadata of a message', { timeout: 60_000 }, () => {
  it('is shown with all digits of its numbers, also after it was polled', async () => {
    const { page, go } = window
    const { body } = await server.app.call('/api/v2/messages/send', {
      method: 'POST',
      key: server.app.demoKey,
      headers: { 'content-type': 'application/json' },
      body: `{"to": "+12025550177", "text": "Long", "options": {"metadata": {"order": 9007199254740993, "part": 0.5}}}`,
    })
    const { messageId } = body['tracking'] as { messageId: string }
    await go(`/messages/${messageId}`)
    const metadata = page.getByRole('region', { name: 'Metadata' })
    await metadata.getByText('"order": 9007199254740993,').waitFor()
    await metadata.getByText('"part": 0.5').waitFor()
    // The sandbox reports it as delivered a second later.
    await page.getByRole('dialog').getByText('Delivered').first().waitFor()
    await metadata.getByText('"order": 9007199254740993,').waitFor()
  })
})

describe('the first load', { timeout: 60_000 }, () => {
  it('is small and fast', async () => {
    let load = await loadAnew()
    expect(load.bytes).toBeGreaterThan(100_000)
    expect(load.bytes).toBeLessThan(MAX_FIRST_LOAD_BYTES)
    // Other load on the machine can only slow it down, so the fastest load counts.
    for (let loads = 1; loads < 3 && !isFast(load); loads++) load = await loadAnew()
    expect(load.paintMs).toBeLessThan(MAX_PAINT_MS * NOISE)
    expect(load.interactiveMs).toBeLessThan(MAX_INTERACTIVE_MS * NOISE)
  })

  it('is cached by the browser: a second load fetches none of its files again', async () => {
    const fresh = await server.open()
    await fresh.context.addCookies(await window.context.cookies())
    await openOverview(fresh)
    const first = await loadedFiles(fresh)
    expect(first.filter(({ bytes }) => bytes > 0).length).toBeGreaterThan(2)
    await openOverview(fresh)
    const known = new Set(first.map(({ path }) => path))
    // Which chunks are requested before the page is shown varies.
    const again = (await loadedFiles(fresh)).filter(({ path }) => known.has(path))
    expect(again.length).toBeGreaterThan(2)
    expect(again.filter(({ bytes }) => bytes > 0)).toEqual([])
    await fresh.context.close()
  })
})

async function openOverview({ page, go }: Window): Promise<void> {
  await go('/')
  await page.getByRole('heading', { name: 'Overview' }).waitFor()
}

/** The files that the page has loaded, except responses of the API, and the bytes that came over the network. */
async function loadedFiles({ page }: Window): Promise<{ path: string; bytes: number }[]> {
  const entries = (await page.evaluate(
    `performance.getEntriesByType('resource').map(({ name, transferSize }) => ({ name, transferSize }))`,
  )) as { name: string; transferSize: number }[]
  return entries
    .map(({ name, transferSize }) => ({ path: new URL(name).pathname, bytes: transferSize }))
    .filter(({ path }) => !path.startsWith('/api/'))
}

type Load = { bytes: number; paintMs: number; interactiveMs: number }

function isFast({ paintMs, interactiveMs }: Load): boolean {
  return paintMs < MAX_PAINT_MS * NOISE && interactiveMs < MAX_INTERACTIVE_MS * NOISE
}

/** Loads the console as a signed-in user with an empty cache. */
async function loadAnew(): Promise<Load> {
  const fresh = await server.open()
  await fresh.context.addCookies(await window.context.cookies())
  const sizes = new Map<string, number>()
  fresh.page.on('response', response => {
    const { pathname } = new URL(response.url())
    const size = Number(response.headers()['content-length'])
    if (!pathname.startsWith('/api/')) sizes.set(pathname, size)
  })
  await openOverview(fresh)
  await fresh.page.keyboard.press('Control+k')
  await fresh.page.getByRole('textbox', { name: 'Search' }).waitFor()
  const interactiveMs = (await fresh.page.evaluate('performance.now()')) as number
  await fresh.page.keyboard.press('Escape')
  await settle(fresh)
  const paintMs = (await fresh.page.evaluate(
    `performance.getEntriesByName('first-contentful-paint')[0].startTime`,
  )) as number
  await fresh.context.close()
  return { bytes: [...sizes.values()].reduce((sum, size) => sum + size, 0), paintMs, interactiveMs }
}

/** How far the page is wider than the window, in pixels. */
async function overflowOf({ page }: Window): Promise<unknown> {
  return page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth')
}

/** Whether the element's content is wider or higher than it is. */
function isCutOff(element: unknown): boolean {
  type Box = { scrollWidth: number; clientWidth: number; scrollHeight: number; clientHeight: number }
  const { scrollWidth, clientWidth, scrollHeight, clientHeight } = element as Box
  return scrollWidth > clientWidth || scrollHeight > clientHeight
}

/** The choices and dialogs whose content is wider than they are. */
async function cutTexts({ page }: Window): Promise<unknown[]> {
  return page.evaluate(`[...document.querySelectorAll('[role="radiogroup"], [role="dialog"]')]
    .filter(box => box.scrollWidth > box.clientWidth)
    .map(box => box.innerText)`)
}

/** The states, types and times in a list that are wider than their columns, or higher than their rows. */
async function cutCells({ page }: Window): Promise<unknown[]> {
  return page.evaluate(`[...document.querySelectorAll('#main [role="cell"]:has([class*="badge"]), #main [role="cell"]:has(time)')]
    .filter(cell => cell.scrollWidth > cell.clientWidth || cell.offsetHeight > cell.parentElement.clientHeight)
    .map(cell => cell.innerText)`)
}

/** Lists with a column that has no name for screen readers. */
async function columnsWithoutName({ page }: Window): Promise<unknown[]> {
  return page.evaluate(`[...document.querySelectorAll('#main [role="columnheader"], #main th')]
    .filter(head => head.textContent.trim() === '')
    .map(head => head.closest('[role="table"], table').getAttribute('aria-label'))`)
}

/** Lists whose last columns are out of view. */
async function hiddenColumns({ page }: Window): Promise<unknown> {
  return page.evaluate(`[...document.querySelectorAll('#main [role="region"]:has([role="table"])')]
    .filter(list => list.scrollWidth > list.clientWidth)
    .map(list => list.getAttribute('aria-label'))`)
}

/** Waits until nothing on the page is loading. */
async function settle({ page }: Window): Promise<void> {
  await page.locator('#main h1').waitFor()
  await page
    .locator('#main [aria-busy="true"], #main .mantine-Skeleton-root')
    .first()
    .waitFor({ state: 'detached' })
}

async function send(body: object): Promise<void> {
  await server.app.call('/api/v2/messages/send', { method: 'POST', key: server.app.demoKey, body })
}

/** Messages with several outcomes. */
async function fillDemo(): Promise<void> {
  const sends = [
    { to: '+12025550123', text: 'Your parcel is on its way' },
    { to: '+12025550002', text: 'This one is refused' },
    { to: 'someone@example.com', text: 'A letter', content: { subject: 'A subject' } },
    { to: '+442079460123', text: 'Across the sea' },
    { to: '+12025550123', messageType: 'otp', content: { otpCode: '123456' } },
  ]
  for (const body of sends) await send(body)
}
