import type { Link, OfficialIdentity } from '../../channels/provider.ts'
import type { Db } from '../../infra/db.ts'
import { type Clock, withinMs } from '../../lib/clock.ts'
import { HOUR_MS, MINUTE_MS } from '../../lib/durations.ts'
import type { Log } from '../../lib/log.ts'
import { toStorableText } from '../../lib/storable.ts'
import { claimIdentityChecks, type SenderRef, storeIdentity } from './official-store.ts'

/** A link that can ask the provider for its number, name and rating. */
export type IdentifiedLink = SenderRef & { identity: NonNullable<Link['identity']> }

export type OfficialCheckDeps = {
  db: Db
  clock: Clock
  log: Log
  /** The open links of official senders that have `identity`. */
  links(): readonly IdentifiedLink[]
}

/** Numbers and names change rarely, ratings once a day. */
const CHECK_EVERY_MS = HOUR_MS
/** Retry delay if the provider did not answer; longer than `ANSWER_TIMEOUT_MS`. */
const RETRY_AFTER_MS = MINUTE_MS
const ANSWER_TIMEOUT_MS = 10_000

/**
 * Updates number, name and rating of official senders from their providers, where that is due.
 * Safe on any number of nodes. Resolves with how many were due.
 */
export function createOfficialCheck({ db, clock, log, links }: OfficialCheckDeps) {
  return async function checkOfficial(): Promise<number> {
    const open = links()
    if (open.length === 0) return 0
    const nowMs = clock.now()
    const due = new Set(await claimIdentityChecks(db, nowMs, nowMs + RETRY_AFTER_MS, open))
    await Promise.all(open.filter(link => due.has(link.connectionId)).map(checkSender))
    return due.size
  }

  async function checkSender(link: IdentifiedLink): Promise<void> {
    const stop = new AbortController()
    const request = link.identity(stop.signal).catch((error: unknown) => {
      log.debug(
        { err: error, connectionId: link.connectionId },
        'the number, name and rating of an official sender could not be read',
      )
      return null
    })
    const identity = await withinMs(clock, ANSWER_TIMEOUT_MS, request)
    stop.abort()
    const nowMs = clock.now()
    if (identity) await storeIdentity(db, link, storableIdentity(identity), nowMs, nowMs + CHECK_EVERY_MS)
  }
}

/** Removes characters that the database cannot store: with those, each check would fail and be repeated. */
function storableIdentity(identity: OfficialIdentity): OfficialIdentity {
  const orNull = (text: string | null) => text && toStorableText(text)
  return {
    phoneNumber: orNull(identity.phoneNumber),
    displayName: toStorableText(identity.displayName),
    qualityRating: orNull(identity.qualityRating),
    messagingLimit: orNull(identity.messagingLimit),
    status: orNull(identity.status),
  }
}
