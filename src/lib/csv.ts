/** The text is no CSV as RFC 4180 has it; `line` counts from 1. */
export class CsvFault extends Error {
  constructor(line: number, message: string) {
    super(`line ${line}: ${message}`)
    this.name = 'CsvFault'
  }
}

/** Longest field, in characters: a quote that is never closed must not swallow the file. */
const MOST_FIELD_CHARACTERS = 1_000_000

/** Where in a field the next letter stands. */
type State = 'begin' | 'bare' | 'quoted' | 'closed'

/**
 * The records of a CSV text that comes in pieces, each with its line: fields with
 * commas between them, quoted where they hold a comma, a quote (doubled) or a line
 * break. Strict: a quote within a bare field, or text behind a closing one, is a
 * CsvFault. Empty lines are none; a byte order mark is ignored.
 */
export async function* readCsv(
  pieces: AsyncIterable<string>,
): AsyncGenerator<{ line: number; fields: string[] }> {
  let fields: string[] = []
  let field = ''
  let state = 'begin' as State
  let line = 1
  let begun = 1
  let first = true
  let skipsFeed = false

  function endField(): void {
    fields.push(field)
    field = ''
    state = 'begin'
  }

  function endRecord(): { line: number; fields: string[] } | null {
    const empty = fields.length === 0 && field === '' && state === 'begin'
    if (!empty) endField()
    const record = empty ? null : { line: begun, fields }
    fields = []
    begun = line + 1
    return record
  }

  function take(letter: string): void {
    if (letter === '"') {
      if (state === 'bare') throw new CsvFault(line, 'a quote within a field that is not quoted')
      if (state === 'closed') field += '"'
      state = state === 'quoted' ? 'closed' : 'quoted'
    } else if (state === 'closed') throw new CsvFault(line, 'text behind a closing quote')
    else {
      field += letter
      if (state === 'begin') state = 'bare'
      if (field.length > MOST_FIELD_CHARACTERS)
        throw new CsvFault(begun, 'a field that is too long, or a quote without an end')
    }
  }

  for await (const piece of pieces) {
    for (const letter of first && piece.startsWith('\ufeff') ? piece.slice(1) : piece) {
      const isFeed = letter === '\n' && skipsFeed
      skipsFeed = false
      if (isFeed) continue
      if (state !== 'quoted' && (letter === '\n' || letter === '\r')) {
        const record = endRecord()
        skipsFeed = letter === '\r'
        line++
        if (record) yield record
      } else if (state !== 'quoted' && letter === ',') endField()
      else {
        if (letter === '\n') line++
        take(letter)
      }
    }
    first = false
  }
  if (state === 'quoted') throw new CsvFault(begun, 'a quote without an end')
  const last = endRecord()
  if (last) yield last
}
