import type { BotEventData, BotProblemCode } from '../../contract/bot.ts'
import type { BotWebhookInfo } from '../../contract/bot-platform.ts'
import type { Database } from '../../infra/db.ts'
import { SealBroken } from '../../infra/seal.ts'
import { type Clock, toIso, within } from '../../lib/clock.ts'
import { DAY_MS, MINUTE_MS } from '../../lib/durations.ts'
import type { AccountId, BotId, Ids } from '../../lib/ids.ts'
import type { Log } from '../../lib/log.ts'
import { toStorableText } from '../../lib/storable.ts'
import { insertSubscribedEvents } from '../callbacks/event-store.ts'
import type { FeedRef } from './feed-store.ts'
import type { Platforms } from './platforms.ts'
import { claimBotChecks, selectWatchedBot, type WatchedBot, writeProblem } from './problem-store.ts'
import type { BotTokens, BotWithToken } from './tokens.ts'
import type { BotUpdateModes } from './update-modes.ts'

/** Checks whether bots' updates come to us, and repairs or reports where they do not. */
export type BotUpdateCheck = {
  /** Asks the platform where the updates of due bots go, and repairs or stores the problems found; for a chore. */
  round(): Promise<void>
  /** Polling a bot's updates failed: another program has set a webhook. */
  onWebhookConflict(feed: FeedRef): Promise<void>
  /** Polling keeps failing because another program polls as well. */
  onPollConflict(feed: FeedRef): Promise<void>
  /** Updates come again, and no other program took any for a while. */
  onRecovered(feed: FeedRef): Promise<void>
}

export type BotUpdateCheckDeps = {
  db: Database
  clock: Clock
  ids: Ids
  log: Log
  platforms: Pick<Platforms, 'get'>
  tokens: Pick<BotTokens, 'find'>
  updateModes: Pick<BotUpdateModes, 'reclaim' | 'webhookUrlOf' | 'verifyToken'>
  /** Our public URL, for webhooks; null where there is none. */
  publicUrl: string | null
}

/** How often a bot is checked; less often with more bots than the nodes can check in this time. */
const CHECK_EVERY_MS = 5 * MINUTE_MS
/** Checks under way at once; a round of one node checks at most 1,000 bots. */
const BATCH_SIZE = 25
const MAX_BATCHES = 40
const REQUEST_TIMEOUT_MS = 5_000
/** We take a bot's updates back from another program only once in this time: if it takes them again it does so on purpose, and both would lose half of them. */
const TAKE_BACK_INTERVAL_MS = DAY_MS
/** Clocks of nodes differ by less. */
const CLOCKS_DIFFER_MS = 10 * MINUTE_MS
/** Older failures of webhook calls are ignored. */
const RECENT_FAILURE_MS = 15 * MINUTE_MS
const MAX_DETAIL_LENGTH = 300

type Problem = { code: BotProblemCode; detail: string }

