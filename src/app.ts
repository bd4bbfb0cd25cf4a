import { timingSafeEqual } from 'node:crypto'
import type { AddressInfo } from 'node:net'
import { hostname } from 'node:os'
import { createRegistry } from './channels/registry.ts'
import { createSandboxProvider } from './channels/sandbox.ts'
import { createAccountRooms } from './compose/accounts.ts'
import { type BotRooms, createBotRooms, listBotChores, startBots } from './compose/bots.ts'
import { createBulkRooms, listBulkChores, startBulk } from './compose/bulk.ts'
import { type Courier, createCallbackRooms, freeCallbacks, startCallbacks } from './compose/callbacks.ts'
import { listChores } from './compose/chores.ts'
import { createConsentRooms, giveUpParts, settleOptOuts } from './compose/consent.ts'
import { createFoundation, type Foundation } from './compose/foundation.ts'
import { createFraudRooms, listFraudChores } from './compose/fraud.ts'
import { createMediaRooms } from './compose/media.ts'
import { createMessageRooms, type MessageRooms } from './compose/messages.ts'
import { identifyOfficial } from './compose/official.ts'
import { createOverviewRooms, foldTotals } from './compose/overview.ts'
import { createPeopleRooms, listPeopleChores } from './compose/people.ts'
import { createSessionRooms, startSessions } from './compose/sessions.ts'
import {
  createTemplateRooms,
  pollTemplates,
  sweepTemplateClaims,
  type TemplateRooms,
} from './compose/templates.ts'
import { createVerificationRooms, listVerificationChores } from './compose/verification.ts'
import type { Config } from './config.ts'
import { CHANNELS } from './contract/enums.ts'
import { checkMasterKey } from './core/master-key.ts'
import { countOutbox } from './core/outbox/store.ts'
import { SANDBOX } from './core/routing/route.ts'
import { createSandboxMessages } from './core/sandbox/messages.ts'
import { createSandboxInbox } from './core/sandbox/store.ts'
import { seed } from './core/seed.ts'
import { hashToken, knowOperatorToken } from './http/auth.ts'
import { createEventStreams } from './http/event-streams.ts'
import { createReadiness } from './http/readiness.ts'
import { listRoutes } from './http/routes.ts'
import { createServer } from './http/server.ts'
import { createClockCheck } from './infra/clock-check.ts'
import { CONSOLE_DIR } from './infra/console-build.ts'
import { type ConsoleFiles, createConsoleFiles } from './infra/console-files.ts'
import type { FileStore } from './infra/file-store.ts'
import type { Log } from './infra/log.ts'
import { ping } from './infra/ping.ts'
import type { Progress } from './infra/progress.ts'
import type { Secrets } from './infra/secrets.ts'
import { type Clock, systemClock } from './lib/clock.ts'
import { createRandom, type Random } from './lib/random.ts'
import { VERSION } from './version.ts'
import { startChores } from './workers/chores.ts'
import { startLoop } from './workers/loop.ts'
import { startNodeLease } from './workers/node-lease.ts'

export type AppOptions = {
  config: Config
  secrets: Secrets
  log: Log
  databaseUrl: string
  progress: Progress
  /** The machine's, unless a test says otherwise. */
  clock?: Clock
  random?: Random
  /** Where uploaded files go; as the configuration says, unless a test says otherwise. */
  files?: FileStore
  /** Where the built console is; in the checkout's or package's own place unless said otherwise. */
  consoleFiles?: ConsoleFiles
  /** Checks every answer against its schema: for tests. */
  checkResponses?: boolean
}

export type App = {
  /** Where it listens. */
  url: string
  /** The raw test key of a store that was empty: this once. */
  testKey: string | null
  /** Drains: takes nothing new, lets what has begun finish, and leaves the rest to other nodes. */
  stop(): Promise<void>
}

/** How long a stop waits for a database that is away, in ms: what is not written down by then is unknown. */
const STOP_PATIENCE_MS = 4_000
/** How often this node looks for messages that became due, in ms. */
const POLL_EVERY_MS = 250

