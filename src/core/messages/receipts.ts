import type { Inbound, LateOutcome, Receipt } from '../../channels/provider.ts'
import type { Db } from '../../infra/db.ts'
import { retryWhileUnavailable } from '../../infra/retry-unavailable.ts'
import type { Clock } from '../../lib/clock.ts'
import type { AccountId, ConnectionId, Ids } from '../../lib/ids.ts'
import { toStorableTime } from '../../lib/storable.ts'
import { readAttemptId } from '../outbox/attempt-id.ts'
import type { OutboxItem } from '../outbox/dispatch-port.ts'
import { storeReceiptAttempts } from '../outbox/reconcile-store.ts'
import type { StoredContent } from '../outbox/stored-content.ts'
import type { Conclude } from './conclude.ts'
import { type MessageRow, readMessage } from './message-store.ts'
import type { MessageParts } from './parts.ts'
import { storableReceipt } from './provider-text.ts'
import type { Settle } from './settle.ts'
import { PUBLIC_CODE } from './transitions.ts'

/** Applies what providers report after a submit: receipts and late outcomes. */
export type Receipts = {
  /** Resolves once all receipts are stored: only then may the provider get its acknowledgement. */
  apply(connectionId: ConnectionId, inbound: readonly Inbound[]): Promise<void>
  /** Applies an outcome that came after its time-out, if the message is still unknown by this attempt. */
  applyLate(connectionId: ConnectionId, late: LateOutcome): Promise<void>
}

export type ReceiptsDeps = {
  db: Db
  clock: Clock
  ids: Ids
  /** True while stopping: then a query is not retried while the database is unavailable. */
  stopping(): boolean
  settle: Settle
  parts: Pick<MessageParts, 'joinReceipts'>
  conclude: Conclude
  /** Takes a message that failed over, and is not begun: to its lane, or, from a bulk job, in the job's turn. */
  handOver(item: OutboxItem): void
  observe(status: string, effect: 'applied' | 'no change'): void
}

export function createReceipts(deps: ReceiptsDeps): Receipts {
  const { settle, ids } = deps

  function applyReceipt(connectionId: ConnectionId, receipt: Receipt): Promise<boolean> {
    const { providerId, status, reject, atMs, providerCode, detail } = receipt
    return settle.receipt({
      connectionId,
      providerId,
      // A refusal after the submit: the message failed and is not charged, unlike an undelivered one.
      status: reject === undefined ? status : 'failed',
      atMs: pastTime(atMs),
      providerCode,
      errorCode: reject === undefined ? null : PUBLIC_CODE[reject],
      detail,
      eventId: ids.next('evt'),
    })
  }

  /** A provider's clock may be ahead, or be in a time zone that it does not name: a receipt is about what has happened. */
  function pastTime(atMs: number | null): number | null {
    const storable = toStorableTime(atMs)
    return storable === null ? null : Math.min(storable, deps.clock.now())
  }

  /**
   * For receipts that changed no message, and are parked: returns which are of parts. Stores on the others
   * which attempt they name, if they do.
   */
  async function joinParkedParts(
    connectionId: ConnectionId,
    receipts: readonly Receipt[],
  ): Promise<boolean[]> {
    const providerIds = receipts.map(({ providerId }) => providerId)
    const areParts = providerIds.length === 0 ? [] : await deps.parts.joinReceipts(connectionId, providerIds)
    await storeAttempts(
      connectionId,
      receipts.filter((_, at) => !areParts[at]),
    )
    return areParts
  }

  async function storeAttempts(connectionId: ConnectionId, receipts: readonly Receipt[]): Promise<void> {
    const echoes = receipts.flatMap(({ attemptId, providerId, ofPart = false }) => {
      const known = attemptId === undefined ? null : readAttemptId(attemptId)
      return known ? [{ connectionId, providerId, ofPart, ...known }] : []
    })
    if (echoes.length > 0) await storeReceiptAttempts(deps.db, withoutEqual(echoes))
  }

  async function applyLate(connectionId: ConnectionId, late: LateOutcome): Promise<void> {
    const moved = await concludeLate(connectionId, late)
    deps.observe(late.outcome.kind, moved ? 'applied' : 'no change')
  }

  /** Whether it changed the message; false if a receipt or another attempt was faster. */
  async function concludeLate(
    connectionId: ConnectionId,
    { accountId, attemptId, outcome }: LateOutcome,
  ): Promise<boolean> {
    const known = readAttemptId(attemptId)
    if (!known) return false
    const row = await retryWhileUnavailable(
      deps.clock,
      () => !deps.stopping(),
      () => readMessage(deps.db, accountId as AccountId, known.id),
    )
    if (row?.content == null || row.attempt !== known.attempt || row.connectionId !== connectionId)
      return false
    const conclusion = await deps.conclude.attempt(toItem(row, row.content), row.attempt, outcome)
    if (conclusion.kind === 'settled') return conclusion.applied
    deps.handOver(conclusion.item)
    return true
  }

  return {
    async apply(connectionId, inbound) {
      const receipts = withoutEqual(inbound.filter(each => each.kind === 'receipt').map(storableReceipt))
      const moved = await Promise.all(receipts.map(receipt => applyReceipt(connectionId, receipt)))
      const parked = receipts.filter((_, at) => !moved[at])
      const areParts = await joinParkedParts(connectionId, parked)
      const parts = new Set(parked.filter((_, at) => areParts[at]))
      receipts.forEach((receipt, at) => {
        deps.observe(receipt.status, moved[at] || parts.has(receipt) ? 'applied' : 'no change')
      })
    },
    applyLate,
  }
}

/**
 * Each once, in the order of the first ones. A receipt that a call repeats changes nothing, and receipts of one message are
 * applied one after the other: 1,000 equal ones took 5 s, and more of them by their square.
 */
function withoutEqual<T extends object>(all: readonly T[]): T[] {
  return [...new Map(all.map(each => [JSON.stringify(each), each])).values()]
}

/** The item of a stored message; the text of an OTP is not in it, since it was erased. */
function toItem(row: MessageRow, content: StoredContent): OutboxItem {
  const { accountId, id, connectionId, channel, messageType, recipient, sender, bulkJobId } = row
  const item = { accountId, id, connectionId, channel, messageType, recipient, sender, content }
  return bulkJobId === null ? item : { ...item, bulkJobId }
}
