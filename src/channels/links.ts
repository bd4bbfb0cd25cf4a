import type { Channel } from '../contract/enums.ts'
import type { AccountId, ConnectionId } from '../lib/ids.ts'
import type { Io, Link, LinkLog, LinkState, Provider } from './provider.ts'

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

export type OpenLink = LinkSpec & { link: Link; supplier: Provider; state(): LinkState }

export type LinksDeps = {
  providers: ReadonlyMap<string, Provider>
  /** The whole configuration, secrets included; for the opening alone. Null when the connection is gone. */
  openConfig(id: ConnectionId): Promise<Record<string, unknown> | null>
  io(spec: LinkSpec, report: (state: LinkState) => void): Io
  log: LinkLog
  /** Links came, went, or changed. */
  changed(): void
}

export type Links = {
  get(id: ConnectionId): OpenLink | undefined
  all(): readonly OpenLink[]
  /**
   * Has a link that somebody else opened, and keeps, carry messages until the function that it returns
   * is called: a web session while it is open on this node.
   */
  attach(open: OpenLink): () => void
  /** Opens what is new, reopens what changed, lets go of what is gone. One call at a time. */
  sync(specs: readonly LinkSpec[]): Promise<void>
  /** Asks the far side whether the configuration works. */
  test(id: ConnectionId, signal: AbortSignal): Promise<{ ok: boolean; detail: string }>
  close(): Promise<void>
}

/** Holds one open link per connection, and keeps them in step with the configuration. */
export function createLinks(deps: LinksDeps): Links {
  const links = new Map<ConnectionId, OpenLink>()
  /** Those that others opened. */
  const guests = new Map<ConnectionId, OpenLink>()
  let turn: Promise<void> = Promise.resolve()
  /** Replaced links, until what is on its way over them has its answer. */
  const closing = new Set<Promise<void>>()
  let closed = false

  function sync(specs: readonly LinkSpec[]): Promise<void> {
    turn = turn
      .then(() => bring(specs))
      .catch(error => deps.log.warn({ err: error }, 'links could not be brought up to date'))
    return turn
  }

  async function bring(specs: readonly LinkSpec[]): Promise<void> {
    if (closed) return
    const wanted = new Map(specs.filter(isWanted).map(spec => [spec.id, spec]))
    const stale = [...links.values()].filter(open => wanted.get(open.id)?.revision !== open.revision)
    for (const open of stale) links.delete(open.id)
    for (const spec of wanted.values()) if (!links.has(spec.id)) await open(spec)
    deps.changed()
    for (const open of stale) retire(open)
  }

  function retire(open: OpenLink): void {
    const end = open.link
      .close()
      .catch(error => deps.log.warn({ err: error, connectionId: open.id }, 'a link did not close'))
      .finally(() => closing.delete(end))
    closing.add(end)
  }

  /** The sandbox carries test keys even where live keys may not use it. */
  function isWanted(spec: LinkSpec): boolean {
    return (spec.enabled || spec.provider === 'sandbox') && deps.providers.has(spec.provider)
  }

  async function open(spec: LinkSpec): Promise<void> {
    const supplier = deps.providers.get(spec.provider)!
    let state: LinkState = { state: 'connecting', detail: '' }
    try {
      const config = await deps.openConfig(spec.id)
      if (!config) return
      const link = await supplier.open(
        config,
        deps.io(spec, next => {
          state = next
        }),
      )
      links.set(spec.id, { ...spec, link, supplier, state: () => state })
    } catch (error) {
      deps.log.warn(
        { err: error, connectionId: spec.id, provider: spec.provider },
        'a connection could not be opened',
      )
    }
  }

  return {
    get: id => links.get(id) ?? guests.get(id),
    all: () => [...links.values(), ...guests.values()],
    attach(open) {
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
      const open = links.get(id)
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
      await turn
      const open = [...links.values()]
      links.clear()
      await Promise.allSettled([...open.map(each => each.link.close()), ...closing])
    },
  }
}
