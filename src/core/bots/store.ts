import type { BotMode, BotProblemCode, BotState } from '../../contract/bot.ts'
import type { Db } from '../../infra/db.ts'
import { type AccountId, type BotId, type ConnectionId, fromUuid, toUuid } from '../../lib/ids.ts'

export type BotRow = {
  accountId: AccountId
  id: BotId
  /** Null in the sandbox. */
  connectionId: ConnectionId | null
  sandbox: boolean
  platformId: string
  username: string | null
  name: string
  /** Sealed; null in the sandbox. */
  token: Buffer | null
  state: BotState
  mode: BotMode | null
  /** The public URL with which `mode` was settled. */
  publicUrl: string | null
}

/** A bot with what its updates change. */
export type BotWithFeed = BotRow & {
  subscribers: number
  lastUpdateAtMs: number | null
  problem: { code: BotProblemCode; detail: string; atMs: number } | null
}

type Raw = {
  account_id: string
  id: string
  connection_id: string | null
  sandbox: boolean
  platform_id: string
  username: string | null
  name: string
  token: Buffer | null
  state: BotState
  mode: BotMode | null
  public_url: string | null
}
type RawWithFeed = Raw & {
  subscribers: number
  last_update_at: Date | null
  problem: BotProblemCode | null
  problem_detail: string
  problem_at: Date
}

const COLUMNS = `b.account_id, b.id, b.connection_id, b.sandbox, b.platform_id, b.username, b.name, b.token, b.state,
  b.mode, b.public_url`
const WITH_FEED = `${COLUMNS}, f.subscribers, f.last_update_at, f.problem, f.problem_detail, f.problem_at
  from bots b join bot_feeds f on f.account_id = b.account_id and f.bot_id = b.id`

/** The newest first; `before` is the last id of the previous page. */
export async function listBots(
  db: Db,
  accountId: AccountId,
  before: BotId | null,
  limit: number,
): Promise<BotWithFeed[]> {
  const { rows } = await db.query<RawWithFeed>({
    name: 'bots_list',
    text: `select ${WITH_FEED} where b.account_id = $1 and ($2::uuid is null or b.id < $2) order by b.id desc limit $3`,
    values: [toUuid(accountId), before && toUuid(before), limit],
  })
  return rows.map(toRowWithFeed)
}

export async function selectBot(db: Db, accountId: AccountId, id: BotId): Promise<BotWithFeed | null> {
  const { rows } = await db.query<RawWithFeed>({
    name: 'bot_by_id',
    text: `select ${WITH_FEED} where b.account_id = $1 and b.id = $2`,
    values: [toUuid(accountId), toUuid(id)],
  })
  return rows[0] ? toRowWithFeed(rows[0]) : null
}

/** A bot of any account: the platform's calls contain only the bot's id. */
export async function findBot(db: Db, id: BotId): Promise<BotRow | null> {
  const { rows } = await db.query<Raw>({
    name: 'bot_of_anybody',
    text: `select ${COLUMNS} from bots b where b.id = $1`,
    values: [toUuid(id)],
  })
  return rows[0] ? toRow(rows[0]) : null
}

/** SQL that clears the problem of a bot, after its mode was settled or its token replaced. */
const CLEAR_PROBLEM = 'problem = null, problem_detail = null, problem_at = null, looked_at = null'

/** The bot with a platform id, of any account; in the sandbox, of this one. `taken`: another receiver has its updates. */
export async function findByPlatformId(
  db: Db,
  { accountId, sandbox, platformId }: Pick<BotRow, 'accountId' | 'sandbox' | 'platformId'>,
): Promise<(BotRow & { taken: boolean }) | null> {
  const { rows } = await db.query<Raw & { taken: boolean }>({
    name: 'bot_by_platform_id',
    text: `select ${COLUMNS},
                  exists (select 1 from bot_feeds f where f.account_id = b.account_id and f.bot_id = b.id and f.problem = 'taken') as taken
             from bots b
            where b.platform_id = $2 and b.sandbox = $3 and (not $3 or b.account_id = $1) for update`,
    values: [toUuid(accountId), platformId, sandbox],
  })
  return rows[0] ? { ...toRow(rows[0]), taken: rows[0].taken } : null
}

/** Bots without a settled mode, or whose mode was settled with another public URL. */
export async function listOutdatedModes(db: Db, publicUrl: string | null, limit: number): Promise<BotRow[]> {
  const { rows } = await db.query<Raw>({
    name: 'bots_unsettled',
    text: `select ${COLUMNS} from bots b
            where not b.sandbox and b.state = 'active' and (b.mode is null or b.public_url is distinct from $1)
            order by random() limit $2`,
    values: [publicUrl, limit],
  })
  return rows.map(toRow)
}

