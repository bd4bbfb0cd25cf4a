import { createWebhookDeliveries } from '../core/callbacks/deliveries.ts'
import { createWebhooks } from '../core/callbacks/endpoints.ts'
import { freeDeliveries } from '../core/callbacks/store.ts'
import { type Callbacks, createCallbacks } from '../workers/callbacks.ts'
import type { Chore } from '../workers/chores.ts'
import { type Loop, startLoop } from '../workers/loop.ts'
import type { NodeLease } from '../workers/node-lease.ts'
import type { Foundation } from './foundation.ts'

/** How often this node looks for what became due, in ms. */
const POLL_EVERY_MS = 250
/** A claimed delivery of which nothing was noted by then is free again: four times the longest attempt. */
const CLAIM_LASTS_MS = 60_000

/** The webhook endpoints, and what carries events and decisions to them. */
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

export type Courier = {
  /** Looks at once for what is due. */
  wake(): void
  stop(): Promise<void>
}

/** Delivers from now on; `stop` takes nothing new, and lets what is under way end. */
export function startCallbacks({ clock, log }: Foundation, callbacks: Callbacks): Courier {
  const poll: Loop = startLoop({
    clock,
    everyMs: POLL_EVERY_MS,
    round: async () => ((await callbacks.poll()).more ? 'again' : undefined),
    onError: error => log.debug({ err: error }, 'looking for due callbacks failed; it goes on'),
  })
  callbacks.onRoom(poll.wakeAt)
  return {
    wake: poll.wake,
    async stop() {
      await poll.stop()
      await callbacks.stop()
    },
  }
}

/** Frees deliveries that dead nodes held, and those of which nobody noted what became of them. */
export function freeCallbacks({ db, clock }: Foundation): Chore {
  return {
    name: 'free callbacks',
    everyMs: 1_000,
    run: () => freeDeliveries(db, clock.now() - CLAIM_LASTS_MS),
  }
}
