import type { Caller } from '../../contract/caller.ts'
import {
  DEFAULT_LIMIT,
  type Page,
  pageOf,
  readCursor,
  readIdCursor,
  writeCursor,
} from '../../contract/cursor.ts'
import { invalid, Problem } from '../../contract/errors.ts'
import { readTime } from '../../contract/filters.ts'
import {
  type DeliveryQuery,
  type DeliveryView,
  type DeliveryWithPayload,
  expandEventTypes,
  type WebhookReplay,
  type WebhookReplayed,
} from '../../contract/webhook.ts'
import { createBatcher } from '../../infra/batch.ts'
import type { Db } from '../../infra/db.ts'
import { boundedScan } from '../../lib/bounded-scan.ts'
import type { Clock } from '../../lib/clock.ts'
import { type AccountId, type Ids, isId } from '../../lib/ids.ts'
import { createPlaces } from '../../lib/places.ts'
import {
  type DeliveryRow,
  type EventRange,
  findDeliveryScanEnd,
  listDeliveries,
  replayEvents,
  selectDelivery,
  selectEndpointOfDelivery,
} from './delivery-store.ts'
import type { WebhookRow } from './endpoint-store.ts'
import { findWebhook, requireEnabled } from './endpoints.ts'
import { insertDelivery } from './event-store.ts'
import { eventPayload } from './payload.ts'
import { type EventId, selectEvent, type WebhookId } from './store.ts'
import { viewDelivery } from './view.ts'

/** The deliveries of an endpoint: list, read and replay. */
export type WebhookDeliveries = {
  /** The newest first. */
  list(caller: Caller, webhookId: string, query: DeliveryQuery): Promise<Page<DeliveryView>>
  /** One delivery, with its payload. */
  read(caller: Caller, webhookId: string, deliveryId: string): Promise<DeliveryWithPayload>
  /** Queues the same event again, whatever the delivery's state; CONFLICT while the endpoint is disabled, or once the event is no longer stored. */
  replay(caller: Caller, webhookId: string, deliveryId: string): Promise<DeliveryView>
  /** `replay` of the endpoint that the delivery was for. */
  replayById(caller: Caller, deliveryId: string): Promise<DeliveryView>
  /**
   * Queues the events of a time range again; CONFLICT while the endpoint is disabled, RATE_LIMITED while too many
   * such replays of the account are running on this node.
   */
  replayRange(caller: Caller, webhookId: string, body: WebhookReplay): Promise<WebhookReplayed>
}

/** Most events that one request queues; further ones need its cursor. */
const MAX_REPLAYED = 5_000
/**
 * Replays of ranges on this node at once: each inserts up to MAX_REPLAYED rows in one statement, and on all database
 * connections they would block everything else, including sends.
 */
const MAX_REPLAYS = 2
/** Replays of ranges of one account, running or waiting. */
const MAX_ACCOUNT_REPLAYS = 4

type RangeReplay = { accountId: AccountId; webhookId: WebhookId; range: EventRange }

