import { spawnSync } from 'node:child_process'
import { join } from 'node:path'

/**
 * Whether a process works on a cluster, by a kernel lock on a file. In containers that share a volume, pids
 * are useless: each container has its own pids and shared memory, so that a second server would take the
 * first one for dead, and both together would corrupt the data within a minute.
 */
export type Lock =
  | 'free'
  | 'held'
  /** The system has no `flock` (macOS, which has no such containers either), or the file system has no locks. */
  | 'unknown'

const CONFLICT = 75
const CHECK_TIMEOUT_MS = 5_000

/** The file that a server locks: every cluster has it, and it is never rewritten. */
export function lockFile(clusterDir: string): string {
  return join(clusterDir, 'PG_VERSION')
}

/** Tests the lock without keeping it. */
export function checkLock(path: string): Lock {
  const args = ['--shared', '--nonblock', '--no-fork', `--conflict-exit-code=${CONFLICT}`]
  const { status } = spawnSync('flock', [...args, path, 'true'], {
    stdio: 'ignore',
    timeout: CHECK_TIMEOUT_MS,
  })
  if (status === CONFLICT) return 'held'
  return status === 0 ? 'free' : 'unknown'
}

/**
 * The command that runs a program with the lock: `flock` executes it in its own place, and all child
 * processes inherit the lock, so that it is free once the last of them has ended in any way. Exits at once if
 * the lock is held.
 */
export function lockedCommand(path: string, program: string, args: readonly string[]) {
  return { program: 'flock', args: ['--nonblock', '--no-fork', path, program, ...args] }
}
