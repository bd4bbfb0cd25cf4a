import { faultsOf, type Plan, type RowFault, recipientOf, toMessage } from './plan.ts'

/** A row in the wizard; `line` counts from 1 as in a spreadsheet, including empty lines. */
export type ShownRow = { line: number; cells: string[]; faults: RowFault[] }
export type Checked = {
  rows: number
  faulty: number
  /** Recipients that occur in more than one row. */
  repeated: number
  first: ShownRow[]
  withFaults: ShownRow[]
}

/** Most rows that are shown of each kind. */
const SHOWN = 100
/** Length of the body's pieces in characters, so that no string is as long as the whole. */
const PIECE = 1_000_000

/**
 * Checks the rows of a file against a plan, and builds the body of a bulk request; `lines` has the line of
 * each row.
 */
export function createSheet(
  names: readonly string[],
  rows: readonly (readonly string[])[],
  lines: readonly number[],
) {
  return {
    names,
    rows,

    check(plan: Plan): Checked {
      const seen = new Set<string>()
      const checked: Checked = { rows: rows.length, faulty: 0, repeated: 0, first: [], withFaults: [] }
      rows.forEach((cells, at) => {
        const faults = faultsOf(cells, plan)
        const to = recipientOf(cells, plan).toLowerCase()
        if (seen.has(to)) checked.repeated++
        if (to !== '') seen.add(to)
        if (faults.length > 0) checked.faulty++
        const shown = { line: lines[at]!, cells: [...cells], faults }
        if (at < SHOWN) checked.first.push(shown)
        if (faults.length > 0 && checked.withFaults.length < SHOWN) checked.withFaults.push(shown)
      })
      return checked
    },

    /** Rows from all over the file, for an estimate. */
    sample(plan: Plan, count: number) {
      const good = rows
        .map((cells, at) => ({ cells, line: lines[at]! }))
        .filter(({ cells }) => faultsOf(cells, plan).length === 0)
      const most = Math.min(count, good.length)
      const chosen = Array.from({ length: most }, (_, at) => good[Math.floor((at * good.length) / most)]!)
      return {
        good: good.length,
        rows: chosen.map(({ cells, line }) => ({ line, message: toMessage(cells, plan) })),
      }
    },

    /** The body of the request, in pieces; without the rows that have faults. */
    body(plan: Plan, head: { name: string; messagesPerSecond: number }): string[] {
      const pieces: string[] = []
      let piece = `${JSON.stringify(head).slice(0, -1)},"messages":[`
      let separator = ''
      for (const cells of rows) {
        if (faultsOf(cells, plan).length > 0) continue
        piece += separator + JSON.stringify(toMessage(cells, plan))
        separator = ','
        if (piece.length >= PIECE) {
          pieces.push(piece)
          piece = ''
        }
      }
      return [...pieces, `${piece}]}`]
    },
  }
}

export type Sheet = ReturnType<typeof createSheet>
