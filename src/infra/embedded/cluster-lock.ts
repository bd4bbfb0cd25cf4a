import { spawnSync } from 'node:child_process'
import { join } from 'node:path'

/**
 * Whether a server works on a cluster, by the kernel's word. Where containers share a volume its lock file
 * says nothing: each has process numbers and shared memory of its own, so that a second server takes the
 * first for dead, and the two of them ruin the data within a minute.
 */
export type ClusterLock =
  | 'free'
  | 'held'
  /** The system has no `flock`, as macOS, which has no such containers either, or the file system no locks. */
  | 'unknown'

const CONFLICT = 75
const LOOK_TIMEOUT_MS = 5_000

/** Looks, and takes nothing. */
export function lookAtLock(clusterDir: string): ClusterLock {
  const args = ['--shared', '--nonblock', '--no-fork', `--conflict-exit-code=${CONFLICT}`]
  const { status } = spawnSync('flock', [...args, lockFile(clusterDir), 'true'], {
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
export function holdingLock(clusterDir: string, program: string, args: readonly string[]) {
  return { program: 'flock', args: ['--nonblock', '--no-fork', lockFile(clusterDir), program, ...args] }
}

/** A file that every cluster has from its making on, and that is never written again. */
function lockFile(clusterDir: string): string {
  return join(clusterDir, 'PG_VERSION')
}
