import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Client } from 'pg'
import type { Cancel, Clock } from '../lib/clock.ts'
import { keepProcessAlive, pause, withinMs } from '../lib/clock.ts'
import { MINUTE_MS } from '../lib/durations.ts'
import { Refusal } from '../lib/refusal.ts'
import { copyBinaries, findBinaries } from './embedded/binaries.ts'
import {
  allowTraversal,
  changeClusterOwner,
  checkAccess,
  checkMajor,
  initCluster,
  OWNERSHIP_ADVICE,
  ownerOf,
  prepareDataDir,
  writeSettings,
} from './embedded/cluster.ts'
import { checkLock, lockFile } from './embedded/cluster-lock.ts'
import { isDamage, isFinalRefusal } from './embedded/damage.ts'
import { chooseIdentity, type Probe, systemProbe } from './embedded/identity.ts'
import { becomeOwner, connect, ensureDatabase, InUse, urlOf } from './embedded/owner.ts'
import {
  exitReason,
  findMovedAway,
  findPostmaster,
  type LaunchOptions,
  launchPostmaster,
  type Postmaster,
  rotateLog,
  sizeOf,
  stopMovedAway,
  stopPostmaster,
  trimLog,
} from './embedded/postmaster.ts'
import { claimSocketDir, releaseSocketDir } from './embedded/socket-dir.ts'
import type { Logger } from './log.ts'
import type { Progress } from './progress.ts'

export type EmbeddedOptions = {
  /** Absolute path; created if it is missing. Holds the cluster, its log and our secrets. */
  dataDir: string
  clock: Clock
  log: Logger
  progress: Progress
  /** Finds out who may run PostgreSQL here; the real machine by default. */
  probe?: Probe
  /** The server is lost for good: another process has taken it over. */
  onLost?(error: Error): void
  /** Ends the wait for a server that this start launched, and the server: `startEmbedded` rejects with the signal's reason. */
  signal?: AbortSignal
}

/** A PostgreSQL server on `dataDir` that only this process uses until `stop`. */
export type Embedded = {
  /** Connection string of the database `posthorn`, by unix socket. */
  url: string
  /** The process id of the server. */
  pid(): number
  /** A Refusal that says so if `error` is of the database and means that its data is damaged; else `error`. */
  explain(error: unknown): unknown
  /** Stops the server, whether this process started it or found it. Never throws; takes at most about `limitMs`. */
  stop(limitMs?: number): Promise<void>
}

/** The longest wait for the server to accept connections: after a crash it replays its WAL first. */
const READY_LIMIT_MS = 10 * MINUTE_MS
const READY_POLL_MS = 15
/**
 * Launches before giving up: processes that are left of a killed server prevent a new one from starting for a
 * moment.
 */
const MAX_LAUNCHES = 5
const BACKOFF_MS = [200, 500, 1_000, 2_000, 5_000, 10_000]
/** A stop takes no longer; most of it is for the server's last checkpoint. */
const STOP_LIMIT_MS = 9_000
const LOG_POLL_MS = 60_000

/**
 * Starts the embedded server: finds the one that a killed process left running on this data directory, or
 * starts the cluster there, or creates a new one. It is watched, and restarted when it dies. Throws a
 * Refusal, in one line that says what to do, if it cannot run or another Posthorn uses the directory.
 */
export function startEmbedded(options: EmbeddedOptions): Promise<Embedded> {
  return keepProcessAlive(start(options)).catch(error => {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
    throw new Refusal(`The disk with ${options.dataDir} is full: free some space.`, { cause: error })
  })
}

