import { createHash } from 'node:crypto'
import { chownSync, lstatSync, mkdirSync, rmdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Refusal } from '../../lib/refusal.ts'

/** The limit of a socket's path in bytes without the final NUL: Linux has 108, macOS 104. */
const PATH_LIMIT_BYTES = 103
const SOCKET_NAME = '.s.PGSQL.5432'

/**
 * Creates the directory of the server's socket: its path is short whatever the data directory is, the same at
 * every start, and only `owner` may enter. The directory is the only access control of the server, so one
 * that someone else made is refused.
 */
export function claimSocketDir(
  dataDir: string,
  owner: { uid: number; gid: number },
  base = shortBase(),
): string {
  const name = createHash('sha256').update(`${owner.uid}:${dataDir}`).digest('hex').slice(0, 12)
  const directory = join(base, `posthorn-${name}`)
  try {
    mkdirSync(directory, { mode: 0o700 })
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'EEXIST') {
      throw new Refusal(`No socket directory can be created in ${base}: ${(cause as Error).message}.`, {
        cause,
      })
    }
  }
  ensureOwned(directory, owner)
  return directory
}

/** TMPDIR if it is short enough, otherwise /tmp. */
function shortBase(): string {
  const length = Buffer.byteLength(join(tmpdir(), 'posthorn-0123456789ab', SOCKET_NAME))
  return length <= PATH_LIMIT_BYTES ? tmpdir() : '/tmp'
}

function ensureOwned(directory: string, owner: { uid: number; gid: number }): void {
  const found = lstatSync(directory)
  const closed = found.isDirectory() && (found.mode & 0o077) === 0
  if (closed && found.uid === owner.uid) return
  // Just made by this process or a concurrent one of ours: what root creates belongs to root.
  if (closed && found.uid === process.getuid!()) {
    chownSync(directory, owner.uid, owner.gid)
    return
  }
  throw new Refusal(
    `${directory} exists, but is not a private directory of this user: remove it, or set TMPDIR to another directory.`,
  )
}

/** Removes the directory after the server has stopped; if another one uses it, it is not empty, and stays. */
export function releaseSocketDir(directory: string): void {
  try {
    rmdirSync(directory)
  } catch {
    // In use again, or already removed.
  }
}
