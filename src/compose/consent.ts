import { createSuppressedOn } from '../core/consent/lookup.ts'
import { createOptOuts } from '../core/consent/opt-outs.ts'
import { createQuietHours } from '../core/consent/quiet-hours.ts'
import { createSuppressions } from '../core/consent/suppressions.ts'
import { createInboundMessages } from '../core/inbound/read.ts'
import { createTakeInbound } from '../core/inbound/take.ts'
import type { Foundation } from './foundation.ts'

export type ConsentRooms = ReturnType<typeof createConsentRooms>

/** Who wants to be written to, and when; and what people write to us. */
export function createConsentRooms({ db, clock, ids, phones }: Foundation) {
  const optOuts = createOptOuts({ db, clock, ids })
  return {
    optOuts,
    suppressions: createSuppressions({ db, clock, ids, phones }),
    suppressedOn: createSuppressedOn({ db }),
    mayLeaveAt: createQuietHours(),
    inboundMessages: createInboundMessages({ db, phones }),
    takeInbound: createTakeInbound({ db, clock, ids, phones, optOuts }),
  }
}
