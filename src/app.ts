import type { AddressInfo } from 'node:net'
import { hostname } from 'node:os'
import { createRegistry } from './channels/registry.ts'
import { createSandboxProvider } from './channels/sandbox.ts'
import { type AccountRooms, createAccountRooms } from './compose/accounts.ts'
import { createFoundation, type DatabaseWaits, type Foundation } from './compose/foundation.ts'
import { createMediaRooms } from './compose/media.ts'
import type { MessageRooms } from './compose/messages.ts'
import { createRooms, type Rooms, withdrawUnconfirmed } from './compose/rooms.ts'
import { startWork, type Work } from './compose/work.ts'
import type { Config } from './config.ts'
import { CHANNELS } from './contract/enums.ts'
import { SANDBOX } from './contract/sandbox.ts'
import { countWaiting } from './core/callbacks/store.ts'
import { checkMasterKey } from './core/master-key.ts'
import { countOutbox } from './core/outbox/store.ts'
import { createSandboxInbox } from './core/sandbox/store.ts'
import { seed } from './core/seed.ts'
import { type OperatorToken, readOperatorToken } from './http/auth.ts'
import { createEventStreams } from './http/event-streams.ts'
import { createReadiness, type Readiness } from './http/readiness.ts'
import { listRoutes } from './http/routes.ts'
import { createServer } from './http/server.ts'
import { checkAddress } from './infra/check-address.ts'
import { CONSOLE_DIR } from './infra/console-build.ts'
import { type ConsoleFiles, createConsoleFiles } from './infra/console-files.ts'
import type { FileStore } from './infra/file-store.ts'
import type { Logger } from './infra/log.ts'
import { createNewerSchemaCheck } from './infra/newer-schema.ts'
import { UPLOAD_BYTES } from './infra/object-store.ts'
import { ping } from './infra/ping.ts'
import type { Progress } from './infra/progress.ts'
import type { Secrets } from './infra/secrets.ts'
import { type Clock, systemClock, withinMs } from './lib/clock.ts'
import { createRandom, type Random } from './lib/random.ts'
import type { Refusal } from './lib/refusal.ts'
import { VERSION } from './version.ts'
import type { Loop } from './workers/loop.ts'
import { type NodeLease, startNodeLease } from './workers/node-lease.ts'
import { startSchemaWatch } from './workers/schema-watch.ts'

export type AppOptions = {
  config: Config
  secrets: Secrets
  log: Logger
  databaseUrl: string
  /** Time limits for the database; the defaults unless a test sets them. */
  databaseWaits?: DatabaseWaits
  progress: Progress
  /** The system clock unless a test sets another one. */
  clock?: Clock
  random?: Random
  /** Storage of uploaded files; by the configuration unless a test sets it. */
  files?: FileStore
  /** The built console; from its usual place by default. */
  consoleFiles?: ConsoleFiles
  /** Called when a newer version has migrated the database: this process cannot go on. Not checked if undefined. */
  onOutgrown?(reason: Refusal): void
  /** Validates every response against its schema, for tests. */
  checkResponses?: boolean
}

export type App = {
  /** The address that it listens on. */
  url: string
  /** The test key of a database that was empty, shown only this once; null otherwise. */
  testKey: string | null
  /** Drains: accepts nothing new, finishes what has begun, and leaves the rest to other nodes. */
  stop(): Promise<void>
}

/** How long a stop waits for an unavailable database, in ms: outcomes that are not stored by then stay unknown. */
const STOP_PATIENCE_MS = 4_000
/**
 * How long a stop waits for answers of providers and webhook receivers, in ms: the rest of its ten seconds is for storing
 * that there were none.
 */
const ANSWER_PATIENCE_MS = 7_000
/**
 * How long a stop waits for the chores under way, in ms: some may take a minute, and all are repeated at their next time. Then their
 * statements fail, and what waits for something else, such as the file store, is left behind a moment later.
 */
const CHORE_PATIENCE_MS = 1_000
const CHORE_GRACE_MS = 500

