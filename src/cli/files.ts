import { readFileSync } from 'node:fs'
import { Refusal } from '../lib/refusal.ts'

/** The JSON of a file, or of standard input for `-`. */
export function readJsonFile(path: string): unknown {
  const name = path === '-' ? 'Standard input' : path
  let text: string
  try {
    text = readFileSync(path === '-' ? 0 : path, 'utf8')
  } catch (cause) {
    throw new Refusal(`${name} cannot be read: ${(cause as Error).message}`, { exitCode: 2, cause })
  }
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new Refusal(`${name} is not JSON: ${(cause as Error).message}`, { exitCode: 2, cause })
  }
}
