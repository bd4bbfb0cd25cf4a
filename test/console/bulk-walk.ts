import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { BulkJob } from '../../src/contract/bulk.ts'
import type { Console, Window } from './support.ts'

export type BulkWalk = {
  /**
   * Chooses a real file, rewritten only if its content changes: the wizard also identifies it by its
   * modification time.
   */
  choose(name: string, content: string | Buffer): Promise<void>
  next(): Promise<void>
  /** Goes through the wizard and sends; with `answered`, waits for the page of the job. */
  start(name: string, text: string, options?: { answered?: boolean; type?: string }): Promise<void>
  jobs(): Promise<BulkJob[]>
  /** Removes its files. */
  end(): Promise<void>
}

/** The steps of a person who sends a bulk job from a file. */
export async function createBulkWalk({ app }: Console, { page, go }: Window): Promise<BulkWalk> {
  const directory = await mkdtemp(join(tmpdir(), 'posthorn-bulk-'))

  async function choose(name: string, content: string | Buffer): Promise<void> {
    const path = join(directory, name)
    const bytes = Buffer.from(content)
    if (!(await readFile(path).catch(() => null))?.equals(bytes)) await writeFile(path, bytes)
    await page.locator('input[type=file]').setInputFiles(path)
  }

  const next = () => page.getByRole('button', { name: 'Next' }).click()

  return {
    choose,
    next,
    async start(name, text, { answered = true, type = 'Utility' } = {}) {
      await go('/bulk/new')
      await choose(name, text)
      await page.getByText(type, { exact: true }).click()
      await next()
      await page.getByText('look good').waitFor()
      await next()
      await page.getByRole('button', { name: /^Send/ }).click()
      if (answered) await page.waitForURL(/\/bulk\/job_/)
    },
    async jobs() {
      const { body } = await app.call('/api/v2/messages/bulk', { key: app.demoKey })
      return body['data'] as BulkJob[]
    },
    end: () => rm(directory, { recursive: true }),
  }
}

export function csv(rows: number): string {
  const lines = Array.from(
    { length: rows },
    (_, at) => `+1202555${2000 + (at % 900)},Name ${at},"Hello Name ${at}, it is time"`,
  )
  return `Phone,Name,Message\n${lines.join('\n')}\n`
}
