import type { Config } from '../config.ts'
import { createDatabase, isConnectionLoss } from '../infra/db.ts'
import { startEmbedded } from '../infra/embedded.ts'
import { createLog, type Logger } from '../infra/log.ts'
import { migrate } from '../infra/migrate.ts'
import { createProgress, type Progress } from '../infra/progress.ts'
import { awake, type Clock, pause, systemClock } from '../lib/clock.ts'
import { VERSION } from '../version.ts'
import { needsChange, unusable } from './unusable-database.ts'

export type StoreOptions = {
  config: Config
  clock: Clock
  log: Logger
  progress: Progress
  /** The embedded server fell into another process's hands: nothing can go on. */
  onLost(error: Error): void
  /** Ends the wait for a database, or for a node that migrates it: then `openStore` rejects with its reason. */
  signal?: AbortSignal
}

/** The database, up to date and ready. */
export type Store = {
  url: string
  /** The migrations that this start applied. */
  applied: readonly string[]
  /** Stops the embedded server; leaves another one alone. */
  stop(): Promise<void>
}

const DATABASE_WAIT_MS = 30_000
const DATABASE_LOOK_MS = 250

/** Starts the embedded server or finds the external one, and migrates it. */
export async function openStore(options: StoreOptions): Promise<Store> {
  const server = await openServer(options)
  try {
    return { ...server, applied: await migrateStore(server.url, options) }
  } catch (error) {
    await server.stop()
    throw error
  }
}

/** The same for a command that does one thing: it tells how that goes and what fails, and ends where the database is lost. */
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
  const { config, clock, log, progress, onLost } = options
  if (!config.databaseUrl) return startEmbedded({ dataDir: config.dataDir, clock, log, progress, onLost })
  const url = config.databaseUrl
  await progress.step('Waiting for the database', () => awake(reach(url, clock, options.signal)))
  return { url, stop: async () => {} }
}

/** A database that starts beside us may need a moment. */
async function reach(url: string, clock: Clock, signal?: AbortSignal): Promise<void> {
  const database = createDatabase({ connectionString: url, poolSize: 1 })
  const untilMs = clock.monotonic() + DATABASE_WAIT_MS
  const stopped = abortOf(signal)
  try {
    for (;;) {
      const failure = await Promise.race([tryOnce(database.dedicated()), stopped])
      if (!failure) return
      const hopeless = !isConnectionLoss(failure) || needsChange(failure)
      if (hopeless || clock.monotonic() > untilMs) throw unusable(failure)
      await Promise.race([pause(clock, DATABASE_LOOK_MS), stopped])
    }
  } finally {
    await database.close()
  }
}

/** Rejects when the signal is given; nobody need wait for that. */
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
      awake(
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
