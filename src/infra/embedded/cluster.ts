import { spawn } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  existsSync,
  lchownSync,
  lstatSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statfsSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { Refusal } from '../../lib/refusal.ts'
import { existsProcess } from '../exists-process.ts'
import { makeDirectory } from '../make-directory.ts'
import type { Binaries } from './binaries.ts'
import { checkLock, lockedCommand } from './cluster-lock.ts'
import { type Identity, runAs } from './identity.ts'

/** The only role of the embedded server; access is controlled by the permissions of the socket's directory. */
export const ROLE = 'posthorn'

/** Disk space for a new cluster (39 MB), its first WAL, and some more. */
const NEEDED_BYTES = 200 * 1024 * 1024

/** As durable as PostgreSQL's defaults; sized for two cores and a small machine. */
const SETTINGS = {
  listen_addresses: "''",
  unix_socket_permissions: '0700',
  max_connections: '64',
  shared_buffers: '128MB',
  fsync: 'on',
  synchronous_commit: 'on',
  full_page_writes: 'on',
  wal_compression: 'on',
  min_wal_size: '256MB',
  max_wal_size: '2GB',
  checkpoint_timeout: '15min',
  random_page_cost: '1.1',
  // All our statements are short; compiling them costs more than running them.
  jit: 'off',
  timezone: "'UTC'",
  log_timezone: "'UTC'",
  log_line_prefix: "'%m [%p] '",
  log_checkpoints: 'off',
  // Error details quote values of rows, which may be secret.
  log_error_verbosity: 'terse',
  log_parameter_max_length: '0',
  log_parameter_max_length_on_error: '0',
} as const

/** Creates the data directory, accessible only by its owner. Throws a Refusal if that fails. */
export function prepareDataDir(dataDir: string): void {
  try {
    makeDirectory(dataDir, 0o700)
    rmSync(mkdtempSync(join(dataDir, '.writable-')), { recursive: true })
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException
    throw new Refusal(
      code === 'ENOSPC'
        ? `The disk with the data directory ${dataDir} is full.`
        : `The data directory ${dataDir} cannot be written to (${code}): check its permissions or set POSTHORN_DATA_DIR.`,
      { cause },
    )
  }
}

/** Lets other users pass through the data directory; its files stay protected by their own modes. */
export function allowTraversal(dataDir: string): void {
  chmodSync(dataDir, statSync(dataDir).mode | 0o111)
}

/** What lets this user use files that a restore has left to another one, or open to others. */
export const OWNERSHIP_ADVICE =
  'all files there must belong to the user who starts Posthorn, and be private (chown -R, chmod -R go-rwx)'

/** Throws a Refusal if there is a cluster that this user may not use. */
export function checkAccess(clusterDir: string): void {
  try {
    readdirSync(clusterDir)
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'EACCES') throw noAccess(clusterDir, cause)
  }
}

function noAccess(path: string, cause: unknown): Refusal {
  return new Refusal(`${path} is not accessible to this user: ${OWNERSHIP_ADVICE}.`, { cause })
}

/** Throws a Refusal for a cluster of another major version. */
export function checkMajor(clusterDir: string, binaries: Binaries): void {
  const major = readMajor(join(clusterDir, 'PG_VERSION'))
  if (major === String(binaries.major)) return
  throw new Refusal(
    `${clusterDir} was created by PostgreSQL ${major}, but this Posthorn includes PostgreSQL ${binaries.major}: ` +
      'dump it with the Posthorn version that created it and restore it here, or run it with its own PostgreSQL and set DATABASE_URL.',
  )
}

function readMajor(file: string): string {
  try {
    const [major] = /^\d+$/.exec(readFileSync(file, 'utf8').trim()) ?? []
    if (major !== undefined) return major
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException
    if (code === 'EACCES') throw noAccess(file, cause)
    throw new Refusal(`${file} cannot be read (${code}): restore the data from a backup.`, { cause })
  }
  throw new Refusal(`${file} has no version of PostgreSQL, so it is damaged: restore the data from a backup.`)
}

/** Throws a Refusal if something other than a cluster is at `clusterDir`: it belongs to something else, or is damaged. */
function refuseOtherFiles(clusterDir: string): void {
  const found = lstatSync(clusterDir, { throwIfNoEntry: false })
  if (!found) return
  const target = statSync(clusterDir, { throwIfNoEntry: false })
  if (!target) {
    throw new Refusal(
      `${clusterDir} is a link to ${readlinkSync(clusterDir)}, which does not exist: mount or create that, or remove the link for a new database.`,
    )
  }
  if (!target.isDirectory()) {
    throw new Refusal(
      `${clusterDir} is not a directory: restore the data from a backup, or move it away for a new database.`,
    )
  }
  if (readdirSync(clusterDir).length === 0) return
  throw new Refusal(
    `${clusterDir} has files, but no PG_VERSION, which every database of PostgreSQL has: restore it from a backup, or move it away for a new database.`,
  )
}

/**
 * Creates a cluster at `clusterDir`. It is created under a temporary name and renamed when it is complete: a
 * crash leaves no partial cluster, and of concurrent processes (possibly with the same pid, in containers)
 * one wins and the others use its cluster.
 */
