import chromium from '@sparticuz/chromium'
import { type Browser, chromium as playwright } from 'playwright-core'

/**
 * Chromium of an npm package: nothing is downloaded, nothing installed. Without
 * the package's own arguments, which switch off what is tested here: they put
 * all windows into one process, with one set of cookies, and end web security.
 */
export async function launchBrowser(): Promise<Browser> {
  return playwright.launch({
    executablePath: await chromium.executablePath(),
    // Its sandbox needs rights that a container does not give; every page here is our own.
    args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--force-color-profile=srgb'],
    headless: true,
  })
}
