import type { Caller } from '../../contract/caller.ts'
import { pageOf, readTimeCursor, writeCursor } from '../../contract/cursor.ts'
import { Problem } from '../../contract/errors.ts'
import { toStoredAddress } from '../../contract/filters.ts'
import type { SandboxMessage, SandboxPage, SandboxQuery } from '../../contract/sandbox.ts'
import type { Db } from '../../infra/db.ts'
import { DAY_MS } from '../../lib/durations.ts'
import type { Phones } from '../../lib/phone.ts'
import { readInbox, sweepLeftovers, sweepMessages } from './messages-store.ts'

const KEEP_DAYS = 7
const KEEP_PER_ACCOUNT = 10_000
/** Rows per statement, so that locks are held only briefly. */
const SWEEP_ITEMS = 5_000

export type SandboxMessages = {
  /**
   * The account's messages to the sandbox, the newest first. FORBIDDEN for a live key,
   * since one-time codes are in the clear here. VALIDATION_ERROR for an invalid cursor.
   */
  list(caller: Caller, query: SandboxQuery): Promise<SandboxPage>
  /** Deletes messages that are older than seven days, or beyond the newest 10,000 of their account; returns how many. */
  sweep(nowMs: number): Promise<number>
}

export function createSandboxMessages(options: { db: Db; phones: Phones }): SandboxMessages {
  const { db, phones } = options

  return {
    async list(caller, query) {
      if (caller.mode !== 'test') throw new Problem('FORBIDDEN', 'Only a test key can read the sandbox.')
      const { rows, truncated } = await readInbox(db, {
        accountId: caller.account.id,
        to: query.to === undefined ? null : toStoredAddress(query.to, phones),
        before: query.cursor === undefined ? null : readTimeCursor(query.cursor),
        limit: query.limit + 1,
      })
      const page = pageOf(rows, query.limit, row => row, cursorAfter)
      return truncated ? { ...page, nextCursor: cursorAfter(rows.at(-1)!) } : page
    },

    async sweep(nowMs) {
      const oldestMs = nowMs - KEEP_DAYS * DAY_MS
      await sweepLeftovers(db, oldestMs)
      let swept = 0
      for (let deleted = SWEEP_ITEMS; deleted === SWEEP_ITEMS; swept += deleted) {
        deleted = await sweepMessages(db, { oldestMs, keep: KEEP_PER_ACCOUNT, limit: SWEEP_ITEMS })
      }
      return swept
    },
  }
}

function cursorAfter(row: SandboxMessage): string {
  return writeCursor(String(Date.parse(row.receivedAt)), row.messageId)
}
