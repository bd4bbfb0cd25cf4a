import { type Browser, chromium } from 'playwright-core'
import { CHROMIUM } from '../support/chromium.ts'

let shared: Promise<Browser> | null = null

/**
 * The browser that all test files of a worker share. It ends with the worker, and is started again if it
 * has closed.
 */
export async function sharedBrowser(): Promise<Browser> {
  const running = await shared?.catch(() => null)
  if (!running?.isConnected()) shared = launchBrowser()
  return shared!
}

/**
 * Starts the browser without the arguments that its package suggests, since they switch off what is tested
 * here: they put all windows into one process, with one set of cookies, and disable web security.
 */
export async function launchBrowser(): Promise<Browser> {
  return chromium.launch({
    executablePath: CHROMIUM,
    // Chromium’s sandbox needs rights that containers do not have; only pages of this project are loaded.
    args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--force-color-profile=srgb'],
    headless: true,
  })
}
