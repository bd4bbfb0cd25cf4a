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

export type OpenLink = LinkSpec & { link: Link; supplier: Provider; state(): LinkState; uses: Uses }

/** Who waits for an answer over a link. */
export type Uses = {
  begin(): void
  end(): void
  /** Resolves when nobody does. */
  ended(): Promise<void>
}

export type LinksDeps = {
  clock: Pick<Clock, 'after'>
  providers: ReadonlyMap<string, Provider>
  /** The whole configuration, secrets included; for the opening alone. Null when the connection is gone. */
  openConfig(id: ConnectionId): Promise<Record<string, unknown> | null>
  io(spec: LinkSpec, report: (state: LinkState) => void): Io
  log: Log
  /** Links came, went, or changed. */
  changed(): void
}

export type Links = {
  /** Those that carry messages. */
  get(id: ConnectionId): OpenLink | undefined
  all(): readonly OpenLink[]
  /** Whoever hears what a connection's provider calls us with: a disabled one's too. */
  hearing(id: ConnectionId): OpenLink | undefined
  /**
   * Has a link that somebody else opened, and keeps, carry messages until the function that it returns
   * is called: a web session while it is open on this node.
   */
  attach(open: Omit<OpenLink, 'uses'>): () => void
  /** Opens what is new, reopens what changed, lets go of what is gone. One call at a time. */
  sync(specs: readonly LinkSpec[]): Promise<void>
  /** Asks the far side whether the configuration works. */
  test(id: ConnectionId, signal: AbortSignal): Promise<LinkTest>
  close(): Promise<void>
}

/** Until a configuration that could not be read is read again: twice as long each time. */
const FIRST_PAUSE_MS = 1_000
const LONGEST_PAUSE_MS = 60_000

/** Holds one open link per connection, and keeps them in step with the configuration. */
export function createLinks(deps: LinksDeps): Links {
  /** Those that only hear among them. */
  const links = new Map<ConnectionId, OpenLink>()
  /** Those that others opened. */
  const guests = new Map<ConnectionId, OpenLink>()
  let turn: Promise<void> = Promise.resolve()
  /** Replaced links, until what is on its way over them has its answer. */
  const closing = new Set<Promise<void>>()
  let closed = false
  let pauseMs = FIRST_PAUSE_MS
  let cancelAgain = (): void => {}

  function sync(specs: readonly LinkSpec[]): Promise<void> {
    turn = turn
      .then(() => bring(specs))
      .catch(error => deps.log.warn({ err: error }, 'links could not be brought up to date'))
    return turn
  }

  async function bring(specs: readonly LinkSpec[]): Promise<void> {
    if (closed) return
    cancelAgain()
    const wanted = new Map(specs.filter(isWanted).map(spec => [spec.id, spec]))
    const stale = [...links.values()].filter(open => wanted.get(open.id)?.revision !== open.revision)
    for (const open of stale) links.delete(open.id)
    let unread = false
    for (const spec of wanted.values()) if (!links.has(spec.id)) unread = !(await open(spec)) || unread
    deps.changed()
    for (const open of stale) retire(open)
    if (unread && !closed) tryAgain(specs)
    else pauseMs = FIRST_PAUSE_MS
  }

  /** No change of a connection would tell that the store is back. */
  function tryAgain(specs: readonly LinkSpec[]): void {
    cancelAgain = deps.clock.after(pauseMs, () => void sync(specs))
    pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)
  }

  function retire(open: OpenLink): void {
    const end = open.uses
      .ended()
      .then(() => open.link.close())
      .catch(error => deps.log.warn({ err: error, connectionId: open.id }, 'a link did not close'))
      .finally(() => {
        closing.delete(end)
        links.get(open.id)?.link.urge?.()
      })
    closing.add(end)
  }

  function isWanted(spec: LinkSpec): boolean {
    const supplier = deps.providers.get(spec.provider)
    return supplier !== undefined && (carries(spec) || supplier.callsBack === true)
  }

  /** False where its configuration could not be read, which may pass; one that does not work waits for a change. */
  async function open(spec: LinkSpec): Promise<boolean> {
    try {
      const config = await deps.openConfig(spec.id)
      if (config) await openWith(spec, config)
      return true
    } catch (error) {
      complain(spec, error)
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
      links.set(spec.id, { ...spec, link, supplier, state: () => state, uses: createUses() })
    } catch (error) {
      complain(spec, error)
    }
  }

  function complain({ id, provider }: LinkSpec, error: unknown): void {
    deps.log.warn({ err: error, connectionId: id, provider }, 'a connection could not be opened')
  }

  function carrying(id: ConnectionId): OpenLink | undefined {
    const open = links.get(id)
    return open && carries(open) ? open : undefined
  }

  return {
    get: id => carrying(id) ?? guests.get(id),
    all: () => [...[...links.values()].filter(carries), ...guests.values()],
    hearing: id => links.get(id),
    attach(given) {
      const open = { ...given, uses: createUses() }
      guests.set(open.id, open)
      deps.changed()
      return () => {
        if (guests.get(open.id) !== open) return
        guests.delete(open.id)
        deps.changed()
      }
    },
    sync,
    async test(id, signal) {
      const open = carrying(id)
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
      cancelAgain()
      await turn
      const open = [...links.values()]
      links.clear()
      await Promise.allSettled([...open.map(each => each.link.close()), ...closing])
    },
  }
}

function createUses(): Uses {
  let count = 0
  let ended = (): void => {}
  return {
    begin() {
      count++
    },
    end() {
      if (--count === 0) ended()
    },
    ended: () =>
      new Promise(resolve => {
        if (count === 0) resolve()
        else ended = resolve
      }),
  }
}

/** The sandbox carries test keys even where live keys may not use it. */
function carries({ enabled, provider }: LinkSpec): boolean {
  return enabled || provider === SANDBOX
}
