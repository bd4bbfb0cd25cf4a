import type { Caller } from '../../src/contract/caller.ts'
import type { EventType } from '../../src/contract/webhook.ts'
import { createWebhookDeliveries } from '../../src/core/callbacks/deliveries.ts'
import { createWebhooks } from '../../src/core/callbacks/endpoints.ts'
import { createDecisionPublisher } from '../../src/core/callbacks/sender-decisions.ts'
import { registerNode, removeNode } from '../../src/core/outbox/node-store.ts'
import { createOwnSenders } from '../../src/core/senders/own.ts'
import { createSenderReview } from '../../src/core/senders/review.ts'
import type { Database } from '../../src/infra/db.ts'
import { createGuardedFetch, type GuardedFetchOptions } from '../../src/infra/guarded-fetch.ts'
import { createSeal } from '../../src/infra/seal.ts'
import { type AccountId, createIds, type Id, type MessageId, toUuid } from '../../src/lib/ids.ts'
import { createRandom } from '../../src/lib/random.ts'
import type { LaneLimits } from '../../src/workers/callback-lanes.ts'
import { createCallbacks } from '../../src/workers/callbacks.ts'
import { createFakeClock } from './fake-clock.ts'

export type CallbackWorld = Awaited<ReturnType<typeof openCallbacks>>

type NodeOptions = { through?: (db: Database) => Database; limits?: LaneLimits; aheadMs?: number }

/** The largest factor by which jitter lengthens a wait. */
export const WITH_JITTER = 1.1

/** The delivery of callbacks, on a real database and a fake clock. */
export async function openCallbacks(
  db: Database,
  options: { allow?: readonly string[]; resolve?: GuardedFetchOptions['resolve'] } = {},
) {
  const clock = createFakeClock(Date.now())
  const random = createRandom()
  const ids = createIds(clock, random)
  const seal = createSeal(Buffer.alloc(32, 7), random)
  const log: string[] = []
  const write = (_: object, text: string) => void log.push(text)
  const guarded = createGuardedFetch({
    allowPrivateHosts: options.allow ?? ['127.0.0.1'],
    clock,
    maxBytes: 1_000_000,
    timeoutMs: 20_000,
    ...(options.resolve && { resolve: options.resolve }),
  })
  const webhooks = createWebhooks({ db, clock, ids, random, seal, checkUrl: guarded.check })

  /** A node of its own, from the database's point of view; `through` wraps its database, and its clock is ahead by `aheadMs`. */
  async function startNode({ through, limits, aheadMs = 0 }: NodeOptions = {}) {
    const number = await registerNode(db, 'test', clock.now(), false)
    const callbacks = createCallbacks({
      db: through ? through(db) : db,
      clock: { ...clock, now: () => clock.now() + aheadMs },
      random,
      seal,
      log: { info: write, warn: write, debug: write },
      fetch: guarded.fetch,
      node: () => number,
      disable: webhooks.disable,
      ...(limits && { limits }),
    })
    return {
      ...callbacks,
      /** The node's number. */
      number,
      /** Runs all due deliveries to their end. */
      async turn() {
        do await callbacks.idle()
        while ((await callbacks.poll()).claimed > 0)
      },
      /** Removes the node's registration, as other nodes do for a killed one. */
      remove: () => removeNode(db, number),
    }
  }

  async function newAccount(): Promise<Caller> {
    const id = ids.next('acc')
    await db.query({
      name: 'test_account',
      text: `insert into accounts (id, name, home_country, currency, plan_name, plan_status, allows_scheduling,
               bulk_ceiling_per_second, rate_limit_per_second, verification_rate_limit_per_second)
             values ($1, 'Acme', 'US', 'USD', 'default', 'active', true, 10, 50, 10)`,
      values: [toUuid(id)],
    })
    return { role: 'owner', account: { id } } as Caller
  }

  async function newMessage(accountId: AccountId, more: Record<string, unknown> = {}): Promise<MessageId> {
    const id = ids.next('msg')
    const row = {
      recipient: '+12025550142',
      status: 'sent',
      metadata: null,
      error_code: null,
      error_detail: null,
      message_type: 'utility',
      content: '{"text":"the words"}',
      ...more,
    }
    await db.query({
      name: 'test_message',
      text: `insert into messages (account_id, id, live, parts, status, channel, message_type, recipient, country, provider,
               connection_id, sender, sender_source, candidates, content, metadata, amount, funding, money, error_code, error_detail)
             values ($1, $2, true, 1, $3, 'int_sms', $4, $5, 'US', 'smpp', $1, 'Acme', 'account_default', 'int_sms',
               $6, $7, 41000, 'wallet', 'captured', $8, $9)`,
      values: [
        toUuid(accountId),
        toUuid(id),
        row.status,
        row.message_type,
        row.recipient,
        row.content,
        row.metadata,
        row.error_code,
        row.error_detail,
      ],
    })
    return id
  }

  /** Writes events as the hot path does: only of types to which an endpoint subscribes. */
  async function happen(
    accountId: AccountId,
    messageId: MessageId | null,
    ...types: EventType[]
  ): Promise<Id<'evt'>[]> {
    const made = types.map(type => ({ type, id: ids.next('evt') }))
    for (const { type, id } of made) {
      await db.query({
        name: 'test_event',
        text: `insert into events (account_id, id, type, message_id, at)
                 select $1, $2, $3, $4, $5 from accounts where id = $1 and $3 = any (event_types)`,
        values: [toUuid(accountId), toUuid(id), type, messageId && toUuid(messageId), new Date(clock.now())],
      })
    }
    return made.map(({ id }) => id)
  }

  return {
    db,
    clock,
    ids,
    log,
    webhooks,
    deliveries: createWebhookDeliveries({ db, clock, ids }),
    senders: createOwnSenders({ db, ids, seal, checkUrl: guarded.check, applied: () => {} }),
    review: createSenderReview({
      db,
      ids,
      notifyDecision: createDecisionPublisher({ clock, ids }),
      applied: () => {},
    }),
    startNode,
    newAccount,
    newMessage,
    happen,
  }
}
