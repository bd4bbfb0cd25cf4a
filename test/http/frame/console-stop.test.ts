import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createConsoleFiles } from '../../../src/infra/console-files.ts'
import { startTestApp } from '../../support/app.ts'
import { createFakeClock } from '../../support/fake-clock.ts'
import { lookUntil } from '../../support/look-until.ts'

test('a stop answers the requests that wait for the console at once, and ends', async () => {
  const place = await mkdtemp(join(tmpdir(), 'posthorn-console-'))
  // Stands still, so that only the stop can end the wait.
  const clock = createFakeClock()
  const consoleFiles = createConsoleFiles(place, clock)
  consoleFiles.beginBuild()
  const app = await startTestApp({ consoleFiles })
  const page = fetch(`${app.url}/`, { headers: { accept: 'text/html' } })
  await lookUntil(
    async () => clock.pending(),
    pending => pending === 1,
    10_000,
  )
  await app.stop()
  expect((await page).status).toBe(503)
  await rm(place, { recursive: true })
})
