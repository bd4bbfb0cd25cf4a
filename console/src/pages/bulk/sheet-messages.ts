import type { Plan } from './plan.ts'

/** A request of the page to its worker. */
export type SheetRequest = { id: number } & (
  | { what: 'open'; file: File }
  | { what: 'check'; plan: Plan }
  | { what: 'sample'; plan: Plan; count: number }
  | { what: 'body'; plan: Plan; head: { name: string; messagesPerSecond: number } }
)

/** A response of the worker; `rows` is the progress of reading. */
export type SheetResponse = { id: number } & ({ result: unknown } | { error: string } | { rows: number })
