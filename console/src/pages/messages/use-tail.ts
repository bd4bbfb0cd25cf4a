import type { Message } from '../../../../sdk/index.ts'
import { useMessageChanges } from '../../api/use-message-changes.ts'
import { fitsAsNow, type MessagesAsked } from './message-filters.tsx'

type List = {
  place(rows: readonly Message[], how: { keyOf(row: Message): string; fits(row: Message): boolean }): void
  freshen(): void
}

/** Keeps the list as the messages are, while it is followed: `query` is what it shows, or null. */
export function useTail(query: MessagesAsked | null, list: List): void {
  // What a message may come to fit is looked at here: one that fits no more must be heard of, too.
  const { status: _, errorCode: __, createdAfter: ___, ...steady } = query ?? {}
  useMessageChanges(query && steady, {
    onChanged: messages =>
      list.place(messages, {
        keyOf: ({ messageId }) => messageId,
        fits: message => fitsAsNow(query ?? {}, message),
      }),
    read: list.freshen,
  })
}
