import type { SenderUpdate } from '../channels/provider.ts'
import { SANDBOX } from '../contract/sandbox.ts'
import { createAcknowledge } from '../core/bots/acknowledge.ts'
import { createBots } from '../core/bots/bots.ts'
import { createFindConversation } from '../core/bots/conversation.ts'
import type { Platforms } from '../core/bots/platforms.ts'
import { createBotWebhooks } from '../core/bots/receive.ts'
import { sweepSubscribers } from '../core/bots/subscriber-store.ts'
import { createBotSubscribers } from '../core/bots/subscribers.ts'
import { createBotTokens } from '../core/bots/tokens.ts'
import { createBotUpdateCheck } from '../core/bots/update-check.ts'
import { createBotUpdateModes } from '../core/bots/update-modes.ts'
import { createBotUpdates } from '../core/bots/updates.ts'
import { carriedBy } from '../core/connections/carrier.ts'
import type { ConnectionSnapshot } from '../core/connections/snapshot.ts'
import { MINUTE_MS } from '../lib/durations.ts'
import type { ConnectionId } from '../lib/ids.ts'
import { createBotFeeds } from '../workers/bot-feeds.ts'
import type { Chore } from '../workers/chores.ts'
import { startLoop } from '../workers/loop.ts'
import type { NodeLease } from '../workers/node-lease.ts'
import type { AccountRooms, LinkRoom } from './accounts.ts'
import type { ConsentRooms } from './consent.ts'
import type { Foundation } from './foundation.ts'

export type BotRooms = ReturnType<typeof createBotRooms>

/** The bots of accounts, and their subscribers. */
export function createBotRooms(
  base: Foundation,
  rooms: Pick<AccountRooms, 'connections'>,
  { keepInbound, wake }: Pick<ConsentRooms, 'keepInbound' | 'wake'>,
  lease: NodeLease,
  linkRoom: () => LinkRoom,
) {
  const { config, db, clock, ids, random, seal, changes, log } = base
  const publicUrl = config.publicUrl ?? null
  const tokens = createBotTokens({ db, clock, seal, changes })
  const platforms = createPlatforms(base, rooms, linkRoom)
  const settling = createBotUpdateModes({ db, clock, ids, seal, log, platforms, tokens, publicUrl })
  const acknowledge = createAcknowledge({ clock, log, platforms, tokens })
  const updates = createBotUpdates({
    db,
    clock,
    ids,
    log,
    storeInbound: keepInbound,
    onEventsStored: wake,
    acknowledge,
  })
  const listening = createBotUpdateCheck({
    db,
    clock,
    ids,
    log,
    platforms,
    tokens,
    updateModes: settling,
    publicUrl,
  })
  return {
    bots: createBots({
      db,
      clock,
      ids,
      seal,
      platforms,
      updateModes: settling,
      changed: accountId => changes.publish('bots', accountId),
    }),
    botSubscribers: createBotSubscribers({ db }),
    botTokens: tokens,
    botDoor: createBotWebhooks({ tokens, platforms, updateModes: settling, updates }),
    findConversation: createFindConversation({ db }),
    settling,
    listening,
    async applyBotUpdate(update: SenderUpdate) {
      if (update.change.kind === 'unauthorized') await settling.verifyToken(update.senderId)
      else await updates.applySendResult(update)
    },
    botFeeds: createBotFeeds({
      db,
      clock,
      random,
      log,
      platforms,
      tokens,
      updates,
      reportInvalidToken: settling.verifyToken,
      listening,
      node: lease.id,
    }),
  }
}

function createPlatforms(
  { config }: Foundation,
  rooms: Pick<AccountRooms, 'connections'>,
  linkRoom: () => LinkRoom,
): Platforms {
  return {
    get(connectionId: ConnectionId) {
      const open = linkRoom().links.get(connectionId)
      return open?.enabled && open.link.bots ? { provider: open.provider, bots: open.link.bots } : undefined
    },
    async choose({ account, mode }) {
      const connections = await rooms.connections.forAccount(account.id)
      const carrier = carriedBy('botapp_bot', { mode, connections, sandboxForLive: config.sandbox })
      if (carrier !== 'real') return carrier
      const isOpenToBots = ({ enabled, provider, channels }: ConnectionSnapshot) =>
        enabled && provider !== SANDBOX && channels.includes('botapp_bot')
      return connections.find(isOpenToBots)?.id ?? 'nothing'
    },
  }
}

const POLL_EVERY_MS = 500

/** Starts polling for updates; `stop` leaves the bots to other nodes. */
export function startBots(
  { clock, log, changes }: Foundation,
  { botFeeds }: BotRooms,
): { stop(): Promise<void> } {
  const loop = startLoop({
    clock,
    everyMs: POLL_EVERY_MS,
    round: async () => void (await botFeeds.round()),
    onError: error => log.debug({ err: error }, 'checking for bots to poll failed; it is tried again'),
  })
  const pollNow = () => {
    botFeeds.changed()
    loop.wake()
  }
  const unsubscribe = changes.subscribe({
    changed(table) {
      if (table === 'bots') pollNow()
    },
    reset: pollNow,
  })
  return {
    async stop() {
      unsubscribe()
      await loop.stop()
      await botFeeds.stop()
    },
  }
}

const SWEEP_PAGE = 5_000

export function listBotChores({ db }: Foundation, { settling, listening }: BotRooms): Chore[] {
  return [
    { name: 'settle bots', everyMs: MINUTE_MS, run: settling.round },
    { name: 'check who receives bot updates', everyMs: MINUTE_MS, run: listening.round },
    {
      name: 'sweep subscribers of removed bots',
      everyMs: MINUTE_MS,
      run: async () => {
        while (await sweepSubscribers(db, SWEEP_PAGE));
      },
    },
  ]
}
