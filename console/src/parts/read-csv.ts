import type { ParseResult } from 'papaparse'

/** Characters per piece; progress is reported between pieces. */
const PIECE = 8_000_000
/** Characters of the file that are used to detect the delimiter. */
const HEAD = 65_536

/** An invalid CSV file, with a readable message. */
export class BadCsv extends Error {}

/**
 * Reads a CSV file with any delimiter. `onRows` is called with the number of rows so far, and may throw.
 * Rejects with `BadCsv` if the encoding or the rows would have to be guessed.
 */
export async function readCsv(file: File, onRows?: (rows: number) => void): Promise<string[][]> {
  const [{ default: papa }, text] = await Promise.all([import('papaparse'), textOf(file)])
  // Empty rows do not help to detect the delimiter.
  const head = papa.parse(text.slice(0, HEAD), { preview: 10, skipEmptyLines: 'greedy' })
  const rows: string[][] = []
  const how = {
    delimiter: head.meta.delimiter,
    // The library's types allow `chunkSize` only for files.
    chunkSize: PIECE,
    chunk({ data, errors }: ParseResult<string[]>): void {
      const open = errors.find(({ code }) => code === 'MissingQuotes')
      // The rest of the file would be one cell.
      if (open) throw new BadCsv(`A quotation mark in row ${rows.length + open.row! + 1} is never closed.`)
      for (const row of data) rows.push(row)
      onRows?.(rows.length)
    },
  }
  papa.parse<string[]>(text, how)
  return rows
}

/**
 * Decodes UTF-8, or the encoding of a byte order mark. Spreadsheets also write other encodings, which cannot
 * be told apart.
 */
async function textOf(file: File): Promise<string> {
  const bytes = new Uint8Array(await file.arrayBuffer())
  try {
    return new TextDecoder(encodingOf(bytes), { fatal: true }).decode(bytes)
  } catch {
    throw new BadCsv(
      'The file is not in UTF-8, so its characters cannot be read reliably. Save it as “CSV UTF-8”, or as an Excel workbook (.xlsx).',
    )
  }
}

function encodingOf([first, second]: Uint8Array): string {
  if (first === 0xff && second === 0xfe) return 'utf-16le'
  return first === 0xfe && second === 0xff ? 'utf-16be' : 'utf-8'
}
