import { mkdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'

/**
 * Creates a directory and its missing parents, each with `mode`. One by one, since Node's recursive mkdir
 * does not end where creating a directory in an existing one fails with ENOENT, as in `/proc`.
 */
export function makeDirectory(directory: string, mode: number): void {
  if (isDirectory(directory)) return
  const parent = dirname(directory)
  if (parent !== directory && !isThere(parent)) makeDirectory(parent, mode)
  try {
    mkdirSync(directory, { mode })
  } catch (error) {
    // Another process may have made it in between.
    if (!isDirectory(directory)) throw error
  }
}

function isThere(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false }) !== undefined
}

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false
}
