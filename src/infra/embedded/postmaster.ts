import { execFileSync, spawn } from 'node:child_process'
import { closeSync, openSync, readFileSync, renameSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Clock, pause } from '../../lib/clock.ts'
import { Refusal } from '../../lib/refusal.ts'
import { existsProcess } from '../exists-process.ts'
import type { Binaries } from './binaries.ts'
import { lockedCommand, lockFile } from './cluster-lock.ts'
import { type Identity, runAs } from './identity.ts'

/** A server that runs on a cluster; possibly started by a process that no longer exists. */
export type Postmaster = { pid: number; socketDir: string; isRunning(): boolean }

export type LaunchOptions = {
  clusterDir: string
  socketDir: string
  binaries: Binaries
  identity: Identity
  logFile: string
  /** Whether the server holds the cluster's lock while it runs. */
  locks: boolean
}

const LOG_LIMIT_BYTES = 8 * 1024 * 1024
/** Interval at which a process that is not our child is checked, in ms. */
const POLL_MS = 15

/** The server that runs on `clusterDir`; undefined if there is none. */
export function findPostmaster(clusterDir: string): Postmaster | undefined {
  const lines = readLines(join(clusterDir, 'postmaster.pid'))
  const pid = Number(lines?.[0])
  const socketDir = lines?.[4]
  if (!socketDir || !isPostmaster(pid, clusterDir)) return undefined
  return { pid, socketDir, isRunning: () => isPostmaster(pid, clusterDir) }
}

function readLines(file: string): string[] | undefined {
  try {
    return readFileSync(file, 'utf8').split('\n')
  } catch {
    return undefined
  }
}

/**
 * Whether the process is alive and is PostgreSQL on this cluster. A pid alone proves nothing: after a reboot,
 * or in a new container, it may be that of any process. Nor does its command line: a copy of a running cluster
 * has the pid of the original, which may have been moved away for it.
 */
export function isPostmaster(pid: number, clusterDir: string): boolean {
  if (!Number.isSafeInteger(pid) || pid <= 1) return false
  const command = commandLine(pid)
  return command.includes('postgres') && (worksIn(pid, clusterDir) ?? isFor(command, clusterDir))
}

/**
 * Whether the process works in this directory, by whatever path: it may have symlinks, or be moved while the
 * server runs. Undefined if that cannot be found out: only Linux tells it.
 */
function worksIn(pid: number, clusterDir: string): boolean | undefined {
  try {
    const [there, here] = [statSync(`/proc/${pid}/cwd`), statSync(clusterDir)]
    return there.dev === here.dev && there.ino === here.ino
  } catch {
    return undefined
  }
}

/** Whether the command line is that of a server which was started on this path. */
function isFor(command: string, clusterDir: string): boolean {
  return command.includes(` -D ${clusterDir} `)
}

/**
 * The process id of a server that was started on `clusterDir`, but works on files that are elsewhere now, since others were
 * put in their place.
 */
export function findMovedAway(clusterDir: string, socketDir: string): number | undefined {
  const pids = lockFilesOf(clusterDir, socketDir).map(file => Number(readLines(file)?.[0]))
  return pids.find(pid => isFor(commandLine(pid), clusterDir) && !isPostmaster(pid, clusterDir))
}

function lockFilesOf(clusterDir: string, socketDir: string): string[] {
  return [join(clusterDir, 'postmaster.pid'), join(socketDir, '.s.PGSQL.5432.lock')]
}

/** The command line, its words with spaces between them; empty if the process is gone or a zombie. */
function commandLine(pid: number): string {
  try {
    if (process.platform === 'linux')
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')
    return execFileSync('ps', ['-ww', '-o', 'command=', '-p', String(pid)], {
      encoding: 'utf8',
      stdio: 'pipe',
    })
  } catch {
    return ''
  }
}

/**
 * Starts the server in a session of its own, so that it survives Ctrl-C in the terminal and the end of this
 * process. Resolves before it accepts connections, and possibly while it still executes one program after the
 * other, when its command line is not yet that of PostgreSQL, or empty: so whether it runs is not read from that.
 */
export async function launchPostmaster(options: LaunchOptions): Promise<Postmaster> {
  for (const file of lockFilesOf(options.clusterDir, options.socketDir))
    neutralizeLockFile(file, options.clusterDir)
  const log = openLog(options.logFile)
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
    const isRunning = () => child.exitCode === null && child.signalCode === null
    return { pid, socketDir: options.socketDir, isRunning }
  } finally {
    closeSync(log)
  }
}

