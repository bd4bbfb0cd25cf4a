import type { DisableCause } from '../core/callbacks/endpoints.ts'
import { cacheOpenedSecrets } from '../core/callbacks/opened-secrets.ts'
import { isGone, isOverwhelmed, judge, type Reply } from '../core/callbacks/outcome.ts'
import { makeRequest } from '../core/callbacks/request.ts'
import {
  type Claimed,
  cancelDeliveries,
  claimDeliveries,
  type Finish,
  finishDeliveries,
  freeDeliveries,
  listTargets,
  releaseDeliveries,
  type Target,
  type WebhookId,
} from '../core/callbacks/store.ts'
import { createBatcher } from '../infra/batch.ts'
import type { Database } from '../infra/db.ts'
import { type GuardedFetch, GuardedFetchError, type GuardedResponse } from '../infra/guarded-fetch.ts'
import { retryWhileUnavailable } from '../infra/retry-unavailable.ts'
import type { Seal } from '../infra/seal.ts'
import { type Cancel, type Clock, withinMs } from '../lib/clock.ts'
import { DAY_MS } from '../lib/durations.ts'
import { type AccountId, fromUuid } from '../lib/ids.ts'
import type { Log } from '../lib/log.ts'
import type { Random } from '../lib/random.ts'
import { createCallbackLanes, type LaneLimits } from './callback-lanes.ts'

/** Delivers events to webhook endpoints, and sender decisions to their callbacks. */
export type Callbacks = {
  /** Claims due deliveries as far as there is room, and begins to send them. `more`: there may be further ones, and room. */
  poll(): Promise<PollResult>
  /** Frees deliveries that dead nodes held, and those of this node without a stored outcome; returns how many. */
  free(): Promise<number>
  /** Calls `wakeAt` when there is room again for deliveries that had to wait. */
  onCapacity(wakeAt: (atMs: number) => void): void
  /** Resolves when no delivery is in progress. */
  idle(): Promise<void>
  /** Waits a while for deliveries in progress, and releases the rest unchanged. */
  stop(): Promise<void>
  /** Ends that wait at once, for a stop that has taken its time elsewhere. */
  abandon(): void
}

export type PollResult = { claimed: number; more: boolean }

export type CallbacksDeps = {
  db: Database
  clock: Clock
  random: Random
  seal: Pick<Seal, 'open'>
  log: Log
  fetch: GuardedFetch['fetch']
  /** This node's number, which changes when its lease was lost. */
  node(): number
  disable(accountId: AccountId, id: WebhookId, cause: DisableCause): Promise<boolean>
  observe?(kind: Claimed['kind'], outcome: Finish['status']): void
  limits?: LaneLimits
}

/** A receiver that takes a second to respond still gets 10,000 a minute. */
const LIMITS: LaneLimits = { total: 640, perTarget: 256 }
/** Targets that one poll reads; the next poll continues after them. */
const MAX_TARGETS = 1_000
const MAX_CANCELLED = 1_000
/** From the DNS look-up to the head of the response, in ms. */
const ATTEMPT_MS = 15_000
/** A claimed delivery without a stored outcome is freed after this: four times the longest attempt. */
const CLAIM_LASTS_MS = 4 * ATTEMPT_MS
/** An endpoint that has failed for so long without one success is disabled. */
const FAILING_MS = 5 * DAY_MS
/** Results are stored together with all that arrive within this time: a call costs as much as dozens of rows. */
const GATHER_MS = 200
/** The poll for receivers that had to wait begins this long after a slot became free: by then there are more. */
const REPOLL_AFTER_MS = 100
const STOP_GRACE_MS = 3_000
const LONG_BODY_BYTES = 16_384

