import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, globSync, statSync } from 'node:fs'
import { constants, setPriority } from 'node:os'
import { fileURLToPath } from 'node:url'
import { MANIFEST } from './console-files.ts'

const ROOT = new URL('../../', import.meta.url)
/** The directory of the built console, both in a checkout and in the published package. */
export const CONSOLE_DIR = fileURLToPath(new URL('dist/console/', ROOT))
const BUILD = fileURLToPath(new URL('scripts/console.ts', ROOT))
/** The console's sources. A directory's mtime changes when a file in it is added or removed. */
const SOURCES = ['console', 'console/**', 'sdk', 'sdk/**', 'scripts/console/**', 'package-lock.json']

/**
 * True if there are sources that were not built or have changed since; false in the published package, which
 * has no sources.
 */
export function isConsoleStale(): boolean {
  if (!existsSync(BUILD)) return false
  const built = statSync(CONSOLE_DIR + MANIFEST, { throwIfNoEntry: false })
  if (!built) return true
  const cwd = fileURLToPath(ROOT)
  return globSync(SOURCES, { cwd }).some(file => statSync(new URL(file, ROOT)).mtimeMs > built.mtimeMs)
}

export type ConsoleBuild = {
  /** Rejects with the build's error output if it fails. */
  done: Promise<void>
  stop(): void
}

/** How much error output is kept, in characters. */
const MAX_ERROR_OUTPUT = 4_000

/** Builds the console in a process of its own, with low priority. */
export function startConsoleBuild(): ConsoleBuild {
  const child = spawn(process.execPath, [BUILD], {
    cwd: fileURLToPath(ROOT),
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  lowerPriority(child)
  let errorOutput = ''
  child.stderr!.setEncoding('utf8').on('data', (text: string) => {
    errorOutput = (errorOutput + text).slice(-MAX_ERROR_OUTPUT)
  })
  const done = new Promise<void>((resolve, reject) => {
    child.on('error', reject)
    child.on('close', code => {
      if (code === 0) resolve()
      else reject(new Error(errorOutput.trim() || `the build ended with ${code ?? 'a signal'}`))
    })
  })
  return { done, stop: () => void child.kill() }
}

function lowerPriority({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) setPriority(pid, constants.priority.PRIORITY_LOW)
  } catch {
    // Not permitted: the build keeps its priority.
  }
}
