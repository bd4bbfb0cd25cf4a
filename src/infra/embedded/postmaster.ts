import { execFileSync, spawn } from 'node:child_process'
import { closeSync, openSync, readFileSync, renameSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Clock, pause } from '../../lib/clock.ts'
import { Refusal } from '../../lib/refusal.ts'
import type { Binaries } from './binaries.ts'
import { holdingLock, lockFile } from './cluster-lock.ts'
import { type Identity, runAs } from './identity.ts'

/** A server at work on a cluster; perhaps started by a process that is gone. */
export type Postmaster = { pid: number; socketDir: string }

export type LaunchOptions = {
  clusterDir: string
  socketDir: string
  binaries: Binaries
  identity: Identity
  logFile: string
  /** The server holds the cluster's lock while it lives. */
  locks: boolean
}

const LOG_LIMIT_BYTES = 8 * 1024 * 1024
/** How often a process that is not our child is looked at, in ms. */
const LOOK_MS = 15

/** The server that works on `clusterDir`, if there is one. */
export function findPostmaster(clusterDir: string): Postmaster | undefined {
  const lines = readLines(join(clusterDir, 'postmaster.pid'))
  const pid = Number(lines?.[0])
  const socketDir = lines?.[4]
  if (!socketDir || !isPostmaster(pid, clusterDir)) return undefined
  return { pid, socketDir }
}

function readLines(file: string): string[] | undefined {
  try {
    return readFileSync(file, 'utf8').split('\n')
  } catch {
    return undefined
  }
}

/**
 * The process is alive and is PostgreSQL on this cluster. A pid alone proves
 * nothing: after a reboot, or in a new container, it may be anyone's.
 */
export function isPostmaster(pid: number, clusterDir: string): boolean {
  if (!Number.isSafeInteger(pid) || pid <= 1) return false
  const command = commandLine(pid)
  return command.includes(clusterDir) || (command.includes('postgres') && worksIn(pid, clusterDir))
}

/** By another name: the path has links in it, or was moved under the server. Linux alone can tell. */
function worksIn(pid: number, clusterDir: string): boolean {
  try {
    const [there, here] = [statSync(`/proc/${pid}/cwd`), statSync(clusterDir)]
    return there.dev === here.dev && there.ino === here.ino
  } catch {
    return false
  }
}

/** Another process, be it dead and not yet reaped. */
export function existsProcess(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return pid !== process.pid
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/** Empty for a process that is gone, or dead and not yet reaped. */
function commandLine(pid: number): string {
  try {
    if (process.platform === 'linux') return readFileSync(`/proc/${pid}/cmdline`, 'utf8')
    return execFileSync('ps', ['-ww', '-o', 'command=', '-p', String(pid)], {
      encoding: 'utf8',
      stdio: 'pipe',
    })
  } catch {
    return ''
  }
}

/**
 * Starts the server in a session of its own: neither Ctrl-C in the terminal nor
 * our own death takes it along. Resolves with its pid; it is not ready yet.
 */
export async function launch(options: LaunchOptions): Promise<Postmaster> {
  disarm(join(options.clusterDir, 'postmaster.pid'), options.clusterDir)
  disarm(join(options.socketDir, '.s.PGSQL.5432.lock'), options.clusterDir)
  const log = openSync(options.logFile, 'a', 0o600)
  try {
    const { command, args, options: how } = serverCommand(options)
    const child = spawn(command, args, { ...how, cwd: '/', detached: true, stdio: ['ignore', log, log] })
    const pid = await new Promise<number>((resolve, reject) => {
      child.once('spawn', () => resolve(child.pid!))
      child.once('error', cause =>
        reject(new Refusal(`The embedded PostgreSQL did not start: ${cause.message}.`, { cause })),
      )
    })
    child.unref()
    return { pid, socketDir: options.socketDir }
  } finally {
    closeSync(log)
  }
}

function serverCommand({ clusterDir, socketDir, binaries, identity, locks }: LaunchOptions) {
  const program = join(binaries.home, 'bin', 'postgres')
  // Not among the settings of the cluster: a container that starts at the same time writes them too, and has another.
  const args = ['-D', clusterDir, '-c', `unix_socket_directories=${socketDir}`]
  if (!locks) return runAs(identity, program, args)
  const holding = holdingLock(lockFile(clusterDir), program, args)
  return runAs(identity, holding.program, holding.args)
}

/**
 * A lock file whose pid now belongs to a stranger, or to a server that is dead
 * and that nobody has reaped yet, as in a container whose first process does not,
 * would keep PostgreSQL from starting. Our own pid in its place, the parent's, tells PostgreSQL
 * that the file is stale, and leaves it the rest: by the shared memory named
 * there it still finds survivors of the old server and waits for them.
 */
function disarm(lockFile: string, clusterDir: string): void {
  const lines = readLines(lockFile)
  if (!lines) return
  const pid = Number(lines[0])
  if (!existsProcess(pid) || isPostmaster(pid, clusterDir)) return
  writeFileSync(lockFile, [String(process.pid), ...lines.slice(1)].join('\n'))
}

/**
 * Stops the server: open transactions are rolled back, everything is written
 * out. A server that has not ended after `patienceMs` is told to drop everything
 * at once, which loses nothing either: it replays its log at the next start.
 */
export async function stopPostmaster(
  postmaster: Postmaster,
  clusterDir: string,
  clock: Clock,
  patienceMs: number,
): Promise<void> {
  signal(postmaster.pid, 'SIGINT')
  if (await ended(postmaster, clusterDir, clock, patienceMs)) return
  signal(postmaster.pid, 'SIGQUIT')
  if (await ended(postmaster, clusterDir, clock, patienceMs)) return
  signal(postmaster.pid, 'SIGKILL')
  await ended(postmaster, clusterDir, clock, patienceMs)
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name)
  } catch {
    // It has ended in the meantime.
  }
}

async function ended(
  postmaster: Postmaster,
  clusterDir: string,
  clock: Clock,
  patienceMs: number,
): Promise<boolean> {
  const untilMs = clock.monotonic() + patienceMs
  while (isPostmaster(postmaster.pid, clusterDir)) {
    if (clock.monotonic() > untilMs) return false
    await pause(clock, LOOK_MS)
  }
  return true
}

/** Bounds the server's log at `LOG_LIMIT_BYTES` and one older file of that size. */
export function rotateLog(logFile: string): void {
  if (sizeOf(logFile) > LOG_LIMIT_BYTES) renameSync(logFile, `${logFile}.1`)
}

/** The same under a running server, which appends to the file it has open. */
export function trimLog(logFile: string): void {
  if (sizeOf(logFile) > LOG_LIMIT_BYTES) truncateSync(logFile)
}

export function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0
}

/** A client that came too early, as we do while we wait: the end of its session, not of the server. */
const TURNED_AWAY = /\bFATAL:\s+the database system is /

/** Why a server that started at byte `from` of the log ended: its last fatal line. */
export function reasonOfDeath(logFile: string, from: number): string | undefined {
  const lines = readFileSync(logFile).subarray(from).toString().split('\n')
  const line = lines.findLast(
    text => /\b(FATAL|PANIC):|error while loading/.test(text) && !TURNED_AWAY.test(text),
  )
  return line?.replace(/^.*?(FATAL|PANIC):\s*/, '')
}
