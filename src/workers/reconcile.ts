import type { Links, OpenLink } from '../channels/links.ts'
import type { LateOutcome, Outcome } from '../channels/provider.ts'
import { attemptIdOf } from '../core/outbox/attempt-id.ts'
import { claimLookups, type Lookup } from '../core/outbox/reconcile-store.ts'
import type { Db } from '../infra/db.ts'
import type { Clock } from '../lib/clock.ts'
import { MINUTE_MS } from '../lib/durations.ts'
import type { ConnectionId } from '../lib/ids.ts'
import type { Log } from '../lib/log.ts'

/** Looks unknown attempts up at their providers. */
export type Reconciler = {
  /** Claims due look-ups as far as there is room, and begins them; returns how many. */
  round(): Promise<number>
  /** Resolves when no look-up is in progress. */
  idle(): Promise<void>
  /** Begins no further look-up, and abandons those in progress: they are repeated at their next time. */
  stop(): Promise<void>
}

export type ReconcileDeps = {
  db: Db
  clock: Clock
  log: Log
  links: Links
  /** Settles the message, if it is still unknown by this very attempt. */
  concludeLate(connectionId: ConnectionId, late: LateOutcome): Promise<void>
  observe?(provider: string, outcome: Outcome['kind']): void
}

/** Looked up 30 s, 2 min, 10 min and 1 h after it became unknown, then every hour until its deadline. */
const LOOKUP_WAITS_MS = [30_000, 90_000, 8 * MINUTE_MS, 50 * MINUTE_MS, 60 * MINUTE_MS] as const
/** Concurrent look-ups of one connection: they must not slow its sends down. */
const MAX_AT_ONCE = 8
const LOOKUP_TIMEOUT_MS = 15_000
/** How long a provider may take to return after its signal was aborted. */
const LOOKUP_GRACE_MS = 2_000

/**
 * Any number of nodes may run this: a message is claimed together with its next time,
 * so that each look-up is made by one of them. A look-up that was claimed and not made,
 * because of a crash or a provider that is down, is made at that next time.
 */
export function createReconciler(deps: ReconcileDeps): Reconciler {
  const { clock, db, links, log } = deps
  const busy = new Map<ConnectionId, number>()
  const underWay = new Set<Promise<void>>()
  /** Ends each look-up in progress. */
  const cancels = new Set<() => void>()
  let stopping = false

  async function round(): Promise<number> {
    let begun = 0
    for (let lookups = await claim(); lookups.length > 0; lookups = await claim()) {
      for (const lookup of lookups.filter(each => each.nth > 0)) {
        begun++
        begin(lookup)
      }
    }
    return begun
  }

  /** Claims look-ups of connections that support them, as many as they have room for. */
  async function claim(): Promise<Lookup[]> {
    if (stopping) return []
    const room = links
      .all()
      .filter(open => open.link.find !== undefined)
      .map(open => ({ connectionId: open.id, limit: MAX_AT_ONCE - (busy.get(open.id) ?? 0) }))
      .filter(each => each.limit > 0)
    return room.length === 0 ? [] : claimLookups(db, clock.now(), room, LOOKUP_WAITS_MS)
  }

  function begin(lookup: Lookup): void {
    const { connectionId } = lookup
    busy.set(connectionId, (busy.get(connectionId) ?? 0) + 1)
    const work = reconcile(lookup).finally(() => {
      busy.set(connectionId, busy.get(connectionId)! - 1)
      underWay.delete(work)
    })
    underWay.add(work)
  }

  /** Makes one look-up and applies its outcome to the message; never rejects. */
  async function reconcile(lookup: Lookup): Promise<void> {
    const open = links.get(lookup.connectionId)
    if (!open?.link.find) return
    const attemptId = attemptIdOf(lookup.id, lookup.attempt)
    const outcome = await lookUp(open, attemptId)
    deps.observe?.(open.provider, outcome.kind)
    log.debug(
      { messageId: lookup.id, nth: lookup.nth, outcome: outcome.kind },
      'looked an unknown message up at its provider',
    )
    if (!isDecisive(outcome)) return
    try {
      await deps.concludeLate(open.id, { accountId: lookup.accountId, attemptId, outcome })
    } catch (error) {
      log.warn(
        { err: error, messageId: lookup.id },
        'the looked-up outcome of an unknown message could not be stored',
      )
    }
  }

  /** The outcome that the provider reports; NO_OUTCOME where it does not know, does not respond or throws. */
  function lookUp({ link, provider }: OpenLink, attemptId: string): Promise<Outcome> {
    return new Promise(resolve => {
      const time = new AbortController()
      const cancelTime = clock.after(LOOKUP_TIMEOUT_MS, () => time.abort())
      const cancelGrace = clock.after(LOOKUP_TIMEOUT_MS + LOOKUP_GRACE_MS, () => end(NO_OUTCOME))
      const stop = () => end(NO_OUTCOME)
      function end(outcome: Outcome): void {
        cancels.delete(stop)
        cancelTime()
        cancelGrace()
        time.abort()
        resolve(outcome)
      }
      cancels.add(stop)
      Promise.resolve()
        .then(() => link.find!(attemptId, time.signal))
        .then(end, error => {
          log.warn({ err: error, provider }, 'the look-up of an unknown message failed')
          end(NO_OUTCOME)
        })
    })
  }

  async function idle(): Promise<void> {
    while (underWay.size > 0) await Promise.all(underWay)
  }

  return {
    round,
    idle,
    async stop() {
      stopping = true
      for (const end of cancels) end()
      await idle()
    },
  }
}

const NO_OUTCOME: Outcome = { kind: 'unknown', detail: 'the provider reported no outcome' }

/** A throttled look-up shows nothing about the message. */
function isDecisive({ kind }: Outcome): boolean {
  return kind === 'accepted' || kind === 'rejected' || kind === 'retry'
}
