import type { Caller } from '../../contract/caller.ts'
import { invalid, Problem } from '../../contract/errors.ts'
import type { SandboxMessage, SandboxPage, SandboxQuery } from '../../contract/sandbox.ts'
import type { Db } from '../../infra/db.ts'
import { isId } from '../../lib/ids.ts'
import { type InboxPlace, readInbox, sweepLeftovers, sweepMessages } from './messages-store.ts'

const DEFAULT_LIMIT = 50
const KEEP_DAYS = 7
const KEEP_PER_ACCOUNT = 10_000
/** Of one statement, so that it holds its locks for a moment only. */
const SWEEP_ITEMS = 5_000

export type SandboxMessages = {
  /**
   * What the sandbox took from the account, newest first. FORBIDDEN for a live key:
   * one-time codes are in the clear here. VALIDATION_ERROR for a cursor that is not ours.
   */
  list(caller: Caller, query: SandboxQuery): Promise<SandboxPage>
  /** Deletes what is older than seven days or beyond the newest 10,000 of its account; returns how many messages. */
  sweep(nowMs: number): Promise<number>
}

export function createSandboxMessages(options: { db: Db }): SandboxMessages {
  const { db } = options

  return {
    async list(caller, query) {
      if (caller.mode !== 'test') throw new Problem('FORBIDDEN', 'Only a test key reads the sandbox.')
      const limit = query.limit ?? DEFAULT_LIMIT
      // One more than asked for tells whether there is a next page.
      const rows = await readInbox(db, {
        accountId: caller.account.id,
        to: query.to === undefined ? null : withPlus(query.to),
        before: query.cursor === undefined ? null : readCursor(query.cursor),
        limit: limit + 1,
      })
      const data = rows.slice(0, limit)
      return { success: true, data, nextCursor: rows.length > limit ? cursorAfter(data.at(-1)!) : null }
    },

    async sweep(nowMs) {
      const oldestMs = nowMs - KEEP_DAYS * 86_400_000
      await sweepLeftovers(db, oldestMs)
      let swept = 0
      for (let deleted = SWEEP_ITEMS; deleted === SWEEP_ITEMS; swept += deleted) {
        deleted = await sweepMessages(db, { oldestMs, keep: KEEP_PER_ACCOUNT, limit: SWEEP_ITEMS })
      }
      return swept
    },
  }
}

/** A plus that nobody escaped arrives as a space. */
function withPlus(to: string): string {
  return to.replace(/^ (?=\d)/, '+')
}

/** The place of a row in the order, as text that is safe in a query. */
function cursorAfter(row: SandboxMessage): string {
  return Buffer.from(`${Date.parse(row.receivedAt)} ${row.messageId}`).toString('base64url')
}

function readCursor(cursor: string): InboxPlace {
  const [time, messageId, ...more] = Buffer.from(cursor, 'base64url').toString().split(' ')
  if (!time || !/^\d{1,13}$/.test(time) || !messageId || !isId('msg', messageId) || more.length > 0) {
    throw invalid('cursor', 'not a cursor of this list')
  }
  return { receivedAtMs: Number(time), messageId }
}
