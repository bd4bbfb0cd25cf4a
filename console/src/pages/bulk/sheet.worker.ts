import type { Plan } from './plan.ts'
import { BadFile, readSheet } from './read-sheet.ts'
import type { Sheet } from './sheet.ts'
import type { SheetRequest, SheetResponse } from './sheet-messages.ts'

/** Holds the rows in a worker, so that the page stays responsive. */
let sheet: Sheet | null = null

self.addEventListener('message', async ({ data }: MessageEvent<SheetRequest>) => {
  try {
    respond({ id: data.id, result: await answer(data) })
  } catch (error) {
    respond({ id: data.id, error: error instanceof BadFile ? error.message : 'The file cannot be read.' })
  }
})

async function answer(ask: SheetRequest): Promise<unknown> {
  if (ask.what === 'open') {
    sheet = await readSheet(ask.file, rows => respond({ id: ask.id, rows }))
    return { names: sheet.names, rows: sheet.rows.length, first: sheet.rows.slice(0, 20) }
  }
  return withSheet(ask, ask.plan)
}

function withSheet(ask: Exclude<SheetRequest, { what: 'open' }>, plan: Plan): unknown {
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

function respond(message: SheetResponse): void {
  self.postMessage(message)
}
