import {
  accessSync,
  chmodSync,
  constants,
  existsSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statfsSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { existsProcess } from '../../src/infra/exists-process.ts'

/** Linux's file system in memory. */
const MEMORY = '/dev/shm'
const TMPFS = 0x01_02_19_94
/** Far more than the files of a run ever take, so that they never exhaust the memory. */
const ROOM_BYTES = 6 * 1024 ** 3
/** Short, since paths of sockets in it are limited. */
const NAME = /^ph-tests-(\d+)-/
const MAX_RUN_MS = 3_600_000

/**
 * Sets TMPDIR to a directory in memory, for the temporary files of a run and of its servers and browsers.
 * Returns a function that removes it; null if TMPDIR is set already, or memory cannot be used or is too
 * small. A run creates and removes some hundred thousand files, and ext4 without a journal examines the
 * recently removed ones for each that it creates.
 */
export function moveToMemory(env: NodeJS.ProcessEnv): (() => void) | null {
  // An explicit TMPDIR is respected.
  if (env['TMPDIR'] !== undefined || !hasRoom()) return null
  sweepAbandoned()
  const directory = mkdtempSync(join(MEMORY, `ph-tests-${process.pid}-`))
  const remove = (): void => rmSync(directory, { recursive: true, force: true })
  if (!letsRun(directory)) {
    remove()
    return null
  }
  // Like /tmp: PostgreSQL may run as another user, who must pass through it.
  chmodSync(directory, 0o1777)
  env['TMPDIR'] = directory
  return () => {
    delete env['TMPDIR']
    remove()
  }
}

function hasRoom(): boolean {
  if (!existsSync(MEMORY)) return false
  const { type, bavail, bsize } = statfsSync(MEMORY)
  return type === TMPFS && Math.min(bavail * bsize, process.availableMemory()) >= ROOM_BYTES
}

/** Deletes the directories of killed runs, which would take memory until a reboot. */
function sweepAbandoned(): void {
  for (const name of readdirSync(MEMORY)) {
    const pid = NAME.exec(name)?.[1]
    if (pid === undefined || existsProcess(Number(pid))) continue
    const directory = join(MEMORY, name)
    const { mtimeMs } = statSync(directory, { throwIfNoEntry: false }) ?? { mtimeMs: 0 }
    // Processes of other containers cannot be checked by pid, so age decides.
    if (Date.now() - mtimeMs > MAX_RUN_MS) removeIfPossible(directory)
  }
}

/** A container that was left running holds a mount in its directory: that must not stop all later runs. */
function removeIfPossible(directory: string): void {
  try {
    rmSync(directory, { recursive: true, force: true })
  } catch (error) {
    process.stderr.write(`${directory} of an earlier run cannot be removed: ${error}\n`)
  }
}

/**
 * Whether programs may run in this directory, which a container may forbid: PostgreSQL’s programs are
 * copied beside their data if its user cannot reach their original place.
 */
function letsRun(directory: string): boolean {
  const program = join(directory, 'program')
  writeFileSync(program, '#!/bin/sh\n', { mode: 0o755 })
  try {
    accessSync(program, constants.X_OK)
    return true
  } catch {
    return false
  } finally {
    rmSync(program)
  }
}
