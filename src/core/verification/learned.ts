import type { AccountSnapshot } from '../../contract/caller.ts'
import type { Channel } from '../../contract/enums.ts'
import type { ChannelOrder } from '../../contract/verification.ts'
import type { Db } from '../../infra/db.ts'
import type { Clock } from '../../lib/clock.ts'
import { DAY_MS, HOUR_MS } from '../../lib/durations.ts'
import { createGenerations } from '../../lib/generations.ts'
import type { AccountId } from '../../lib/ids.ts'
import type { Random } from '../../lib/random.ts'
import { PLATFORM } from '../accounts/platform.ts'
import { LEARNING_HALF_LIFE_HOURS } from '../fraud/total-store.ts'
import { type ChannelStat, learnedOrder, trialOrder } from './channel-order.ts'
import { type LearnedRow, selectLearned } from './learned-store.ts'

/** The learned results of codes by channel, in the memory of this node: no request reads them from the database. */
export type LearnedOrders = {
  /** The order in which an account's codes to a country try these channels, and why. Draws whether it is a trial. */
  order(account: AccountSnapshot, country: string, channels: readonly Channel[]): ChannelOrder
  /** Reads the learned results of the accounts that were asked about, and those of all accounts together. */
  refresh(): Promise<void>
}

export type LearnedDeps = { db: Db; clock: Clock; random: Pick<Random, 'fraction'> }

/** The most accounts that are followed; further ones use the results of all accounts. */
const MAX_ACCOUNTS = 5_000
/** An account that asked for nothing in so long is no longer followed. */
const FOLLOWED_MS = DAY_MS

type StatsByPlace = ReadonlyMap<string, ReadonlyMap<Channel, LearnedRow>>

export function createLearnedOrders({ db, clock, random }: LearnedDeps): LearnedOrders {
  /** When each account asked last. */
  const lastAskedMs = createGenerations<AccountId, number>(MAX_ACCOUNTS)
  const followed = new Set<AccountId>()
  let statsByPlace: StatsByPlace = new Map()

  function statsOf(accountId: AccountId, country: string): ReadonlyMap<Channel, ChannelStat> {
    const rows = statsByPlace.get(nameOf(accountId, country))
    return new Map([...(rows ?? [])].map(([channel, row]) => [channel, faded(row, clock.now())]))
  }

  return {
    order({ id, verification }, country, channels) {
      lastAskedMs.set(id, clock.monotonic())
      if (followed.size < MAX_ACCOUNTS) followed.add(id)
      const learned = learnedOrder(channels, {
        own: statsOf(id, country),
        allAccounts: statsOf(PLATFORM, country),
      })
      const trial = random.fraction() * 100 < verification.trialPercent ? trialOrder(learned) : null
      return { country, ...(trial ? { by: 'trial', channels: trial } : learned) }
    },

    async refresh() {
      const untilMs = clock.monotonic() - FOLLOWED_MS
      for (const id of followed)
        if ((lastAskedMs.get(id) ?? Number.NEGATIVE_INFINITY) < untilMs) followed.delete(id)
      // Usually no account has the learned order enabled.
      if (followed.size === 0) return
      statsByPlace = byPlace(await selectLearned(db, [PLATFORM, ...followed]))
    },
  }
}

function byPlace(rows: readonly LearnedRow[]): StatsByPlace {
  const places = new Map<string, Map<Channel, LearnedRow>>()
  for (const row of rows) {
    const name = nameOf(row.accountId, row.country)
    const place = places.get(name) ?? new Map<Channel, LearnedRow>()
    places.set(name, place.set(row.channel, row))
  }
  return places
}

function nameOf(accountId: AccountId, country: string): string {
  return `${accountId} ${country}`
}

/** As `learn_channels` fades it when it adds. */
function faded(
  { atMs, tried, verified, delivered, deliverySeconds }: LearnedRow,
  nowMs: number,
): ChannelStat {
  const kept = 0.5 ** (Math.max(0, nowMs - atMs) / HOUR_MS / LEARNING_HALF_LIFE_HOURS)
  return {
    tried: tried * kept,
    verified: verified * kept,
    delivered: delivered * kept,
    deliverySeconds: deliverySeconds * kept,
  }
}
