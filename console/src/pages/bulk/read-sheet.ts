import { BadCsv, readCsv } from '../../parts/read-csv.ts'
import { textOfCell } from './excel-cell.ts'
import { createSheet, type Sheet } from './sheet.ts'

/** A limit for browsers; larger files are for the command line. */
const MAX_ROWS = 1_000_000

/** A file that cannot be read, and why, for people. */
export class BadFile extends Error {}

/** Reads a CSV (of whatever separator) or XLSX file; the first row names the columns. */
export async function readSheet(file: File, onRows: (rows: number) => void): Promise<Sheet> {
  const all = isExcel(file) ? await readExcel(file) : await readText(file, onRows)
  const rows: string[][] = []
  const lines: number[] = []
  for (const [at, row] of all.entries()) {
    if (row.every(cell => cell.trim() === '')) continue
    rows.push(row)
    lines.push(at + 1)
  }
  const names = rows.shift()
  if (!names) throw new BadFile('The file is empty.')
  if (rows.length === 0) throw new BadFile('The file has column names but no rows.')
  return createSheet(
    names.map((name, at) => name.trim() || `Column ${at + 1}`),
    rows,
    lines.slice(1),
  )
}

function isExcel({ name, type }: File): boolean {
  return /\.xlsx$/i.test(name) || type === 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet'
}

async function readText(file: File, onRows: (rows: number) => void): Promise<string[][]> {
  try {
    return await readCsv(file, rows => {
      if (rows > MAX_ROWS) {
        throw new BadFile(
          `The file has more than ${MAX_ROWS.toLocaleString()} rows. Use the command line for it: posthorn bulk send.`,
        )
      }
      onRows(rows)
    })
  } catch (error) {
    if (error instanceof BadFile) throw error
    throw new BadFile(error instanceof BadCsv ? error.message : 'The file cannot be read as CSV.')
  }
}

async function readExcel(file: File): Promise<string[][]> {
  // `web-worker`: this module already runs in a worker.
  const { readSheet: read } = await import('read-excel-file/web-worker')
  try {
    const rows = await read(file)
    return rows.map(row => row.map(textOfCell))
  } catch {
    throw new BadFile('The file cannot be read as an Excel workbook (.xlsx).')
  }
}
