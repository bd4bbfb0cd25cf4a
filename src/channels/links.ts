import type { Channel } from '../contract/enums.ts'
import { SANDBOX } from '../contract/sandbox.ts'
import type { Clock } from '../lib/clock.ts'
import type { AccountId, ConnectionId } from '../lib/ids.ts'
import type { Log } from '../lib/log.ts'
import type { Io, Link, LinkState, LinkTest, Provider } from './provider.ts'

/** What a link is opened from. */
export type LinkSpec = {
  id: ConnectionId
  accountId: AccountId
  provider: string
  channels: readonly Channel[]
  enabled: boolean
  revision: number
  retryPolicy: { maxAttempts: number; backoffMs: number }
}

export type OpenLink = LinkSpec & { link: Link; supplier: Provider; state(): LinkState; calls: CallCounter }

/** Counts the calls in progress on a link. */
export type CallCounter = {
  begin(): void
  end(): void
  /** Resolves when there is none. */
  idle(): Promise<void>
}

export type LinksDeps = {
  clock: Pick<Clock, 'after'>
  providers: ReadonlyMap<string, Provider>
  /** The connections as they are now. */
  readSpecs(): Promise<readonly LinkSpec[]>
  /** The whole configuration, secrets included; read only to open a link. Null when the connection is gone. */
  openConfig(id: ConnectionId): Promise<Record<string, unknown> | null>
  io(spec: LinkSpec, report: (state: LinkState) => void): Io
  log: Log
  /** Called after links were opened, closed or replaced. */
  changed(): void
}

export type Links = {
  /** The link of a connection that may carry messages. */
  get(id: ConnectionId): OpenLink | undefined
  all(): readonly OpenLink[]
  /** The link that reads a connection's webhook calls; there is one for a disabled connection, too. */
  webhookLink(id: ConnectionId): OpenLink | undefined
  /**
   * Adds a link that the caller opened and keeps ownership of, such as a web session that is open on this node. It carries
   * messages until the function that is returned is called.
   */
  attach(open: Omit<OpenLink, 'calls'>): () => void
  /**
   * Opens new connections, reopens changed ones, closes removed ones. Rejects if the connections cannot be read: then the
   * links stay as they are, and it is tried again.
   */
  sync(): Promise<void>
  /** Asks the provider whether the configuration works. */
  test(id: ConnectionId, signal: AbortSignal): Promise<LinkTest>
  close(): Promise<void>
}

/** Pause before connections or a configuration that could not be read are read again; doubled each time. */
const FIRST_PAUSE_MS = 1_000
const MAX_PAUSE_MS = 60_000

