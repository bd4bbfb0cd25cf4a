import type { ParseResult } from 'papaparse'

/** In characters; between two pieces somebody can be told how far it is. */
const PIECE = 8_000_000
/** Enough of a file to see what stands between its cells, in characters. */
const HEAD = 65_536

/** A file that is no CSV, and why, for people. */
export class BadCsv extends Error {}

/**
 * The rows of a CSV file, of whatever separator. `onRows` hears how many there are so far, and may throw. Rejects with
 * `BadCsv` where letters or rows would be guessed.
 */
export async function readCsv(file: File, onRows?: (rows: number) => void): Promise<string[][]> {
  const [{ default: papa }, text] = await Promise.all([import('papaparse'), textOf(file)])
  // Rows that are empty show nothing of what separates cells.
  const head = papa.parse(text.slice(0, HEAD), { preview: 10, skipEmptyLines: 'greedy' })
  const rows: string[][] = []
  const how = {
    delimiter: head.meta.delimiter,
    // Its types know pieces of files alone.
    chunkSize: PIECE,
    chunk({ data, errors }: ParseResult<string[]>): void {
      const open = errors.find(({ code }) => code === 'MissingQuotes')
      // All that follows it would be one cell.
      if (open) throw new BadCsv(`A quotation mark in row ${rows.length + open.row! + 1} is never closed.`)
      for (const row of data) rows.push(row)
      onRows?.(rows.length)
    },
  }
  papa.parse<string[]>(text, how)
  return rows
}

/** UTF-8, or what its first bytes say. Spreadsheets write others too, which nothing tells from one another. */
async function textOf(file: File): Promise<string> {
  const bytes = new Uint8Array(await file.arrayBuffer())
  try {
    return new TextDecoder(encodingOf(bytes), { fatal: true }).decode(bytes)
  } catch {
    throw new BadCsv(
      'The file is not in UTF-8, so its letters cannot be told for sure. Save it as “CSV UTF-8”, or as an Excel workbook (.xlsx).',
    )
  }
}

function encodingOf([first, second]: Uint8Array): string {
  if (first === 0xff && second === 0xfe) return 'utf-16le'
  return first === 0xfe && second === 0xff ? 'utf-16be' : 'utf-8'
}
