import type { BotEventData, BotMode } from '../../contract/bot.ts'
import type { BotWebhook, PlatformAnswer } from '../../contract/bot-platform.ts'
import type { Database } from '../../infra/db.ts'
import { type Seal, SealBroken } from '../../infra/seal.ts'
import { type Clock, within } from '../../lib/clock.ts'
import type { BotId, Ids } from '../../lib/ids.ts'
import type { Log } from '../../lib/log.ts'
import { insertHeardEvents } from '../callbacks/event-store.ts'
import type { Platforms } from './platforms.ts'
import { type BotRow, findBot, listUnsettled, markUnauthorized, selectBot, settleMode } from './store.ts'
import type { BotTokens, KnownBot } from './tokens.ts'

export type BotSettling = {
  /** Sets up with the platform how a bot's updates come (webhook or polling), if it can be reached now. */
  settle(bot: Pick<BotRow, 'id'>): Promise<void>
  /** Makes the platform send updates to us again rather than to another receiver, in the given mode. */
  retake(bot: KnownBot, mode: BotMode): Promise<PlatformAnswer<true>>
  /** The webhook URL of a bot; null if this server has no public URL. */
  addressOf(id: BotId): string | null
  /** Returns a function that removes the webhook at the platform, to be called after the bot is removed; it may fail. */
  leaving(bot: BotRow): Promise<() => Promise<void>>
  /** Checks a bot's token, which was reported as invalid, and marks the bot if it is. */
  verify(id: string): Promise<void>
  /** `settle` for bots that have no mode yet, or whose mode was settled with another public URL; for a chore. */
  round(): Promise<void>
  /** The secret that the platform sends with each call for a bot; the same on every node and after a restart. */
  secretOf(id: BotId): string
}

export type BotSettlingDeps = {
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
const ASK_MS = 5_000
const MOST_A_ROUND = 50

export function createBotSettling(deps: BotSettlingDeps): BotSettling {
  const { db, clock, log, platforms, publicUrl, tokens } = deps

  function secretOf(id: BotId): string {
    return deps.seal.hashSecret(`bot-webhook:${id}`).toString('base64url')
  }

  async function settle({ id }: Pick<BotRow, 'id'>): Promise<void> {
    const bot = await tokens.find(id)
    if (bot?.state !== 'active') return
    const webhook = webhookOf(id)
    const answer = await listen(bot, webhook)
    if (answer.kind === 'unauthorized') return end(bot)
    if (answer.kind === 'answer') return write(bot, webhook ? 'webhook' : 'polling')
    if (answer.kind !== 'refused' || !webhook) return
    // The platform refuses the URL, such as one without https: poll instead.
    log.warn({ reason: answer.detail }, 'the bot platform refuses our public URL; the bot is polled instead')
    const removed = await listen(bot, null)
    if (removed.kind === 'answer') await write(bot, 'polling')
  }

  function webhookOf(id: BotId): BotWebhook | null {
    const url = addressOf(id)
    return url === null ? null : { url, secret: secretOf(id) }
  }

  function addressOf(id: BotId): string | null {
    return publicUrl === null ? null : `${publicUrl}/webhooks/botapp/${id}`
  }

  function write({ accountId, id, sealed }: KnownBot, mode: BotMode): Promise<void> {
    return settleMode(db, { accountId, id, token: sealed }, mode, publicUrl)
  }

  async function listen(bot: KnownBot, webhook: BotWebhook | null): Promise<PlatformAnswer<true>> {
    const answer = await tell(bot, webhook)
    // The bot was removed meanwhile, and its webhook maybe before this call set it: remove it again.
    if (webhook && !(await findBot(db, bot.id))) await tell(bot, null)
    return answer
  }

  async function tell(bot: KnownBot, webhook: BotWebhook | null): Promise<PlatformAnswer<true>> {
    const platform = platforms.get(bot.connectionId)
    if (!platform) return { kind: 'unavailable', detail: 'the connection is not open' }
    return within(clock, ASK_MS, signal => platform.bots.listen(bot.token, webhook, signal))
  }

  /** Null if the bot's sealed token cannot be opened: such a bot can still be removed, and does not block others. */
  async function unlessBroken<T>(botId: BotId, work: T | Promise<T>): Promise<T | null> {
    try {
      return await work
    } catch (error) {
      if (!(error instanceof SealBroken)) throw error
      log.warn({ botId, err: error }, 'the stored token of a bot cannot be decrypted: register the bot again')
      return null
    }
  }

  /** Marks a bot as unauthorized and stores the event, unless its token was replaced meanwhile. */
  async function end({ accountId, id, sealed }: KnownBot): Promise<void> {
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
      await insertHeardEvents(tx, [{ ...event, data }])
    })
  }

  return {
    settle,
    retake: (bot, mode) => listen(bot, mode === 'webhook' ? webhookOf(bot.id) : null),
    addressOf,
    async leaving({ id, mode }) {
      // Also without a settled mode: a webhook may be set whose answer was lost, or has not come yet.
      const bot = mode === 'polling' ? null : await unlessBroken(id, tokens.find(id))
      return async () => void (bot && (await listen(bot, null)))
    },
    async verify(id) {
      const bot = await tokens.find(id)
      const platform = bot?.state === 'active' && platforms.get(bot.connectionId)
      if (!bot || !platform) return
      const answer = await within(clock, ASK_MS, signal => platform.bots.identify(bot.token, signal))
      if (answer.kind === 'unauthorized') await end(bot)
    },
    async round() {
      for (const bot of await listUnsettled(db, publicUrl, MOST_A_ROUND)) {
        await unlessBroken(bot.id, settle(bot))
      }
    },
    secretOf,
  }
}
