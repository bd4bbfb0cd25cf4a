import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'

/** An SQL file with the SHA-256 of its text. */
export type SqlFile = { name: string; text: string; checksum: string }

/** Reads a file. Line endings, which a checkout may change, do not affect the checksum. */
export function readSqlFile(directory: string, name: string): SqlFile {
  const text = readFileSync(`${directory}/${name}`, 'utf8').replaceAll('\r\n', '\n')
  return { name, text, checksum: createHash('sha256').update(text).digest('hex') }
}
