import type { Cancel, Clock } from '../lib/clock.ts'
import { withinMs } from '../lib/clock.ts'
import { type AccountId, fromUuid } from '../lib/ids.ts'
import type { Log } from '../lib/log.ts'

/** What hears of changes: every cache of the process. */
export type Subscriber = {
  /** A row of `table` changed; `accountId` is null where the table belongs to nobody. */
  changed(table: string, accountId: AccountId | null): void
  /** Changes may have been missed: nothing that was read before now can be trusted. */
  reset(): void
}

/** Tells this process what any node changed in the store. */
export type Changes = {
  /** Starts to listen; resolves once it does, however long the database takes. */
  start(): Promise<void>
  stop(): Promise<void>
  /** Every change committed STALE_MS ago or earlier was heard: what is held may be used. */
  fresh(): boolean
  /** Returns what ends the subscription. */
  subscribe(subscriber: Subscriber): () => void
  /** Tells this process at once of a change of its own, which the others hear from the store. */
  publish(table: string, accountId: AccountId | null): void
}

/** The part of a `pg.Client` that listening needs. */
export type ListenClient = {
  query(text: string): Promise<unknown>
  on(event: 'notification', listener: (message: { payload?: string | undefined }) => void): unknown
  on(event: 'error' | 'end', listener: (error?: Error) => void): unknown
  end(): Promise<void>
}

export type ChangesOptions = {
  clock: Clock
  /** Opens a connection outside the pool; it is ended here. */
  connect(): Promise<ListenClient>
  log: Pick<Log, 'warn' | 'info'>
}

/** Fired by the triggers of the schema with `table:account_uuid` as payload. */
const CHANNEL = 'posthorn_changes'
/** From one round trip on the listening connection to the next. */
const HEARTBEAT_MS = 300
/** Without a good round trip for this long, caches are bypassed. */
const STALE_MS = 800
/** A round trip that takes longer costs the connection. */
const SILENT_MS = 2_000
const RECONNECT_AFTER_MS = 200
const GOODBYE_MS = 500

/**
 * One connection that LISTENs, and proves by round trips that it still hears:
 * PostgreSQL delivers notifications in the order of commits and before the
 * answer of a later query, so a round trip begun at t has brought every change
 * committed before t. A connection that was lost, hangs or is half-open turns
 * `fresh()` false at once or within STALE_MS, never later.
 */
export function createChanges(options: ChangesOptions): Changes {
  const { clock, log } = options
  const subscribers = new Set<Subscriber>()
  const listening = Promise.withResolvers<void>()
  let client: ListenClient | null = null
  let provenAtMs = Number.NEGATIVE_INFINITY
  let cancelNext: Cancel = () => {}
  let stopped = false

  async function open(): Promise<void> {
    try {
      const opened = await options.connect()
      if (stopped) return void opened.end().catch(ignore)
      adopt(opened)
      await greet(opened)
    } catch (error) {
      if (!client) retry(error)
    }
  }

  function adopt(opened: ListenClient): void {
    client = opened
    opened.on('notification', message => tell(message.payload ?? ''))
    opened.on('error', error => lose(opened, error))
    opened.on('end', () => lose(opened, new Error('the listening connection ended')))
  }

  /** Only after LISTEN has taken hold may caches fill; whatever they hold is older. */
  async function greet(current: ListenClient): Promise<void> {
    if (!(await roundTrip(current, `LISTEN ${CHANNEL}`))) return
    for (const subscriber of subscribers) subscriber.reset()
    log.info({}, 'listening for changes')
    listening.resolve()
    beatLater(current)
  }

  function beatLater(current: ListenClient): void {
    cancelNext = clock.after(HEARTBEAT_MS, async () => {
      if (await roundTrip(current, 'SELECT')) beatLater(current)
    })
  }

  /** True when it came back on a connection that is still ours; dates the proof from its start. */
  async function roundTrip(current: ListenClient, text: string): Promise<boolean> {
    const sentAtMs = clock.monotonic()
    const cancel = clock.after(SILENT_MS, () =>
      lose(current, new Error('the listening connection is silent')),
    )
    try {
      await current.query(text)
    } catch (error) {
      lose(current, error)
    } finally {
      cancel()
    }
    if (current !== client) return false
    provenAtMs = sentAtMs
    return true
  }

  function lose(lost: ListenClient, error: unknown): void {
    if (lost !== client) return
    forgetClient()
    lost.end().catch(ignore)
    retry(error)
  }

  function forgetClient(): void {
    client = null
    provenAtMs = Number.NEGATIVE_INFINITY
    cancelNext()
  }

  function retry(error: unknown): void {
    if (stopped) return
    log.warn({ err: error }, 'not listening for changes: caches are bypassed until the connection is back')
    cancelNext = clock.after(RECONNECT_AFTER_MS, () => void open())
  }

  function tell(payload: string): void {
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
      if (last) await withinMs(clock, GOODBYE_MS, last.end())
      listening.resolve()
    },
    fresh: () => clock.monotonic() - provenAtMs <= STALE_MS,
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
