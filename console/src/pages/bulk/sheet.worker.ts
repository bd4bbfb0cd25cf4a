import type { Plan } from './plan.ts'
import { BadFile, readSheet } from './read-sheet.ts'
import type { Sheet } from './sheet.ts'
import type { Ask, Told } from './sheet-messages.ts'

/** Holds the rows in a worker, so that the page stays responsive. */
let sheet: Sheet | null = null

self.addEventListener('message', async ({ data }: MessageEvent<Ask>) => {
  try {
    tell({ id: data.id, result: await answer(data) })
  } catch (error) {
    tell({ id: data.id, error: error instanceof BadFile ? error.message : 'The file cannot be read.' })
  }
})

async function answer(ask: Ask): Promise<unknown> {
  if (ask.what === 'open') {
    sheet = await readSheet(ask.file, rows => tell({ id: ask.id, rows }))
    return { names: sheet.names, rows: sheet.rows.length, first: sheet.rows.slice(0, 20) }
  }
  return withSheet(ask, ask.plan)
}

function withSheet(ask: Exclude<Ask, { what: 'open' }>, plan: Plan): unknown {
  if (!sheet) throw new Error('no file was opened')
  switch (ask.what) {
    case 'check':
      return sheet.check(plan)
    case 'sample':
      return sheet.sample(plan, ask.count)
    case 'body':
      return new Blob(sheet.body(plan, ask.head), { type: 'application/json' })
  }
}

function tell(message: Told): void {
  self.postMessage(message)
}
