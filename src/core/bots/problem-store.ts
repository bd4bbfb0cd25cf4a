import type { BotMode, BotProblemCode, BotState } from '../../contract/bot.ts'
import type { Db } from '../../infra/db.ts'
import { isoOrNull, toIso } from '../../lib/clock.ts'
import { type AccountId, type BotId, fromUuid, toUuid } from '../../lib/ids.ts'

/** What of a bot decides whether we receive its updates. */
export type WatchedBot = {
  accountId: AccountId
  botId: BotId
  mode: BotMode
  problem: BotProblemCode | null
  takenBackAtMs: number | null
}

type Raw = {
  account_id: string
  bot_id: string
  mode: BotMode
  problem: BotProblemCode | null
  taken_back_at: Date | null
}

const COLUMNS = 'f.account_id, f.bot_id, b.mode, f.problem, f.taken_back_at'

/**
 * Claims webhook bots that were not checked since `beforeMs`, the longest ago first: they are marked as checked at once,
 * so that nodes share them. Skips rows that another node has locked.
 */
export async function claimBotChecks(
  db: Db,
  {
    publicUrl,
    beforeMs,
    nowMs,
    limit,
  }: { publicUrl: string; beforeMs: number; nowMs: number; limit: number },
): Promise<WatchedBot[]> {
  const { rows } = await db.query<Raw>({
    name: 'bot_looks_claim',
    text: `with due as (
             select f.account_id, f.bot_id from bot_feeds f
               join bots b on b.account_id = f.account_id and b.id = f.bot_id
              where b.mode = 'webhook' and b.state = 'active' and b.public_url = $1
                -- Later than now: by a clock that was far ahead.
                and (f.looked_at is null or f.looked_at < $2 or f.looked_at > $3::timestamptz + interval '10 minutes')
              order by f.looked_at nulls first limit $4 for update of f skip locked)
           update bot_feeds f set looked_at = $3
             from due join bots b on b.account_id = due.account_id and b.id = due.bot_id
            where f.account_id = due.account_id and f.bot_id = due.bot_id
           returning ${COLUMNS}`,
    values: [publicUrl, toIso(beforeMs), toIso(nowMs), limit],
  })
  return rows.map(toWatchedBot)
}

/** One bot; null if it was removed, its token is invalid, or its mode is not settled. */
export async function selectWatchedBot(
  db: Db,
  accountId: AccountId,
  botId: BotId,
): Promise<WatchedBot | null> {
  const { rows } = await db.query<Raw>({
    name: 'bot_watched',
    text: `select ${COLUMNS} from bot_feeds f join bots b on b.account_id = f.account_id and b.id = f.bot_id
            where f.account_id = $1 and f.bot_id = $2 and b.state = 'active' and b.mode is not null`,
    values: [toUuid(accountId), toUuid(botId)],
  })
  return rows[0] ? toWatchedBot(rows[0]) : null
}

export type ProblemChange = {
  accountId: AccountId
  botId: BotId
  /** The fence of the poller's claim; null for a check of a webhook. */
  fence: number | null
  problem: { code: BotProblemCode; detail: string } | null
  takenBackAtMs: number | null
  atMs: number
}

/** Stores a change of a bot's problem; null if it is the same as before, or the claim is no longer valid. */
export async function writeProblem(
  db: Db,
  { accountId, botId, fence, problem, takenBackAtMs, atMs }: ProblemChange,
): Promise<{ username: string | null; state: BotState } | null> {
  const { rows } = await db.query<{ username: string | null; state: BotState }>({
    name: 'bot_problem_write',
    text: `update bot_feeds f
              set problem = $4, problem_detail = $5, taken_back_at = coalesce($6, f.taken_back_at),
                  problem_at = case when $4::text is not null then $7::timestamptz end
             from bots b
            where f.account_id = $1 and f.bot_id = $2 and ($3::bigint is null or f.fence = $3)
              and f.problem is distinct from $4 and b.account_id = f.account_id and b.id = f.bot_id and b.state = 'active'
           returning b.username, b.state`,
    values: [
      toUuid(accountId),
      toUuid(botId),
      fence,
      problem?.code ?? null,
      problem?.detail ?? null,
      isoOrNull(takenBackAtMs),
      toIso(atMs),
    ],
  })
  return rows[0] ?? null
}

function toWatchedBot(raw: Raw): WatchedBot {
  return {
    accountId: fromUuid('acc', raw.account_id),
    botId: fromUuid('bot', raw.bot_id),
    mode: raw.mode,
    problem: raw.problem,
    takenBackAtMs: raw.taken_back_at?.getTime() ?? null,
  }
}
