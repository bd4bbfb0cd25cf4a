import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'

/** A file of SQL with its checksum. */
export type SqlFile = { name: string; text: string; checksum: string }

/** Reads a file; its line endings, which a checkout may change, do not count. */
export function readSqlFile(directory: string, name: string): SqlFile {
  const text = readFileSync(`${directory}/${name}`, 'utf8').replaceAll('\r\n', '\n')
  return { name, text, checksum: createHash('sha256').update(text).digest('hex') }
}
