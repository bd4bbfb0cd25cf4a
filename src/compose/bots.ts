import type { Io, Provider, SenderUpdate } from '../channels/provider.ts'
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
import { selectConnectionsFor } from '../core/connections/store.ts'
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

/** The provider for bots of accounts that have no connection for bots. */
const DEFAULT_PROVIDER = 'telegram'

/** The bots of accounts, and their subscribers. */
export function createBotRooms(
  base: Foundation,
  rooms: Pick<AccountRooms, 'connectionAdmin'>,
  { keepInbound, wake }: Pick<ConsentRooms, 'keepInbound' | 'wake'>,
  providers: ReadonlyMap<string, Provider>,
  lease: NodeLease,
  linkRoom: () => LinkRoom,
) {
  const { config, db, clock, ids, random, seal, changes, log } = base
  const publicUrl = config.publicUrl ?? null
  const tokens = createBotTokens({ db, clock, seal, changes })
  const platforms = createPlatforms(base, rooms, providers, linkRoom)
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
  base: Foundation,
  { connectionAdmin }: Pick<AccountRooms, 'connectionAdmin'>,
  providers: ReadonlyMap<string, Provider>,
  linkRoom: () => LinkRoom,
): Platforms {
  return {
    get(connectionId: ConnectionId) {
      const open = linkRoom().links.get(connectionId)
      return open?.enabled && open.link.bots ? { provider: open.provider, bots: open.link.bots } : undefined
    },
    async chooseConnection(db, accountId) {
      const all = await selectConnectionsFor(db, accountId)
      return all.find(each => each.provider === DEFAULT_PROVIDER && each.enabled)?.id ?? null
    },
    async atDefault(work) {
      const link = await providers.get(DEFAULT_PROVIDER)!.open({}, createUnconnectedIo(base))
      try {
        return await work(link.bots!)
      } finally {
        await link.close()
      }
    },
    async createConnection(tx, accountId) {
      const input = {
        accountId,
        provider: DEFAULT_PROVIDER,
        name: 'Telegram',
        channels: ['botapp_bot' as const],
      }
      return (await connectionAdmin.createIn(tx, input)).id as ConnectionId
    },
    async openConnection(accountId) {
      base.changes.publish('connections', accountId)
      await linkRoom().syncLinks()
    },
  }
}

/** The `Io` of a link without a connection, which is only used for a request to the provider. */
function createUnconnectedIo({ clock, random, log, ids }: Foundation): Io {
  return {
    connectionId: ids.next('cnn'),
    receiptUrl: null,
    receiptToken: '',
    clock,
    random,
    log,
    vault: { read: async () => null },
    earlierIds: async () => [],
    recipientsOf: async () => new Map(),
    emit: async () => {},
    reportLateOutcome: async () => {},
    report: () => {},
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