export async function initCluster(clusterDir: string, binaries: Binaries, identity: Identity): Promise<void> {
  refuseOtherFiles(clusterDir)
  refuseFullDisk(clusterDir)
  removeAbandoned(clusterDir)
  const making = mkdtempSync(`${clusterDir}.new-${process.pid}-`)
  try {
    changeOwner(identity, making)
    await initdb(making, binaries, identity)
    renameSync(making, clusterDir)
  } catch (error) {
    rmSync(making, { recursive: true, force: true })
    if (!existsSync(join(clusterDir, 'PG_VERSION'))) throw error
  }
}

function refuseFullDisk(clusterDir: string): void {
  const { bavail, bsize } = statfsSync(join(clusterDir, '..'))
  if (bavail * bsize >= NEEDED_BYTES) return
  throw new Refusal(
    `The disk with ${clusterDir} is full: a new database needs ${NEEDED_BYTES / 1024 / 1024} MB. Free some space or set POSTHORN_DATA_DIR.`,
  )
}

/**
 * Deletes what processes left that died while creating a cluster; one that is being created in another
 * container is locked.
 */
function removeAbandoned(clusterDir: string): void {
  const parent = join(clusterDir, '..')
  for (const name of readdirSync(parent)) {
    const pid = /^postgres\.new-(\d+)/.exec(name)?.[1]
    const path = join(parent, name)
    if (pid && !existsProcess(Number(pid)) && checkLock(path) !== 'held')
      rmSync(path, { recursive: true, force: true })
  }
}

function initdb(directory: string, binaries: Binaries, identity: Identity): Promise<void> {
  const program = join(binaries.home, 'bin', 'initdb')
  const given = [
    `--pgdata=${directory}`,
    `--username=${ROLE}`,
    '--encoding=UTF8',
    '--locale=C',
    '--locale-provider=builtin',
    '--builtin-locale=C.UTF-8',
    '--data-checksums',
    // A new cluster creates each WAL segment when it is first needed, and commits wait for that: 20 ms for
    // this size, 70 ms for the default 16 MB.
    '--wal-segsize=4',
    // The server listens only on a socket in a directory that only its owner may enter.
    '--auth-local=trust',
    '--auth-host=reject',
    '--no-instructions',
  ]
  const locks = checkLock(directory) === 'free'
  const held = locks ? lockedCommand(directory, program, given) : { program, args: given }
  const { command, args, options } = runAs(identity, held.program, held.args)
  return new Promise((resolve, reject) => {
    let errors = ''
    const child = spawn(command, args, { ...options, cwd: '/', stdio: ['ignore', 'ignore', 'pipe'] })
    child.stderr.on('data', (chunk: Buffer) => {
      errors = (errors + chunk.toString()).slice(-4_000)
    })
    child.on('error', cause => reject(new Refusal(`initdb did not start: ${cause.message}.`, { cause })))
    child.on('close', status => (status === 0 ? resolve() : reject(initFailure(directory, errors))))
  })
}

function initFailure(directory: string, errors: string): Refusal {
  if (/No space left/i.test(errors)) return new Refusal(`The disk with ${directory} is full.`)
  const reason =
    errors.split('\n').find(line => /(error|fatal):/i.test(line)) ?? errors.trim().split('\n').at(-1)
  return new Refusal(`The embedded database could not be created: ${reason || 'initdb gave no reason'}`)
}

/** Writes the server's settings at every start: they belong to the program, not to the data. */
export function writeSettings(clusterDir: string, identity: Identity): void {
  const lines = [
    '# Written by Posthorn at every start. Your own settings belong in custom.conf beside this file.',
    ...Object.entries(SETTINGS).map(([name, value]) => `${name} = ${value}`),
    "include_if_exists = 'custom.conf'",
    '',
  ]
  const making = mkdtempSync(join(clusterDir, 'postgresql.conf.new-'))
  try {
    const file = join(making, 'postgresql.conf')
    writeFileSync(file, lines.join('\n'), { mode: 0o600 })
    changeOwner(identity, file)
    renameSync(file, join(clusterDir, 'postgresql.conf'))
  } finally {
    // On a full disk, each start would leave another directory.
    rmSync(making, { recursive: true, force: true })
  }
}

/** The owner that PostgreSQL's files must have, outside of any user namespace. */
export function ownerOf(identity: Identity): { uid: number; gid: number } {
  if (identity.kind === 'user') return { uid: identity.uid, gid: identity.gid }
  return { uid: process.getuid!(), gid: process.getgid!() }
}

function changeOwner(identity: Identity, path: string): void {
  const { uid, gid } = ownerOf(identity)
  if (statSync(path).uid !== uid) chownSync(path, uid, gid)
}

/** Changes the owner of a whole cluster if another identity created it. */
export function changeClusterOwner(clusterDir: string, identity: Identity): void {
  const { uid, gid } = ownerOf(identity)
  if (statSync(clusterDir).uid === uid) return
  if (process.getuid!() !== 0) {
    throw new Refusal(`${clusterDir} belongs to another user: start Posthorn as that user, or as root.`)
  }
  for (const name of readdirSync(clusterDir, { recursive: true }))
    lchownSync(join(clusterDir, String(name)), uid, gid)
  lchownSync(clusterDir, uid, gid)
}