/** Puts the program together and starts it. The store must be migrated. */
export async function startApp(options: AppOptions): Promise<App> {
  const { config, secrets, log } = options
  const clock = options.clock ?? systemClock
  const base = createFoundation({ ...options, clock, random: options.random ?? createRandom() })
  const { db, changes, metrics } = base
  let stopping = false
  /** Null until it may run. */
  let courier: Courier | null = null

  const inbox = createSandboxInbox({ db })
  const providers = createRegistry(createSandboxProvider({ inbox }))
  const rooms = createAccountRooms(base, providers, () => messages)
  const { media, mediaChore } = createMediaRooms(base, options.files)
  const sandboxMessages = createSandboxMessages({ db })
  await checkMasterKey(db, base.seal)
  await changes.start()
  const seeded = await seed({
    db,
    accounts: rooms.accountAdmin,
    prices: rooms.prices,
    connections: rooms.connectionAdmin,
    senders: rooms.senderReview,
  })
  const lease = await startNodeLease({
    db,
    clock,
    log,
    host: hostname(),
    // Nobody else can be on the embedded store.
    alone: config.databaseUrl === undefined,
    unknownDeadlineMs: config.unknownDeadlineMs,
  })
  const consent = createConsentRooms(base, () => courier?.wake())
  const templateRooms: TemplateRooms = createTemplateRooms(
    base,
    rooms,
    media,
    rooms.officialSenders,
    () => messages,
  )
  const bots: BotRooms = createBotRooms(base, rooms, consent, providers, lease, () => messages)
  const messages: MessageRooms = createMessageRooms(
    base,
    rooms,
    consent,
    { media },
    templateRooms,
    bots,
    providers,
    lease,
    () => stopping,
  )
  const fraud = createFraudRooms(base)
  const verificationRooms = createVerificationRooms(base, messages, fraud, lease)
  const bulk = createBulkRooms(base, rooms, messages, { media }, lease)
  const sessions = createSessionRooms(base, rooms, messages, providers, lease, () => stopping)
  const operatorToken = knowOperatorToken(secrets.operatorToken)
  const people = createPeopleRooms(base, rooms, messages.send, token =>
    timingSafeEqual(hashToken(token), operatorToken.hash),
  )
  const overview = createOverviewRooms(base, providers, messages, lease)
  const callbackRooms = createCallbackRooms(base, lease)
  await callbackRooms.webhooks.refresh()
  await openLinks(base, messages)
  warnOfSandbox(base, messages)

  const poll = startLoop({
    clock,
    everyMs: POLL_EVERY_MS,
    async round() {
      // First: what a sender was refused must not be found due.
      await messages.accept.withdrawUnconfirmed()
      await verificationRooms.withdrawUnconfirmed()
      return (await messages.dispatcher.poll()) > 0 ? 'again' : undefined
    },
    onError: error => log.debug({ err: error }, 'looking for due messages failed; it goes on'),
  })
  messages.dispatcher.onDue(poll.wakeAt)
  courier = startCallbacks(base, callbackRooms.callbacks)
  const bulkWork = startBulk(base, bulk)
  const botWork = startBots(base, bots)
  const sessionWork = startSessions(base, sessions)
  const chores = startChores(
    [
      ...listChores(base, rooms, messages, sandboxMessages),
      freeCallbacks(base),
      giveUpParts(consent),
      ...settleOptOuts(consent),
      mediaChore,
      pollTemplates(templateRooms),
      sweepTemplateClaims(base),
      identifyOfficial(base, messages),
      ...listVerificationChores(base, verificationRooms),
      ...listFraudChores(base, fraud),
      ...listBulkChores(base, bulk),
      ...listPeopleChores(base, people),
      foldTotals(overview),
      ...listBotChores(base, bots),
    ],
    // A test's clock is where the test wants it: the machine's own is what may be wrong.
    { clock, log, checkClock: createClockCheck({ db, clock: systemClock }) },
  )
  readMetrics(base, messages)

  const readiness = createReadiness({
    clock,
    checks: { 'the database': () => ping(db) },
  })
  const server = await createServer({
    log,
    clock,
    ids: base.ids,
    keys: rooms.keys,
    people: people.access,
    audit: people.auditLog,
    operatorToken,
    attempts: people.attempts,
    metrics,
    nodeCount: lease.count,
    routes: listRoutes(
      {
        ...rooms,
        ...messages,
        ...consent,
        ...templateRooms,
        ...callbackRooms,
        ...verificationRooms,
        ...fraud,
        ...bulk,
        ...people,
        ...overview,
        ...bots,
        webSessions: sessions.webSessions,
        eventStreams: createEventStreams({ clock, keys: rooms.keys, people: people.access }),
        sandboxMessages,
        media,
        consoleFiles: options.consoleFiles ?? createConsoleFiles(CONSOLE_DIR),
        readiness,
        metrics,
        publicUrl: config.publicUrl ?? null,
      },
      { version: VERSION, ...(config.publicUrl !== undefined && { publicUrl: config.publicUrl }) },
    ),
    media,
    trustedProxies: config.trustedProxies,
    longestRequestMs: config.bulkTimeoutMs,
    checkResponses: options.checkResponses ?? false,
  })
  await server.listen({ host: config.host, port: config.port })

  async function stop(): Promise<void> {
    readiness.drain()
    // What providers say meanwhile is waited for, and so is a database that is away: this long.
    clock.after(STOP_PATIENCE_MS, () => {
      stopping = true
    })
    bulk.bulkWatch.close()
    messages.messageWatch.close()
    consent.inboundWatch.close()
    await server.close()
    await bulkWork.stop()
    await botWork.stop()
    await poll.stop()
    await Promise.all([messages.dispatcher.stop(), messages.reconciler.stop(), courier?.stop()])
    await sessionWork.stop()
    stopping = true
    await messages.links.close()
    await messages.settle.idle()
    await chores.stop()
    await leave()
  }

  /** What is left is other nodes' as soon as this one has signed off; without a database it is theirs in seconds. */
  async function leave(): Promise<void> {
    await rooms.keys.flushUsed().catch(() => {})
    await people.sessions.flushSeen().catch(() => {})
    await people.auditLog.flush().catch(() => {})
    await fraud.guard.round().catch(() => {})
    await lease.stop().catch(() => {})
    await changes.stop()
    await db.close()
  }

  return { url: urlOf(server.server.address() as AddressInfo), testKey: seeded?.testKey ?? null, stop }
}

/** Links follow the connections, here and on every other node. */
async function openLinks({ log, changes }: Foundation, { syncLinks }: MessageRooms): Promise<void> {
  const later = () =>
    void syncLinks().catch(error =>
      log.warn({ err: error }, 'connections could not be read; links stay as they are'),
    )
  changes.subscribe({
    changed(table) {
      if (table === 'connections') later()
    },
    reset: later,
  })
  await syncLinks()
}

/** The sandbox must not pass for the real thing. */
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
      'no connection carries these channels yet: live keys send to the sandbox on them',
    )
  }
}

function readMetrics({ db, clock, metrics }: Foundation, { dispatcher, links }: MessageRooms): void {
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
    outboxDepth: async () => (await countOutbox(db, clock.now())).waiting,
    unknownMessages: async () => (await countOutbox(db, clock.now())).unknown,
  })
}

function urlOf({ address, family, port }: AddressInfo): string {
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`
}
