import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { Refusal } from '../../lib/refusal.ts'

/**
 * Who PostgreSQL runs as, since it refuses to run as root:
 * - `self`: whoever runs us, who is not root;
 * - `userns`: root, who calls itself 1000 in a user namespace of its own; it
 *   still owns root's files, so that nothing changes hands;
 * - `user`: an unprivileged user, to whom the data then belongs.
 */
export type Identity = { kind: 'self' } | { kind: 'userns' } | { kind: 'user'; uid: number; gid: number }

/** The result of trying to run PostgreSQL as an identity. */
export type Trial = 'works' | 'forbidden' | 'data-unreachable' | 'binaries-unreachable'

/** Queries the machine; replaced in tests. */
export type Probe = {
  uid: number
  /** Unprivileged users to try, the most suitable first. */
  users(): readonly { uid: number; gid: number }[]
  /** Tries whether this identity can enter `directory` and run the PostgreSQL in `home`. */
  try(identity: Identity, directory: string, home: string): Trial
}

export type Choice = {
  identity: Identity
  /** The identity cannot reach the binaries: they must be copied to the data directory. */
  copyBinaries: boolean
}

/** Chooses who PostgreSQL runs as; throws a Refusal that says what to do if no identity works. */
export function chooseIdentity(probe: Probe, dataDir: string, home: string): Choice {
  if (probe.uid !== 0) return asSelf(probe, dataDir, home)
  const candidates: Identity[] = [
    { kind: 'userns' },
    ...probe.users().map(user => ({ kind: 'user' as const, ...user })),
  ]
  let second: Identity | undefined
  for (const identity of candidates) {
    // Another user needs access only to the parent of the data directory; we can open the data directory itself.
    const trial = probe.try(identity, identity.kind === 'user' ? dirname(dataDir) : dataDir, home)
    if (trial === 'works') return { identity, copyBinaries: false }
    if (trial === 'binaries-unreachable') second ??= identity
  }
  if (second) return { identity: second, copyBinaries: true }
  throw new Refusal(
    `PostgreSQL does not run as root, user namespaces are forbidden here, and no unprivileged user can access ${dataDir}: ` +
      'set POSTHORN_DATA_DIR to a directory that every user can reach (such as /var/lib/posthorn), ' +
      'start Posthorn as another user, or set DATABASE_URL.',
  )
}

function asSelf(probe: Probe, dataDir: string, home: string): Choice {
  const identity: Identity = { kind: 'self' }
  const trial = probe.try(identity, dataDir, home)
  if (trial === 'works') return { identity, copyBinaries: false }
  if (trial === 'data-unreachable') {
    throw new Refusal(
      `The data directory ${dataDir} is not accessible: check its permissions or set POSTHORN_DATA_DIR.`,
    )
  }
  throw new Refusal(
    `The embedded PostgreSQL at ${home} does not run on this system (it needs glibc 2.28 or newer): set DATABASE_URL to a PostgreSQL 15–18 server.`,
  )
}

/** The command that runs a program as `identity`, for `spawn`. */
export function runAs(identity: Identity, program: string, args: readonly string[]) {
  // Our environment contains secrets; PostgreSQL gets none of it.
  const options = { env: { PATH: '/usr/local/bin:/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' } }
  switch (identity.kind) {
    case 'self':
      return { command: program, args, options }
    case 'userns':
      return {
        command: 'unshare',
        args: ['--user', '--map-user=1000', '--map-group=1000', '--', program, ...args],
        options,
      }
    case 'user':
      return { command: program, args, options: { ...options, uid: identity.uid, gid: identity.gid } }
  }
}

const TRIAL = 'cd "$1" || exit 10; "$2" --version >/dev/null 2>&1 || exit 11'
const TRIAL_TIMEOUT_MS = 10_000

/** The probe of this machine: it tries. */
export const systemProbe: Probe = {
  uid: process.getuid?.() ?? -1,
  users: unprivilegedUsers,
  try(identity, directory, home) {
    const args = ['-c', TRIAL, 'sh', directory, join(home, 'bin', 'postgres')]
    const { command, args: all, options } = runAs(identity, '/bin/sh', args)
    const { status } = spawnSync(command, all, {
      ...options,
      cwd: '/',
      stdio: 'ignore',
      timeout: TRIAL_TIMEOUT_MS,
    })
    if (status === 0) return 'works'
    if (status === 10) return 'data-unreachable'
    return status === 11 ? 'binaries-unreachable' : 'forbidden'
  },
}

/** `postgres` if there is such a user, then `nobody`. */
function unprivilegedUsers(): { uid: number; gid: number }[] {
  const users = [{ uid: 65534, gid: 65534 }]
  try {
    const line = /^postgres:[^:]*:(\d+):(\d+):/m.exec(readFileSync('/etc/passwd', 'utf8'))
    if (line) users.unshift({ uid: Number(line[1]), gid: Number(line[2]) })
  } catch {
    // No such file: `nobody` is tried alone.
  }
  return users.filter(user => user.uid !== 0)
}
