import type { Message } from '../../../../sdk/index.ts'
import { useMessageChanges } from '../../api/use-message-changes.ts'
import { type MessageQuery, matchesChangingFilters } from './message-filters.tsx'

type List = {
  update(rows: readonly Message[], how: { keyOf(row: Message): string; fits(row: Message): boolean }): void
  refresh(): void
}

/** Updates the list while it follows changes; `query` is what it shows, null to stop. */
export function useLiveMessages(query: MessageQuery | null, list: List): void {
  // Filters on fields that can change are applied here, since messages that no longer match must be reported too.
  const { status: _, errorCode: __, createdAfter: ___, ...steady } = query ?? {}
  useMessageChanges(query && steady, {
    onChanged: messages =>
      list.update(messages, {
        keyOf: ({ messageId }) => messageId,
        fits: message => matchesChangingFilters(query ?? {}, message),
      }),
    read: list.refresh,
  })
}
