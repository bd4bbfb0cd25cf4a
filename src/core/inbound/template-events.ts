import type { Db } from '../../infra/db.ts'
import type { Clock } from '../../lib/clock.ts'
import type { ConnectionId } from '../../lib/ids.ts'
import { toStorableText } from '../../lib/storable.ts'
import { claimRefs } from './store.ts'

/** Longer than any id of an event, and short enough for an index. */
const LONGEST_REF = 1_000

/** Records events about templates beside the messages, so that repeats are recognised; false for a repeat. */
export function createTemplateEventClaims(clock: Clock) {
  return async (tx: Db, connectionId: ConnectionId, eventId: string): Promise<boolean> => {
    const providerId = toStorableText(`template:${eventId}`, LONGEST_REF)
    const claimed = await claimRefs(tx, clock.now(), [{ connectionId, providerId }])
    return claimed.size > 0
  }
}
