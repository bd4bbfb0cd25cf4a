import { storeLowBalanceEvents } from '../core/billing/low-balance-store.ts'
import { endFutureMonths } from '../core/billing/pool-month-store.ts'
import { endFarPauses } from '../core/bulk/store.ts'
import { LONGEST_DELAYS_MS } from '../core/callbacks/schedule.ts'
import { recallDeliveries } from '../core/callbacks/store.ts'
import { sweepJoined } from '../core/inbound/joined-store.ts'
import { REPEAT_WINDOW_MS } from '../core/inbound/repeats.ts'
import { sweepInboundRefs } from '../core/inbound/store.ts'
import { sweepWindows } from '../core/inbound/windows-store.ts'
import { REPLAY_WINDOW_MS } from '../core/messages/idempotency.ts'
import { sweepKeys } from '../core/messages/idempotency-store.ts'
import { BACKOFF_CAP_MS } from '../core/messages/transitions.ts'
import { failStranded } from '../core/messages/withdraw-store.ts'
import { sweepAttachments } from '../core/outbox/attachment-store.ts'
import { ensureMonths } from '../core/outbox/month-store.ts'
import { sweepParts } from '../core/outbox/parts-store.ts'
import { applyParked, closeUnknown, recallWaiting } from '../core/outbox/reconcile-store.ts'
import { createRetention, type Retention } from '../core/outbox/retention.ts'
import { sweepAllProviderRefs, sweepParked } from '../core/outbox/sweep-store.ts'
import type { SandboxMessages } from '../core/sandbox/messages.ts'
import { recallPlanned } from '../core/sandbox/recall-store.ts'
import { recallIdentityChecks, sweepIdentities } from '../core/senders/official-store.ts'
import { recallChecks } from '../core/templates/official-store.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../lib/durations.ts'
import { type Chore, sweepAll } from '../workers/chores.ts'
import type { AccountRooms } from './accounts.ts'
import type { Foundation } from './foundation.ts'
import type { MessageRooms } from './messages.ts'
import { VERIFICATIONS_KEEP_MS } from './verification.ts'

/** No receipt comes later than this after its attempt, and no provider repeats an inbound message after it. */
const RECEIPT_WINDOW_MS = 7 * DAY_MS
/** A receipt this recent may belong to a submit whose answer is being stored now, maybe by a node with another clock. */
const RECENT_RECEIPT_MS = 5 * MINUTE_MS
/** Clocks of nodes differ by less; as in recall_waiting and recall_deliveries. */
const CLOCKS_DIFFER_MS = 10 * MINUTE_MS
const SMALL_PAGE = 500
const LARGE_PAGE = 20_000

/**
 * The chores of messages and accounts. Other rooms list theirs in their own files here; ./work.ts gathers
 * all. Each chore is idempotent, and any node may run it.
 */
