import type { Link, OfficialIdentity } from '../../channels/provider.ts'
import type { Db } from '../../infra/db.ts'
import { type Clock, withinMs } from '../../lib/clock.ts'
import { HOUR_MS, MINUTE_MS } from '../../lib/durations.ts'
import type { Log } from '../../lib/log.ts'
import { storable } from '../../lib/storable.ts'
import { claimIdentityChecks, type Place, storeIdentity } from './official-store.ts'

/** A link that knows who it sends as. */
export type IdentifiedLink = Place & { identity: NonNullable<Link['identity']> }

export type OfficialCheckDeps = {
  db: Db
  clock: Clock
  log: Log
  /** The open links of official senders that can say who they are. */
  links(): readonly IdentifiedLink[]
}

/** Numbers and names change seldom, ratings once a day. */
const CHECK_EVERY_MS = HOUR_MS
/** When to come back to a provider that could not say; longer than it may take to answer. */
const COME_BACK_MS = MINUTE_MS
const ANSWER_MS = 10_000

/**
 * Asks the providers of official senders who they are, as far as a look is due.
 * Safe on any number of nodes. Resolves with how many were looked at.
 */
export function createOfficialCheck({ db, clock, log, links }: OfficialCheckDeps) {
  return async function checkOfficial(): Promise<number> {
    const open = links()
    if (open.length === 0) return 0
    const nowMs = clock.now()
    const due = new Set(await claimIdentityChecks(db, nowMs, nowMs + COME_BACK_MS, open))
    await Promise.all(open.filter(link => due.has(link.connectionId)).map(look))
    return due.size
  }

  async function look(link: IdentifiedLink): Promise<void> {
    const stop = new AbortController()
    const asked = link.identity(stop.signal).catch((error: unknown) => {
      log.debug({ err: error, connectionId: link.connectionId }, 'an official sender could not be identified')
      return null
    })
    const identity = await withinMs(clock, ANSWER_MS, asked)
    stop.abort()
    const nowMs = clock.now()
    if (identity) await storeIdentity(db, link, storableIdentity(identity), nowMs, nowMs + CHECK_EVERY_MS)
  }
}

/** A name that the store cannot hold would be asked for again and again, and the number with it. */
function storableIdentity(identity: OfficialIdentity): OfficialIdentity {
  const orNull = (text: string | null) => text && storable(text)
  return {
    phoneNumber: orNull(identity.phoneNumber),
    displayName: storable(identity.displayName),
    qualityRating: orNull(identity.qualityRating),
    messagingLimit: orNull(identity.messagingLimit),
    status: orNull(identity.status),
  }
}
