import type { Cancel, Clock } from '../lib/clock.ts'
import { withinMs } from '../lib/clock.ts'
import { type AccountId, fromUuid } from '../lib/ids.ts'
import type { Log } from '../lib/log.ts'

/** A cache that is told of changes. */
export type Subscriber = {
  /** A row of `table` changed; `accountId` is null for tables that belong to no account. */
  changed(table: string, accountId: AccountId | null): void
  /** Changes may have been missed: everything that was read before is outdated. */
  reset(): void
}

/** Notifies this process of changes that any node made in the database. */
export type Changes = {
  /** Starts to listen; resolves once it listens, however long the database takes. */
  start(): Promise<void>
  stop(): Promise<void>
  /** Whether every change committed at least STALE_MS ago was received, so that cached values may be used. */
  fresh(): boolean
  /** Returns a function that ends the subscription. */
  subscribe(subscriber: Subscriber): () => void
  /**
   * Notifies the subscribers of this process at once of a change that it made; other nodes get it through the
   * database.
   */
  publish(table: string, accountId: AccountId | null): void
}

/** The methods of `pg.Client` that listening needs. */
export type ListenClient = {
  query(text: string): Promise<unknown>
  on(event: 'notification', listener: (message: { payload?: string | undefined }) => void): unknown
  on(event: 'error' | 'end', listener: (error?: Error) => void): unknown
  end(): Promise<void>
}

export type ChangesOptions = {
  clock: Clock
  /** Opens a connection outside the pool; `Changes` closes it. */
  connect(): Promise<ListenClient>
  log: Pick<Log, 'warn' | 'info'>
}

/** Triggers of the schema notify this channel with the payload `table:account_uuid`. */
const CHANNEL = 'posthorn_changes'
/** Interval between round trips on the listening connection. */
const HEARTBEAT_MS = 300
/** Caches are bypassed if there was no successful round trip for this long. */
const STALE_MS = 800
/** A connection whose round trip takes longer is given up. */
const ROUND_TRIP_TIMEOUT_MS = 2_000
const RECONNECT_AFTER_MS = 200
const CLOSE_TIMEOUT_MS = 500

/**
 * Listens on one connection, and proves by round trips that it still receives notifications. PostgreSQL
 * delivers notifications in the order of commits, and before the answer of a later query, so a round trip
 * that began at t has delivered every change committed before t. If the connection is lost, hangs or is
 * half-open, `fresh()` turns false within STALE_MS.
 */
export function createChanges(options: ChangesOptions): Changes {
  const { clock, log } = options
  const subscribers = new Set<Subscriber>()
  const listening = Promise.withResolvers<void>()
  let client: ListenClient | null = null
  let lastHeartbeatAtMs = Number.NEGATIVE_INFINITY
  let cancelNext: Cancel = () => {}
  let stopped = false

  async function open(): Promise<void> {
    try {
      const opened = await options.connect()
      if (stopped) return void opened.end().catch(ignore)
      useConnection(opened)
      await startListening(opened)
    } catch (error) {
      if (!client) retry(error)
    }
  }

  function useConnection(opened: ListenClient): void {
    client = opened
    opened.on('notification', message => notifySubscribers(message.payload ?? ''))
    opened.on('error', error => handleLoss(opened, error))
    opened.on('end', () => handleLoss(opened, new Error('the listening connection ended')))
  }

  /** Caches may fill only once LISTEN is active; entries that they already have may have missed changes. */
  async function startListening(current: ListenClient): Promise<void> {
    if (!(await roundTrip(current, `LISTEN ${CHANNEL}`))) return
    for (const subscriber of subscribers) subscriber.reset()
    log.info({}, 'listening for changes')
    listening.resolve()
    scheduleHeartbeat(current)
  }

  function scheduleHeartbeat(current: ListenClient): void {
    cancelNext = clock.after(HEARTBEAT_MS, async () => {
      if (await roundTrip(current, 'SELECT')) scheduleHeartbeat(current)
    })
  }

  /**
   * Runs a query; true if it succeeded on the current connection. The proof is dated from when the query was
   * sent.
   */
  async function roundTrip(current: ListenClient, text: string): Promise<boolean> {
    const sentAtMs = clock.monotonic()
    const cancel = clock.after(ROUND_TRIP_TIMEOUT_MS, () =>
      handleLoss(current, new Error('the listening connection is silent')),
    )
    try {
      await current.query(text)
    } catch (error) {
      handleLoss(current, error)
    } finally {
      cancel()
    }
    if (current !== client) return false
    lastHeartbeatAtMs = sentAtMs
    return true
  }

  function handleLoss(lost: ListenClient, error: unknown): void {
    if (lost !== client) return
    forgetClient()
    lost.end().catch(ignore)
    retry(error)
  }

  function forgetClient(): void {
    client = null
    lastHeartbeatAtMs = Number.NEGATIVE_INFINITY
    cancelNext()
  }

  function retry(error: unknown): void {
    if (stopped) return
    log.warn({ err: error }, 'not listening for changes: caches are bypassed until the connection is back')
    cancelNext = clock.after(RECONNECT_AFTER_MS, () => void open())
  }

  function notifySubscribers(payload: string): void {
    const colon = payload.indexOf(':')
    if (colon < 0) return
    const uuid = payload.slice(colon + 1)
    const accountId = uuid === '' ? null : fromUuid('acc', uuid)
    for (const subscriber of subscribers) subscriber.changed(payload.slice(0, colon), accountId)
  }

  return {
    start() {
      void open()
      return listening.promise
    },
    async stop() {
      stopped = true
      const last = client
      forgetClient()
      if (last) await withinMs(clock, CLOSE_TIMEOUT_MS, last.end())
      listening.resolve()
    },
    fresh: () => clock.monotonic() - lastHeartbeatAtMs <= STALE_MS,
    publish(table, accountId) {
      for (const subscriber of subscribers) subscriber.changed(table, accountId)
    },
    subscribe(subscriber) {
      subscribers.add(subscriber)
      return () => subscribers.delete(subscriber)
    },
  }
}

function ignore(): void {}