export function listMessageChores(
  base: Foundation,
  rooms: AccountRooms,
  messages: MessageRooms,
  sandbox: SandboxMessages,
): Chore[] {
  const { db, clock, config } = base
  const keep = {
    eventsMs: config.eventsKeepMs,
    inboundMs: config.inboundKeepMs,
    verificationsMs: VERIFICATIONS_KEEP_MS,
  }
  const retention = createRetention({ db, clock, keep })
  return [
    // Longer than a claim waits for the database's answer (see createOrphanCheck).
    { name: 'find orphaned messages', everyMs: 5 * SECOND_MS, run: messages.dispatcher.releaseOrphaned },
    {
      name: 'apply parked receipts',
      everyMs: SECOND_MS,
      run: () => applyParked(db, clock.now(), clock.now() - RECENT_RECEIPT_MS),
    },
    { name: 'apply old parked receipts', everyMs: HOUR_MS, run: () => applyParked(db, clock.now()) },
    {
      name: 'close unknown messages',
      dependsOnClock: true,
      everyMs: SECOND_MS,
      run: () => sweepAll(() => closeUnknown(db, clock.now(), SMALL_PAGE), SMALL_PAGE),
    },
    { name: 'look up unknown messages', everyMs: SECOND_MS, run: messages.reconciler.round },
    {
      name: 'report low balances',
      everyMs: 2 * SECOND_MS,
      run: () => storeLowBalanceEvents(db, clock.now()),
    },
    {
      name: 'end future months of pools',
      dependsOnClock: true,
      everyMs: HOUR_MS,
      run: () => endFutureMonths(db, clock.now()),
    },
    {
      name: 'bring back what waits too long',
      dependsOnClock: true,
      everyMs: 10 * MINUTE_MS,
      run: () => recallWaits(base),
    },
    { name: 'store key use', everyMs: 10 * SECOND_MS, run: rooms.keys.flushUsed },
    {
      name: 'fail stranded messages',
      everyMs: 30 * SECOND_MS,
      run: () => sweepAll(() => failStranded(db, clock.now(), SMALL_PAGE), SMALL_PAGE),
    },
    {
      name: 'sweep idempotency keys',
      dependsOnClock: true,
      everyMs: MINUTE_MS,
      run: () => sweepAll(() => sweepKeys(db, clock.now() - REPLAY_WINDOW_MS, LARGE_PAGE), LARGE_PAGE),
    },
    {
      name: 'sweep provider ids',
      dependsOnClock: true,
      everyMs: HOUR_MS,
      run: () => sweepAllProviderRefs(db, clock.now() - RECEIPT_WINDOW_MS),
    },
    {
      name: 'sweep parts of messages',
      dependsOnClock: true,
      everyMs: 10 * MINUTE_MS,
      run: () => sweepAll(() => sweepParts(db, clock.now() - RECEIPT_WINDOW_MS, LARGE_PAGE), LARGE_PAGE),
    },
    {
      name: 'sweep inbound ids',
      dependsOnClock: true,
      everyMs: 10 * MINUTE_MS,
      run: () =>
        sweepAll(() => sweepInboundRefs(db, clock.now() - RECEIPT_WINDOW_MS, LARGE_PAGE), LARGE_PAGE),
    },
    {
      name: 'sweep joined messages',
      dependsOnClock: true,
      everyMs: 10 * MINUTE_MS,
      // An incomplete message waits as long again for its parts.
      run: () => sweepAll(() => sweepJoined(db, clock.now() - 3 * REPEAT_WINDOW_MS, LARGE_PAGE), LARGE_PAGE),
    },
    {
      name: 'sweep conversation windows',
      dependsOnClock: true,
      everyMs: 10 * MINUTE_MS,
      run: () => sweepAll(() => sweepWindows(db, clock.now(), LARGE_PAGE), LARGE_PAGE),
    },
    { name: 'sweep changes of messages', everyMs: 30 * SECOND_MS, run: messages.messageWatch.sweep },
    { name: 'sweep official senders', everyMs: HOUR_MS, run: () => sweepIdentities(db, SMALL_PAGE) },
    {
      name: 'sweep attachments',
      dependsOnClock: true,
      everyMs: 10 * MINUTE_MS,
      run: () => sweepAll(() => sweepAttachments(db, clock.now() - HOUR_MS, SMALL_PAGE), SMALL_PAGE),
    },
    {
      name: 'sweep parked receipts',
      dependsOnClock: true,
      everyMs: HOUR_MS,
      run: () => sweepAll(() => sweepParked(db, clock.now() - DAY_MS, LARGE_PAGE), LARGE_PAGE),
    },
    {
      name: 'sweep the sandbox',
      dependsOnClock: true,
      everyMs: HOUR_MS,
      run: () => sandbox.sweep(clock.now()),
    },
    { name: 'make partitions', everyMs: MINUTE_MS, run: () => ensureMonths(db, clock.now()) },
    {
      name: 'drop old months',
      dependsOnClock: true,
      everyMs: 10 * MINUTE_MS,
      run: () => dropOldMonths(base, retention),
    },
  ]
}

/** A clock that was far ahead and was set right has put off what waits to a time that may be years away. */
async function recallWaits({ db, clock, config, log }: Foundation): Promise<void> {
  const nowMs = clock.now()
  // Neither a pause of a bulk job nor the time between two polls is longer than an hour.
  const lastMs = nowMs + HOUR_MS + CLOCKS_DIFFER_MS
  const messages = await recallWaiting(db, nowMs, BACKOFF_CAP_MS, config.unknownDeadlineMs)
  const deliveries = await recallDeliveries(db, nowMs, LONGEST_DELAYS_MS)
  const bulkJobs = await endFarPauses(db, nowMs, lastMs)
  const polls = (await recallChecks(db, nowMs, lastMs)) + (await recallIdentityChecks(db, nowMs, lastMs))
  // The sandbox plans nothing for more than seconds ahead.
  const sandbox = await recallPlanned(db, nowMs, nowMs + CLOCKS_DIFFER_MS)
  if (messages + deliveries + bulkJobs + polls + sandbox === 0) return
  log.warn(
    { messages, deliveries, bulkJobs, polls, sandbox },
    'a clock was far ahead: what it had put off is due again',
  )
}

async function dropOldMonths({ log }: Foundation, retention: Retention): Promise<void> {
  const months = await retention.round()
  if (months.length > 0) log.info({ months }, 'months of data past their retention were dropped')
}
