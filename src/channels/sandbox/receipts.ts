import type { ClaimedReceipt, SandboxInbox } from '../../contract/sandbox-inbox.ts'
import type { Cancel } from '../../lib/clock.ts'
import type { Io, LinkState, Receipt } from '../provider.ts'

/**
 * How often to check when nothing is due. No receipt is planned for less than a
 * second ahead, so that each is seen before its time, whichever node planned it.
 */
const LOOK_EVERY_MS = 1_000
/** The shortest pause between two checks: under load, receipts are collected into batches. */
const PAUSE_MS = 100
/** How long a claim hides receipts from other nodes: those that a dead node claimed are emitted that much later. */
const CLAIM_MS = 5_000
const CLAIM_ITEMS = 500

export type ReceiptTeller = {
  /** Emits no more receipts; resolves when those in progress are emitted. */
  close(): Promise<void>
}

/**
 * Emits the receipts of one connection when they are due, for as long as it is
 * open; reports the link as up while the inbox answers.
 */
export function createReceiptTeller(inbox: SandboxInbox, io: Io): ReceiptTeller {
  let closed = false
  let state: LinkState['state'] = 'connecting'
  let cancel: Cancel = () => {}
  let looking: Promise<void> = look()

  async function look(): Promise<void> {
    const waitMs = await tellAllDue().catch(complain)
    if (!closed) cancel = io.clock.after(waitMs, () => (looking = look()))
  }

  /** How long to wait before the next check, in ms. */
  async function tellAllDue(): Promise<number> {
    const nowMs = io.clock.now()
    const dueAtMs = await inbox.nextReceiptAt(io.connectionId, nowMs)
    if (dueAtMs !== null && dueAtMs <= nowMs) await tellDue(nowMs)
    turn('up', 'stores messages, sends nothing')
    if (dueAtMs === null) return LOOK_EVERY_MS
    return Math.min(Math.max(dueAtMs - io.clock.now(), PAUSE_MS), LOOK_EVERY_MS)
  }

  async function tellDue(nowMs: number): Promise<void> {
    for (let full = true; full && !closed; ) {
      const claimed = await inbox.claimReceipts({
        connectionId: io.connectionId,
        nowMs,
        claimedUntilMs: io.clock.now() + CLAIM_MS,
        limit: CLAIM_ITEMS,
      })
      if (claimed.length === 0) return
      await io.emit(claimed.map(asReceipt))
      // Only receipts that were stored are finished; the others are emitted again when the claim runs out.
      await inbox.finishReceipts(claimed)
      full = claimed.length === CLAIM_ITEMS
    }
  }

  function complain(error: unknown): number {
    const reason = reasonOf(error)
    if (turn('down', reason))
      io.log.warn({ reason }, 'sandbox: receipts are delayed: the inbox does not answer')
    return LOOK_EVERY_MS
  }

  /** Reports a change of state, once per outage; returns whether it was one. */
  function turn(to: LinkState['state'], detail: string): boolean {
    if (state === to) return false
    state = to
    io.report({ state, detail })
    return true
  }

  return {
    async close() {
      closed = true
      cancel()
      await looking
    },
  }
}

function asReceipt({ providerId, status, dueAtMs }: ClaimedReceipt): Receipt {
  return receiptOf(providerId, status, dueAtMs)
}

/** The message alone: the other fields of a database's error may quote what was being written. */
export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : 'unknown'
}

/** A receipt of the sandbox. */
export function receiptOf(providerId: string, status: Receipt['status'], atMs: number): Receipt {
  const undelivered = status === 'undelivered'
  return {
    kind: 'receipt',
    providerId,
    status,
    atMs,
    providerCode: undelivered ? '0004' : null,
    detail: undelivered ? 'The sandbox does not deliver to recipients that end in 0004.' : null,
  }
}
