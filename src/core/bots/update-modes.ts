import type { BotEventData, BotMode } from '../../contract/bot.ts'
import type { BotWebhook, PlatformResult } from '../../contract/bot-platform.ts'
import type { Database } from '../../infra/db.ts'
import { type Seal, SealBroken } from '../../infra/seal.ts'
import { type Clock, within } from '../../lib/clock.ts'
import type { BotId, Ids } from '../../lib/ids.ts'
import type { Log } from '../../lib/log.ts'
import { insertSubscribedEvents } from '../callbacks/event-store.ts'
import type { Platforms } from './platforms.ts'
import { type BotRow, findBot, listOutdatedModes, markUnauthorized, selectBot, setMode } from './store.ts'
import type { BotTokens, BotWithToken } from './tokens.ts'

export type BotUpdateModes = {
  /** Sets up with the platform how a bot's updates come (webhook or polling), if it can be reached now. */
  setUp(bot: Pick<BotRow, 'id'>): Promise<void>
  /** Makes the platform send updates to us again rather than to another receiver, in the given mode. */
  reclaim(bot: BotWithToken, mode: BotMode): Promise<PlatformResult<true>>
  /** The webhook URL of a bot; null if this server has no public URL. */
  webhookUrlOf(id: BotId): string | null
  /** Returns a function that removes the webhook at the platform, to be called after the bot is removed; it may fail. */
  prepareRemoval(bot: BotRow): Promise<() => Promise<void>>
  /** Checks a bot's token, which was reported as invalid, and marks the bot if it is. */
  verifyToken(id: string): Promise<void>
  /** `setUp` for bots that have no mode yet, or whose mode was settled with another public URL; for a chore. */
  round(): Promise<void>
  /** The secret that the platform sends with each call for a bot; the same on every node and after a restart. */
  secretOf(id: BotId): string
}

export type BotUpdateModesDeps = {
  db: Database
  clock: Clock
  ids: Ids
  seal: Pick<Seal, 'hashSecret'>
  log: Log
  platforms: Platforms
  tokens: BotTokens
  /** The public URL of this server; null without one. */
  publicUrl: string | null
}

/** Short, since a request waits for it. */
const REQUEST_TIMEOUT_MS = 5_000
const BOTS_PER_ROUND = 50

export function createBotUpdateModes(deps: BotUpdateModesDeps): BotUpdateModes {
  const { db, clock, log, platforms, publicUrl, tokens } = deps

  function secretOf(id: BotId): string {
    return deps.seal.hashSecret(`bot-webhook:${id}`).toString('base64url')
  }

  async function setUp({ id }: Pick<BotRow, 'id'>): Promise<void> {
    const bot = await tokens.find(id)
    if (bot?.state !== 'active') return
    const webhook = webhookOf(id)
    const answer = await listen(bot, webhook)
    if (answer.kind === 'unauthorized') return endUnauthorized(bot)
    if (answer.kind === 'answer') return storeMode(bot, webhook ? 'webhook' : 'polling')
    if (answer.kind !== 'refused' || !webhook) return
    // The platform refuses the URL, such as one without https: poll instead.
    log.warn({ reason: answer.detail }, 'the bot platform refuses our public URL; the bot is polled instead')
    const removed = await listen(bot, null)
    if (removed.kind === 'answer') await storeMode(bot, 'polling')
  }

  function webhookOf(id: BotId): BotWebhook | null {
    const url = webhookUrlOf(id)
    return url === null ? null : { url, secret: secretOf(id) }
  }

  function webhookUrlOf(id: BotId): string | null {
    return publicUrl === null ? null : `${publicUrl}/webhooks/botapp/${id}`
  }

  function storeMode({ accountId, id, sealed }: BotWithToken, mode: BotMode): Promise<void> {
    return setMode(db, { accountId, id, token: sealed }, mode, publicUrl)
  }

  async function listen(bot: BotWithToken, webhook: BotWebhook | null): Promise<PlatformResult<true>> {
    const answer = await callListen(bot, webhook)
    // The bot was removed meanwhile, and its webhook maybe before this call set it: remove it again.
    if (webhook && !(await findBot(db, bot.id))) await callListen(bot, null)
    return answer
  }

  async function callListen(bot: BotWithToken, webhook: BotWebhook | null): Promise<PlatformResult<true>> {
    const platform = platforms.get(bot.connectionId)
    if (!platform) return { kind: 'unavailable', detail: 'the connection is not open' }
    return within(clock, REQUEST_TIMEOUT_MS, signal => platform.bots.setWebhook(bot.token, webhook, signal))
  }

  /** Null if the bot's sealed token cannot be opened: such a bot can still be removed, and does not block others. */
  async function unlessSealBroken<T>(botId: BotId, work: T | Promise<T>): Promise<T | null> {
    try {
      return await work
    } catch (error) {
      if (!(error instanceof SealBroken)) throw error
      log.warn({ botId, err: error }, 'the stored token of a bot cannot be decrypted: register the bot again')
      return null
    }
  }

  /** Marks a bot as unauthorized and stores the event, unless its token was replaced meanwhile. */
  async function endUnauthorized({ accountId, id, sealed }: BotWithToken): Promise<void> {
    await db.transaction(async tx => {
      if (!(await markUnauthorized(tx, { accountId, id, token: sealed }))) return
      const bot = await selectBot(tx, accountId, id)
      if (!bot) return
      const data: BotEventData = { botId: id, username: bot.username, state: bot.state, problem: null }
      const event = {
        accountId,
        id: deps.ids.next('evt'),
        type: 'bot.unauthorized' as const,
        atMs: clock.now(),
      }
      await insertSubscribedEvents(tx, [{ ...event, data }])
    })
  }

  return {
    setUp,
    reclaim: (bot, mode) => listen(bot, mode === 'webhook' ? webhookOf(bot.id) : null),
    webhookUrlOf,
    async prepareRemoval({ id, mode }) {
      // Also without a settled mode: a webhook may be set whose answer was lost, or has not come yet.
      const bot = mode === 'polling' ? null : await unlessSealBroken(id, tokens.find(id))
      return async () => void (bot && (await listen(bot, null)))
    },
    async verifyToken(id) {
      const bot = await tokens.find(id)
      const platform = bot?.state === 'active' && platforms.get(bot.connectionId)
      if (!bot || !platform) return
      const answer = await within(clock, REQUEST_TIMEOUT_MS, signal =>
        platform.bots.identify(bot.token, signal),
      )
      if (answer.kind === 'unauthorized') await endUnauthorized(bot)
    },
    async round() {
      for (const bot of await listOutdatedModes(db, publicUrl, BOTS_PER_ROUND)) {
        await unlessSealBroken(bot.id, setUp(bot))
      }
    },
    secretOf,
  }
}