export async function countSandboxBots(db: Db, accountId: AccountId): Promise<number> {
  const { rows } = await db.query<{ n: number }>({
    name: 'bots_count_sandbox',
    text: 'select count(*)::integer as n from bots where account_id = $1 and sandbox',
    values: [toUuid(accountId)],
  })
  return rows[0]!.n
}

/** False if the platform id is taken. */
export async function insertBot(db: Db, bot: BotRow): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'bot_insert',
    text: `with made as (
             insert into bots (account_id, id, connection_id, sandbox, platform_id, username, name, token, state, mode, public_url)
               values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) on conflict do nothing returning account_id, id)
           insert into bot_feeds (account_id, bot_id) select account_id, id from made`,
    values: [
      toUuid(bot.accountId),
      toUuid(bot.id),
      bot.connectionId && toUuid(bot.connectionId),
      bot.sandbox,
      bot.platformId,
      bot.username,
      bot.name,
      bot.token,
      bot.state,
      bot.mode,
      bot.publicUrl,
    ],
  })
  return rowCount === 1
}

/** Replaces the token of a bot, and resets its mode, which is to be settled again. */
export async function replaceToken(
  db: Db,
  bot: Pick<BotRow, 'accountId' | 'id' | 'connectionId' | 'username' | 'name' | 'token'>,
): Promise<void> {
  await db.query({
    name: 'bot_replace_token',
    text: `with renewed as (
             update bots set connection_id = $3, username = $4, name = $5, token = $6, state = 'active', mode = null, public_url = null
              where account_id = $1 and id = $2 returning account_id, id)
           update bot_feeds f set polled = false, node = null, fence = f.fence + 1, ${CLEAR_PROBLEM}, taken_back_at = null
             from renewed r where f.account_id = r.account_id and f.bot_id = r.id`,
    values: [
      toUuid(bot.accountId),
      toUuid(bot.id),
      bot.connectionId && toUuid(bot.connectionId),
      bot.username,
      bot.name,
      bot.token,
    ],
  })
}

/** Stores how a bot's updates come, unless its token was replaced meanwhile. */
export async function setMode(
  db: Db,
  { accountId, id, token }: Pick<BotRow, 'accountId' | 'id' | 'token'>,
  mode: BotMode,
  publicUrl: string | null,
): Promise<void> {
  await db.query({
    name: 'bot_settle_mode',
    text: `with settled as (
             update bots set mode = $4, public_url = $5
              where account_id = $1 and id = $2 and token = $3 and state = 'active' returning account_id, id)
           update bot_feeds f set polled = ($4 = 'polling'), node = null, fence = f.fence + 1, ${CLEAR_PROBLEM}
             from settled s where f.account_id = s.account_id and f.bot_id = s.id`,
    values: [toUuid(accountId), toUuid(id), token, mode, publicUrl],
  })
}

/** Marks a bot as unauthorized; false if it is already, or its token was replaced. */
export async function markUnauthorized(
  db: Db,
  { accountId, id, token }: Pick<BotRow, 'accountId' | 'id' | 'token'>,
): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'bot_mark_unauthorized',
    text: `with ended as (
             update bots set state = 'unauthorized'
              where account_id = $1 and id = $2 and token = $3 and state = 'active' returning account_id, id)
           update bot_feeds f set polled = false, node = null, fence = f.fence + 1, ${CLEAR_PROBLEM}
             from ended e where f.account_id = e.account_id and f.bot_id = e.id`,
    values: [toUuid(accountId), toUuid(id), token],
  })
  return rowCount === 1
}

/** Deletes a bot; a chore deletes its subscribers later. False if there is none. */
export async function deleteBot(db: Db, accountId: AccountId, id: BotId): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'bot_delete',
    text: `with feed as (delete from bot_feeds where account_id = $1 and bot_id = $2),
             gone as (delete from bots where account_id = $1 and id = $2 returning account_id, id)
           insert into bot_removals (account_id, bot_id) select account_id, id from gone`,
    values: [toUuid(accountId), toUuid(id)],
  })
  return rowCount === 1
}

function toRow(raw: Raw): BotRow {
  return {
    accountId: fromUuid('acc', raw.account_id),
    id: fromUuid('bot', raw.id),
    connectionId: raw.connection_id === null ? null : fromUuid('cnn', raw.connection_id),
    sandbox: raw.sandbox,
    platformId: raw.platform_id,
    username: raw.username,
    name: raw.name,
    token: raw.token,
    state: raw.state,
    mode: raw.mode,
    publicUrl: raw.public_url,
  }
}

function toRowWithFeed(raw: RawWithFeed): BotWithFeed {
  return {
    ...toRow(raw),
    subscribers: raw.subscribers,
    lastUpdateAtMs: raw.last_update_at?.getTime() ?? null,
    problem: raw.problem && { code: raw.problem, detail: raw.problem_detail, atMs: raw.problem_at.getTime() },
  }
}
