import type { Config } from '../config.ts'
import { createDatabase, isConnectionLoss } from '../infra/db.ts'
import { isDamage } from '../infra/embedded/damage.ts'
import { startEmbedded } from '../infra/embedded.ts'
import { createLog, type Logger } from '../infra/log.ts'
import { migrate } from '../infra/migrate.ts'
import { createProgress, type Progress } from '../infra/progress.ts'
import { type Clock, keepProcessAlive, pause, systemClock } from '../lib/clock.ts'
import { VERSION } from '../version.ts'
import { databaseRefusal, explainLostDatabase, needsConfigChange } from './unusable-database.ts'

export type StoreOptions = {
  config: Config
  clock: Clock
  log: Logger
  progress: Progress
  /** Another process has taken over the embedded server: this one cannot go on. */
  onLost(error: Error): void
  /**
   * Ends the wait for the database, or for a node that migrates it: `openStore` then rejects with the
   * signal's reason.
   */
  signal?: AbortSignal
}

/** The database, migrated and ready. */
export type Store = {
  url: string
  /** The migrations that this start applied. */
  applied: readonly string[]
  /** A Refusal that says so if `error` means that the database is damaged or lost; else `error`. */
  explain(error: unknown): unknown
  /** Stops the server if it is the embedded one, within about `limitMs`. */
  stop(limitMs?: number): Promise<void>
}

const DATABASE_WAIT_MS = 30_000
const DATABASE_POLL_MS = 250

/** Starts the embedded server or connects to the external one, and migrates it. */
export async function openStore(options: StoreOptions): Promise<Store> {
  const server = await openServer(options)
  const explain = (error: unknown): unknown => explainLostDatabase(server.explain(error))
  try {
    return { ...server, explain, applied: await migrateStore(server.url, options) }
  } catch (error) {
    await server.stop()
    throw explain(error)
  }
}

/** `openStore` for a command that runs once: shows its progress and errors, and fails if the database is lost. */
export function openStoreOnce(config: Config): Promise<Store> {
  return openStore({
    config,
    clock: systemClock,
    log: createLog({ level: 'error' }),
    progress: createProgress(process.stderr, systemClock),
    onLost: error => {
      throw error
    },
  })
}

async function openServer(options: StoreOptions): Promise<Omit<Store, 'applied'>> {
  const { config, clock, log, progress, onLost, signal } = options
  if (!config.databaseUrl)
    return startEmbedded({ dataDir: config.dataDir, clock, log, progress, onLost, ...(signal && { signal }) })
  const url = config.databaseUrl
  await progress.step('Waiting for the database', () => keepProcessAlive(waitForDatabase(url, clock, signal)))
  return {
    url,
    explain: error => (isDamage(error) ? databaseRefusal(error) : error),
    stop: async () => {},
  }
}

/** Waits for the database, which may be starting at the same time. */
async function waitForDatabase(url: string, clock: Clock, signal?: AbortSignal): Promise<void> {
  const database = createDatabase({ connectionString: url, poolSize: 1 })
  const untilMs = clock.monotonic() + DATABASE_WAIT_MS
  const stopped = abortOf(signal)
  try {
    for (;;) {
      const failure = await Promise.race([tryOnce(database.dedicated()), stopped])
      if (!failure) return
      const isPermanent = !isConnectionLoss(failure) || needsConfigChange(failure)
      if (isPermanent || clock.monotonic() > untilMs) throw databaseRefusal(failure)
      await Promise.race([pause(clock, DATABASE_POLL_MS), stopped])
    }
  } finally {
    await database.close()
  }
}

/** Rejects when the signal aborts; without an unhandled rejection if nothing awaits it. */
function abortOf(signal?: AbortSignal): Promise<never> {
  const aborted = new Promise<never>((_, reject) => {
    if (signal?.aborted) reject(signal.reason)
    signal?.addEventListener('abort', () => reject(signal.reason))
  })
  aborted.catch(() => {})
  return aborted
}

async function tryOnce(connecting: Promise<{ end(): Promise<void> }>): Promise<Error | undefined> {
  try {
    await (await connecting).end()
    return undefined
  } catch (error) {
    return error as Error
  }
}

async function migrateStore(url: string, options: StoreOptions): Promise<string[]> {
  const database = createDatabase({ connectionString: url, poolSize: 1 })
  try {
    return await options.progress.step('Migrating the database', note =>
      keepProcessAlive(
        migrate(database, {
          version: VERSION,
          onProgress: note,
          ...(options.signal && { signal: options.signal }),
        }),
      ),
    )
  } finally {
    await database.close()
  }
}
