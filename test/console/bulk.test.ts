import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type BulkWalk, createBulkWalk, csv } from './bulk-walk.ts'
import { type Console, findBarriers, setUp, startConsole, type Window } from './support.ts'
import { workbook } from './workbook.ts'

let server: Console
let window: Window
let walk: BulkWalk

beforeAll(async () => {
  server = await startConsole()
  window = await server.open()
  walk = await createBulkWalk(server, window)
  await setUp(window)
}, 60_000)
beforeEach(({ task, onTestFailed }) => onTestFailed(() => server.takePictures(task.name)))
afterAll(async () => {
  await server.stop()
  await walk.end()
})

describe('a bulk job from a file', { timeout: 120_000 }, () => {
  it('shows the faults of each row, and sends the other rows', async () => {
    const { page, go } = window
    await go('/bulk/new')
    // As a spreadsheet saves it: with semicolons, an empty row, and numbers without their plus.
    await walk.choose(
      'mend.csv',
      'Mobile;Text\r\n12025552001;Hello\r\n;\r\nnobody;"<img src=x onerror=alert(1)>"\r\n12025552002;\r\n',
    )
    expect(await page.getByLabel('Add a + to numbers without one').isChecked()).toBe(true)
    await walk.next()
    await page.getByText('2 of 3 rows cannot be sent because of errors').waitFor()
    await page
      .getByRole('row', { name: /^4 nobody <img src=x onerror=alert\(1\)> Mobile is not a valid recipient$/ })
      .waitFor()
    await page.getByRole('row', { name: /^5 12025552002 – Text has no text$/ }).waitFor()
    expect(await findBarriers(page)).toEqual([])
    await walk.next()
    await page.getByText('Every row was checked').waitFor()
    await page.getByRole('button', { name: 'Send 1 message to the sandbox' }).click()
    await page.getByText('Completed').first().waitFor()
    await page.getByRole('row').filter({ hasText: '+12025552001' }).waitFor()
  })

  it('reads an Excel file, whose numbers have no plus', async () => {
    const { page, go } = window
    await go('/bulk/new')
    await walk.choose(
      'people.xlsx',
      workbook([
        ['Phone', 'Message'],
        [12025552001, 'Hello'],
        [12025552003, ''],
      ]),
    )
    await page.getByRole('heading', { name: '2 rows in people.xlsx' }).waitFor()
    await walk.next()
    await page.getByText('1 of 2 rows cannot be sent').waitFor()
    await page.getByRole('row', { name: '3 12025552003 – Message has no text' }).waitFor()
    await go('/bulk/new')
    await walk.choose('people.xlsx', 'no workbook')
    await page.getByText('The file cannot be read as an Excel workbook (.xlsx).').waitFor()
  })

  it('warns of a variable in a text that is the same for every row', async () => {
    const { page, go } = window
    await go('/bulk/new')
    await walk.choose('same.csv', 'Phone,Name\n+12025552001,Ann\n')
    const text = page.getByRole('textbox', { name: 'Text' })
    await text.fill('Hello {{Name}}, it is time')
    await page.getByText('{{Name}} is sent as it stands.').waitFor()
    await text.fill('Hello, it is time')
    await page.getByText('is sent as it stands').waitFor({ state: 'detached' })
  })

  it('that the server rejects lists the invalid rows and exports them as CSV', async () => {
    const { page, go } = window
    await server.app.call('/api/v2/suppressions', {
      method: 'POST',
      key: server.app.demoKey,
      body: { to: '+12025552999' },
    })
    await walk.start('refused.csv', 'to,text\n+12025552001,Hello\n+12025552999,"Hello, you"\n', {
      type: 'Marketing',
    })
    await page.getByText('Rejected', { exact: true }).first().waitFor()
    await page.getByText('RECIPIENT_SUPPRESSED').waitFor()
    expect(await page.getByRole('row').filter({ hasText: '+12025552001' }).count()).toBe(0)
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Invalid rows as CSV' }).click(),
    ])
    expect(download.suggestedFilename()).toBe('refused-invalid.csv')
    const lines = (await readFile((await download.path())!, 'utf8')).trim().split('\r\n')
    expect(lines).toHaveLength(2)
    expect(lines[1]).toMatch(/^2,\+12025552999,invalid,RECIPIENT_SUPPRESSED,/)
    await go('/bulk?status=rejected')
    await page.getByRole('row').filter({ hasText: 'refused' }).waitFor()
  })

  it('can be paused, resumed and cancelled', async () => {
    const { page } = window
    await walk.start('long.csv', csv(400))
    await page.getByRole('button', { name: 'Pause' }).waitFor()
    await page.getByRole('button', { name: 'Pause' }).click()
    await page.getByText('Somebody paused the job').waitFor()
    await page.getByRole('button', { name: 'Resume' }).click()
    await page.getByRole('button', { name: 'Pause' }).waitFor()
    await page.getByRole('button', { name: 'Cancel' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel the job' }).click()
    await page.getByText('Cancelled', { exact: true }).first().waitFor()
    expect((await walk.jobs())[0]).toMatchObject({ name: 'long', status: 'cancelled' })
  })

  it('says why it still runs when the outcome of a row is unknown', async () => {
    const { page } = window
    await walk.start('silent.csv', 'Phone,Message\n+12025550005,Hello\n+12025552001,Hello\n')
    await page.getByText('The provider may have accepted them').waitFor()
    await page.getByRole('button', { name: 'Cancel' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel the job' }).click()
    await page.getByText('Cancelled', { exact: true }).first().waitFor()
    await page.getByText('The provider may have accepted them').waitFor({ state: 'detached' })
  })

  it('is still followed after a stopping server has ended the event stream', async () => {
    const { page } = window
    const end = { contentType: 'text/event-stream', body: ': still here\n\n' }
    await page.route('**/messages/bulk/*/events', route => route.fulfill(end), { times: 1 })
    await walk.start('followed.csv', csv(12))
    await page.getByText('Completed').first().waitFor()
    await page.getByRole('table', { name: 'Rows' }).getByText('Sent').nth(11).waitFor()
  })

  it('that a proxy rejects as too large shows that reason, not a server that does not answer', async () => {
    const { page } = window
    const tooLarge = { status: 413, contentType: 'text/html', body: '<h1>Too large</h1>' }
    await page.route('**/api/v2/messages/bulk', route => route.fulfill(tooLarge), { times: 1 })
    await walk.start('large.csv', csv(3), { answered: false })
    await page.getByRole('alert').getByText('larger than the proxy allows').waitFor()
    expect(await page.getByText('The server does not answer').count()).toBe(0)
  })

  it('whose response was lost is created once when it is sent again, even after a reload', async () => {
    const { page } = window
    const before = (await walk.jobs()).length
    await page.route('**/api/v2/messages/bulk', async route => {
      await route.fetch()
      await route.abort()
    })
    await walk.start('once.csv', csv(3), { answered: false })
    await page.getByRole('alert').getByText('The server does not answer').waitFor()
    await page.unroute('**/api/v2/messages/bulk')
    await page.reload()
    await walk.start('once.csv', csv(3))
    await page.getByText('Completed').first().waitFor()
    expect(await walk.jobs()).toHaveLength(before + 1)
    // The first job is confirmed now, so sending the same file again creates another job.
    await walk.start('once.csv', csv(3))
    await page.getByText('Completed').first().waitFor()
    expect(await walk.jobs()).toHaveLength(before + 2)
  })
})
