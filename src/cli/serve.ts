import { once } from 'node:events'
import { flushCompileCache } from 'node:module'
import { startApp } from '../app.ts'
import { type Config, readConfig } from '../config.ts'
import { LEAST_TOKEN_CHARACTERS } from '../http/auth.ts'
import { CONSOLE_DIR } from '../infra/console-build.ts'
import { createConsoleFiles } from '../infra/console-files.ts'
import { createLog, type Logger } from '../infra/log.ts'
import { createProgress, type Progress } from '../infra/progress.ts'
import { ensureSecrets } from '../infra/secrets.ts'
import { awake, systemClock } from '../lib/clock.ts'
import { createRandom } from '../lib/random.ts'
import { Refusal } from '../lib/refusal.ts'
import { keepConsoleBuilt } from './keep-console-built.ts'
import type { Run } from './run.ts'
import { openStore, type Store } from './store.ts'
import { welcome } from './welcome.ts'

/** Ten seconds are promised; the last half is for the exit itself. */
const STOP_LIMIT_MS = 9_500
/** One Ctrl-C comes twice under npm, from the terminal and from npm itself: that is not impatience. */
const ECHO_MS = 1_000

/** `posthorn serve`: runs until a signal, then drains. */
export const run: Run = async () => {
  const config = readConfig()
  const log = createLog({ level: config.logLevel, pretty: process.stdout.isTTY === true })
  const progress = createProgress(process.stderr, systemClock)
  outliveReaders()
  dieOfTheUnexpected(log)
  // From here on a signal waits for its turn: a start is never cut in the middle, save where it waits itself.
  const end = awaitEnd(log)
  // A database that went away is waited for by timers alone, which would let the process end in silence.
  const server = await awake(start(config, log, progress, end))
  if (server) {
    if (!end.signal.aborted) await once(end.signal, 'abort')
    await awake(server.stop())
  }
  log.info('stopped')
  const reason = end.reason()
  if (reason) throw reason
  return 0
}

/** Whoever read what we say may be gone, as a terminal is, or a collector of logs that is started anew. */
function outliveReaders(): void {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {})
}

function dieOfTheUnexpected(log: Logger): void {
  for (const event of ['uncaughtException', 'unhandledRejection'] as const) {
    process.on(event, (error: unknown) => {
      log.fatal({ err: error }, 'unexpected error; stopping')
      process.exit(1)
    })
  }
}

type End = {
  /** Aborted when it shall end, by whatever. */
  signal: AbortSignal
  /** Ends as by a signal, but in failure. */
  because(reason: Refusal): void
  /** Why it ends, where nobody asked for it. */
  reason(): Refusal | null
}

/** By the first signal, which sets the deadline too; a second signal ends the process at once. */
function awaitEnd(log: Logger): End {
  const stop = new AbortController()
  let askedAtMs: number | null = null
  let reason: Refusal | null = null
  function begin(): void {
    if (stop.signal.aborted) return
    systemClock.after(STOP_LIMIT_MS, () => {
      log.error('not everything ended in time; stopping at once')
      process.exit(1)
    })
    stop.abort()
  }
  function onSignal(name: NodeJS.Signals): void {
    if (askedAtMs !== null) {
      if (systemClock.monotonic() - askedAtMs < ECHO_MS) return
      log.warn({ signal: name }, 'stopping at once')
      process.exit(1)
    }
    askedAtMs = systemClock.monotonic()
    log.info({ signal: name }, 'stopping: finishing what has begun')
    begin()
  }
  for (const name of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(name, onSignal)
  return {
    signal: stop.signal,
    because(given) {
      if (stop.signal.aborted) return
      reason = given
      log.fatal({ err: given }, 'stopping: finishing what has begun')
      begin()
    },
    reason: () => reason,
  }
}

/** Null where it was told to stop while it still waited for its database. */
async function start(
  config: Config,
  log: Logger,
  progress: Progress,
  end: End,
): Promise<{ stop(): Promise<void> } | null> {
  const store = await openStore({
    signal: end.signal,
    config,
    clock: systemClock,
    log,
    progress,
    onLost: error => {
      log.fatal({ err: error }, 'the database belongs to another process now; stopping')
      process.exit(1)
    },
  }).catch(error => {
    if (error === end.signal.reason) return null
    throw error
  })
  if (!store) return null
  try {
    const secrets = ensureSecrets(config, createRandom())
    tellOfSecrets(config, log)
    const consoleFiles = createConsoleFiles(CONSOLE_DIR)
    const app = await startApp({
      config,
      secrets,
      log,
      databaseUrl: store.url,
      progress,
      consoleFiles,
      onOutgrown: end.because,
    })
    // Now rather than at the exit, which a kill would skip.
    flushCompileCache()
    log.info({ url: app.url }, 'serving')
    if (app.testKey !== null) process.stdout.write(welcome(app.url, app.testKey))
    const build = keepConsoleBuilt({ files: consoleFiles, log, progress })
    return {
      stop() {
        build.stop()
        return stopAll(app, store)
      },
    }
  } catch (error) {
    await store.stop()
    throw explain(error, config)
  }
}

function tellOfSecrets({ operatorToken, masterKeyPrevious }: Config, log: Logger): void {
  if (operatorToken !== undefined && operatorToken.length < LEAST_TOKEN_CHARACTERS) {
    log.warn(
      `POSTHORN_OPERATOR_TOKEN is short enough to be guessed: give it ${LEAST_TOKEN_CHARACTERS} characters at least`,
    )
  }
  if (masterKeyPrevious !== undefined) {
    log.info('two master keys open: posthorn rotate-master-key lets POSTHORN_MASTER_KEY_PREVIOUS be left out')
  }
}

async function stopAll(app: { stop(): Promise<void> }, store: Store): Promise<void> {
  try {
    await app.stop()
  } finally {
    await store.stop()
  }
}

/** What the system says about an address that cannot be listened on, in words. */
function explain(error: unknown, config: Config): unknown {
  const { code, syscall } = error as NodeJS.ErrnoException
  if (syscall !== 'listen' && syscall !== 'getaddrinfo') return error
  const address = `${config.host}:${config.port}`
  const reasons: Record<string, string> = {
    EADDRINUSE: `${address} is in use: stop what listens there, or set PORT to another port.`,
    EACCES: `${address} needs privileges: set PORT to 1024 or above.`,
    EADDRNOTAVAIL: `HOST ${config.host} is no address of this machine.`,
    ENOTFOUND: `HOST ${config.host} is no name of this machine.`,
  }
  const reason = reasons[code ?? '']
  return reason === undefined ? error : new Refusal(reason, { cause: error })
}