/** Builds the program and starts it. The database must be migrated. */
export async function startApp(options: AppOptions): Promise<App> {
  const { clock = systemClock, random = createRandom() } = options
  const address = { host: options.config.host, port: options.config.port }
  // Before the database is filled: a start that cannot listen would use up the test key, which is shown only once.
  await checkAddress(address)
  const base = createFoundation({ ...options, clock, random })
  const { db, changes } = base
  let stopping = false
  /** Null until the server listens. */
  let work: Work | null = null

  const providers = createRegistry(createSandboxProvider({ inbox: createSandboxInbox({ db }) }))
  const accounts = createAccountRooms(base, providers, () => rooms.messages)
  await checkMasterKey(db, base.seal)
  await changes.start()
  const seeded = await seedStore(base, accounts)
  const lease = await startLease(base)
  const operatorToken = readOperatorToken(options.secrets.operatorToken)
  const rooms: Rooms = createRooms(base, {
    accounts,
    mediaRooms: createMediaRooms(base, options.files),
    providers,
    lease,
    operatorToken,
    stopping: () => stopping,
    wakeCallbacks: () => work?.wakeCallbacks(),
  })
  await rooms.callbacks.webhooks.refresh()
  await openLinks(base, rooms.messages)
  warnOfSandbox(base, rooms.messages)
  exposeGauges(base, rooms.messages)

  const readiness = createReadiness({ clock, checks: { 'the database': () => ping(db) } })
  const { consoleFiles = createConsoleFiles(CONSOLE_DIR, clock) } = options
  const server = await openServer(options, base, rooms, { lease, operatorToken, readiness, consoleFiles })
  try {
    await server.listen(address)
  } catch (error) {
    // No work was started yet: a node that cannot be reached must not claim messages.
    await rooms.messages.links.close()
    await closeNode(base, rooms, lease)
    throw error
  }
  const started = startWork(base, rooms)
  work = started
  const watch = watchStore(base, options.onOutgrown)

  async function stop(): Promise<void> {
    readiness.drain()
    // Until then the stop waits for outcomes, and for an unavailable database.
    const cancelPatience = clock.after(STOP_PATIENCE_MS, () => {
      stopping = true
    })
    const cancelGiveUp = clock.after(ANSWER_PATIENCE_MS, () => {
      rooms.messages.dispatcher.abandonSubmits()
      rooms.callbacks.callbacks.abandon()
    })
    endStreams(rooms)
    consoleFiles.stopWaiting()
    await server.close()
    await started.finish()
    cancelPatience()
    cancelGiveUp()
    stopping = true
    await rooms.messages.links.close()
    await rooms.messages.settle.idle()
    const cancelChores = clock.after(CHORE_PATIENCE_MS, db.endLongWaits)
    await withinMs(clock, CHORE_PATIENCE_MS + CHORE_GRACE_MS, started.stopChores())
    cancelChores()
    await watch?.stop()
    await closeNode(base, rooms, lease)
  }

  return { url: urlOf(server.server.address() as AddressInfo), testKey: seeded?.testKey ?? null, stop }
}

function seedStore({ db }: Foundation, accounts: AccountRooms) {
  return seed({
    db,
    accounts: accounts.accountAdmin,
    prices: accounts.prices,
    connections: accounts.connectionAdmin,
    senders: accounts.senderReview,
  })
}

function startLease({ db, clock, log, config }: Foundation): Promise<NodeLease> {
  return startNodeLease({
    db,
    clock,
    log,
    host: hostname(),
    // Only this process can use the embedded database.
    isExclusive: config.databaseUrl === undefined,
    unknownDeadlineMs: config.unknownDeadlineMs,
  })
}

/** Opens the links, and keeps them in sync with the connections, which any node may change. */
async function openLinks({ log, changes }: Foundation, { syncLinks }: MessageRooms): Promise<void> {
  const syncInBackground = () =>
    void syncLinks().catch(error =>
      log.warn({ err: error }, 'connections could not be read; the open links are unchanged'),
    )
  changes.subscribe({
    changed(table) {
      if (table === 'connections') syncInBackground()
    },
    reset: syncInBackground,
  })
  await syncLinks()
}

