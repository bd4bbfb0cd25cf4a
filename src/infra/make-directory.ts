import { mkdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'

/**
 * Makes a directory, and those above it that are not there, each with `mode`. Step by step: Node's own recursive
 * mkdir never ends where a directory that is there says ENOENT of a new one in it, as `/proc` does.
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
