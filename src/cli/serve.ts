import { once } from 'node:events'
import { flushCompileCache } from 'node:module'
import { startApp } from '../app.ts'
import { type Config, readConfig } from '../config.ts'
import { MIN_TOKEN_CHARACTERS } from '../http/auth.ts'
import { CONSOLE_DIR } from '../infra/console-build.ts'
import { createConsoleFiles } from '../infra/console-files.ts'
import { giveBackMemory } from '../infra/give-back-memory.ts'
import { createLog, type Logger } from '../infra/log.ts'
import { createProgress, type Progress } from '../infra/progress.ts'
import { ensureSecrets } from '../infra/secrets.ts'
import { keepProcessAlive, systemClock } from '../lib/clock.ts'
import { createRandom } from '../lib/random.ts'
import { Refusal } from '../lib/refusal.ts'
import type { Run } from './run.ts'
import { findStaleConsole } from './stale-console.ts'
import { openStore, type Store } from './store.ts'
import { welcome } from './welcome.ts'

/** A stop takes at most ten seconds; the last half second is for the exit itself. */
const STOP_LIMIT_MS = 9_500
/** By then the embedded database is stopped: it may take what the rest of the stop has left of this. */
const STORE_LIMIT_MS = 9_000
const STORE_LEAST_MS = 500
/**
 * Under npm, one Ctrl-C arrives twice, from the terminal and from npm: a second signal within this time does
 * not count.
 */
const ECHO_MS = 1_000

/** `posthorn serve`: runs until a signal, then drains. */
export const run: Run = async () => {
  const config = readConfig()
  const log = createLog({ level: config.logLevel, pretty: process.stdout.isTTY === true })
  const progress = createProgress(process.stderr, systemClock)
  ignoreOutputErrors()
  exitOnUnexpectedError(log)
  // From here on a signal does not interrupt the start, except where it waits.
  const end = watchSignals(log)
  // Waiting for the database uses only timers, which would let the process exit.
  const server = await keepProcessAlive(start(config, log, progress, end))
  if (server) {
    if (!end.signal.aborted) await once(end.signal, 'abort')
    await keepProcessAlive(server.stop())
  }
  log.info('stopped')
  const reason = end.reason()
  if (reason) throw reason
  return 0
}

/** The reader of our output may disappear, such as a terminal or a restarted log collector. */
function ignoreOutputErrors(): void {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {})
}

function exitOnUnexpectedError(log: Logger): void {
  for (const event of ['uncaughtException', 'unhandledRejection'] as const) {
    process.on(event, (error: unknown) => {
      log.fatal({ err: error }, 'unexpected error; stopping')
      process.exit(1)
    })
  }
}

type Shutdown = {
  /** Aborted when the process is to end, for any reason. */
  signal: AbortSignal
  /** Ends like a signal, but with a failure. */
  fail(reason: Refusal): void
  /** The failure; null if a signal asked for the end. */
  reason(): Refusal | null
}

/** The first signal starts the shutdown and its deadline; a second one ends the process at once. */
function watchSignals(log: Logger): Shutdown {
  const stop = new AbortController()
  let askedAtMs: number | null = null
  let reason: Refusal | null = null
  function begin(): void {
    if (stop.signal.aborted) return
    systemClock.after(STOP_LIMIT_MS, () => {
      log.error('the shutdown did not finish in time; exiting at once')
      process.exit(1)
    })
    stop.abort()
  }
  function onSignal(name: NodeJS.Signals): void {
    if (askedAtMs !== null) {
      if (systemClock.monotonic() - askedAtMs < ECHO_MS) return
      log.warn({ signal: name }, 'exiting at once, without finishing the work in progress')
      process.exit(1)
    }
    askedAtMs = systemClock.monotonic()
    log.info({ signal: name }, 'stopping: finishing what has begun')
    begin()
  }
  for (const name of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(name, onSignal)
  return {
    signal: stop.signal,
    fail(given) {
      if (stop.signal.aborted) return
      reason = given
      log.fatal({ err: given }, 'stopping: finishing what has begun')
      begin()
    },
    reason: () => reason,
  }
}

/** Null if it was told to stop while it waited for the database. */
async function start(
  config: Config,
  log: Logger,
  progress: Progress,
  end: Shutdown,
): Promise<{ stop(): Promise<void> } | null> {
  const store = await openStore({
    signal: end.signal,
    config,
    clock: systemClock,
    log,
    progress,
    onLost: error => {
      log.fatal({ err: error }, 'another process has taken over the database; stopping')
      process.exit(1)
    },
  }).catch(error => {
    if (error === end.signal.reason) return null
    throw error
  })
  if (!store) return null
  try {
    const secrets = ensureSecrets(config, createRandom())
    warnOfSecrets(config, log)
    const consoleFiles = createConsoleFiles(CONSOLE_DIR, systemClock)
    const staleConsole = findStaleConsole({ files: consoleFiles, log, progress })
    const app = await startApp({
      config,
      secrets,
      log,
      databaseUrl: store.url,
      progress,
      consoleFiles,
      onOutgrown: end.fail,
    })
    // Now, since a kill would skip the flush at the exit.
    flushCompileCache()
    giveBackMemory()
    log.info({ url: app.url }, 'serving')
    if (app.testKey !== null) process.stdout.write(welcome(app.url, app.testKey))
    staleConsole.build()
    return {
      stop() {
        staleConsole.stop()
        return stopAll(app, store)
      },
    }
  } catch (error) {
    await store.stop()
    throw explainListenError(store.explain(error), config)
  }
}

function warnOfSecrets({ operatorToken, masterKeyPrevious }: Config, log: Logger): void {
  if (operatorToken !== undefined && operatorToken.length < MIN_TOKEN_CHARACTERS) {
    log.warn(
      `POSTHORN_OPERATOR_TOKEN is short enough to be guessed: use at least ${MIN_TOKEN_CHARACTERS} characters`,
    )
  }
  if (masterKeyPrevious !== undefined) {
    log.info(
      'two master keys are in use: run posthorn rotate-master-key, then remove POSTHORN_MASTER_KEY_PREVIOUS',
    )
  }
}

async function stopAll(app: { stop(): Promise<void> }, store: Store): Promise<void> {
  const untilMs = systemClock.monotonic() + STORE_LIMIT_MS
  try {
    await app.stop()
  } finally {
    await store.stop(Math.max(STORE_LEAST_MS, untilMs - systemClock.monotonic()))
  }
}

/** Explains errors of listening on an address. */
function explainListenError(error: unknown, config: Config): unknown {
  const { code, syscall } = error as NodeJS.ErrnoException
  if (syscall !== 'listen' && syscall !== 'getaddrinfo') return error
  const address = `${config.host}:${config.port}`
  const reasons: Record<string, string> = {
    EADDRINUSE: `${address} is in use: stop what listens there, or set PORT to another port.`,
    EACCES: `${address} needs privileges: set PORT to 1024 or above.`,
    EADDRNOTAVAIL: `HOST ${config.host} is not an address of this machine.`,
    ENOTFOUND: `HOST ${config.host} is not a host name that this machine can resolve.`,
  }
  const reason = reasons[code ?? '']
  return reason === undefined ? error : new Refusal(reason, { cause: error })
}