export function createBotUpdateCheck(deps: BotUpdateCheckDeps): BotUpdateCheck {
  const { db, clock, log, updateModes, publicUrl } = deps

  /** If the stored token of a bot cannot be decrypted, the other bots are still checked. */
  async function checkUnlessSealBroken(watched: WatchedBot): Promise<void> {
    await checkBot(watched).catch(error => {
      if (!(error instanceof SealBroken)) throw error
      log.warn(
        { err: error, botId: watched.botId },
        'the stored token of a bot cannot be decrypted: register the bot again',
      )
    })
  }

  async function checkBot(watched: WatchedBot): Promise<void> {
    const bot = await deps.tokens.find(watched.botId)
    const platform = bot?.state === 'active' ? deps.platforms.get(bot.connectionId) : undefined
    if (!bot || !platform) return
    const answer = await within(clock, REQUEST_TIMEOUT_MS, signal =>
      platform.bots.getWebhook(bot.token, signal),
    )
    // Verified by another method: a proxy in between may not know this one.
    if (answer.kind === 'unauthorized') return updateModes.verifyToken(watched.botId)
    if (answer.kind !== 'answer') return
    const found = answer.value
    if (isOurs(found, watched)) await checkOwnWebhook(watched, found)
    else await handleForeignWebhook(watched, bot, found)
  }

  function isOurs({ url }: BotWebhookInfo, { botId, mode }: WatchedBot): boolean {
    const ours = mode === 'webhook' ? updateModes.webhookUrlOf(botId) : null
    return ours === null || url === null ? ours === url : isSameAddress(url, ours)
  }

  /** The check of a bot without a foreign webhook. A polled bot needs no more: polling shows whether updates come. */
  async function checkOwnWebhook(watched: WatchedBot, found: BotWebhookInfo): Promise<void> {
    if (watched.mode === 'webhook') await recordProblem(watched, failureOf(found, clock.now()))
  }

  async function handleForeignWebhook(
    watched: WatchedBot,
    bot: BotWithToken,
    { url }: BotWebhookInfo,
  ): Promise<void> {
    const nowMs = clock.now()
    const { takenBackAtMs } = watched
    const isTakenAgain = takenBackAtMs !== null && isWithinInterval(takenBackAtMs, nowMs)
    if (isTakenAgain || (url !== null && watched.problem === 'taken'))
      return recordProblem(watched, takenAgain(url))
    const answer = await updateModes.reclaim(bot, watched.mode)
    if (answer.kind !== 'answer') return
    log.warn(
      { botId: watched.botId, by: hostOf(url) },
      'the webhook that another program set for a bot was replaced by ours',
    )
    await recordProblem(watched, takenBack(url), nowMs)
  }

  /** Stores a change with its event, in one transaction. */
  async function recordProblem(
    { accountId, botId, fence = null }: { accountId: AccountId; botId: BotId; fence?: number | null },
    problem: Problem | null,
    takenBackAtMs: number | null = null,
  ): Promise<void> {
    const atMs = clock.now()
    await db.transaction(async tx => {
      const change = { accountId, botId, fence, problem, takenBackAtMs, atMs }
      const bot = await writeProblem(tx, change)
      if (!bot) return
      const data: BotEventData = { botId, ...bot, problem: problem && { ...problem, since: toIso(atMs) } }
      await insertSubscribedEvents(tx, [
        { accountId, id: deps.ids.next('evt'), type: 'bot.problem', atMs, data },
      ])
    })
  }

  return {
    async round() {
      if (publicUrl === null) return
      for (let page = 0; page < MAX_BATCHES; page++) {
        const nowMs = clock.now()
        const claim = { publicUrl, beforeMs: nowMs - CHECK_EVERY_MS, nowMs, limit: BATCH_SIZE }
        const due = await claimBotChecks(db, claim)
        await Promise.all(due.map(checkUnlessSealBroken))
        if (due.length < BATCH_SIZE) return
      }
    },
    async onWebhookConflict({ accountId, botId }) {
      const watched = await selectWatchedBot(db, accountId, botId)
      if (watched) await checkBot(watched)
    },
    onPollConflict: feed => recordProblem(feed, SHARED),
    onRecovered: feed => recordProblem(feed, null),
  }
}

const SHARED: Problem = {
  code: 'shared',
  detail: 'another program polls this bot too, and receives some of its updates',
}

function takenBack(url: string | null): Problem {
  return { code: 'taken_back', detail: `${describeTakeover(url)}; this server has undone that` }
}

function takenAgain(url: string | null): Problem {
  return {
    code: 'taken',
    detail: `${describeTakeover(url)} again after this server had undone that: it gets no updates of the bot until the bot’s token is registered again`,
  }
}

function describeTakeover(url: string | null): string {
  if (url === null) return 'another program has removed our webhook'
  return toStorableText(`another program has set its own webhook, at ${hostOf(url)}`, MAX_DETAIL_LENGTH)
}

/** Not a time later than now, which a clock that was far ahead has left. */
function isWithinInterval(atMs: number, nowMs: number): boolean {
  return atMs > nowMs - TAKE_BACK_INTERVAL_MS && atMs < nowMs + CLOCKS_DIFFER_MS
}

/** Only the host: the rest of a webhook's URL may be secret. */
function hostOf(url: string | null): string | null {
  return url === null ? null : (URL.parse(url)?.host ?? 'an invalid URL')
}

/** Compares URLs whatever their spelling. */
function isSameAddress(a: string, b: string): boolean {
  return a === b || URL.parse(a)?.href === new URL(b).href
}

/** The problem where updates wait and the platform's latest webhook call failed recently; else null. */
function failureOf({ waiting, failedAtMs, failure }: BotWebhookInfo, nowMs: number): Problem | null {
  if (waiting === 0 || failedAtMs === null || nowMs - failedAtMs > RECENT_FAILURE_MS) return null
  const reason = failure === null ? '' : `: ${toStorableText(failure, MAX_DETAIL_LENGTH)}`
  return { code: 'unreachable', detail: `the webhook calls of the platform to this server fail${reason}` }
}
