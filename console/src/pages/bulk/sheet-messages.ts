import type { Plan } from './plan.ts'

/** What the page asks its worker. */
export type Ask = { id: number } & (
  | { what: 'open'; file: File }
  | { what: 'check'; plan: Plan }
  | { what: 'sample'; plan: Plan; count: number }
  | { what: 'body'; plan: Plan; head: { name: string; messagesPerSecond: number } }
)

/** What it answers; `rows` is how far the reading is. */
export type Told = { id: number } & ({ result: unknown } | { error: string } | { rows: number })
