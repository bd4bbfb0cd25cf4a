import type { Config } from '../config.ts'
import { type Changes, createChanges } from '../infra/changes.ts'
import { createDatabase, type Database, type DatabaseOptions } from '../infra/db.ts'
import { createGuardedFetch, type GuardedFetch } from '../infra/guarded-fetch.ts'
import type { Logger } from '../infra/log.ts'
import { createMetrics, type Metrics } from '../infra/metrics.ts'
import { createSeal, type MasterSeal } from '../infra/seal.ts'
import type { Secrets } from '../infra/secrets.ts'
import type { Clock } from '../lib/clock.ts'
import { createIds, type Ids } from '../lib/ids.ts'
import { createPhones, type Phones } from '../lib/phone.ts'
import type { Random } from '../lib/random.ts'

/** What all rooms share. */
export type Foundation = {
  config: Config
  log: Logger
  clock: Clock
  random: Random
  ids: Ids
  seal: MasterSeal
  metrics: Metrics
  db: Database
  changes: Changes
  phones: Phones
  guarded: GuardedFetch
}

export type DatabaseWaits = Pick<DatabaseOptions, 'connectTimeoutMs' | 'queryTimeoutMs'>

/** The largest file that is downloaded for a message, in bytes. */
const MAX_FILE_BYTES = 100 * 1024 * 1024
const FILE_TIMEOUT_MS = 20_000
/** Cached phone numbers: parsing one costs about 10 µs. */
const MAX_CACHED_PHONES = 20_000

export function createFoundation(options: {
  config: Config
  secrets: Secrets
  log: Logger
  databaseUrl: string
  databaseWaits?: DatabaseWaits
  clock: Clock
  random: Random
}): Foundation {
  const { config, log, clock, random } = options
  const db = createDatabase({
    connectionString: options.databaseUrl,
    poolSize: config.databasePool,
    ...options.databaseWaits,
    onIdleError: error => log.debug({ err: error }, 'an idle database connection was lost'),
  })
  return {
    config,
    log,
    clock,
    random,
    ids: createIds(clock, random),
    seal: createSeal(options.secrets.masterKey, random, config.masterKeyPrevious),
    metrics: createMetrics(),
    db,
    changes: createChanges({ clock, connect: () => db.dedicated(), log }),
    phones: createPhones({ cacheSize: MAX_CACHED_PHONES }),
    guarded: createGuardedFetch({
      allowPrivateHosts: config.allowPrivateHosts,
      clock,
      maxBytes: MAX_FILE_BYTES,
      timeoutMs: FILE_TIMEOUT_MS,
    }),
  }
}