async function start(options: EmbeddedOptions): Promise<Embedded> {
  const { clock, log } = options
  const { signal: _, ...untilStopped } = options
  const site = await prepareSite(options)
  let held = await startServer(site, options)
  let stopping = false
  let recovery: Promise<void> | undefined
  await ensureDatabase(held.owner, held.postmaster.socketDir).catch(async cause => {
    await stopLaunched(held.postmaster, clock)
    await held.owner.end().catch(() => {})
    throw isFinalRefusal(cause) ? unusable(site, cause) : cause
  })
  watch()
  const cancelTrim = every(clock, LOG_POLL_MS, shortenLog)

  /** Thrown from a timer, an error of its file would end the process. */
  function shortenLog(): void {
    try {
      trimLog(site.logFile)
    } catch (error) {
      log.warn({ err: error }, 'the log of the embedded PostgreSQL could not be shortened; it is tried again')
    }
  }

  /** The owner's connection ends when the server does, whether it is our child process or not. */
  function watch(): void {
    held.owner.once('end', () => {
      recovery = recover()
    })
  }

  async function recover(): Promise<void> {
    for (let tries = 0; !stopping; tries++) {
      log.error({ tries }, 'the embedded PostgreSQL stopped; restarting it')
      try {
        held = await startServer(site, untilStopped)
        watch()
        log.info({ pid: held.postmaster.pid }, 'the embedded PostgreSQL is running again')
        return
      } catch (error) {
        if (error instanceof InUse) {
          stopping = true
          options.onLost?.(error)
          return
        }
        log.error({ err: error }, 'the embedded PostgreSQL could not be restarted')
        await pause(clock, BACKOFF_MS[Math.min(tries, BACKOFF_MS.length - 1)]!)
      }
    }
  }

  return {
    url: urlOf(held.postmaster.socketDir),
    pid: () => held.postmaster.pid,
    explain: error => (isDamage(error) ? unusable(site, error) : error),
    stop: (limitMs = STOP_LIMIT_MS) => keepProcessAlive(stop(limitMs)),
  }

  async function stop(limitMs: number): Promise<void> {
    if (stopping) return
    stopping = true
    cancelTrim()
    const untilMs = clock.monotonic() + limitMs
    if (recovery) await withinMs(clock, limitMs / 3, recovery)
    // The owner's lock is held until the end: a process that waits for it must not get a server that is
    // shutting down.
    const last = findPostmaster(site.clusterDir)
    if (last) await stopPostmaster(last, clock, untilMs - clock.monotonic())
    else if (held.postmaster.isRunning())
      await stopMovedAway(held.postmaster, clock, untilMs - clock.monotonic())
    await held.owner.end().catch(() => {})
    releaseSocketDir(held.postmaster.socketDir)
  }
}

type Site = Omit<LaunchOptions, 'socketDir' | 'locks'> & { dataDir: string }

/** Prepares all that a server needs to start; creates the cluster if there is none. */
async function prepareSite(options: EmbeddedOptions): Promise<Site> {
  const { dataDir, progress, signal } = options
  const clusterDir = join(dataDir, 'postgres')
  prepareDataDir(dataDir)
  checkAccess(clusterDir)
  let binaries = findBinaries()
  const { identity, copyBinaries: unreachable } = chooseIdentity(
    options.probe ?? systemProbe,
    dataDir,
    binaries.home,
  )
  if (identity.kind === 'user') allowTraversal(dataDir)
  if (unreachable || !binaries.complete) binaries = copyBinaries(binaries, dataDir)
  if (existsSync(join(clusterDir, 'PG_VERSION'))) checkMajor(clusterDir, binaries)
  else await createCluster()
  if (!findPostmaster(clusterDir)) changeClusterOwner(clusterDir, identity)
  return { dataDir, clusterDir, binaries, identity, logFile: join(dataDir, 'postgres.log') }

  async function createCluster(): Promise<void> {
    const creating = () => initCluster(clusterDir, binaries, identity)
    await progress.step('Creating the database', creating).catch(error => {
      // Ctrl-C at a terminal ends initdb too.
      signal?.throwIfAborted()
      throw error
    })
  }
}

type RunningServer = { postmaster: Postmaster; owner: Client }

async function startServer(site: Site, options: EmbeddedOptions): Promise<RunningServer> {
  return options.progress.step('Starting the database', async note => {
    const logStart = sizeOf(site.logFile)
    for (let launches = 0; ; launches++) {
      const found = findPostmaster(site.clusterDir)
      const postmaster = found ?? (await startPostmaster(site))
      const client =
        postmaster &&
        (await connectWhenReady(postmaster, site, options, note).catch(async error => {
          if (!found) await stopLaunched(postmaster, options.clock)
          throw error
        }))
      const owner = client && (await becomeOwner(client, options.dataDir))
      if (owner) return { postmaster, owner }
      if (launches === MAX_LAUNCHES) {
        if (!postmaster) throw inUseElsewhere(site)
        releaseSocketDir(postmaster.socketDir)
        throw startFailure(site, logStart)
      }
      await pause(options.clock, BACKOFF_MS[0]!)
    }
  })
}

