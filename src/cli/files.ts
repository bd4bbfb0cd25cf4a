import { readFileSync } from 'node:fs'
import { misuse, type Refusal } from '../lib/refusal.ts'

/** The JSON of a file, or of standard input for `-`. */
export function readJsonFile(path: string): unknown {
  const text = readTextFile(path)
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw misuse(`${nameOf(path)} is not JSON: ${(cause as Error).message}`, cause)
  }
}

/**
 * The text of a file, or of standard input for `-`, which keeps secrets out of the shell's history. Without
 * the byte order mark that editors on Windows write.
 */
export function readTextFile(path: string): string {
  try {
    return readFileSync(path === '-' ? 0 : path, 'utf8').replace(/^\ufeff/, '')
  } catch (cause) {
    throw unreadable(nameOf(path), cause)
  }
}

/** The error for a file that cannot be read. */
export function unreadable(name: string, cause: unknown): Refusal {
  return misuse(`${name} cannot be read: ${(cause as Error).message}`, cause)
}

function nameOf(path: string): string {
  return path === '-' ? 'Standard input' : path
}
