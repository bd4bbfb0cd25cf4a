import { createOfficialCheck, type IdentifiedLink } from '../core/senders/official-check.ts'
import { OFFICIAL } from '../core/senders/official-route.ts'
import type { Chore } from '../workers/chores.ts'
import type { Foundation } from './foundation.ts'
import type { MessageRooms } from './messages.ts'

/** How often this node looks which sender is due; each has its own, longer pace. */
const LOOK_EVERY_MS = 5_000

/** Reads from their providers who the official senders are, and how well they do. */
export function identifyOfficial(
  { db, clock, log }: Foundation,
  { links, onLinks }: Pick<MessageRooms, 'links' | 'onLinks'>,
): Chore {
  const identified = (): IdentifiedLink[] =>
    links.all().flatMap(({ id, accountId, channels, link }) => {
      const identity = channels.includes(OFFICIAL) ? link.identity : undefined
      return identity ? [{ accountId, connectionId: id, identity }] : []
    })
  return {
    name: 'identify official senders',
    everyMs: LOOK_EVERY_MS,
    // A sender that is new, or is another by now, is shown as what it is at once.
    wokenBy: onLinks,
    run: createOfficialCheck({ db, clock, log, links: identified }),
  }
}
