import type { BinaryNode } from 'baileys'
import type { Receipt } from '../provider.ts'
import { entryOf } from '../shared/table.ts'
import { attemptIdOf } from './message-id.ts'
import { timeOf } from './time.ts'

/** By a receipt's `type`; without one it reports the delivery. Receipts from the sender's own devices are ignored. */
const STATUS_OF: Readonly<Record<string, Receipt['status']>> = {
  '': 'delivered',
  inactive: 'delivered',
  read: 'read',
  played: 'read',
}

/** The receipts of our messages in one node. In a group, the first receipt of each kind moves the message. */
export function readReceipts({ attrs, content }: BinaryNode): Receipt[] {
  const status = entryOf(STATUS_OF, attrs['type'] ?? '')
  if (!status || attrs['recipient'] !== undefined) return []
  const atMs = timeOf(attrs['t'])
  const children = Array.isArray(content) ? content : []
  const toldAtMs = new Map([attrs['id'] ?? '', ...listed(children)].map(id => [id, atMs]))
  for (const { id, firstMs } of groupReceipts(children)) toldAtMs.set(id, firstMs ?? atMs)
  return [...toldAtMs].flatMap(([providerId, eachMs]) => {
    const attemptId = attemptIdOf(providerId)
    return attemptId === null
      ? []
      : [
          {
            kind: 'receipt' as const,
            providerId,
            attemptId,
            status,
            atMs: eachMs,
            providerCode: null,
            detail: null,
          },
        ]
  })
}

/** A receipt may be for many messages: its own id is the first, the others are in a list. */
function listed(children: readonly BinaryNode[]): string[] {
  const list = children.find(each => each.tag === 'list')
  return childrenOf(list).map(item => item.attrs['id'] ?? '')
}

/** Receipts of several group members that queued while we were offline come in one node: the message, and each member with a time. */
function groupReceipts(children: readonly BinaryNode[]): { id: string; firstMs: number | null }[] {
  return children
    .filter(each => each.tag === 'participants' && childrenOf(each).length > 0)
    .map(each => {
      const times = childrenOf(each).flatMap(user => timeOf(user.attrs['t']) ?? [])
      return { id: each.attrs['key'] ?? '', firstMs: times.length === 0 ? null : Math.min(...times) }
    })
}

function childrenOf(node: BinaryNode | undefined): readonly BinaryNode[] {
  return Array.isArray(node?.content) ? node.content : []
}
