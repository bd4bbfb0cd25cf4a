import type { MarketingPreference } from '../../channels/provider.ts'
import type { Database } from '../../infra/db.ts'
import type { Clock } from '../../lib/clock.ts'
import type { ConnectionId } from '../../lib/ids.ts'
import type { Phones } from '../../lib/phone.ts'
import type { OptOuts } from '../consent/opt-outs.ts'
import { findOwners } from '../consent/store.ts'
import { keepLatest, latestPreferenceRef } from './decision-store.ts'
import { mayBeAnswered } from './keyword.ts'
import { findOutdated } from './outdated.ts'
import { toEventRef } from './received.ts'
import { claimRefs } from './store.ts'

/** Applies decisions on marketing that people made in a provider's app; resolves once stored, and repeats change nothing. */
export type TakePreferences = (
  connectionId: ConnectionId,
  preferences: readonly MarketingPreference[],
) => Promise<void>

export function createTakePreferences(deps: {
  db: Database
  clock: Clock
  phones: Phones
  optOuts: OptOuts
  /** Called when events for webhooks may have been stored. */
  wake(): void
}): TakePreferences {
  const { db, clock, phones, optOuts, wake } = deps

  return async (connectionId, preferences) => {
    if (preferences.length === 0) return
    await db.transaction(async tx => {
      const refs = preferences.map(({ eventId }) => ({ connectionId, providerId: toEventRef(eventId) }))
      const fresh = await claimRefs(tx, clock.now(), refs)
      const taken = preferences.filter((_, at) => fresh.has(at))
      const owners = await findOwners(
        tx,
        taken.map(({ to }) => ({ connectionId, number: to })),
      )
      const nowMs = clock.now()
      const decisions = taken.map(({ channel, from: written, decision, atMs }, at) => {
        const from = phones.parse(written)?.e164 ?? written
        return {
          ...{ accountId: owners[at]!.accountId, connectionId, channel, from, recipient: from, decision },
          ref: latestPreferenceRef(from),
          // A later time than now counts as wrong.
          atMs: Math.min(atMs ?? nowMs, nowMs),
        }
      })
      const last = new Map<string, (typeof decisions)[number]>()
      for (const each of decisions.filter(each => mayBeAnswered(each, phones))) {
        const before = last.get(each.ref)
        if (!before || before.atMs <= each.atMs) last.set(each.ref, each)
      }
      // Without those that arrive after what the person decided later.
      const outdated = await findOutdated(tx, nowMs, [...last.values()])
      const latest = await keepLatest(tx, [...last.values()])
      const counting = [...last.values()].filter(each => !outdated.has(each) && latest.has(each.ref))
      const by = (decision: MarketingPreference['decision']) =>
        counting.filter(each => each.decision === decision)
      await optOuts.stop(tx, by('stop'), 'provider', "The recipient stopped marketing in the provider's app.")
      await optOuts.start(tx, by('start'))
    })
    wake()
  }
}