/**
 * Undefined while another process holds the cluster's lock: a server that cannot be seen from here, or what
 * is left of a killed one. It is left alone.
 */
async function startPostmaster(site: Site): Promise<Postmaster | undefined> {
  const lock = checkLock(lockFile(site.clusterDir))
  if (lock === 'held') return undefined
  // At every launch: a process that stopped a server here a moment ago has removed the directory.
  const socketDir = claimSocketDir(site.dataDir, ownerOf(site.identity))
  const stranger = findMovedAway(site.clusterDir, socketDir)
  if (stranger !== undefined) throw movedAway(site, stranger)
  rotateLog(site.logFile)
  writeSettings(site.clusterDir, site.identity)
  return launchPostmaster({ ...site, socketDir, locks: lock === 'free' })
}

/** Undefined if the server exited. */
async function connectWhenReady(
  postmaster: Postmaster,
  site: Site,
  { clock, signal }: EmbeddedOptions,
  note: (text: string) => void,
): Promise<Client | undefined> {
  const untilMs = clock.monotonic() + READY_LIMIT_MS
  while (postmaster.isRunning()) {
    signal?.throwIfAborted()
    const tried = await connect(postmaster.socketDir)
    if (tried instanceof Error) throw unusable(site, tried)
    if (typeof tried !== 'string') return tried
    if (tried === 'recovering') note('replaying its log after a crash')
    if (clock.monotonic() > untilMs) {
      throw new Refusal(
        `The embedded PostgreSQL is not ready after ${READY_LIMIT_MS / MINUTE_MS} minutes: see ${site.logFile}.`,
      )
    }
    await pause(clock, READY_POLL_MS)
  }
  return undefined
}

/** A server that nobody can use is not left running. */
async function stopLaunched(postmaster: Postmaster, clock: Clock): Promise<void> {
  await stopPostmaster(postmaster, clock, STOP_LIMIT_MS)
  releaseSocketDir(postmaster.socketDir)
}

function unusable({ clusterDir, logFile }: Site, cause: Error): Refusal {
  const fault = isDamage(cause) ? 'is damaged' : "is damaged or not Posthorn's"
  return new Refusal(
    `The embedded PostgreSQL starts, but its data in ${clusterDir} ${fault}: ${cause.message} (see ${logFile}). Restore it from a backup.`,
    { cause },
  )
}

function inUseElsewhere({ dataDir }: Site): Refusal {
  return new Refusal(
    `A PostgreSQL that is not visible from here, for example in another container, uses ${dataDir}: stop that Posthorn first, or set another POSTHORN_DATA_DIR for this one.`,
  )
}

function movedAway({ clusterDir }: Site, pid: number): Refusal {
  return new Refusal(
    `The PostgreSQL of the files that were at ${clusterDir} before still runs (process ${pid}), and may write to those that are there now: stop its Posthorn, or the process itself (kill -QUIT ${pid}) if that was killed, then put the files there again.`,
  )
}

function startFailure(site: Site, logStart: number): Refusal {
  const reason = exitReason(site.logFile, logStart) ?? 'it ended without a word'
  if (/No space left/i.test(reason))
    return new Refusal(`The disk with ${site.clusterDir} is full: free some space.`)
  if (/invalid permissions|Permission denied/.test(reason))
    return new Refusal(`The embedded PostgreSQL does not start: ${reason}: ${OWNERSHIP_ADVICE}.`)
  return new Refusal(
    `The embedded PostgreSQL does not start: ${reason} (see ${site.logFile}). Correct ${join(site.clusterDir, 'custom.conf')} if its settings are the reason; restore the data from a backup if it is damaged.`,
  )
}

function every(clock: Clock, periodMs: number, run: () => void): Cancel {
  let cancel = clock.after(periodMs, tick)
  function tick(): void {
    run()
    cancel = clock.after(periodMs, tick)
  }
  return () => cancel()
}
