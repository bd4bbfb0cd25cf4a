import type { SingleSendBody } from '../../../../sdk/index.ts'
import type { Plan } from './plan.ts'
import type { Checked } from './sheet.ts'
import type { SheetRequest, SheetResponse } from './sheet-messages.ts'

/** An opened file, held by a worker. */
export type OpenSheet = {
  file: File
  names: string[]
  rows: number
  /** The first rows, as examples. */
  first: string[][]
  check(plan: Plan): Promise<Checked>
  sample(
    plan: Plan,
    count: number,
  ): Promise<{ good: number; rows: { line: number; message: SingleSendBody }[] }>
  body(plan: Plan, head: { name: string; messagesPerSecond: number }): Promise<Blob>
  close(): void
}

/** Opens a file; rejects with a readable error. */
export async function openSheet(file: File, onRows: (rows: number) => void): Promise<OpenSheet> {
  const worker = new Worker(new URL('./sheet.worker.ts', import.meta.url), { type: 'module' })
  const request = createRequester(worker, onRows)
  try {
    const opened = (await request({ what: 'open', file })) as Pick<OpenSheet, 'names' | 'rows' | 'first'>
    return {
      file,
      ...opened,
      check: plan => request({ what: 'check', plan }) as Promise<Checked>,
      sample: (plan, count) => request({ what: 'sample', plan, count }) as ReturnType<OpenSheet['sample']>,
      body: (plan, head) => request({ what: 'body', plan, head }) as Promise<Blob>,
      close: () => worker.terminate(),
    }
  } catch (error) {
    worker.terminate()
    throw error
  }
}

type WithoutId<T> = T extends unknown ? Omit<T, 'id'> : never

function createRequester(worker: Worker, onRows: (rows: number) => void) {
  const waiting = new Map<number, PromiseWithResolvers<unknown>>()
  let last = 0

  worker.addEventListener('message', ({ data }: MessageEvent<SheetResponse>) => {
    if ('rows' in data) return onRows(data.rows)
    const asked = waiting.get(data.id)
    waiting.delete(data.id)
    if ('error' in data) asked?.reject(new Error(data.error))
    else asked?.resolve(data.result)
  })
  worker.addEventListener('error', () => {
    for (const asked of waiting.values()) asked.reject(new Error('The file cannot be read.'))
    waiting.clear()
  })

  return (question: WithoutId<SheetRequest>): Promise<unknown> => {
    const asked = Promise.withResolvers<unknown>()
    last += 1
    waiting.set(last, asked)
    worker.postMessage({ ...question, id: last })
    return asked.promise
  }
}
