import type { ClaimedReceipt, SandboxInbox } from '../../contract/sandbox-inbox.ts'
import type { Cancel } from '../../lib/clock.ts'
import type { Io, LinkState, Receipt } from '../provider.ts'

/**
 * How often to check when nothing is due. No receipt is planned for less than a
 * second ahead, so that each is seen before its time, whichever node planned it.
 */
const POLL_EVERY_MS = 1_000
/** The shortest pause between two checks: under load, receipts are collected into batches. */
const PAUSE_MS = 100
/** How long a claim hides receipts from other nodes: those that a dead node claimed are emitted that much later. */
const CLAIM_MS = 5_000
const CLAIM_ITEMS = 500

export type ReceiptEmitter = {
  /** Emits no more receipts; resolves when those in progress are emitted. */
  close(): Promise<void>
}

/**
 * Emits the receipts of one connection when they are due, for as long as it is
 * open; reports the link as up while the inbox answers.
 */
export function createReceiptEmitter(inbox: SandboxInbox, io: Io): ReceiptEmitter {
  let closed = false
  let state: LinkState['state'] = 'connecting'
  let cancel: Cancel = () => {}
  let polling: Promise<void> = poll()

  async function poll(): Promise<void> {
    const waitMs = await emitAllDue().catch(reportFailure)
    if (!closed) cancel = io.clock.after(waitMs, () => (polling = poll()))
  }

  /** How long to wait before the next check, in ms. */
  async function emitAllDue(): Promise<number> {
    const nowMs = io.clock.now()
    const dueAtMs = await inbox.nextReceiptAt(io.connectionId, nowMs)
    if (dueAtMs !== null && dueAtMs <= nowMs) await emitDue(nowMs)
    setState('up', 'stores messages, sends nothing')
    if (dueAtMs === null) return POLL_EVERY_MS
    return Math.min(Math.max(dueAtMs - io.clock.now(), PAUSE_MS), POLL_EVERY_MS)
  }

  async function emitDue(nowMs: number): Promise<void> {
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

  function reportFailure(error: unknown): number {
    const reason = reasonOf(error)
    if (setState('down', reason))
      io.log.warn({ reason }, 'sandbox: receipts are delayed: the inbox does not answer')
    return POLL_EVERY_MS
  }

  /** Reports a change of state, once per outage; returns whether it was one. */
  function setState(to: LinkState['state'], detail: string): boolean {
    if (state === to) return false
    state = to
    io.report({ state, detail })
    return true
  }

  return {
    async close() {
      closed = true
      cancel()
      await polling
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
