import type { Caller } from '../../contract/caller.ts'
import { DEFAULT_LIMIT, type Page, type PageQuery, pageById, readIdCursor } from '../../contract/cursor.ts'
import { invalid, Problem } from '../../contract/errors.ts'
import {
  ANY_EVENT,
  type DeliveryView,
  type Listened,
  type WebhookCreate,
  type WebhookUpdate,
  type WebhookView,
  type WebhookWithSecret,
} from '../../contract/webhook.ts'
import type { Database, Db } from '../../infra/db.ts'
import { type Seal, SealBroken } from '../../infra/seal.ts'
import { type Clock, isoOrNull, toIso } from '../../lib/clock.ts'
import { DAY_MS } from '../../lib/durations.ts'
import { type AccountId, type Ids, isId, timeOf } from '../../lib/ids.ts'
import type { Random } from '../../lib/random.ts'
import { lockAccount } from '../accounts/store.ts'
import { selectDelivery } from './delivery-store.ts'
import {
  countWebhooks,
  deleteWebhook,
  insertWebhook,
  listWebhooks,
  lockSecrets,
  refreshAnyEvent,
  refreshEventTypes,
  replaceSecrets,
  selectWebhook,
  updateWebhook,
  type WebhookRow,
} from './endpoint-store.ts'
import { insertDelivery, insertEvent } from './event-store.ts'
import { webhookContext } from './request.ts'
import { createWebhookSecret } from './signature.ts'
import type { WebhookId } from './store.ts'
import { viewDelivery } from './view.ts'

/** The webhook endpoints of an account. NOT_FOUND for an unknown one, or one of another account. */
export type Webhooks = {
  /** VALIDATION_ERROR for a URL that may not be called, CONFLICT when the account has MAX_ENDPOINTS already. */
  create(caller: Caller, body: WebhookCreate): Promise<WebhookWithSecret>
  /** The newest first. */
  list(caller: Caller, query: PageQuery): Promise<Page<WebhookView>>
  read(caller: Caller, id: string): Promise<WebhookView>
  update(caller: Caller, id: string, body: WebhookUpdate): Promise<WebhookView>
  remove(caller: Caller, id: string): Promise<{ id: string; deleted: true }>
  /** Makes a new secret; for a day, both the new and the old one sign. */
  rotate(caller: Caller, id: string): Promise<WebhookWithSecret>
  /** Sends it a `webhook.test`; CONFLICT while it is disabled. */
  test(caller: Caller, id: string): Promise<DeliveryView>
  /**
   * Disables an endpoint, with an event for the account's other endpoints. False when it was disabled already,
   * or when the cause no longer holds.
   */
  disable(accountId: AccountId, id: WebhookId, cause: DisableCause): Promise<boolean>
  /** Expands `*` and families to the event types of this version; called at the start of a node. */
  refresh(): Promise<void>
}

/** What was seen of an endpoint, which its account may have changed since: its answer at this URL, or since when it has been failing. */
export type DisableCause =
  | { reason: 'gone'; url: string | undefined }
  | { reason: 'failing'; sinceMs: number }

export type WebhooksDeps = {
  db: Database
  clock: Clock
  ids: Ids
  random: Random
  seal: Pick<Seal, 'seal' | 'open'>
  /** Why a URL may not be called, or null. */
  checkUrl(url: string): string | null
}

const MAX_ENDPOINTS = 50
/** How long the previous secret signs after a rotation, in ms. */
const OVERLAP_MS = DAY_MS

