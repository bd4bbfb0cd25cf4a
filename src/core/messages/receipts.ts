import type { Inbound, LateOutcome, Receipt } from '../../channels/provider.ts'
import type { Db } from '../../infra/db.ts'
import { patiently } from '../../infra/patiently.ts'
import type { Clock } from '../../lib/clock.ts'
import type { AccountId, ConnectionId, Ids } from '../../lib/ids.ts'
import { storableTime } from '../../lib/storable.ts'
import { readAttemptId } from '../outbox/attempt-id.ts'
import type { OutboxItem } from '../outbox/dispatch-port.ts'
import { noteEchoes } from '../outbox/reconcile-store.ts'
import type { StoredContent } from '../outbox/stored-content.ts'
import type { Conclude } from './conclude.ts'
import { type MessageRow, readMessage } from './message-store.ts'
import type { MessageParts } from './parts.ts'
import { storableReceipt } from './provider-words.ts'
import type { Settle } from './settle.ts'
import { PUBLIC_CODE } from './transitions.ts'

/** Takes what providers report later about messages that they were given. */
export type Receipts = {
  /** Resolves once all of it is stored: only then may the provider forget it. */
  take(connectionId: ConnectionId, inbound: readonly Inbound[]): Promise<void>
  /** An outcome that came late: does what it would have done in time, if the message is still unknown by this very attempt. */
  takeLate(connectionId: ConnectionId, late: LateOutcome): Promise<void>
}

export type ReceiptsDeps = {
  db: Db
  clock: Clock
  ids: Ids
  /** True while stopping: then nobody waits for a database that is away. */
  stopping(): boolean
  settle: Settle
  parts: Pick<MessageParts, 'heard'>
  conclude: Conclude
  /** Holds a message, not begun, that goes on over another connection. */
  handOver(item: OutboxItem): void
  observe(status: string, fate: 'applied' | 'no change'): void
}

export function createReceipts(deps: ReceiptsDeps): Receipts {
  const { settle, ids } = deps

  function takeReceipt(connectionId: ConnectionId, receipt: Receipt): Promise<boolean> {
    const { providerId, status, reject, atMs, providerCode, detail } = receipt
    return settle.receipt({
      connectionId,
      providerId,
      // Refused after all: that is more than not delivered, and not paid for.
      status: reject === undefined ? status : 'failed',
      atMs: storableTime(atMs),
      providerCode,
      errorCode: reject === undefined ? null : PUBLIC_CODE[reject],
      detail,
      eventId: ids.next('evt'),
    })
  }

  /**
   * Of receipts that moved no message, which are for one part of a message. The others are parked until
   * their submit is answered; those that name their attempt are noted as its.
   */
  async function takeParked(connectionId: ConnectionId, receipts: readonly Receipt[]): Promise<boolean[]> {
    const providerIds = receipts.map(({ providerId }) => providerId)
    const areParts = providerIds.length === 0 ? [] : await deps.parts.heard(connectionId, providerIds)
    await noteAttempts(
      connectionId,
      receipts.filter((_, at) => !areParts[at]),
    )
    return areParts
  }

  async function noteAttempts(connectionId: ConnectionId, receipts: readonly Receipt[]): Promise<void> {
    const echoes = receipts.flatMap(({ attemptId, providerId, ofPart = false }) => {
      const known = attemptId === undefined ? null : readAttemptId(attemptId)
      return known ? [{ connectionId, providerId, ofPart, ...known }] : []
    })
    if (echoes.length > 0) await noteEchoes(deps.db, echoes)
  }

  async function takeLate(connectionId: ConnectionId, late: LateOutcome): Promise<void> {
    const moved = await concludeLate(connectionId, late)
    deps.observe(late.outcome.kind, moved ? 'applied' : 'no change')
  }

  /** Whether it moved the message: not where a receipt or another attempt was faster. */
  async function concludeLate(
    connectionId: ConnectionId,
    { accountId, attemptId, outcome }: LateOutcome,
  ): Promise<boolean> {
    const known = readAttemptId(attemptId)
    if (!known) return false
    const row = await patiently(
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
    async take(connectionId, inbound) {
      const receipts = inbound.filter(each => each.kind === 'receipt').map(storableReceipt)
      const moved = await Promise.all(receipts.map(receipt => takeReceipt(connectionId, receipt)))
      const parked = receipts.filter((_, at) => !moved[at])
      const areParts = await takeParked(connectionId, parked)
      const parts = new Set(parked.filter((_, at) => areParts[at]))
      receipts.forEach((receipt, at) => {
        deps.observe(receipt.status, moved[at] || parts.has(receipt) ? 'applied' : 'no change')
      })
    },
    takeLate,
  }
}

/** As a dispatcher would hold it; the words of a code are gone for good. */
function toItem(row: MessageRow, content: StoredContent): OutboxItem {
  const { accountId, id, connectionId, channel, messageType, recipient, sender } = row
  return { accountId, id, connectionId, channel, messageType, recipient, sender, content }
}
