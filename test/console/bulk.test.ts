import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { BulkJob } from '../../src/contract/bulk.ts'
import { createFakeClock } from '../support/fake-clock.ts'
import { type Console, findBarriers, setUp, startConsole, takePicture, type Window } from './support.ts'
import { workbook } from './workbook.ts'

/** At most 10 messages a second: 10,000 take 17 minutes, which the server's clock goes through as fast as it can. */
const clock = createFakeClock(Date.now())
const SECOND_MS = 1_000

let server: Console
let window: Window
let directory: string

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'posthorn-bulk-'))
  server = await startConsole({ clock })
  window = await server.open()
  await setUp(window)
}, 60_000)
beforeEach(({ task, onTestFailed }) => onTestFailed(() => server.takePictures(task.name)))
afterAll(async () => {
  await server.stop()
  await rm(directory, { recursive: true })
})

describe('a bulk job from a file', { timeout: 120_000 }, () => {
  it('of 10,000 rows goes from the drop to its end', async () => {
    const { page, go, faults } = window
    await go('/bulk/new')
    await choose(page, 'october.csv', csv(10_000))
    await page.getByRole('heading', { name: '10,000 rows in october.csv' }).waitFor()
    expect(await findBarriers(page)).toEqual([])
    await next(page)
    await page.getByText('10,000 rows look good').waitFor()
    await next(page)
    await page.getByText(/rows from all over the file were tried/).waitFor()
    await takePicture(page, 'bulk-run')
    await page.getByRole('button', { name: 'Send 10,000 messages to the sandbox' }).click()
    await windOn(page.getByText('Completed').first().waitFor({ timeout: 110_000 }))
    expect((await jobs())[0]).toMatchObject({
      name: 'october',
      status: 'completed',
      total: 10_000,
      counts: { pending: 0, sent: 10_000, failed: 0 },
    })
    await page.getByText('Rows10,000Sent10,000Failed0').waitFor()
    await takePicture(page, 'bulk-completed')
    expect(await findBarriers(page)).toEqual([])
    expect(faults).toEqual([])
  })

  it('shows what is wrong with a row in its place, and goes on without it', async () => {
    const { page, go } = window
    await go('/bulk/new')
    // As a spreadsheet saves it: semicolons, and the plus of the numbers is gone.
    await choose(
      page,
      'mend.csv',
      'Mobile;Text\r\n12025552001;Hello\r\nnobody;"<img src=x onerror=alert(1)>"\r\n12025552002;\r\n',
    )
    await page.getByLabel('Put a + before numbers that have none').isChecked()
    await next(page)
    await page.getByText('2 of 3 rows cannot go as they are').waitFor()
    await page
      .getByRole('row', { name: /^3 nobody <img src=x onerror=alert\(1\)> Mobile is no recipient$/ })
      .waitFor()
    await page.getByRole('row', { name: /^4 12025552002 – Text has no words$/ }).waitFor()
    expect(await findBarriers(page)).toEqual([])
    await next(page)
    await page.getByText('Every row was tried').waitFor()
    await page.getByRole('button', { name: 'Send 1 message to the sandbox' }).click()
    await windOn(page.getByText('Completed').first().waitFor())
    await page.getByRole('row').filter({ hasText: '+12025552001' }).waitFor()
  })

  it('reads Excel, whose numbers have no plus', async () => {
    const { page, go } = window
    await go('/bulk/new')
    const path = join(directory, 'people.xlsx')
    await writeFile(
      path,
      workbook([
        ['Phone', 'Message'],
        [12025552001, 'Hello'],
        [12025552003, ''],
      ]),
    )
    await page.locator('input[type=file]').setInputFiles(path)
    await page.getByRole('heading', { name: '2 rows in people.xlsx' }).waitFor()
    await next(page)
    await page.getByText('1 of 2 rows cannot go').waitFor()
    await page.getByRole('row', { name: '3 12025552003 – Message has no words' }).waitFor()
    await writeFile(path, 'no workbook')
    await go('/bulk/new')
    await page.locator('input[type=file]').setInputFiles(path)
    await page.getByText('The file cannot be read as an Excel workbook (.xlsx).').waitFor()
  })

  it('that the server refuses says which rows, and gives them as a file', async () => {
    const { page, go } = window
    await server.app.call('/api/v2/suppressions', {
      method: 'POST',
      key: server.app.demoKey,
      body: { to: '+12025552999' },
    })
    await start('refused.csv', 'to,text\n+12025552001,Hello\n+12025552999,"Hello, you"\n', {
      type: 'Marketing',
    })
    await windOn(page.getByText('Rejected', { exact: true }).first().waitFor())
    await page.getByText('RECIPIENT_SUPPRESSED').waitFor()
    expect(await page.getByRole('row').filter({ hasText: '+12025552001' }).count()).toBe(0)
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Faulty rows as CSV' }).click(),
    ])
    expect(download.suggestedFilename()).toBe('refused-invalid.csv')
    const lines = (await readFile((await download.path())!, 'utf8')).trim().split('\r\n')
    expect(lines).toHaveLength(2)
    expect(lines[1]).toMatch(/^2,\+12025552999,invalid,RECIPIENT_SUPPRESSED,/)
    await go('/bulk?status=rejected')
    await page.getByRole('row').filter({ hasText: 'refused' }).waitFor()
  })

  it('is paused, goes on, and is cancelled', async () => {
    const { page } = window
    await start('long.csv', csv(400))
    await windOn(page.getByRole('button', { name: 'Pause' }).waitFor())
    await page.getByRole('button', { name: 'Pause' }).click()
    await page.getByText('Somebody paused it').waitFor()
    await page.getByRole('button', { name: 'Resume' }).click()
    await page.getByRole('button', { name: 'Pause' }).waitFor()
    await page.getByRole('button', { name: 'Cancel' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel the job' }).click()
    await page.getByText('Cancelled', { exact: true }).first().waitFor()
    expect((await jobs())[0]).toMatchObject({ name: 'long', status: 'cancelled' })
  })

  it('whose answer was lost is one job when it is run again, after a reload too', async () => {
    const { page } = window
    const before = (await jobs()).length
    await page.route('**/api/v2/messages/bulk', async route => {
      await route.fetch()
      await route.abort()
    })
    await start('once.csv', csv(3), { answered: false })
    await page.getByRole('alert').getByText('The server does not answer').waitFor()
    await page.unroute('**/api/v2/messages/bulk')
    await page.reload()
    await start('once.csv', csv(3))
    await windOn(page.getByText('Completed').first().waitFor())
    expect(await jobs()).toHaveLength(before + 1)
    // It is known by now: the same file once more is another job.
    await start('once.csv', csv(3))
    await windOn(page.getByText('Completed').first().waitFor())
    expect(await jobs()).toHaveLength(before + 2)
  })
})