export function createCallbacks(deps: CallbacksDeps): Callbacks {
  const { db, clock, log } = deps
  const lanes = createCallbackLanes(deps.limits ?? LIMITS)
  /** Responses whose status is known and whose body is still arriving. */
  const bodies = createCallbackLanes(deps.limits ?? LIMITS)
  const seal = cacheOpenedSecrets(deps.seal)
  const stopping = new AbortController()
  const underWay = new Set<Promise<void>>()
  /** Targets of this round that used all the room they were given. */
  const waiting = new Set<string>()
  const finishes = createBatcher<AttemptResult, undefined>({ flush: storeResults })
  const batchWaiters: (() => void)[] = []
  let cancelBatchTimer: Cancel | null = null
  /** How many callers of `idle` wait until all results are stored. */
  let idleWaiters = 0
  /** Where the last poll ended; null where it reached the last target. */
  let after: Target | null = null
  let wakeAt: (atMs: number) => void = () => {}

  async function poll(): Promise<PollResult> {
    if (lanes.freeInAll() === 0 || stopping.signal.aborted) return NOTHING
    const nowMs = clock.now()
    // Each round determines anew which targets wait: some may be gone.
    if (after === null) waiting.clear()
    const from = after
    const targets = await listTargets(db, nowMs, from, MAX_TARGETS)
    after = targets.length < MAX_TARGETS ? null : targets.at(-1)!
    for (const target of targets.filter(each => !each.isActive)) {
      await cancelDeliveries(db, nowMs, target, MAX_CANCELLED)
    }
    const room = shareCapacity(
      targets.filter(each => each.isActive && each.hasDue),
      from,
    )
    if (room.length === 0) return NOTHING
    const claimed = await claimDeliveries(db, { node: deps.node(), atMs: nowMs }, room)
    updateWaiting(room, claimed)
    for (const delivery of claimed) begin(delivery)
    const more = room.some(each => waiting.has(each.targetUuid) && lanes.freeFor(each.targetUuid) > 0)
    return { claimed: claimed.length, more }
  }

  /**
   * Shares the free slots out: first those that targets with a reduced limit may have together, beginning with the one whose last
   * turn was the earliest, then all others. A target that gets none is the first of the next poll, which otherwise begins at `from`.
   */
  function shareCapacity(targets: readonly Target[], from: Target | null): TargetCapacity[] {
    const suspects = targets
      .filter(({ uuid }) => lanes.isSuspect(uuid))
      .sort((one, other) => lanes.lastTurn(one.uuid) - lanes.lastTurn(other.uuid))
    const others = targets.filter(({ uuid }) => !lanes.isSuspect(uuid))
    const free = lanes.freeForSuspects()
    const forSuspects = shareSlots(suspects, free)
    const forOthers = shareSlots(others, lanes.freeInAll() - (free - forSuspects.left))
    if (others.length > 0 && forOthers.left === 0) after = forOthers.last ?? from
    return [...forSuspects.room, ...forOthers.room]
  }

  /** Gives each target an equal share; `last` is the last one that got some. */
  function shareSlots(
    targets: readonly Target[],
    free: number,
  ): { room: TargetCapacity[]; left: number; last: Target | null } {
    const share = Math.max(1, Math.floor(free / Math.max(1, targets.length)))
    const room: TargetCapacity[] = []
    let left = free
    let last: Target | null = null
    for (const target of targets) {
      const { accountId, uuid } = target
      const limit = Math.min(share, lanes.freeFor(uuid), left)
      if (limit === 0) {
        waiting.add(uuid)
        continue
      }
      room.push({ accountId, targetUuid: uuid, limit })
      left -= limit
      last = target
    }
    return { room, left, last }
  }

  function updateWaiting(room: readonly TargetCapacity[], claimed: readonly Claimed[]): void {
    const taken = new Map<string, number>()
    for (const { targetUuid } of claimed) taken.set(targetUuid, (taken.get(targetUuid) ?? 0) + 1)
    for (const { targetUuid, limit } of room) {
      if (taken.get(targetUuid) === limit) waiting.add(targetUuid)
      else waiting.delete(targetUuid)
    }
  }

  function begin(delivery: Claimed): void {
    lanes.enter(delivery.targetUuid)
    const work = deliver(delivery).finally(() => underWay.delete(work))
    underWay.add(work)
  }

  /** Makes one attempt and stores its result; never rejects. */
  async function deliver(delivery: Claimed): Promise<void> {
    const reply = await attempt(delivery)
    lanes.leave(delivery.targetUuid, reply === null || !isOverwhelmed(reply))
    try {
      if (reply === null) await releaseDeliveries(db, [delivery])
      else {
        await waitForBatch()
        await finishes.add({ delivery, finish: finishOf(delivery, reply), gone: isGone(reply) })
      }
    } catch (error) {
      log.debug(
        { err: error, deliveryId: delivery.id },
        'the result of an attempt could not be stored; the attempt will be repeated',
      )
    }
    if (waiting.delete(delivery.targetUuid) || waiting.size > 0) wakeAt(clock.now() + REPOLL_AFTER_MS)
  }

  /** The receiver's response; null where the attempt was aborted because this node stops. */
  async function attempt(delivery: Claimed): Promise<Reply | null> {
    try {
      const request = makeRequest(delivery, seal, clock.now())
      if (!request) return { kind: 'void', detail: 'The event or its receiver is no longer stored.' }
      const response = await deps.fetch({
        ...request,
        method: 'POST',
        timeoutMs: ATTEMPT_MS,
        // Receivers know an event that comes twice by its id.
        repeatable: true,
        signal: stopping.signal,
      })
      drainBody(response, delivery.targetUuid)
      return { kind: 'answered', status: response.status }
    } catch (error) {
      return stopping.signal.aborted ? null : { kind: 'failed', detail: explainFailure(error, delivery) }
    }
  }

  /**
   * Only the status matters. A short body is read to its end, within the time of the
   * attempt, so that the connection can be reused; a long one closes the connection, as
   * does any body while too many are being read.
   */
  function drainBody({ body }: GuardedResponse, target: string): void {
    if (bodies.freeFor(target) === 0) return void body.destroy()
    bodies.enter(target)
    body.once('close', () => bodies.leave(target, body.readableEnded))
    let left = LONG_BODY_BYTES
    body.on('data', (chunk: Buffer) => {
      left -= chunk.length
      if (left <= 0) body.destroy()
    })
  }

  function explainFailure(error: unknown, delivery: Claimed): string {
    if (error instanceof GuardedFetchError) return error.message
    log.warn({ err: error, deliveryId: delivery.id }, 'a callback request could not be made')
    return 'The request could not be made.'
  }

  /** A call for each result would cost the database more than storing the results does. */
  function waitForBatch(): Promise<void> {
    if (idleWaiters > 0) return Promise.resolve()
    cancelBatchTimer ??= clock.after(GATHER_MS, releaseBatch)
    return new Promise(resolve => batchWaiters.push(resolve))
  }

  function releaseBatch(): void {
    cancelBatchTimer?.()
    cancelBatchTimer = null
    for (const resolve of batchWaiters.splice(0)) resolve()
  }

  function finishOf(delivery: Claimed, reply: Reply): Finish {
    const { accountId, targetUuid, seq, id, claim } = delivery
    return {
      accountId,
      targetUuid,
      seq,
      id,
      claim,
      ...judge(reply, delivery.attempts, clock.now(), deps.random),
    }
  }

  async function storeResults(done: readonly AttemptResult[]): Promise<undefined[]> {
    const inOrder = done.map(each => each.finish).sort((a, b) => (a.id < b.id ? -1 : 1))
    // A delivery that the receiver has taken must be recorded, even if the database is down for a moment.
    const health = await retryWhileUnavailable(
      clock,
      () => !stopping.signal.aborted,
      () => finishDeliveries(db, clock.now(), inOrder),
    )
    for (const { delivery, finish } of done) logResult(delivery, finish)
    for (const { delivery } of done.filter(each => each.gone && each.delivery.kind === 'endpoint')) {
      const cause = { reason: 'gone', url: delivery.receiver?.url } as const
      await disable(delivery.accountId, fromUuid('whk', delivery.targetUuid), cause)
    }
    const sinceMs = clock.now() - FAILING_MS
    for (const { accountId, webhookId, failingSinceMs } of health) {
      if (failingSinceMs === null || failingSinceMs > sinceMs) continue
      await disable(accountId, webhookId, { reason: 'failing', sinceMs: failingSinceMs })
    }
    return new Array(done.length)
  }

  function logResult(
    { id, kind, accountId, eventType }: Claimed,
    { status, httpStatus, error }: Finish,
  ): void {
    deps.observe?.(kind, status)
    const facts = { deliveryId: id, accountId, eventType, httpStatus, error }
    if (status === 'failed') log.info(facts, 'a callback failed for good')
    else
      log.debug(
        facts,
        status === 'delivered' ? 'a callback was delivered' : 'a callback failed; it will be retried',
      )
  }

  /** If this fails, the endpoint's next failure repeats it. */
  async function disable(accountId: AccountId, id: WebhookId, cause: DisableCause): Promise<void> {
    const { reason } = cause
    try {
      if (await deps.disable(accountId, id, cause)) {
        log.warn({ accountId, webhookId: id, reason }, 'a webhook endpoint was disabled')
      }
    } catch (error) {
      log.warn({ err: error, accountId, webhookId: id }, 'a webhook endpoint could not be disabled')
    }
  }

  async function idle(): Promise<void> {
    idleWaiters++
    releaseBatch()
    while (underWay.size > 0) await Promise.all(underWay)
    idleWaiters--
  }

  return {
    poll,
    free: () => freeDeliveries(db, deps.node(), clock.now() - CLAIM_LASTS_MS),
    onCapacity(wake) {
      wakeAt = wake
    },
    idle,
    async stop() {
      await withinMs(clock, STOP_GRACE_MS, idle())
      stopping.abort()
      await idle()
    },
    abandon: () => stopping.abort(),
  }
}

const NOTHING: PollResult = { claimed: 0, more: false }

type TargetCapacity = { accountId: AccountId; targetUuid: string; limit: number }
type AttemptResult = { delivery: Claimed; finish: Finish; gone: boolean }
