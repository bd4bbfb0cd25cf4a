import { mkdir } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import axe from 'axe-core'
import type { BrowserContext, Page } from 'playwright-core'
import { systemClock } from '../../src/lib/clock.ts'
import { startTestApp, type TestApp, type TestAppOptions } from '../support/app.ts'
import { sharedBrowser } from './browser.ts'

/** Where the pictures go; git leaves it alone. */
const REPORT = new URL('report/', import.meta.url)
/** Of a walk that goes well there are pictures for who asks for them; of one that fails there always are. */
const WANTS_PICTURES = process.env['CONSOLE_PICTURES'] !== undefined
/** For one step of a person; a machine that does much else is no fault. */
const PATIENCE_MS = 20_000

export const PERSON = { name: 'Ada', email: 'ada@example.com', password: 'correct horse battery' }

export type Console = {
  app: TestApp
  /** A window of its own, signed in by nobody. Whatever goes wrong in it is kept. */
  open(options?: { phone?: boolean; dark?: boolean }): Promise<Window>
  /** Pictures of every window, for a test that has failed. */
  takePictures(name: string): Promise<void>
  stop(): Promise<void>
}

export type Window = {
  context: BrowserContext
  page: Page
  /** Errors of scripts, and what the security policy refused. */
  faults: string[]
  /** Loads the console anew, at an address. */
  go(path: string): Promise<void>
  /** To a page of the navigation by its link; what was read stays. */
  turn(path: string): Promise<void>
}

/** The whole program and a real browser in front of it; time is the machine's, as people's is, unless told otherwise. */
export async function startConsole(options: TestAppOptions = {}): Promise<Console> {
  const [app, browser] = await Promise.all([
    startTestApp({ clock: systemClock, ...options }),
    sharedBrowser(),
  ])
  const contexts: BrowserContext[] = []
  await mkdir(REPORT, { recursive: true })
  return {
    app,
    async open({ phone = false, dark = false } = {}) {
      const context = await browser.newContext({
        baseURL: app.url,
        viewport: phone ? { width: 360, height: 780 } : { width: 1360, height: 860 },
        colorScheme: dark ? 'dark' : 'light',
        reducedMotion: 'reduce',
        locale: 'en-GB',
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

/** The first login of an empty server, by the form. */
export async function setUp({ page, go }: Window): Promise<void> {
  await go('/')
  await page.getByLabel('Your name').fill(PERSON.name)
  await page.getByLabel('E-mail').fill(PERSON.email)
  await page.getByLabel('Password', { exact: true }).fill(PERSON.password)
  await page.getByRole('button', { name: 'Create login' }).click()
  await page.getByRole('heading', { name: `Welcome, ${PERSON.name}` }).waitFor()
}

export async function signIn(
  { page }: Window,
  { email, password }: { email: string; password: string } = PERSON,
): Promise<void> {
  await page.getByLabel('E-mail').fill(email)
  await page.getByLabel('Password', { exact: true }).fill(password)
  await page.getByRole('button', { name: 'Sign in' }).click()
}

export type Violation = { id: string; impact: string; nodes: string[] }

/** What axe finds that is serious or worse; the contrasts alone where only the colours have changed. */
export async function findBarriers(page: Page, rules?: readonly string[]): Promise<Violation[]> {
  // Half a megabyte, which a page keeps until it is left.
  if (!(await page.evaluate(`'axe' in globalThis`))) await page.evaluate(axe.source)
  return page.evaluate(async only => {
    type Axe = {
      run(
        where: object,
        how: object,
      ): Promise<{
        violations: { id: string; impact: string; nodes: { html: string; failureSummary: string }[] }[]
      }>
    }
    const { axe } = globalThis as unknown as { axe: Axe }
    const how = { resultTypes: ['violations'], ...(only && { runOnly: { type: 'rule', values: only } }) }
    // `document` stands in the page alone.
    const { violations } = await axe.run((globalThis as unknown as { document: object }).document, how)
    return violations
      .filter(({ impact }) => impact === 'serious' || impact === 'critical')
      .map(({ id, impact, nodes }) => ({
        id,
        impact,
        nodes: nodes.map(({ html, failureSummary }) => `${html.slice(0, 200)} ${failureSummary}`),
      }))
  }, rules)
}

export async function takePicture(page: Page, name: string): Promise<void> {
  if (WANTS_PICTURES) await photograph(page, name)
}

async function photograph(page: Page, name: string): Promise<void> {
  const file = `${name.replaceAll(/[^\w-]+/g, '-')}.png`
  await page.screenshot({ path: fileURLToPath(new URL(file, REPORT)), animations: 'disabled' })
}

/** As the toggle in the header does, without leaving the page. */
export async function switchScheme(page: Page, scheme: 'light' | 'dark'): Promise<void> {
  await page.evaluate(wished => {
    type Root = { setAttribute(name: string, value: string): void }
    const { document } = globalThis as unknown as { document: { documentElement: Root } }
    document.documentElement.setAttribute('data-mantine-color-scheme', wished)
  }, scheme)
}
