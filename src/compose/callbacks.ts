import { createWebhookDeliveries } from '../core/callbacks/deliveries.ts'
import { createWebhooks } from '../core/callbacks/endpoints.ts'
import { type Callbacks, createCallbacks } from '../workers/callbacks.ts'
import type { Chore } from '../workers/chores.ts'
import { type Loop, startLoop } from '../workers/loop.ts'
import type { NodeLease } from '../workers/node-lease.ts'
import type { Foundation } from './foundation.ts'

/** How often this node looks for due deliveries, in ms. */
const POLL_EVERY_MS = 250

/** Webhook endpoints, and the delivery of callbacks to them. */
export function createCallbackRooms(base: Foundation, lease: NodeLease) {
  const { db, clock, ids, random, seal, log, metrics, guarded } = base
  const webhooks = createWebhooks({ db, clock, ids, random, seal, checkUrl: guarded.check })
  const callbacks = createCallbacks({
    db,
    clock,
    random,
    seal,
    log,
    fetch: guarded.fetch,
    node: lease.id,
    disable: webhooks.disable,
    observe: metrics.callback,
  })
  return { webhooks, webhookDeliveries: createWebhookDeliveries({ db, clock, ids }), callbacks }
}

export type CallbackDelivery = {
  /** Looks for due deliveries at once. */
  wake(): void
  stop(): Promise<void>
}

/** Starts delivering; `stop` claims no more, and waits for the attempts in progress. */
export function startCallbacks({ clock, log }: Foundation, callbacks: Callbacks): CallbackDelivery {
  const poll: Loop = startLoop({
    clock,
    everyMs: POLL_EVERY_MS,
    round: async () => ((await callbacks.poll()).more ? 'again' : undefined),
    onError: error => log.debug({ err: error }, 'polling for due callbacks failed; it is tried again'),
  })
  callbacks.onCapacity(poll.wakeAt)
  return {
    wake: poll.wake,
    async stop() {
      await poll.stop()
      await callbacks.stop()
    },
  }
}

/** Frees deliveries that dead nodes held, and those of this node without a stored outcome. */
export function createCallbackReleaseChore(callbacks: Callbacks): Chore {
  return { name: 'free callbacks', everyMs: 1_000, run: callbacks.free }
}