export function createWebhooks(deps: WebhooksDeps): Webhooks {
  const { db, clock, ids, random, seal } = deps

  /** Makes a change that may change the account's event types; such changes of an account run one at a time. */
  function change<T>(accountId: AccountId, work: (tx: Db) => Promise<T>): Promise<T> {
    return db.transaction(async tx => {
      await lockAccount(tx, accountId)
      const result = await work(tx)
      await refreshEventTypes(tx, accountId)
      return result
    })
  }

  function checkUrl(url: string): void {
    const fault = deps.checkUrl(url)
    if (fault !== null) throw invalid('url', fault)
  }

  /** Whether a master key opens it: else it signs nothing, and as the previous one it would keep the new one from signing. */
  function canSign(sealed: Buffer, context: string): boolean {
    try {
      seal.open(sealed, context)
      return true
    } catch (error) {
      if (error instanceof SealBroken) return false
      throw error
    }
  }

  return {
    async create({ account }, body) {
      checkUrl(body.url)
      const id = ids.next('whk')
      const enabled = body.enabled ?? true
      const row: WebhookRow = {
        id,
        url: body.url,
        description: body.description ?? '',
        eventTypes: [...new Set<Listened>(body.events ?? [ANY_EVENT])],
        failingSince: null,
        previousUntil: null,
        ...enabledState(enabled, clock.now()),
      }
      const secret = createWebhookSecret(random)
      await change(account.id, async tx => {
        if ((await countWebhooks(tx, account.id)) >= MAX_ENDPOINTS) {
          throw new Problem('CONFLICT', `An account has at most ${MAX_ENDPOINTS} webhook endpoints.`)
        }
        await insertWebhook(tx, account.id, row, seal.seal(secret, webhookContext(id)))
      })
      return { ...view(row, clock.now()), secret }
    },

    async list({ account }, { limit = DEFAULT_LIMIT, cursor }) {
      const before = readIdCursor('whk', cursor)
      const rows = await listWebhooks(db, account.id, before, limit + 1)
      const nowMs = clock.now()
      return pageById(rows, limit, row => view(row, nowMs))
    },

    read: async ({ account }, id) => view(await findWebhook(db, account.id, id), clock.now()),

    async update({ account }, id, body) {
      if (body.url !== undefined) checkUrl(body.url)
      const row = await change(account.id, async tx => {
        const before = await findWebhook(tx, account.id, id)
        const anew = resetsFailures(before, body)
        const after = applyUpdate(before, body, clock.now())
        return { ...after, failingSince: await updateWebhook(tx, account.id, after, anew) }
      })
      return view(row, clock.now())
    },

    async remove({ account }, id) {
      await change(account.id, async tx => {
        if (!isId('whk', id) || !(await deleteWebhook(tx, account.id, id))) throwUnknownWebhook()
      })
      return { id, deleted: true }
    },

    async rotate({ account }, id) {
      if (!isId('whk', id)) throwUnknownWebhook()
      const context = webhookContext(id)
      const secret = createWebhookSecret(random)
      const nowMs = clock.now()
      const row = await db.transaction(async tx => {
        const signing = (await lockSecrets(tx, account.id, id, nowMs)) ?? throwUnknownWebhook()
        return replaceSecrets(tx, account.id, id, {
          secret: seal.seal(secret, context),
          previous: signing.find(sealed => canSign(sealed, context)) ?? null,
          previousUntilMs: nowMs + OVERLAP_MS,
        })
      })
      return { ...view(row, nowMs), secret }
    },

    test({ account }, id) {
      return db.transaction(async tx => {
        const row = await findWebhook(tx, account.id, id)
        requireEnabled(row)
        const event = {
          accountId: account.id,
          id: ids.next('evt'),
          type: 'webhook.test' as const,
          atMs: clock.now(),
          data: { webhookId: row.id, url: row.url },
        }
        await insertEvent(tx, event)
        const deliveryId = ids.next('dlv')
        await insertDelivery(tx, {
          accountId: account.id,
          id: deliveryId,
          kind: 'endpoint',
          targetId: row.id,
          eventId: event.id,
          eventType: event.type,
          messageId: null,
          replayOf: null,
          dueAtMs: event.atMs,
        })
        return viewDelivery((await selectDelivery(tx, account.id, row.id, deliveryId))!)
      })
    },

    disable(accountId, id, cause) {
      return change(accountId, async tx => {
        const row = await selectWebhook(tx, accountId, id)
        if (!row?.enabled || !holds(cause, row)) return false
        const { reason } = cause
        const atMs = clock.now()
        const disabled = { ...row, ...enabledState(false, atMs), disabledReason: reason }
        await updateWebhook(tx, accountId, disabled, false)
        const { url, failingSince } = row
        await insertEvent(tx, {
          accountId,
          id: ids.next('evt'),
          type: 'webhook.disabled',
          atMs,
          data: {
            webhookId: id,
            url,
            reason,
            failingSince: isoOrNull(failingSince),
          },
        })
        return true
      })
    },

    async refresh() {
      await refreshAnyEvent(db)
    },
  }
}

type EnabledState = Pick<WebhookRow, 'enabled' | 'disabledAt' | 'disabledReason'>

/** The standing after a request of the account. */
function enabledState(enabled: boolean, nowMs: number): EnabledState {
  return enabled
    ? { enabled, disabledAt: null, disabledReason: null }
    : { enabled, disabledAt: nowMs, disabledReason: 'request' }
}

/** Whether earlier failures no longer count: the URL was changed, or the endpoint was enabled again. */
function resetsFailures(before: WebhookRow, { url = before.url, enabled }: WebhookUpdate): boolean {
  return url !== before.url || (enabled === true && !before.enabled)
}

function holds(cause: DisableCause, { url, failingSince }: WebhookRow): boolean {
  return cause.reason === 'gone'
    ? cause.url === undefined || cause.url === url
    : cause.sinceMs === failingSince
}

function applyUpdate(before: WebhookRow, body: WebhookUpdate, nowMs: number): WebhookRow {
  const enabled = body.enabled ?? before.enabled
  return {
    ...before,
    url: body.url ?? before.url,
    description: body.description ?? before.description,
    eventTypes: body.events ? [...new Set(body.events)] : before.eventTypes,
    ...(enabled !== before.enabled && enabledState(enabled, nowMs)),
  }
}

/** Throws CONFLICT if the endpoint is disabled. */
export function requireEnabled(row: WebhookRow): void {
  if (!row.enabled) throw new Problem('CONFLICT', 'The webhook endpoint is disabled.')
}

/** An endpoint of the account; NOT_FOUND where it has none of this id. */
export async function findWebhook(db: Db, accountId: AccountId, id: string): Promise<WebhookRow> {
  const row = isId('whk', id) ? await selectWebhook(db, accountId, id) : null
  return row ?? throwUnknownWebhook()
}

function throwUnknownWebhook(): never {
  throw new Problem('NOT_FOUND', 'Webhook endpoint not found')
}

function view(row: WebhookRow, nowMs: number): WebhookView {
  const overlaps = row.previousUntil !== null && row.previousUntil > nowMs
  return {
    id: row.id,
    url: row.url,
    description: row.description,
    events: row.eventTypes,
    enabled: row.enabled,
    failingSince: isoOrNull(row.failingSince),
    disabledAt: isoOrNull(row.disabledAt),
    disabledReason: row.disabledReason,
    previousSecretValidUntil: overlaps ? isoOrNull(row.previousUntil) : null,
    createdAt: toIso(timeOf(row.id)),
  }
}