/** Warns that live messages go to the sandbox. */
function warnOfSandbox({ config, log }: Foundation, { links }: MessageRooms): void {
  const real = new Set(
    links
      .all()
      .filter(open => open.enabled && open.provider !== SANDBOX)
      .flatMap(open => open.channels),
  )
  const simulated = CHANNELS.filter(channel => !real.has(channel))
  if (config.sandbox && simulated.length > 0) {
    log.warn(
      { channels: simulated },
      'these channels have no connection yet: live keys use the sandbox on them',
    )
  }
}

function exposeGauges({ db, clock, metrics }: Foundation, { dispatcher, links }: MessageRooms): void {
  metrics.read({
    lanes: () =>
      dispatcher.stats().map(lane => ({
        connection: lane.connectionId,
        provider: lane.provider,
        up: links.get(lane.connectionId)?.state().state !== 'down',
        circuit: lane.circuit,
        inFlight: lane.busy,
        waiting: lane.held,
      })),
    outbox: () => countOutbox(db, clock.now()),
    callbacksWaiting: () => countWaiting(db),
  })
}

function openServer(
  options: AppOptions,
  { config, log, clock, ids, metrics }: Foundation,
  rooms: Rooms,
  node: { lease: NodeLease; operatorToken: OperatorToken; readiness: Readiness; consoleFiles: ConsoleFiles },
) {
  const { accounts, people, sandboxMessages } = rooms
  const { keys } = accounts
  const { media } = rooms.mediaRooms
  const routes = listRoutes(
    {
      ...accounts,
      ...rooms.messages,
      ...rooms.consent,
      ...rooms.templates,
      ...rooms.callbacks,
      ...rooms.verification,
      ...rooms.fraud,
      ...rooms.bulk,
      ...people,
      ...rooms.overview,
      ...rooms.bots,
      webSessions: rooms.sessions.webSessions,
      eventStreams: createEventStreams({ clock, keys, people: people.access }),
      sandboxMessages,
      media,
      consoleFiles: node.consoleFiles,
      readiness: node.readiness,
      metrics,
      publicUrl: config.publicUrl ?? null,
    },
    { version: VERSION, ...(config.publicUrl !== undefined && { publicUrl: config.publicUrl }) },
  )
  return createServer({
    log,
    clock,
    ids,
    keys,
    people: people.access,
    audit: people.auditLog,
    operatorToken: node.operatorToken,
    attempts: people.attempts,
    metrics,
    nodeCount: node.lease.count,
    routes,
    media,
    fileBytes: config.mediaBucket ? UPLOAD_BYTES : 0,
    trustedProxies: config.trustedProxies,
    longestRequestMs: config.bulkTimeoutMs,
    checkResponses: options.checkResponses ?? false,
  })
}

function watchStore({ db, clock }: Foundation, onOutgrown: AppOptions['onOutgrown']): Loop | null {
  return onOutgrown
    ? startSchemaWatch({ clock, findNewer: createNewerSchemaCheck(db), onNewerSchema: onOutgrown })
    : null
}

/** Event streams never end by themselves; when they are closed, their clients reconnect to another node. */
function endStreams({ bulk, messages, consent }: Rooms): void {
  bulk.bulkWatch.close()
  messages.messageWatch.close()
  consent.inboundWatch.close()
}

/**
 * Ends the node's lease, so that other nodes take over at once; without a database they do when the lease
 * expires, in seconds.
 */
async function closeNode({ db, changes }: Foundation, rooms: Rooms, lease: NodeLease): Promise<void> {
  // Concurrently, since each one waits if the database hangs. And before the lease ends, so that no other
  // node sends a message whose sender was told that it was not accepted.
  await Promise.allSettled([
    withdrawUnconfirmed(rooms),
    rooms.accounts.keys.flushUsed(),
    rooms.people.sessions.flushSeen(),
    rooms.people.auditLog.flush(),
    rooms.fraud.guard.stop(),
  ])
  await lease.stop().catch(() => {})
  await changes.stop()
  await db.close()
}

function urlOf({ address, family, port }: AddressInfo): string {
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`
}
