import { createClockCheck } from '../infra/clock-check.ts'
import { systemClock } from '../lib/clock.ts'
import { type Chore, startChores } from '../workers/chores.ts'
import { type Loop, startLoop } from '../workers/loop.ts'
import { listBotChores, startBots } from './bots.ts'
import { listBulkChores, startBulk } from './bulk.ts'
import { createCallbackReleaseChore, startCallbacks } from './callbacks.ts'
import { listMessageChores } from './chores.ts'
import { createIncompletePartsChore, listOptOutChores } from './consent.ts'
import type { Foundation } from './foundation.ts'
import { listFraudChores } from './fraud.ts'
import { createOfficialCheckChore } from './official.ts'
import { createTotalsChore } from './overview.ts'
import { listPeopleChores } from './people.ts'
import { type Rooms, withdrawUnconfirmed } from './rooms.ts'
import { startSessions } from './sessions.ts'
import { createTemplatePollChore, createTemplateSweepChore } from './templates.ts'
import { listVerificationChores } from './verification.ts'

export type Work = {
  /** Makes the courier look for events at once rather than at its next poll. */
  wakeCallbacks(): void
  /**
   * Takes on no more work, and resolves when all in progress has ended. Parts that hand messages over stop before
   * those that send them.
   */
  finish(): Promise<void>
  /** Stops the chores, which still run during `finish`. */
  stopChores(): Promise<void>
}

/** How often this node looks for due messages, in ms. */
const POLL_EVERY_MS = 250

/** Starts all background work of this node. */
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
    // The machine's clock, not the injected one: only the machine's can be wrong.
    checkClock: createClockCheck({ db: base.db, clock: systemClock }),
  })
  return {
    wakeCallbacks: courier.wake,
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
      // First, so that no message is sent whose accept was reported as failed.
      await withdrawUnconfirmed(rooms)
      return (await dispatcher.poll()) > 0 ? 'again' : undefined
    },
    onError: error => log.debug({ err: error }, 'polling for due messages failed; it is tried again'),
  })
  dispatcher.onDue(poll.wakeAt)
  return poll
}

function listAllChores(base: Foundation, rooms: Rooms): Chore[] {
  return [
    ...listMessageChores(base, rooms.accounts, rooms.messages, rooms.sandboxMessages),
    createCallbackReleaseChore(rooms.callbacks.callbacks),
    createIncompletePartsChore(rooms.consent),
    ...listOptOutChores(rooms.consent),
    rooms.mediaRooms.mediaChore,
    createTemplatePollChore(rooms.templates),
    createTemplateSweepChore(base),
    createOfficialCheckChore(base, rooms.messages),
    ...listVerificationChores(base, rooms.verification),
    ...listFraudChores(base, rooms.fraud),
    ...listBulkChores(base, rooms.bulk),
    ...listPeopleChores(base, rooms.people),
    createTotalsChore(rooms.overview),
    ...listBotChores(base, rooms.bots),
  ]
}
