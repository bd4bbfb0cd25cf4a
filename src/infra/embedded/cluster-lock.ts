import { spawnSync } from 'node:child_process'
import { join } from 'node:path'

/**
 * Whether somebody works on a cluster, by the kernel's word. Where containers share a volume pids say
 * nothing: each has process numbers and shared memory of its own, so that a second server takes the
 * first for dead, and the two of them ruin the data within a minute.
 */
export type Lock =
  | 'free'
  | 'held'
  /** The system has no `flock`, as macOS, which has no such containers either, or the file system no locks. */
  | 'unknown'

const CONFLICT = 75
const LOOK_TIMEOUT_MS = 5_000

/** What a server's lock is on: a file that every cluster has from its making on, and that is never written again. */
export function lockFile(clusterDir: string): string {
  return join(clusterDir, 'PG_VERSION')
}

/** Looks, and takes nothing. */
export function lookAtLock(path: string): Lock {
  const args = ['--shared', '--nonblock', '--no-fork', `--conflict-exit-code=${CONFLICT}`]
  const { status } = spawnSync('flock', [...args, path, 'true'], {
    stdio: 'ignore',
    timeout: LOOK_TIMEOUT_MS,
  })
  if (status === CONFLICT) return 'held'
  return status === 0 ? 'free' : 'unknown'
}

/**
 * The same command holding the lock: `flock` becomes it, and all that it starts have the lock with it, so
 * that it is free once the last of them is gone, however they ended. Ends at once where it is held.
 */
export function holdingLock(path: string, program: string, args: readonly string[]) {
  return { program: 'flock', args: ['--nonblock', '--no-fork', path, program, ...args] }
}
