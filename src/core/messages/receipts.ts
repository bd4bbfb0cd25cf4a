import type { Inbound, LateOutcome, Receipt } from '../../channels/provider.ts'
import type { Db } from '../../infra/db.ts'
import type { Clock } from '../../lib/clock.ts'
import { type AccountId, type ConnectionId, type Ids, isId, type MessageId } from '../../lib/ids.ts'
import type { Random } from '../../lib/random.ts'
import { noteEchoes } from '../outbox/reconcile-store.ts'
import type { Settle } from './settle.ts'
import { PUBLIC_CODE, type SettlePolicy, settleOutcome } from './transitions.ts'

/** Takes what providers report later about messages that they were given. */
export type Receipts = {
  /** Resolves once all of it is stored: only then may the provider forget it. */
  take(connectionId: ConnectionId, inbound: readonly Inbound[]): Promise<void>
  /** The same for an outcome that came late; moves the message only if it is still unknown by this very attempt. */
  takeLate(connectionId: ConnectionId, late: LateOutcome): Promise<void>
}

export type ReceiptsDeps = {
  db: Db
  settle: Settle
  clock: Clock
  ids: Ids
  random: Random
  policyOf(connectionId: ConnectionId): SettlePolicy
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
      atMs,
      providerCode,
      errorCode: reject === undefined ? null : PUBLIC_CODE[reject],
      detail,
      eventId: ids.next('evt'),
    })
  }

  /** What moved nothing may be parked, because the answer to its submit never came. */
  async function noteAttempts(connectionId: ConnectionId, receipts: readonly Receipt[]): Promise<void> {
    const echoes = receipts.flatMap(({ attemptId, providerId }) => {
      const known = attemptId === undefined ? null : readAttemptId(attemptId)
      return known ? [{ connectionId, providerId, ...known }] : []
    })
    if (echoes.length > 0) await noteEchoes(deps.db, echoes)
  }

  async function takeLate(connectionId: ConnectionId, late: LateOutcome): Promise<void> {
    const known = readAttemptId(late.attemptId)
    if (!known) return
    const { id, attempt } = known
    const settlement = settleOutcome(
      late.outcome,
      attempt,
      deps.policyOf(connectionId),
      deps.clock.now(),
      deps.random,
    )
    const told = await settle.attempt({
      accountId: late.accountId as AccountId,
      id,
      attempt,
      connectionId,
      ...settlement,
      forget: null,
      eventId: ids.next('evt'),
    })
    deps.observe(late.outcome.kind, told === null ? 'no change' : 'applied')
  }

  return {
    async take(connectionId, inbound) {
      const receipts = inbound.filter(each => each.kind === 'receipt')
      const moved = await Promise.all(receipts.map(receipt => takeReceipt(connectionId, receipt)))
      await noteAttempts(
        connectionId,
        receipts.filter((_, at) => !moved[at]),
      )
      receipts.forEach((receipt, at) => {
        deps.observe(receipt.status, moved[at] ? 'applied' : 'no change')
      })
    },
    takeLate,
  }
}

/** The message and the number of an attempt, by the id that providers are handed; null for what is none. */
function readAttemptId(text: string): { id: MessageId; attempt: number } | null {
  const [id = '', number = ''] = text.split('.')
  return isId('msg', id) && /^[1-9]\d{0,3}$/.test(number) ? { id, attempt: Number(number) } : null
}
