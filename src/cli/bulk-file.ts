import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import type { KeyMode } from '../contract/enums.ts'
import { CsvFault, readCsv } from '../lib/csv.ts'
import { isId } from '../lib/ids.ts'
import { misuse } from '../lib/refusal.ts'
import { unreadable } from './files.ts'

/** The columns of the file; `variable1`, `variable2` … are the values of a template. */
const COLUMNS = ['to', 'text', 'channel', 'messageType', 'template', 'language', 'subject', 'sender'] as const

/** The JSON body of a bulk job, converted from a CSV file while that is read: its first line names the columns. */
export async function* readBulkBody(
  file: string,
  options: { name: string | undefined; rate: number },
): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder()
  const name = options.name === undefined ? '' : `"name":${JSON.stringify(options.name)},`
  yield encoder.encode(`{${name}"messagesPerSecond":${options.rate},"messages":[`)
  let toMessage: ((fields: readonly string[], line: number) => object) | null = null
  let text = ''
  let comma = ''
  for await (const { fields, line } of recordsOf(file)) {
    if (!toMessage) {
      toMessage = readHeader(fields)
      continue
    }
    text += comma + JSON.stringify(toMessage(fields, line))
    comma = ','
    if (text.length < PIECE_CHARACTERS) continue
    yield encoder.encode(text)
    text = ''
  }
  yield encoder.encode(`${text}]}`)
}

const PIECE_CHARACTERS = 65_536

/**
 * The idempotency key: equal for the same file, name, rate and mode, so that a repeated command finds its
 * job, and a test job is not taken for the live one.
 */
export async function bulkKeyOf(
  file: string,
  options: { name: string | undefined; rate: number; mode: KeyMode },
): Promise<string> {
  const hash = createHash('sha256').update(JSON.stringify([options.name ?? null, options.rate, options.mode]))
  for await (const piece of createReadStream(file)) hash.update(piece as Buffer)
  return `file-${hash.digest('hex').slice(0, 40)}`
}

async function* recordsOf(file: string): ReturnType<typeof readCsv> {
  try {
    yield* readCsv(textOf(file))
  } catch (error) {
    if (error instanceof CsvFault) throw misuse(`${file}, ${error.message}`)
    if (error instanceof TypeError) throw misuse(`${file} is not UTF-8: save it as "CSV UTF-8".`, error)
    throw unreadable(file, error)
  }
}

/** Throws a TypeError if the text is not UTF-8: it would be sent with wrong letters. */
async function* textOf(file: string): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  for await (const piece of createReadStream(file)) yield decoder.decode(piece as Buffer, { stream: true })
  yield decoder.decode()
}

function readHeader(columns: readonly string[]): (fields: readonly string[], line: number) => object {
  if (columns.length === 1 && /[;\t]/.test(columns[0]!)) {
    throw misuse('The file has no commas between its fields: save it as CSV with commas.')
  }
  const unknown = columns.find(column => !isColumn(column))
  if (unknown !== undefined) {
    throw misuse(
      `Unknown column "${unknown}": the columns are ${COLUMNS.join(', ')} and variable1, variable2 …`,
    )
  }
  const twice = columns.find((column, at) => columns.indexOf(column) < at)
  if (twice !== undefined) throw misuse(`The file has two columns "${twice}".`)
  if (!columns.includes('to')) throw misuse('The file has no column "to".')
  checkVariables(columns)
  return (fields, line) => {
    if (fields.length !== columns.length) {
      throw misuse(`line ${line} has ${fields.length} fields, but the file has ${columns.length} columns`)
    }
    return toMessage(new Map(columns.map((column, at) => [column, fields[at]!])))
  }
}

function isColumn(name: string): boolean {
  return (COLUMNS as readonly string[]).includes(name) || VARIABLE.test(name)
}

const VARIABLE = /^variable[1-9]\d?$/

/**
 * Throws for variables without a template, and for gaps in their numbers: the messages would not be what the
 * file means.
 */
function checkVariables(columns: readonly string[]): void {
  const variables = columns.filter(column => VARIABLE.test(column))
  if (variables.length > 0 && !columns.includes('template')) {
    throw misuse(`The file has a column "${variables[0]}" but no column "template".`)
  }
  const missing = variables.findIndex((_, at) => !variables.includes(`variable${at + 1}`))
  if (missing !== -1) throw misuse(`The file has no column "variable${missing + 1}".`)
}

/** An empty field counts as absent, except for variables. */
function toMessage(fields: ReadonlyMap<string, string>): object {
  const field = (column: string) => fields.get(column) || undefined
  const variables = [...fields.keys()].filter(column => VARIABLE.test(column)).length
  const template = field('template')
  return {
    to: fields.get('to'),
    channel: field('channel'),
    messageType: field('messageType'),
    sender: field('sender') && { name: field('sender') },
    ...((field('text') || field('subject')) && {
      content: { text: field('text'), subject: field('subject') },
    }),
    ...(template && {
      template: {
        [isId('tpl', template) ? 'id' : 'key']: template,
        language: field('language'),
        ...(variables > 0 && {
          variablesIndexed: Array.from({ length: variables }, (_, at) => fields.get(`variable${at + 1}`)!),
        }),
      },
    }),
  }
}
