import type { BotUpdate, PlatformResult } from '../contract/bot-platform.ts'
import type { FeedLease } from '../core/bots/feed-store.ts'
import type { Platforms } from '../core/bots/platforms.ts'
import type { BotTokens } from '../core/bots/tokens.ts'
import type { BotUpdateCheck } from '../core/bots/update-check.ts'
import type { BotUpdates } from '../core/bots/updates.ts'
import { backoffMs } from '../lib/backoff.ts'
import { beforeAbort, type Clock, pauseUnlessAborted } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import type { Random } from '../lib/random.ts'

/** Polls for the updates of one bot until it is stopped. */
export type BotPoller = {
  lease: FeedLease
  /** Stops polling; resolves once the updates that were fetched are stored, or abandoned. Waits for no other answer of the platform. */
  stop(): Promise<void>
}

export type BotPollerDeps = {
  clock: Clock
  random: Random
  log: Log
  platforms: Pick<Platforms, 'get'>
  tokens: Pick<BotTokens, 'find'>
  updates: Pick<BotUpdates, 'store'>
  /** Called when the platform says that the token is not valid. */
  reportInvalidToken(botId: FeedLease['botId']): Promise<void>
  /** Records that somebody else receives the bot's updates, or that this has ended. */
  listening: Pick<BotUpdateCheck, 'onWebhookConflict' | 'onPollConflict' | 'onRecovered'>
  /** Called when the bot has been claimed by another node. */
  onLost(lease: FeedLease): void
}

/** The longest time for which the platform lets a request wait for updates. */
const LONG_POLL_MS = 50_000
/** An empty response sooner than this means that the platform did not wait; polling on at once would be a busy loop. */
const MIN_LONG_POLL_MS = 1_000
const FIRST_PAUSE_MS = 1_000
const MAX_PAUSE_MS = 30_000

/** This many failures in a row are logged; fewer happen when another node takes over. */
const FAILURES_TO_REPORT = 5
/** After this long without a conflict, nobody else polls the bot. */
const CLEAR_CONFLICT_AFTER_MS = 120_000

/** What follows a request: a pause, the next request at once, or the end of polling. */
type Next = { afterMs: number } | 'again' | 'end'

/**
 * The next request confirms the updates of the last one, so it is made once they are stored. After a crash in
 * between they come again, and are recognised as stored. After an empty response the offset is dropped: after an idle
 * week the platform may restart its numbering below the last one.
 */
export function startBotPoller(lease: FeedLease, deps: BotPollerDeps): BotPoller {
  const { clock, log } = deps
  const stopping = new AbortController()
  let offset: number | null = null
  let failures = 0
  /** When a conflict with somebody else was last seen, and whether it is recorded. */
  let conflictMs = clock.monotonic()
  let isConflictRecorded = lease.hasProblem
  const ended = run()

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      const next = await round().catch((error): Next => {
        log.debug({ err: error }, 'the updates of a bot could not be fetched or stored; retrying')
        return nextPause()
      })
      if (next === 'end') return
      if (next !== 'again') await pauseUnlessAborted(clock, next.afterMs, stopping.signal)
    }
  }

  async function round(): Promise<Next> {
    const bot = await deps.tokens.find(lease.botId)
    const platform = deps.platforms.get(lease.connectionId)
    if (!bot || !platform) return nextPause()
    const askedMs = clock.monotonic()
    const ask = { offset, waitMs: LONG_POLL_MS }
    const answer = await platform.bots.updates(bot.token, ask, stopping.signal)
    if (answer.kind !== 'answer') return handleFailure(answer)
    await recordRecovery()
    return answer.value.length === 0 ? handleEmpty(askedMs) : storeUpdates(answer.value, platform.provider)
  }

  async function recordRecovery(): Promise<void> {
    if (!isConflictRecorded || clock.monotonic() - conflictMs < CLEAR_CONFLICT_AFTER_MS) return
    await deps.listening.onRecovered(lease)
    isConflictRecorded = false
  }

  function handleEmpty(askedMs: number): Next {
    offset = null
    if (clock.monotonic() - askedMs < MIN_LONG_POLL_MS) return nextPause()
    failures = 0
    return 'again'
  }

  async function storeUpdates(updates: readonly BotUpdate[], provider: string): Promise<Next> {
    const { accountId, botId, connectionId, fence } = lease
    const taken = await deps.updates.store({ accountId, botId, connectionId, fence, provider }, updates)
    if (taken === 'lost') {
      deps.onLost(lease)
      return 'end'
    }
    const confirmed = offset
    offset = Math.max(...updates.map(({ id }) => id)) + 1
    // It sent only what was confirmed: it does not wait for new updates, and polling on at once would be a busy loop.
    if (confirmed !== null && offset <= confirmed) return nextPause()
    // Only once they are stored: updates that cannot be stored are requested at growing intervals.
    failures = 0
    return 'again'
  }

  async function handleFailure(answer: Exclude<PlatformResult<never>, { kind: 'answer' }>): Promise<Next> {
    if (stopping.signal.aborted) return 'end'
    if (answer.kind === 'unauthorized') await untilStopped(deps.reportInvalidToken(lease.botId))
    if (answer.kind === 'throttled') return { afterMs: answer.afterMs }
    const next = nextPause()
    if (answer.kind === 'conflict') await recordConflict(answer.webhook)
    if (failures === FAILURES_TO_REPORT) {
      const { botId } = lease
      const detail = 'detail' in answer ? answer.detail : null
      log.warn({ botId, answer: answer.kind, detail }, 'fetching the updates of a bot keeps failing')
    }
    return next
  }

  /** A single conflict may come from a node that takes over, or that was cut off: only repeated conflicts are recorded. */
  async function recordConflict(webhook: boolean): Promise<void> {
    conflictMs = clock.monotonic()
    if (webhook) await untilStopped(deps.listening.onWebhookConflict(lease))
    else if (failures >= FAILURES_TO_REPORT && !isConflictRecorded) await deps.listening.onPollConflict(lease)
    else return
    isConflictRecorded = true
  }

  /** For work that asks the platform, which may be silent for seconds: a stop of the node has none to spare. */
  async function untilStopped(work: Promise<void>): Promise<void> {
    await beforeAbort(work, stopping.signal)
  }

  function nextPause(): Next {
    return { afterMs: backoffMs(FIRST_PAUSE_MS, ++failures, deps.random, MAX_PAUSE_MS) }
  }

  return {
    lease,
    stop() {
      stopping.abort()
      return ended
    },
  }
}
