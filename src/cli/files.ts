import { readFileSync } from 'node:fs'
import { Refusal } from '../lib/refusal.ts'

/** The JSON of a file, or of standard input for `-`. */
export function readJsonFile(path: string): unknown {
  const text = readTextFile(path)
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new Refusal(`${nameOf(path)} is not JSON: ${(cause as Error).message}`, { exitCode: 2, cause })
  }
}

/** The text of a file, or of standard input for `-`: the way for secrets, which no shell shall remember. */
export function readTextFile(path: string): string {
  try {
    return readFileSync(path === '-' ? 0 : path, 'utf8')
  } catch (cause) {
    throw new Refusal(`${nameOf(path)} cannot be read: ${(cause as Error).message}`, { exitCode: 2, cause })
  }
}

function nameOf(path: string): string {
  return path === '-' ? 'Standard input' : path
}
