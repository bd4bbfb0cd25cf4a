import { type Browser, chromium } from 'playwright-core'
import { CHROMIUM } from '../support/chromium.ts'

let shared: Promise<Browser> | null = null

/** One for all files of a worker, which it ends with; another one where that is gone. */
export async function sharedBrowser(): Promise<Browser> {
  const running = await shared?.catch(() => null)
  if (!running?.isConnected()) shared = launchBrowser()
  return shared!
}

/**
 * Without the arguments of the package that it comes from, which switch off what is tested here:
 * they put all windows into one process, with one set of cookies, and end web security.
 */
export async function launchBrowser(): Promise<Browser> {
  return chromium.launch({
    executablePath: CHROMIUM,
    // Its sandbox needs rights that a container does not give; every page here is our own.
    args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--force-color-profile=srgb'],
    headless: true,
  })
}
