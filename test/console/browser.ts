import { type Browser, chromium } from 'playwright-core'
import { CHROMIUM } from '../support/chromium.ts'

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
