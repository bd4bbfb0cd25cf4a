/** The text is not CSV as in RFC 4180; `line` counts from 1. */
export class CsvFault extends Error {
  constructor(line: number, message: string) {
    super(`line ${line}: ${message}`)
    this.name = 'CsvFault'
  }
}

/**
 * The longest field, in characters: without it, a quote that is never closed would take the whole file into
 * memory.
 */
const MAX_FIELD_CHARACTERS = 1_000_000
/** The most fields of a record, many more than there are columns: a file without line breaks is one record. */
const MAX_FIELDS = 1_000

/** The position of the next character relative to a field. */
type State = 'begin' | 'bare' | 'quoted' | 'closed'

/**
 * Reads the records of a CSV text that comes in pieces, each with the line on which it begins: fields with
 * commas between them, quoted if they contain a comma, a quote (doubled) or a line break. Strict: throws
 * CsvFault for a quote within an unquoted field, and for text after a closing quote. Empty lines are skipped;
 * a byte order mark is ignored.
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
    if (fields.push(field) > MAX_FIELDS) throw new CsvFault(begun, `more than ${MAX_FIELDS} fields`)
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
      if (state === 'bare') throw new CsvFault(line, 'a quote inside an unquoted field')
      if (state === 'closed') field += '"'
      state = state === 'quoted' ? 'closed' : 'quoted'
    } else if (state === 'closed') throw new CsvFault(line, 'text after a closing quote')
    else {
      field += letter
      if (state === 'begin') state = 'bare'
      if (field.length > MAX_FIELD_CHARACTERS)
        throw new CsvFault(begun, 'a field that is too long, or an unclosed quote')
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
  if (state === 'quoted') throw new CsvFault(begun, 'an unclosed quote')
  const last = endRecord()
  if (last) yield last
}
