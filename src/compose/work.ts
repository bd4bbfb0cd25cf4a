import { createClockCheck } from '../infra/clock-check.ts'
import { systemClock } from '../lib/clock.ts'
import { type Chore, startChores } from '../workers/chores.ts'
import { type Loop, startLoop } from '../workers/loop.ts'
import { listBotChores, startBots } from './bots.ts'
import { listBulkChores, startBulk } from './bulk.ts'
import { freeCallbacks, startCallbacks } from './callbacks.ts'
import { listChores } from './chores.ts'
import { giveUpParts, settleOptOuts } from './consent.ts'
import type { Foundation } from './foundation.ts'
import { listFraudChores } from './fraud.ts'
import { identifyOfficial } from './official.ts'
import { foldTotals } from './overview.ts'
import { listPeopleChores } from './people.ts'
import { type Rooms, withdrawUnconfirmed } from './rooms.ts'
import { startSessions } from './sessions.ts'
import { pollTemplates, sweepTemplateClaims } from './templates.ts'
import { listVerificationChores } from './verification.ts'

export type Work = {
  /** There are events to deliver: the courier need not wait for its next poll. */
  wakeCourier(): void
  /**
   * Takes nothing new, and resolves when what is under way has ended. What hands messages over stops before
   * what carries them.
   */
  finish(): Promise<void>
  /** The housekeeping goes on while the rest ends. */
  stopChores(): Promise<void>
}

/** How often this node looks for messages that became due, in ms. */
const POLL_EVERY_MS = 250

/** What this node does by itself, from now on. */
export function startWork(base: Foundation, rooms: Rooms): Work {
  const { dispatcher, reconciler } = rooms.messages
  const poll = startPoll(base, rooms)
  const courier = startCallbacks(base, rooms.callbacks.callbacks)
  const bulk = startBulk(base, rooms.bulk)
  const bots = startBots(base, rooms.bots)
  const sessions = startSessions(base, rooms.sessions)
  const chores = startChores(listAllChores(base, rooms), {
    clock: base.clock,
    log: base.log,
    // A test's clock is where the test wants it: the machine's own is what may be wrong.
    checkClock: createClockCheck({ db: base.db, clock: systemClock }),
  })
  return {
    wakeCourier: courier.wake,
    async finish() {
      await bulk.stop()
      await bots.stop()
      await poll.stop()
      await Promise.all([dispatcher.stop(), reconciler.stop(), courier.stop()])
      await sessions.stop()
    },
    stopChores: () => chores.stop(),
  }
}

function startPoll({ clock, log }: Foundation, rooms: Rooms): Loop {
  const { dispatcher } = rooms.messages
  const poll = startLoop({
    clock,
    everyMs: POLL_EVERY_MS,
    async round() {
      // First, so that nothing is found due of which the sender was told that it was not accepted.
      await withdrawUnconfirmed(rooms)
      return (await dispatcher.poll()) > 0 ? 'again' : undefined
    },
    onError: error => log.debug({ err: error }, 'looking for due messages failed; it goes on'),
  })
  dispatcher.onDue(poll.wakeAt)
  return poll
}

function listAllChores(base: Foundation, rooms: Rooms): Chore[] {
  return [
    ...listChores(base, rooms.accounts, rooms.messages, rooms.sandboxMessages),
    freeCallbacks(base),
    giveUpParts(rooms.consent),
    ...settleOptOuts(rooms.consent),
    rooms.mediaRooms.mediaChore,
    pollTemplates(rooms.templates),
    sweepTemplateClaims(base),
    identifyOfficial(base, rooms.messages),
    ...listVerificationChores(base, rooms.verification),
    ...listFraudChores(base, rooms.fraud),
    ...listBulkChores(base, rooms.bulk),
    ...listPeopleChores(base, rooms.people),
    foldTotals(rooms.overview),
    ...listBotChores(base, rooms.bots),
  ]
}