export function createWebhookDeliveries(deps: { db: Db; clock: Clock; ids: Ids }): WebhookDeliveries {
  const { db, clock, ids } = deps
  const places = createPlaces({ total: Number.POSITIVE_INFINITY, perOwner: MAX_ACCOUNT_REPLAYS })
  const replays = createBatcher<RangeReplay, EventId[]>({
    flush: items =>
      Promise.all(
        items.map(({ accountId, webhookId, range }) =>
          replayEvents(db, clock.now(), accountId, webhookId, range, MAX_REPLAYED),
        ),
      ),
    maxItems: 1,
    maxConcurrentFlushes: MAX_REPLAYS,
  })

  async function findDelivery(accountId: AccountId, webhookId: WebhookId, id: string): Promise<DeliveryRow> {
    const row = isId('dlv', id) ? await selectDelivery(db, accountId, webhookId, id) : null
    return row ?? throwUnknownDelivery()
  }

  async function replay({ account }: Caller, webhookId: string, deliveryId: string): Promise<DeliveryView> {
    const webhook = await findWebhook(db, account.id, webhookId)
    const earlier = await findDelivery(account.id, webhook.id, deliveryId)
    requireEnabled(webhook)
    // A delivery may be kept for longer than its event.
    if (!(await selectEvent(db, account.id, earlier.eventId))) {
      throw new Problem('CONFLICT', 'The event is no longer stored.')
    }
    const id = ids.next('dlv')
    await insertDelivery(db, {
      accountId: account.id,
      id,
      kind: 'endpoint',
      targetId: webhook.id,
      eventId: earlier.eventId,
      eventType: earlier.eventType,
      messageId: earlier.messageId,
      replayOf: earlier.id,
      dueAtMs: clock.now(),
    })
    return viewDelivery((await selectDelivery(db, account.id, webhook.id, id))!)
  }

  async function replayInTurn(asked: RangeReplay): Promise<EventId[]> {
    const leave = places.take(asked.accountId)
    if (!leave) {
      throw new Problem('RATE_LIMITED', 'Too many replays are under way at once.', { retryAfterSeconds: 1 })
    }
    try {
      return await replays.add(asked)
    } finally {
      leave()
    }
  }

  return {
    async list({ account }, webhookId, { limit = DEFAULT_LIMIT, cursor, ...filter }) {
      const webhook = await findWebhook(db, account.id, webhookId)
      const before = cursor === undefined ? null : readListCursor(cursor)
      const { rows, stoppedAt } = await boundedScan(
        clock,
        { before, limit: limit + 1 },
        {
          isSelective: filter.status !== undefined || filter.eventType !== undefined,
          findEnd: below => findDeliveryScanEnd(db, account.id, webhook.id, filter, below),
          read: async stretch => ({
            rows: await listDeliveries(db, account.id, webhook.id, filter, stretch),
          }),
        },
      )
      const cursorAt = (seq: number) => writeCursor(String(seq))
      const lookedTo = stoppedAt === null ? null : cursorAt(stoppedAt)
      return pageOf(rows, limit, viewDelivery, ({ seq }) => cursorAt(seq), lookedTo)
    },

    async read({ account }, webhookId, deliveryId) {
      const webhook = await findWebhook(db, account.id, webhookId)
      const row = await findDelivery(account.id, webhook.id, deliveryId)
      const event = await selectEvent(db, account.id, row.eventId)
      const payload = event && eventPayload({ id: row.eventId, type: row.eventType, ...event }, event.message)
      return { ...viewDelivery(row), payload }
    },

    replay,

    async replayById(caller, deliveryId) {
      const { account } = caller
      const webhookId = isId('dlv', deliveryId)
        ? await selectEndpointOfDelivery(db, account.id, deliveryId)
        : null
      return replay(caller, webhookId ?? throwUnknownDelivery(), deliveryId)
    },

    async replayRange({ account }, webhookId, body) {
      const webhook = await findWebhook(db, account.id, webhookId)
      const range = readRange(body, webhook)
      requireEnabled(webhook)
      const queued = await replayInTurn({ accountId: account.id, webhookId: webhook.id, range })
      const last = queued.length === MAX_REPLAYED ? queued.at(-1) : undefined
      return {
        success: true,
        data: { queued: queued.length },
        nextCursor: last === undefined ? null : writeCursor(last),
      }
    },
  }
}

function throwUnknownDelivery(): never {
  throw new Problem('NOT_FOUND', 'Delivery not found')
}

/** The range's types: those asked for, else those that the endpoint listens to. */
function readRange(body: WebhookReplay, webhook: WebhookRow): EventRange {
  const fromMs = readTime(body.from, 'from')
  const toMs = readTime(body.to, 'to')
  if (toMs <= fromMs) throw invalid('to', 'must be later than from')
  return {
    fromMs,
    toMs,
    after: readIdCursor('evt', body.cursor),
    types: expandEventTypes(body.events ?? webhook.eventTypes),
  }
}

function readListCursor(cursor: string): number {
  const fits = ([seq, ...rest]: string[]) => rest.length === 0 && /^[1-9][0-9]{0,14}$/.test(seq ?? '')
  return Number(readCursor(cursor, fits)[0])
}
