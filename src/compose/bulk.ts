import { SingleSendBody } from '../contract/send.ts'
import { BULK_ROWS } from '../core/bulk/accept-store.ts'
import { createBulkIntake } from '../core/bulk/intake.ts'
import { createBulkJobs } from '../core/bulk/jobs.ts'
import { deleteOldJobs } from '../core/bulk/retention.ts'
import type { RowDeps } from '../core/bulk/row.ts'
import { foldMoves, resumeDueJobs, sweepRows } from '../core/bulk/store.ts'
import { createBulkValidator } from '../core/bulk/validate.ts'
import { createBulkWatch } from '../core/bulk/watch.ts'
import { createAccept } from '../core/messages/accept.ts'
import { cancelMessages } from '../core/messages/withdraw-store.ts'
import type { BulkBodyLimits } from '../http/bulk-body.ts'
import { SEND_BODY_LIMIT_BYTES } from '../http/routes/messages-send.ts'
import { createCheck } from '../http/validation.ts'
import { HOUR_MS, SECOND_MS } from '../lib/durations.ts'
import { isId } from '../lib/ids.ts'
import { createPhones } from '../lib/phone.ts'
import { createBulkPump } from '../workers/bulk-pump.ts'
import type { Chore } from '../workers/chores.ts'
import { startLoop } from '../workers/loop.ts'
import type { NodeLease } from '../workers/node-lease.ts'
import type { AccountRooms } from './accounts.ts'
import type { Foundation } from './foundation.ts'
import type { MediaRooms } from './media.ts'
import type { MessageRooms } from './messages.ts'

export type BulkRooms = ReturnType<typeof createBulkRooms>

/** Bulk jobs: intake, validation, and handing rows over to accept and dispatch. */
export function createBulkRooms(
  base: Foundation,
  rooms: AccountRooms,
  { planning, acceptMessage, dispatcher, links }: MessageRooms,
  { media }: Pick<MediaRooms, 'media'>,
  lease: NodeLease,
) {
  const { config, db, clock, ids, seal, log, metrics } = base
  const rows: RowDeps = {
    ...planning,
    // A small cache of their own: nearly every row has a new number, which would evict those of sends.
    phones: createPhones({ cacheSize: MAX_CACHED_PHONES }),
    faultsOf: createCheck(SingleSendBody),
    seal,
    log,
  }
  const accept = createAccept({
    db,
    clock,
    store: BULK_ROWS,
    node: lease.id,
    observe: items => metrics.batch('accept_bulk', items),
    resolvedPerTurn: MAX_ROWS_SUBMITTED_AT_ONCE,
  })
  const account = rooms.accounts.snapshot
  const bulkLimits: BulkBodyLimits = {
    mostBytes: config.bulkMostBytes,
    mostMessageBytes: SEND_BODY_LIMIT_BYTES,
    timeoutMs: config.bulkTimeoutMs,
  }
  return {
    clock,
    bulkLimits,
    bulkIntake: createBulkIntake({ db, clock, ids, seal, node: lease.id }),
    bulkJobs: createBulkJobs({
      db,
      clock,
      withdraw: messages => cancelMessages(db, clock.now(), messages),
    }),
    bulkWatch: createBulkWatch({ db, clock }),
    bulkValidator: createBulkValidator({
      ...rows,
      db,
      seal,
      node: lease.id,
      account,
      // A missing file is reported by the validation of the row that names it.
      async retainFile(id, { accountId, id: jobId }) {
        if (isId('ast', id)) await media.addUse(id, { accountId, id: jobId })
      },
    }),
    bulkPump: createBulkPump({
      db,
      clock,
      ids,
      log,
      rows,
      accept,
      acceptMessage,
      account,
      pausedUntil: dispatcher.pausedUntil,
      async isOpenElsewhere(accountId, id) {
        if (links.get(id)) return false
        const sessions = await rooms.sessions.forAccount(accountId)
        return sessions.some(session => session.id === id && session.state === 'open')
      },
      connections: dispatcher,
      noteLostAccept: dispatcher.noteLostAccept,
      undoAttempt: message => void dispatcher.undoAttempt(message),
      node: lease.id,
    }),
  }
}

const MAX_CACHED_PHONES = 200
/** Each row is submitted as soon as it is accepted: more at once would block the event loop for other requests. */
const MAX_ROWS_SUBMITTED_AT_ONCE = 32

/** How often validations and lanes are looked for without a notification; in ms. */
const POLL_EVERY_MS = 250

/** Starts validating and handing over; `stop` ends both, and leaves the rest to other nodes. */
export function startBulk(
  { clock, log, changes }: Foundation,
  { bulkPump, bulkValidator, bulkWatch }: BulkRooms,
): { stop(): Promise<void> } {
  const pump = startLoop({
    clock,
    everyMs: POLL_EVERY_MS,
    round: async () => void (await bulkPump.round()),
    onError: error => log.debug({ err: error }, 'handing over bulk rows failed; it is tried again'),
  })
  const validation = startLoop({
    clock,
    everyMs: POLL_EVERY_MS,
    round: async () => ((await bulkValidator.round()) ? 'again' : undefined),
    onError: error => log.debug({ err: error }, 'validating bulk rows failed; it is tried again'),
  })
  const onChange = (jobs: boolean, accountId: Parameters<typeof bulkPump.changed>[0]) => {
    bulkPump.changed(accountId)
    pump.wake()
    if (!jobs) return
    bulkWatch.notifyChanged(accountId)
    validation.wake()
  }
  const unsubscribe = changes.subscribe({
    changed(table, accountId) {
      if (table === 'bulk_jobs') onChange(true, accountId)
      else if (table === 'accounts' && accountId) onChange(false, accountId)
    },
    reset: () => onChange(true, null),
  })
  return {
    async stop() {
      unsubscribe()
      bulkValidator.stop()
      await Promise.all([pump.stop(), validation.stop()])
      await bulkPump.stop()
    },
  }
}

/** Rows of `bulk_moves` that are counted in one statement; each has the messages of a batch, up to some hundred. */
const FOLD_PAGE = 100
const SWEEP_PAGE = 10_000

/** The chores of bulk jobs; any node may run them. */
export function listBulkChores(
  { db, clock, config }: Foundation,
  { bulkIntake, bulkJobs }: BulkRooms,
): Chore[] {
  return [
    { name: 'count settled bulk rows', everyMs: SECOND_MS, run: foldAll },
    { name: 'resume bulk jobs', everyMs: SECOND_MS, run: () => resumeDueJobs(db, clock.now()) },
    { name: 'finish bulk cancels', everyMs: SECOND_MS, run: bulkJobs.finishCancels },
    { name: 'reject abandoned bulk jobs', everyMs: SECOND_MS, run: bulkIntake.sweep },
    { name: 'sweep refused bulk rows', everyMs: SECOND_MS, run: sweepRefusedRows },
    {
      name: 'delete old bulk jobs',
      dependsOnClock: true,
      everyMs: HOUR_MS,
      run: async () => {
        if (config.bulkKeepMs !== null) await deleteOldJobs(db, clock.now() - config.bulkKeepMs)
      },
    },
  ]

  async function sweepRefusedRows(): Promise<void> {
    while ((await sweepRows(db, SWEEP_PAGE)) > 0);
  }

  async function foldAll(): Promise<void> {
    while ((await foldMoves(db, clock.now(), FOLD_PAGE)) >= FOLD_PAGE);
  }
}
