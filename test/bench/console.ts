import type { Browser, BrowserContext, Page } from 'playwright-core'
import { isConsoleStale, startConsoleBuild } from '../../src/infra/console-build.ts'
import { launchBrowser } from '../console/browser.ts'
import { unpackChromium } from '../support/chromium.ts'
import { fillHistory, MESSAGES } from './explorer-history.ts'
import { median } from './measure.ts'
import { type Figure, fixed, note } from './report.ts'
import { type System, startSystem } from './system.ts'

const MAX_PAINT_MS = 1_000
const MAX_INTERACTIVE_MS = 2_000
const ROWS = 20_000
/** The visible rows and those around them, with some twenty nodes each, and the rest of the page. */
const MAX_NODES = 2_500
const MAX_GROWTH_MB = 12

/**
 * The console in a real browser: the time until it paints and is usable with an empty cache, and whether a
 * table of a million messages stays small while scrolling through 20,000 of its rows.
 */
export async function measureConsole(quick: boolean): Promise<Figure[]> {
  if (isConsoleStale()) await startConsoleBuild().done
  await unpackChromium()
  const system = await startSystem({ accounts: 2 })
  const browser = await launchBrowser()
  try {
    const cookie = await enter(system)
    const loads = await measureLoads(system, browser, cookie, quick ? 2 : 9)
    await fillHistory(system, quick ? MESSAGES / 10 : MESSAGES)
    return [...loads, ...(await measureTable(system, browser, cookie, quick ? ROWS / 4 : ROWS))]
  } finally {
    await browser.close()
    await system.stop()
  }
}

/** Signs in as an owner of the first account. */
async function enter({ admin, url, ids }: System): Promise<string> {
  const { link } = await admin<{ link: string }>('POST', '/members/invitations', {
    email: 'bench@example.com',
    role: 'owner',
    accountId: ids.accounts[0],
  })
  const answer = await fetch(`${url}/api/console/invitations/accept`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      token: new URL(link).hash.slice(1),
      name: 'Bench',
      password: 'correct horse battery',
    }),
  })
  if (!answer.ok) throw new Error(await answer.text())
  return answer.headers.get('set-cookie')!.split(';')[0]!
}

async function openContext(browser: Browser, { url }: System, cookie: string): Promise<BrowserContext> {
  const viewport = { width: 1360, height: 860 }
  // The content security policy is bypassed, since waiting for a condition evaluates code in the page.
  const context = await browser.newContext({ baseURL: url, viewport, bypassCSP: true })
  const [name, value] = cookie.split(/=(.*)/s) as [string, string]
  await context.addCookies([{ name, value, url }])
  return context
}

type Load = { paintMs: number; interactiveMs: number }

/** Each load has its own browser context, with an empty cache. */
async function measureLoads(
  system: System,
  browser: Browser,
  cookie: string,
  times: number,
): Promise<Figure[]> {
  note('The first load of the console, nothing cached')
  const loads: Load[] = []
  for (let at = 0; at < times; at++) {
    const context = await openContext(browser, system, cookie)
    const load = await loadOnce(await context.newPage())
    await context.close()
    note(`  painted after ${fixed(load.paintMs, 0)} ms, usable after ${fixed(load.interactiveMs, 0)} ms`)
    loads.push(load)
  }
  return [
    toFigure('first contentful paint', loads, load => load.paintMs, MAX_PAINT_MS),
    toFigure('the console can be used', loads, load => load.interactiveMs, MAX_INTERACTIVE_MS),
  ]
}

/** Usable means that the page is rendered and reacts to a key. */
async function loadOnce(page: Page): Promise<Load> {
  await page.goto('/', { waitUntil: 'commit' })
  await page.getByRole('heading', { name: 'Overview' }).waitFor()
  await page.keyboard.press('Control+k')
  await page.getByRole('textbox', { name: 'Search' }).waitFor()
  const interactiveMs = (await page.evaluate('performance.now()')) as number
  const paint = `performance.getEntriesByName('first-contentful-paint')[0].startTime`
  return { interactiveMs, paintMs: (await page.evaluate(paint)) as number }
}

function toFigure(name: string, loads: readonly Load[], value: (load: Load) => number, most: number): Figure {
  const middle = median(loads.map(value))
  return {
    name,
    measured: `${fixed(middle, 0)} ms`,
    baseline: `${fixed(Math.max(...loads.map(value)), 0)} ms at worst`,
    value: middle,
    unit: ' ms',
    target: { most },
  }
}

async function measureTable(
  system: System,
  browser: Browser,
  cookie: string,
  rows: number,
): Promise<Figure[]> {
  note(`Scrolling through ${rows.toLocaleString('en')} of ${MESSAGES.toLocaleString('en')} messages`)
  const context = await openContext(browser, system, cookie)
  const page = await context.newPage()
  await page.goto('/messages?mode=live')
  const early = await scrollTo(page, rows / 4)
  const late = await scrollTo(page, rows)
  await scrollBack(page)
  await context.close()
  const nodes = Math.max(early.nodes, late.nodes)
  const growth = late.heapMb - early.heapMb
  return [
    {
      name: 'nodes of a page with a long table',
      measured: String(nodes),
      baseline: `${rows.toLocaleString('en')} rows`,
      value: nodes,
      target: { most: MAX_NODES },
    },
    {
      name: 'memory while scrolling on',
      measured: `${fixed(late.heapMb, 1)} MB`,
      baseline: `${fixed(early.heapMb, 1)} MB after a quarter`,
      value: growth,
      unit: ' MB more',
      target: { most: MAX_GROWTH_MB },
    },
  ]
}

type Size = { nodes: number; heapMb: number }

const SCROLLER = `document.querySelector('[role=region][aria-label=Messages]')`
const READ_ROWS = `Number((${SCROLLER}?.nextElementSibling?.textContent ?? '0').replace(/\\D/g, ''))`

async function scrollTo(page: Page, rows: number): Promise<Size> {
  let nodes = 0
  for (let read = 0; read < rows; ) {
    await page.evaluate(`${SCROLLER}?.scrollTo(0, 1e9)`)
    await page.waitForFunction(`${READ_ROWS} > ${read}`)
    read = (await page.evaluate(READ_ROWS)) as number
    nodes = Math.max(nodes, (await page.evaluate(`document.querySelectorAll('*').length`)) as number)
  }
  const heapMb = await heapOf(page)
  note(`  ${rows.toLocaleString('en')} rows: ${nodes} nodes, ${fixed(heapMb, 1)} MB`)
  return { nodes, heapMb }
}

/** Scrolls back, which loads rows again that were dropped, and waits for them. */
async function scrollBack(page: Page): Promise<void> {
  await page.evaluate(`${SCROLLER}.scrollTo(0, ${SCROLLER}.scrollHeight * 0.7)`)
  await page.waitForFunction(
    `${SCROLLER}.querySelectorAll('[role=cell]').length > 50 && !${SCROLLER}.querySelector('.mantine-Skeleton-root')`,
  )
}

async function heapOf(page: Page): Promise<number> {
  const session = await page.context().newCDPSession(page)
  await session.send('HeapProfiler.collectGarbage')
  const { usedSize } = await session.send('Runtime.getHeapUsage')
  await session.detach()
  return usedSize / 1024 / 1024
}
