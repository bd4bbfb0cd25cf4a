import type { ErrorDetail, Posthorn, PriceInput, PriceRow } from '../../../../../sdk/index.ts'
import { BadCsv, readCsv } from '../../../parts/read-csv.ts'
import { saveCsv } from '../../../parts/save-file.ts'
import { toCsv } from '../../bulk/csv.ts'

const NAMES = ['channel', 'country', 'prefix', 'messageType', 'price', 'currency'] as const
type Name = (typeof NAMES)[number]
const NEEDED: readonly Name[] = ['channel', 'price', 'currency']
const PAGE = 500

export type PriceFault = { line: number | null; text: string }

/** An invalid price list, with errors by line. */
export class BadPrices extends Error {
  readonly faults: PriceFault[]

  constructor(faults: PriceFault[]) {
    super('The file is not a price list.')
    this.faults = faults
  }
}

export async function downloadPrices(api: Posthorn): Promise<void> {
  const rows = await readAllPrices(api)
  const lines = rows.map(row => NAMES.map(name => String(row[name] ?? '')))
  saveCsv(toCsv([[...NAMES], ...lines]), 'prices.csv')
}

export async function readAllPrices(api: Posthorn): Promise<PriceRow[]> {
  const rows: PriceRow[] = []
  let cursor: string | null = null
  do {
    const page: { data: PriceRow[]; nextCursor: string | null } = await api.get('/api/admin/prices', {
      query: { limit: PAGE, ...(cursor !== null && { cursor }) },
    })
    rows.push(...page.data)
    cursor = page.nextCursor
  } while (cursor !== null)
  return rows
}

/** The prices of a file with their lines. */
export type PriceList = { prices: PriceInput[]; lines: number[] }

/** Rejects with `BadPrices`. The API validates the prices themselves. */
export async function readPriceFile(file: File): Promise<PriceList> {
  const data = await readCsv(file).catch(error => {
    throw error instanceof BadCsv ? new BadPrices([{ line: null, text: error.message }]) : error
  })
  const [head = { cells: [] }, ...rows] = data
    .map((cells, at) => ({ cells, line: at + 1 }))
    .filter(({ cells }) => cells.some(cell => cell.trim() !== ''))
  const columns = head.cells.map(name => name.trim().toLowerCase())
  const places = new Map(columns.map((name, at) => [name, at]))
  const missing = NEEDED.filter(name => !places.has(name.toLowerCase()))
  if (missing.length > 0) {
    throw new BadPrices([
      { line: null, text: `The first row must name the columns; it has no ${missing.join(', no ')}.` },
    ])
  }
  const repeated = NAMES.filter(name => columns.filter(each => each === name.toLowerCase()).length > 1)
  if (repeated.length > 0) {
    throw new BadPrices([
      { line: null, text: `The first row names a column more than once: ${repeated.join(', ')}.` },
    ])
  }
  const faults: PriceFault[] = []
  const prices = rows.map(({ cells, line }) => {
    const cellOf = (name: Name) => (cells[places.get(name.toLowerCase()) ?? -1] ?? '').trim()
    const price = readNumber(cellOf('price'))
    if (price === null) faults.push({ line, text: 'The price must be a number, such as 0.0425.' })
    return toInput(cellOf, price ?? 0)
  })
  if (faults.length > 0) throw new BadPrices(faults)
  return { prices, lines: rows.map(({ line }) => line) }
}

/** The API's errors with their lines in the file. */
export function faultsOf(details: readonly ErrorDetail[], lines: readonly number[]): PriceFault[] {
  return details.map(({ path, message }) => {
    const [, at, field] = /^prices\[(\d+)\](?:\.(\w+))?/.exec(path) ?? []
    const what = field === undefined ? '' : `${field}: `
    return { line: lines[Number(at)] ?? null, text: `${what}${message}` }
  })
}

function toInput(cellOf: (name: Name) => string, price: number): PriceInput {
  const country = cellOf('country')
  const prefix = cellOf('prefix')
  const messageType = cellOf('messageType')
  return {
    channel: cellOf('channel') as PriceInput['channel'],
    ...(country !== '' && { country: country.toUpperCase() }),
    ...(prefix !== '' && { prefix }),
    ...(messageType !== '' && { messageType: messageType as NonNullable<PriceInput['messageType']> }),
    price,
    currency: cellOf('currency').toUpperCase(),
  }
}

function readNumber(text: string): number | null {
  return /^\d+(?:\.\d+)?(?:e-?\d+)?$/i.test(text) ? Number(text) : null
}
