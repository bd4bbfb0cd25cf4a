import { readCursor } from '../../contract/cursor.ts'
import { Problem } from '../../contract/errors.ts'
import type { SmsSenderView } from '../../contract/sender.ts'
import { isId } from '../../lib/ids.ts'
import type { SenderId, SenderRow } from './store.ts'

/** A sender as its account sees it. */
export function viewSender(row: SenderRow): SmsSenderView {
  return {
    id: row.id,
    name: row.name,
    status: row.status,
    isDefault: row.isDefault,
    webhookConfigured: row.webhookConfigured,
    ...(row.reason !== null && { reason: row.reason }),
  }
}

/** Where a list of senders goes on. */
export function readSenderCursor(cursor: string): SenderId {
  return readCursor(cursor, ([id, ...rest]) => rest.length === 0 && isId('snd', id ?? ''))[0] as SenderId
}

export function unknownSender(): Problem {
  return new Problem('NOT_FOUND', 'SMS sender not found')
}
