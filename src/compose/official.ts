import { createOfficialCheck, type IdentifiedLink } from '../core/senders/official-check.ts'
import { OFFICIAL_CHANNEL } from '../core/senders/official-order.ts'
import type { Chore } from '../workers/chores.ts'
import type { Foundation } from './foundation.ts'
import type { MessageRooms } from './messages.ts'

/** How often this node looks for senders whose check is due; each sender is checked less often. */
const CHECK_EVERY_MS = 5_000

/** Updates number, name and rating of official senders from their providers. */
export function createOfficialCheckChore(
  { db, clock, log }: Foundation,
  { links, onLinks }: Pick<MessageRooms, 'links' | 'onLinks'>,
): Chore {
  const identified = (): IdentifiedLink[] =>
    links.all().flatMap(({ id, accountId, channels, link }) => {
      const identity = channels.includes(OFFICIAL_CHANNEL) ? link.identity : undefined
      return identity ? [{ accountId, connectionId: id, identity }] : []
    })
  return {
    name: 'identify official senders',
    everyMs: CHECK_EVERY_MS,
    // A new or changed sender is checked at once.
    registerWake: onLinks,
    run: createOfficialCheck({ db, clock, log, links: identified }),
  }
}
