import type { BotUpdate, PlatformAnswer } from '../contract/bot-platform.ts'
import type { FeedLease } from '../core/bots/feed-store.ts'
import type { Platforms } from '../core/bots/platforms.ts'
import type { BotTokens } from '../core/bots/tokens.ts'
import type { BotUpdateCheck } from '../core/bots/update-check.ts'
import type { BotUpdates } from '../core/bots/updates.ts'
import { backoffMs } from '../lib/backoff.ts'
import { type Clock, pauseUnless } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import type { Random } from '../lib/random.ts'

/** Asks for the updates of one bot, again and again, until it is stopped. */
export type BotPoller = {
  lease: FeedLease
  /** Asks nothing more; resolves once what was brought is stored, or given up. */
  stop(): Promise<void>
}

export type BotPollerDeps = {
  clock: Clock
  random: Random
  log: Log
  platforms: Pick<Platforms, 'get'>
  tokens: Pick<BotTokens, 'find'>
  updates: Pick<BotUpdates, 'store'>
  /** The platform says that the token is not valid. */
  doubt(botId: FeedLease['botId']): Promise<void>
  /** Somebody else takes the updates away, or did. */
  listening: Pick<BotUpdateCheck, 'onWebhookConflict' | 'onPollConflict' | 'onRecovered'>
  /** The bot is another node's by now. */
  lost(lease: FeedLease): void
}

/** As long as the platform lets a question wait for something to happen. */
const WAIT_MS = 50_000
/** An answer that brings nothing sooner than this has not waited, and would be asked for without end. */
const SHORTEST_WAIT_MS = 1_000
const FIRST_PAUSE_MS = 1_000
const LONGEST_PAUSE_MS = 30_000

/** So many failures in a row are no passing thing, such as another node that takes over. */
const WORTH_A_WORD = 5
/** Where nobody else has asked for so long, nobody else does. */
const QUIET_MS = 120_000

/** What to do before the next question: nothing, a pause, or none at all. */
type Next = { afterMs: number } | 'again' | 'end'

/**
 * Updates are confirmed by the question after them, and that is asked once they are stored: a crash in between
 * brings them once more, and the store knows them by then. Once they are confirmed no question confirms
 * anything: the platform may begin its numbers anew after an idle week, below the last ones.
 */
export function startBotPoller(lease: FeedLease, deps: BotPollerDeps): BotPoller {
  const { clock, log } = deps
  const stopping = new AbortController()
  let offset: number | null = null
  let failures = 0
  /** When somebody else was last met, and whether that is noted. */
  let metMs = clock.monotonic()
  let troubled = lease.hasProblem
  const ended = run()

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      const next = await round().catch((error): Next => {
        log.debug({ err: error }, 'the updates of a bot could not be taken; they are asked for again')
        return patience()
      })
      if (next === 'end') return
      if (next !== 'again') await pauseUnless(clock, next.afterMs, stopping.signal)
    }
  }

  async function round(): Promise<Next> {
    const bot = await deps.tokens.find(lease.botId)
    const platform = deps.platforms.get(lease.connectionId)
    if (!bot || !platform) return patience()
    const askedMs = clock.monotonic()
    const ask = { offset, waitMs: WAIT_MS }
    const answer = await platform.bots.updates(bot.token, ask, stopping.signal)
    if (answer.kind !== 'answer') return heed(answer)
    await recover()
    return answer.value.length === 0 ? goOn(askedMs) : take(answer.value, platform.provider)
  }

  async function recover(): Promise<void> {
    if (!troubled || clock.monotonic() - metMs < QUIET_MS) return
    await deps.listening.onRecovered(lease)
    troubled = false
  }

  function goOn(askedMs: number): Next {
    offset = null
    if (clock.monotonic() - askedMs < SHORTEST_WAIT_MS) return patience()
    failures = 0
    return 'again'
  }

  async function take(updates: readonly BotUpdate[], provider: string): Promise<Next> {
    const { accountId, botId, connectionId, fence } = lease
    const taken = await deps.updates.store({ accountId, botId, connectionId, fence, provider }, updates)
    if (taken === 'lost') {
      deps.lost(lease)
      return 'end'
    }
    offset = Math.max(...updates.map(({ id }) => id)) + 1
    // Not before they are stored: what cannot be is asked for more and more slowly.
    failures = 0
    return 'again'
  }

  async function heed(answer: Exclude<PlatformAnswer<never>, { kind: 'answer' }>): Promise<Next> {
    if (stopping.signal.aborted) return 'end'
    if (answer.kind === 'unauthorized') await deps.doubt(lease.botId)
    if (answer.kind === 'throttled') return { afterMs: answer.afterMs }
    const next = patience()
    if (answer.kind === 'conflict') await meet(answer.webhook)
    if (failures === WORTH_A_WORD) {
      const { botId } = lease
      const detail = 'detail' in answer ? answer.detail : null
      log.warn({ botId, answer: answer.kind, detail }, 'the updates of a bot do not come')
    }
    return next
  }

  /** Now and then another who asks is a node that takes over, or one that was cut off: only who goes on is noted. */
  async function meet(webhook: boolean): Promise<void> {
    metMs = clock.monotonic()
    if (webhook) await deps.listening.onWebhookConflict(lease)
    else if (failures >= WORTH_A_WORD && !troubled) await deps.listening.onPollConflict(lease)
    else return
    troubled = true
  }

  function patience(): Next {
    return { afterMs: backoffMs(FIRST_PAUSE_MS, ++failures, deps.random, LONGEST_PAUSE_MS) }
  }

  return {
    lease,
    stop() {
      stopping.abort()
      return ended
    },
  }
}