/** Holds one open link per connection, and keeps them in step with the configuration. */
export function createLinks(deps: LinksDeps): Links {
  /** Including those of disabled connections, which only read webhook calls. */
  const links = new Map<ConnectionId, OpenLink>()
  /** Links that were attached. */
  const attached = new Map<ConnectionId, OpenLink>()
  let syncing: Promise<void> = Promise.resolve()
  /** The part of it after the read: a shutdown does not wait for a database that hangs. */
  let reconciling: Promise<void> = Promise.resolve()
  /** Replaced links that still wait for answers to what was sent over them. */
  const closing = new Set<Promise<void>>()
  let closed = false
  let pauseMs = FIRST_PAUSE_MS
  let cancelRetry = (): void => {}

  /** One call at a time, with its read: a read that ended after a later one would bring back an earlier state. */
  function sync(): Promise<void> {
    const synced = syncing.then(readAndReconcile)
    syncing = synced.catch(() => {})
    return synced
  }

  async function readAndReconcile(): Promise<void> {
    if (closed) return
    cancelRetry()
    const specs = await deps.readSpecs().catch(error => {
      scheduleRetry()
      throw error
    })
    if (closed) return
    reconciling = reconcile(specs).catch(error =>
      deps.log.warn({ err: error }, 'the links could not be brought in line with the connections'),
    )
    await reconciling
  }

  async function reconcile(specs: readonly LinkSpec[]): Promise<void> {
    const wanted = new Map(specs.filter(isWanted).map(spec => [spec.id, spec]))
    const stale = [...links.values()].filter(open => wanted.get(open.id)?.revision !== open.revision)
    for (const open of stale) links.delete(open.id)
    let unread = false
    for (const spec of wanted.values()) if (!links.has(spec.id)) unread = !(await open(spec)) || unread
    deps.changed()
    for (const open of stale) retire(open)
    if (unread) scheduleRetry()
    else pauseMs = FIRST_PAUSE_MS
  }

  /** Retries by a timer: no change notification arrives when the database is available again. */
  function scheduleRetry(): void {
    if (closed) return
    cancelRetry = deps.clock.after(pauseMs, () => {
      sync().catch(error => deps.log.warn({ err: error }, 'the connections still cannot be read'))
    })
    pauseMs = Math.min(pauseMs * 2, MAX_PAUSE_MS)
  }

  function retire(open: OpenLink): void {
    const end = open.calls
      .idle()
      .then(() => open.link.close())
      .catch(error => deps.log.warn({ err: error, connectionId: open.id }, 'a link did not close'))
      .finally(() => {
        closing.delete(end)
        links.get(open.id)?.link.retryNow?.()
      })
    closing.add(end)
  }

  function isWanted(spec: LinkSpec): boolean {
    const supplier = deps.providers.get(spec.provider)
    return supplier !== undefined && (carriesMessages(spec) || supplier.usesWebhooks === true)
  }

  /** False where the configuration could not be read, which is tried again. One that is read and does not open waits for a change. */
  async function open(spec: LinkSpec): Promise<boolean> {
    try {
      const config = await deps.openConfig(spec.id)
      if (config) await openWith(spec, config)
      return true
    } catch (error) {
      logOpenFailure(spec, error)
      return false
    }
  }

  async function openWith(spec: LinkSpec, config: Record<string, unknown>): Promise<void> {
    const supplier = deps.providers.get(spec.provider)!
    let state: LinkState = { state: 'connecting', detail: '' }
    try {
      const link = await supplier.open(
        config,
        deps.io(spec, next => {
          state = next
        }),
      )
      links.set(spec.id, { ...spec, link, supplier, state: () => state, calls: createCallCounter() })
    } catch (error) {
      logOpenFailure(spec, error)
    }
  }

  function logOpenFailure({ id, provider }: LinkSpec, error: unknown): void {
    deps.log.warn({ err: error, connectionId: id, provider }, 'a connection could not be opened')
  }

  function carryingLink(id: ConnectionId): OpenLink | undefined {
    const open = links.get(id)
    return open && carriesMessages(open) ? open : undefined
  }

  return {
    get: id => carryingLink(id) ?? attached.get(id),
    all: () => [...[...links.values()].filter(carriesMessages), ...attached.values()],
    webhookLink: id => links.get(id),
    attach(given) {
      const open = { ...given, calls: createCallCounter() }
      attached.set(open.id, open)
      deps.changed()
      return () => {
        if (attached.get(open.id) !== open) return
        attached.delete(open.id)
        deps.changed()
      }
    },
    sync,
    async test(id, signal) {
      const open = carryingLink(id)
      if (!open)
        return {
          ok: false,
          detail: 'the connection is not open: disabled, or its configuration does not work',
        }
      if (open.link.test) return open.link.test(signal)
      const state = open.state()
      return { ok: state.state !== 'down', detail: state.detail || `the link is ${state.state}` }
    },
    async close() {
      closed = true
      cancelRetry()
      await reconciling
      const open = [...links.values()]
      links.clear()
      await Promise.allSettled([...open.map(each => each.link.close()), ...closing])
    },
  }
}

function createCallCounter(): CallCounter {
  let count = 0
  let onIdle = (): void => {}
  return {
    begin() {
      count++
    },
    end() {
      if (--count === 0) onIdle()
    },
    idle: () =>
      new Promise(resolve => {
        if (count === 0) resolve()
        else onIdle = resolve
      }),
  }
}

/** The sandbox carries test keys even where live keys may not use it. */
function carriesMessages({ enabled, provider }: LinkSpec): boolean {
  return enabled || provider === SANDBOX
}
