import { Problem } from '../../contract/errors.ts'
import type { SmsSenderView } from '../../contract/sender.ts'
import type { SenderRow } from './store.ts'

/** A sender, for its account. */
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

export function unknownSender(): Problem {
  return new Problem('NOT_FOUND', 'SMS sender not found')
}
