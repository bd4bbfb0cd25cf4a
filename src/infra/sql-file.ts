import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'

/** A file of SQL, and by what it is known again. */
export type SqlFile = { name: string; text: string; checksum: string }

/** Reads a file; turned line endings, as a checkout may make them, change nothing. */
export function readSqlFile(directory: string, name: string): SqlFile {
  const text = readFileSync(`${directory}/${name}`, 'utf8').replaceAll('\r\n', '\n')
  return { name, text, checksum: createHash('sha256').update(text).digest('hex') }
}
