import { mkdir } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import axe from 'axe-core'
import type { BrowserContext, Page, Route } from 'playwright-core'
import { systemClock } from '../../src/lib/clock.ts'
import { startTestApp, type TestApp, type TestAppOptions } from '../support/app.ts'
import { sharedBrowser } from './browser.ts'

/** The directory of the screenshots, which git ignores. */
const REPORT = new URL('report/', import.meta.url)
/** Whether `takePicture` takes screenshots; those of failed tests are always taken. */
const WANTS_PICTURES = process.env['CONSOLE_PICTURES'] !== undefined
/** Time limit of one step; long, since the machine may be busy. */
const PATIENCE_MS = 20_000

export const PERSON = { name: 'Ada', email: 'ada@example.com', password: 'correct horse battery' }

export type Console = {
  app: TestApp
  /** Opens a window with its own cookies, not signed in. Records its errors. */
  open(options?: {
    phone?: boolean
    dark?: boolean
    highContrast?: boolean
    timeZone?: string | undefined
  }): Promise<Window>
  /** Takes screenshots of every window, for a test that has failed. */
  takePictures(name: string): Promise<void>
  stop(): Promise<void>
}

export type Window = {
  context: BrowserContext
  page: Page
  /** Uncaught errors, and errors in the browser’s console except failed loads. */
  faults: string[]
  /** Loads the console at a path. */
  go(path: string): Promise<void>
  /** Clicks a link of the navigation: the console is not loaded again. */
  turn(path: string): Promise<void>
}

/** The whole program and a real browser, by default with the system clock. */
export async function startConsole(options: TestAppOptions = {}): Promise<Console> {
  const [app, browser] = await Promise.all([
    startTestApp({ clock: systemClock, ...options }),
    sharedBrowser(),
  ])
  const contexts: BrowserContext[] = []
  await mkdir(REPORT, { recursive: true })
  return {
    app,
    async open({ phone = false, dark = false, highContrast = false, timeZone } = {}) {
      const context = await browser.newContext({
        baseURL: app.url,
        viewport: phone ? { width: 360, height: 780 } : { width: 1360, height: 860 },
        colorScheme: dark ? 'dark' : 'light',
        forcedColors: highContrast ? 'active' : 'none',
        reducedMotion: 'reduce',
        locale: 'en-GB',
        ...(timeZone !== undefined && { timezoneId: timeZone }),
      })
      contexts.push(context)
      context.setDefaultTimeout(PATIENCE_MS)
      const page = await context.newPage()
      const faults: string[] = []
      page.on('pageerror', error => faults.push(error.message))
      page.on('console', message => {
        if (message.type() === 'error' && !/Failed to load resource/.test(message.text()))
          faults.push(message.text())
      })
      return {
        context,
        page,
        faults,
        go: path => page.goto(path).then(() => {}),
        turn: path => page.locator(`nav a[href="${path}"]`).click(),
      }
    },
    async takePictures(name) {
      const pages = contexts.flatMap(context => context.pages())
      for (const [at, page] of pages.entries()) await photograph(page, `failed-${name}-${at}`)
    },
    async stop() {
      await Promise.all(contexts.map(context => context.close()))
      await app.stop()
    },
  }
}

/** Creates the first login of a new server with the form, and waits for the welcome page. */
export async function setUp(window: Window): Promise<void> {
  await createLogin(window)
  await window.page.getByRole('heading', { name: `Welcome, ${PERSON.name}` }).waitFor()
}

export async function createLogin({ page, go }: Window): Promise<void> {
  await go('/')
  await page.getByLabel('Your name').fill(PERSON.name)
  await page.getByLabel('E-mail').fill(PERSON.email)
  await page.getByLabel('Password', { exact: true }).fill(PERSON.password)
  await page.getByRole('button', { name: 'Create login' }).click()
}

export async function signIn(
  { page }: Window,
  { email, password }: { email: string; password: string } = PERSON,
): Promise<void> {
  await page.getByLabel('E-mail').fill(email)
  await page.getByLabel('Password', { exact: true }).fill(password)
  await page.getByRole('button', { name: 'Sign in' }).click()
}

/** Holds the next request of this method until the test continues it. */
export function hold({ context }: Pick<Window, 'context'>, url: string, method: string): Promise<Route> {
  return new Promise(resolve => {
    let isHeld = false
    // The route stays: without one, the browser would let the held request go.
    void context.route(url, route => {
      if (isHeld || route.request().method() !== method) return route.fallback()
      isHeld = true
      resolve(route)
    })
  })
}

/** Uses the switch in the header. */
export async function chooseMode(page: Page, mode: 'Live' | 'Test'): Promise<void> {
  await page.getByRole('radiogroup', { name: 'Mode' }).getByText(mode, { exact: true }).click()
}

export type Violation = { id: string; impact: string; nodes: string[] }

/** The violations that axe finds, of these rules only if they are given. */
export async function findBarriers(page: Page, rules?: readonly string[]): Promise<Violation[]> {
  // Half a megabyte, which stays loaded until the page is reloaded.
  if (!(await page.evaluate(`'axe' in globalThis`))) await page.evaluate(axe.source)
  return page.evaluate(async only => {
    type Axe = {
      run(
        where: object,
        how: object,
      ): Promise<{
        violations: {
          id: string
          impact: string
          nodes: { html: string; failureSummary: string; target: string[] }[]
        }[]
      }>
    }
    const { axe } = globalThis as unknown as { axe: Axe }
    const how = { resultTypes: ['violations'], ...(only && { runOnly: { type: 'rule', values: only } }) }
    // `document` exists only in the page.
    type Element = { closest(selector: string): Element | null }
    type Document = { querySelector(selector: string): Element | null }
    const { document } = globalThis as unknown as { document: Document }
    const { violations } = await axe.run(document, how)
    // An open menu is no part of the page's regions, but where the focus is.
    const isInMenu = ({ target }: { target: string[] }) =>
      document.querySelector(target[0]!)?.closest('[role="menu"]') != null
    return violations
      .map(({ id, impact, nodes }) => ({
        id,
        impact,
        nodes: nodes
          .filter(node => id !== 'region' || !isInMenu(node))
          .map(({ html, failureSummary }) => `${html.slice(0, 200)} ${failureSummary}`),
      }))
      .filter(({ nodes }) => nodes.length > 0)
  }, rules)
}

export async function takePicture(page: Page, name: string): Promise<void> {
  if (WANTS_PICTURES) await photograph(page, name)
}

async function photograph(page: Page, name: string): Promise<void> {
  const file = `${name.replaceAll(/[^\w-]+/g, '-')}.png`
  await page.screenshot({ path: fileURLToPath(new URL(file, REPORT)), animations: 'disabled' })
}

/** Switches the colours as the toggle in the header does, without reloading the page. */
export async function switchScheme(page: Page, scheme: 'light' | 'dark'): Promise<void> {
  await page.evaluate(wished => {
    type Root = { setAttribute(name: string, value: string): void }
    const { document } = globalThis as unknown as { document: { documentElement: Root } }
    document.documentElement.setAttribute('data-mantine-color-scheme', wished)
  }, scheme)
}