function openLog(logFile: string): number {
  try {
    return openSync(logFile, 'a', 0o600)
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException
    if (code === 'ENOSPC') throw cause
    throw new Refusal(`${logFile} cannot be written (${code}): check its permissions, or remove it.`, {
      cause,
    })
  }
}

function serverCommand({ clusterDir, socketDir, binaries, identity, locks }: LaunchOptions) {
  const program = join(binaries.home, 'bin', 'postgres')
  // Not in the settings file: a container that starts at the same time writes that too, with another directory.
  const args = ['-D', clusterDir, '-c', `unix_socket_directories=${socketDir}`]
  if (!locks) return runAs(identity, program, args)
  const holding = lockedCommand(lockFile(clusterDir), program, args)
  return runAs(identity, holding.program, holding.args)
}

/**
 * Makes a stale lock file harmless. A lock file whose pid is now that of another program, or of a zombie (as
 * in a container whose first process does not reap them), would keep PostgreSQL from starting. PostgreSQL
 * treats the pid of its parent, which is ours, as stale. The other lines are kept: by the shared memory named
 * there, PostgreSQL finds survivors of the old server and waits for them.
 */
function neutralizeLockFile(lockFile: string, clusterDir: string): void {
  const lines = readLines(lockFile)
  if (!lines) return
  const pid = Number(lines[0])
  if (!existsProcess(pid) || isPostmaster(pid, clusterDir)) return
  writeFileSync(lockFile, [String(process.pid), ...lines.slice(1)].join('\n'))
}

/**
 * What the server is told in a stop, with the share of the time for each: to write everything to disk, then to quit at once, then it
 * is killed. The latter two lose nothing either, since it replays its WAL at the next start.
 */
const STOP_STEPS = [
  { name: 'SIGINT', share: 0.7 },
  { name: 'SIGQUIT', share: 0.2 },
  { name: 'SIGKILL', share: 0.1 },
] as const

/** Stops the server, within about `limitMs`: open transactions are rolled back. */
export function stopPostmaster(postmaster: Postmaster, clock: Clock, limitMs: number): Promise<void> {
  return takeSteps(STOP_STEPS, postmaster, clock, limitMs)
}

/**
 * Stops a server whose files were moved away, without a checkpoint: that would write its `global/pg_control` by
 * its path, to the files that are there now, which would be damaged.
 */
export function stopMovedAway(postmaster: Postmaster, clock: Clock, limitMs: number): Promise<void> {
  return takeSteps(STOP_STEPS.slice(1), postmaster, clock, limitMs)
}

async function takeSteps(
  steps: readonly (typeof STOP_STEPS)[number][],
  postmaster: Postmaster,
  clock: Clock,
  limitMs: number,
): Promise<void> {
  for (const { name, share } of steps) {
    signal(postmaster.pid, name)
    if (await waitUntilStopped(postmaster, clock, limitMs * share)) return
  }
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name)
  } catch {
    // It has ended in the meantime.
  }
}

async function waitUntilStopped(postmaster: Postmaster, clock: Clock, patienceMs: number): Promise<boolean> {
  const untilMs = clock.monotonic() + patienceMs
  while (postmaster.isRunning()) {
    if (clock.monotonic() > untilMs) return false
    await pause(clock, POLL_MS)
  }
  return true
}

/** Limits the server's log to about `LOG_LIMIT_BYTES`, and one older file. */
export function rotateLog(logFile: string): void {
  if (sizeOf(logFile) > LOG_LIMIT_BYTES) renameSync(logFile, `${logFile}.1`)
}

/** Limits the log of a running server, which has the file open for appending. */
export function trimLog(logFile: string): void {
  if (sizeOf(logFile) > LOG_LIMIT_BYTES) truncateSync(logFile)
}

/** In bytes; 0 if it does not exist. */
export function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0
}

/**
 * A FATAL line about a client that connected too early, as we do while we wait: its session ended, not the
 * server.
 */
const TURNED_AWAY = /\bFATAL:\s+the database system is /

/**
 * Why a server ended whose log begins at byte `from`: its last fatal line. Without one, the lines without a time,
 * as it writes them before it has read its settings.
 */
export function exitReason(logFile: string, from: number): string | undefined {
  const lines = readFileSync(logFile).subarray(from).toString().split('\n')
  const line = lines.findLast(
    text => /\b(FATAL|PANIC):|error while loading/.test(text) && !TURNED_AWAY.test(text),
  )
  if (line) return line.replace(/^.*?(FATAL|PANIC):\s*/, '')
  const early = new Set(lines.filter(text => text !== '' && !/^\d{4}-/.test(text)))
  return early.size === 0 ? undefined : [...early].join(' ')
}
