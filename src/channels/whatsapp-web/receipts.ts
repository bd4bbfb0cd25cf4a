import type { BinaryNode } from 'baileys'
import type { Receipt } from '../provider.ts'
import { entryOf } from '../shared/table.ts'
import { attemptIdOf } from './message-id.ts'
import { timeOf } from './time.ts'

/** By the `type` of a receipt; without one it is of the delivery. What a person's own devices say counts for nothing. */
const STATUS_OF: Readonly<Record<string, Receipt['status']>> = {
  '': 'delivered',
  inactive: 'delivered',
  read: 'read',
  played: 'read',
}

/** The receipts of messages of ours in one node; in a group the first of each kind is what moves the message. */
export function readReceipts({ attrs, content }: BinaryNode): Receipt[] {
  const status = entryOf(STATUS_OF, attrs['type'] ?? '')
  if (!status || attrs['recipient'] !== undefined) return []
  const atMs = timeOf(attrs['t'])
  return [attrs['id'] ?? '', ...listed(content)].flatMap(providerId => {
    const attemptId = attemptIdOf(providerId)
    return attemptId === null
      ? []
      : [
          {
            kind: 'receipt' as const,
            providerId,
            attemptId,
            status,
            atMs,
            providerCode: null,
            detail: null,
          },
        ]
  })
}

/** One receipt may be of many messages: the first is its id, the others stand in a list. */
function listed(content: BinaryNode['content']): string[] {
  const list = Array.isArray(content) ? content.find(each => each.tag === 'list') : undefined
  return Array.isArray(list?.content) ? list.content.map(item => item.attrs['id'] ?? '') : []
}
