import { createFindSuppressedChannels } from '../core/consent/lookup.ts'
import { createOptOuts } from '../core/consent/opt-outs.ts'
import { createQuietHours } from '../core/consent/quiet-hours.ts'
import { createSuppressions } from '../core/consent/suppressions.ts'
import { createInbox, MAX_INCOMPLETE } from '../core/inbound/inbox.ts'
import { createTakePreferences } from '../core/inbound/preferences.ts'
import { createInboundMessages } from '../core/inbound/read.ts'
import { createStoreInbound } from '../core/inbound/store-inbound.ts'
import { createInboundWatch } from '../core/inbound/watch.ts'
import { createConversationWindows } from '../core/inbound/windows.ts'
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../lib/durations.ts'
import { type Chore, sweepAll } from '../workers/chores.ts'
import type { Foundation } from './foundation.ts'

export type ConsentRooms = ReturnType<typeof createConsentRooms>

/** Opt-outs, quiet hours and inbound messages. `wake`: called when there are events to deliver. */
export function createConsentRooms({ db, clock, ids, phones }: Foundation, wake: () => void) {
  const optOuts = createOptOuts({ db, clock, ids })
  const keepInbound = createStoreInbound({ clock, ids, phones, optOuts })
  const inbox = createInbox({ db, clock, keep: keepInbound, wake })
  return {
    optOuts,
    suppressions: createSuppressions({ db, clock, ids, phones }),
    suppressedOn: createFindSuppressedChannels({ db }),
    mayLeaveAt: createQuietHours(),
    inboundMessages: createInboundMessages({ db, clock, phones }),
    inboundWatch: createInboundWatch({ db, clock }),
    keepInbound,
    wake,
    takeInbound: inbox.receive,
    takePreferences: createTakePreferences({ db, clock, phones, optOuts, wake }),
    windows: createConversationWindows({ db }),
    giveUpParts: inbox.storeIncomplete,
  }
}

/** Chores for opt-outs that were reported before the submit was answered. */
export function listOptOutChores({ optOuts }: ConsentRooms): Chore[] {
  return [
    { name: 'apply parked opt-outs', everyMs: SECOND_MS, run: optOuts.applyParked },
    { name: 'sweep parked opt-outs', dependsOnClock: true, everyMs: HOUR_MS, run: optOuts.sweepParked },
  ]
}

/** A chore that stores inbound messages whose missing parts did not come in time, without those. */
export function createIncompletePartsChore({ giveUpParts }: ConsentRooms): Chore {
  return {
    name: 'store incomplete inbound messages',
    everyMs: MINUTE_MS,
    run: () => sweepAll(giveUpParts, MAX_INCOMPLETE),
  }
}
