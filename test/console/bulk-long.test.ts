import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'
import { createFakeClock, turn } from '../support/fake-clock.ts'
import { watchQueries } from '../support/unanswered.ts'
import { type BulkWalk, createBulkWalk, csv } from './bulk-walk.ts'
import { type Console, findBarriers, setUp, startConsole, takePicture, type Window } from './support.ts'

/**
 * At most 10 messages a second: 10,000 take 17 minutes, which the server’s fake clock passes as fast as
 * possible.
 */
const clock = createFakeClock(Date.now())
const SECOND_MS = 1_000
/** It takes half a minute on a machine that runs nothing else. */
const MAX_MS = 280_000

let database: TestDatabase
let queries: ReturnType<typeof watchQueries>
let server: Console
let window: Window
let walk: BulkWalk

beforeAll(async () => {
  database = await createTestDatabase()
  queries = watchQueries(database.url)
  server = await startConsole({ clock, database })
  window = await server.open()
  walk = await createBulkWalk(server, window)
  await setUp(window)
}, 60_000)
beforeEach(({ task, onTestFailed }) => onTestFailed(() => server.takePictures(task.name)))
afterAll(async () => {
  await server.stop()
  await walk.end()
  await database.drop()
})

describe('a bulk job of 10,000 rows', { timeout: 300_000 }, () => {
  it('runs from the file upload to completion', async () => {
    const { page, go, faults } = window
    await go('/bulk/new')
    await walk.choose('october.csv', csv(10_000))
    await page.getByRole('heading', { name: '10,000 rows in october.csv' }).waitFor()
    expect(await findBarriers(page)).toEqual([])
    await walk.next()
    await page.getByText('10,000 rows look good').waitFor()
    await walk.next()
    await page.getByText(/rows from the whole file was checked/).waitFor()
    await takePicture(page, 'bulk-run')
    await page.getByRole('button', { name: 'Send 10,000 messages to the sandbox' }).click()
    await advanceUntil(page.waitForURL(/\/bulk\/job_/))
    const job = page.url()
    await advanceUntil(page.getByText(/Rows10,000Sent[1-9]/).waitFor())
    // A page that draws each of the thousand seconds takes as long as the server: it is left meanwhile.
    await page.goto('about:blank')
    while ((await sent()) < 9_500) await advance(50)
    await page.goto(job)
    await advanceUntil(page.getByText('Completed').first().waitFor({ timeout: MAX_MS }))
    expect((await walk.jobs())[0]).toMatchObject({
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
})

async function sent(): Promise<number> {
  return (await walk.jobs())[0]!.counts.sent
}

/** Advances the server’s clock second by second, each when the work of the previous one is done. */
async function advance(seconds: number): Promise<void> {
  for (let passed = 0; passed < seconds; passed++) {
    await clock.advance(SECOND_MS)
    await idle()
  }
}

/** Advances the server’s clock until `work` settles. */
async function advanceUntil<T>(work: Promise<T>): Promise<T> {
  let done = false
  const end = () => {
    done = true
  }
  work.then(end, end)
  while (!done) await advance(1)
  return work
}

/**
 * Idle twice in a row, since a result may lead to another query; a connection being opened counts as busy.
 */
async function idle(): Promise<void> {
  for (let quiet = 0; quiet < 2; ) {
    await queries.answered()
    await turn()
    quiet = queries.count() > 0 || (await isBusy()) ? 0 : quiet + 1
  }
}

async function isBusy(): Promise<boolean> {
  const { rows } = await server.app.db.query<{ busy: boolean }>({
    name: 'is_busy',
    text: `select exists (select 1 from pg_stat_activity where datname = current_database()
             and pid <> pg_backend_pid() and backend_type = 'client backend' and state <> 'idle') as busy`,
  })
  return rows[0]!.busy
}