/** Through the wizard as far as it goes by itself. */
async function start(name: string, text: string, { answered = true, type = 'Utility' } = {}): Promise<void> {
  const { page, go } = window
  await go('/bulk/new')
  await choose(page, name, text)
  await page.getByText(type, { exact: true }).click()
  await next(page)
  await page.getByText('look good').waitFor()
  await next(page)
  await page.getByRole('button', { name: /^Send/ }).click()
  if (answered) await page.waitForURL(/\/bulk\/job_/)
}

/** A real file: the console tells one from another by its time as well. */
async function choose(page: Page, name: string, text: string): Promise<void> {
  const path = join(directory, name)
  if ((await readFile(path, 'utf8').catch(() => null)) !== text) await writeFile(path, text)
  await page.locator('input[type=file]').setInputFiles(path)
}

async function next(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Next' }).click()
}

function csv(rows: number): string {
  const lines = Array.from(
    { length: rows },
    (_, at) => `+1202555${2000 + (at % 900)},Name ${at},"Hello Name ${at}, it is time"`,
  )
  return `Phone,Name,Message\n${lines.join('\n')}\n`
}

async function jobs(): Promise<BulkJob[]> {
  const { body } = await server.app.call('/api/v2/messages/bulk', { key: server.app.demoKey })
  return body['data'] as BulkJob[]
}

/** Lets the server's seconds pass, each when the work of the one before is done, until `work` is. */
async function windOn<T>(work: Promise<T>): Promise<T> {
  let done = false
  const end = () => {
    done = true
  }
  work.then(end, end)
  while (!done) {
    await clock.advance(SECOND_MS)
    await idle()
  }
  return work
}

/** Twice in a row, since what follows an answer may be the next question. */
async function idle(): Promise<void> {
  for (let quiet = 0; quiet < 2; ) quiet = (await isBusy()) ? 0 : quiet + 1
}

async function isBusy(): Promise<boolean> {
  const { rows } = await server.app.db.query<{ busy: boolean }>({
    name: 'is_busy',
    text: `select exists (select 1 from pg_stat_activity where datname = current_database()
             and pid <> pg_backend_pid() and backend_type = 'client backend' and state <> 'idle') as busy`,
  })
  return rows[0]!.busy
}
