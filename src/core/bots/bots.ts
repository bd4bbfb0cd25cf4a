import { type BotCreate, type BotView, TOKEN_PATTERN } from '../../contract/bot.ts'
import type { BotIdentity, PlatformResult } from '../../contract/bot-platform.ts'
import type { Caller } from '../../contract/caller.ts'
import { DEFAULT_LIMIT, type Page, type PageQuery, pageById, readIdCursor } from '../../contract/cursor.ts'
import { invalid, noConnection, Problem } from '../../contract/errors.ts'
import type { Database, Db } from '../../infra/db.ts'
import { type Seal, SealBroken } from '../../infra/seal.ts'
import { type Clock, within } from '../../lib/clock.ts'
import { type AccountId, type BotId, type ConnectionId, type Ids, isId } from '../../lib/ids.ts'
import { toStorableText } from '../../lib/storable.ts'
import { requireLiveAccess } from '../accounts/rights.ts'
import { lockAccount } from '../accounts/store.ts'
import type { Platforms } from './platforms.ts'
import { addSandboxSubscribers, sandboxBot } from './sandbox.ts'
import {
  type BotRow,
  countSandboxBots,
  deleteBot,
  findByPlatformId,
  insertBot,
  listBots,
  replaceToken,
  selectBot,
} from './store.ts'
import { tokenContext } from './tokens.ts'
import type { BotUpdateModes } from './update-modes.ts'
import { viewBot } from './view.ts'

/** The bots of an account. NOT_FOUND for an unknown one, or one of another account. */
export type Bots = {
  /**
   * Checks the token with the platform and stores the bot. A bot that the account has already gets the new token.
   * VALIDATION_ERROR at `token` for an invalid one, CONFLICT for a bot that another account has registered,
   * PROVIDER_UNAVAILABLE while the platform cannot be asked. With a test key, and with a live key while no connection
   * carries the channel, the bot is one of the sandbox. VALIDATION_ERROR where nothing carries it.
   */
  register(caller: Caller, body: BotCreate): Promise<BotView>
  /** The newest first. */
  list(caller: Caller, query: PageQuery): Promise<Page<BotView>>
  /** FORBIDDEN for a live bot with a test key. */
  remove(caller: Caller, id: string): Promise<{ id: string; deleted: true }>
}

export type BotsDeps = {
  db: Database
  clock: Clock
  ids: Ids
  seal: Pick<Seal, 'seal' | 'open'>
  platforms: Platforms
  updateModes: Pick<BotUpdateModes, 'setUp' | 'prepareRemoval'>
  /** Drops the account's bots from this node's caches, after a change made here. */
  changed(accountId: AccountId): void
}

/** How long the platform may take; the caller waits meanwhile. */
const IDENTIFY_TIMEOUT_MS = 10_000
/** A limit, since any token makes a sandbox bot; live bots need a token from their platform. */
const MAX_SANDBOX_BOTS = 200
const MAX_NAME_LENGTH = 255
const TOKEN = new RegExp(TOKEN_PATTERN)

export function createBots(deps: BotsDeps): Bots {
  const { db, ids, platforms, seal, updateModes } = deps

  async function register(caller: Caller, { token }: BotCreate): Promise<BotView> {
    if (!TOKEN.test(token)) throw invalid('token', 'must have the format of the bot platform’s tokens')
    const { account } = caller
    const connection = await platforms.choose(caller)
    if (connection === 'nothing') throw noConnection('botapp_bot')
    const id =
      connection === 'sandbox'
        ? await storeSandboxBot(account.id, token)
        : await storeLiveBot(account.id, connection, token)
    deps.changed(account.id)
    if (connection !== 'sandbox') await updateModes.setUp({ id })
    return viewBot((await selectBot(db, account.id, id)) ?? throwUnknownBot())
  }

  async function storeSandboxBot(accountId: AccountId, token: string): Promise<BotId> {
    const bot = sandboxBot(accountId, ids.next('bot'), token.split(':')[0]!)
    await db.transaction(async tx => {
      await lockAccount(tx, accountId)
      if ((await countSandboxBots(tx, accountId)) >= MAX_SANDBOX_BOTS) {
        throw new Problem(
          'CONFLICT',
          `An account has at most ${MAX_SANDBOX_BOTS} bots in the sandbox: remove some.`,
        )
      }
      if (!(await insertBot(tx, bot))) throw alreadyRegistered()
      await addSandboxSubscribers(tx, bot, deps.clock.now())
    })
    return bot.id
  }

  async function storeLiveBot(
    accountId: AccountId,
    connectionId: ConnectionId,
    token: string,
  ): Promise<BotId> {
    const identity = identityOf(
      await within(
        deps.clock,
        IDENTIFY_TIMEOUT_MS,
        async signal => platforms.get(connectionId)?.bots.identify(token, signal) ?? CLOSED,
      ),
    )
    return db.transaction(tx => storeBot(tx, { accountId, connectionId }, identity, token))
  }

  async function storeBot(
    tx: Db,
    { accountId, connectionId }: { accountId: AccountId; connectionId: ConnectionId },
    { platformId, username, name }: BotIdentity,
    token: string,
  ): Promise<BotId> {
    const known = await findByPlatformId(tx, { accountId, sandbox: false, platformId })
    if (known && (known.accountId !== accountId || isInUse(known, token))) throw alreadyRegistered()
    const id = known?.id ?? ids.next('bot')
    const facts = { accountId, id, connectionId, username, name, token: seal.seal(token, tokenContext(id)) }
    if (known) await replaceToken(tx, facts)
    else if (!(await insertBot(tx, { ...NEW_BOT, ...facts, platformId }))) throw alreadyRegistered()
    return id
  }

  /** Whether the bot works with this very token. If not (its connection is gone, its token no longer opens, another program gets its updates), registering it again repairs it. */
  function isInUse(
    { id, state, connectionId, token: sealed, taken }: BotRow & { taken: boolean },
    token: string,
  ): boolean {
    if (taken || state !== 'active' || !connectionId || !platforms.get(connectionId) || !sealed) return false
    try {
      return seal.open(sealed, tokenContext(id)).toString() === token
    } catch (error) {
      if (error instanceof SealBroken) return false
      throw error
    }
  }

  return {
    register,

    async list({ account }, { limit = DEFAULT_LIMIT, cursor }) {
      const before = readIdCursor('bot', cursor)
      const rows = await listBots(db, account.id, before, limit + 1)
      return pageById(rows, limit, viewBot)
    },

    async remove(caller, id) {
      const { account } = caller
      const bot = isId('bot', id) ? await selectBot(db, account.id, id) : null
      if (!bot) return throwUnknownBot()
      requireLiveAccess(caller, { live: !bot.sandbox })
      const removeWebhook = await updateModes.prepareRemoval(bot)
      if (!(await deleteBot(db, account.id, bot.id))) throwUnknownBot()
      deps.changed(account.id)
      await removeWebhook()
      return { id, deleted: true }
    },
  }
}

const NEW_BOT = { sandbox: false, state: 'active', mode: null, publicUrl: null } as const
const CLOSED = { kind: 'unavailable', detail: 'the connection is not open' } as const

function identityOf(answer: PlatformResult<BotIdentity>): BotIdentity {
  switch (answer.kind) {
    case 'answer':
      return storableIdentity(answer.value)
    case 'unauthorized':
    case 'refused':
      throw invalid('token', 'the bot platform does not know this token')
    case 'throttled':
      throw unreachable(Math.ceil(answer.afterMs / 1_000))
    default:
      throw unreachable(5)
  }
}

function storableIdentity({ platformId, username, name }: BotIdentity): BotIdentity {
  const cut = (text: string) => toStorableText(text, MAX_NAME_LENGTH)
  return { platformId, username: username === null ? null : cut(username), name: cut(name) }
}

function unreachable(retryAfterSeconds: number): Problem {
  return new Problem('PROVIDER_UNAVAILABLE', 'The bot platform could not be reached to check the token.', {
    retryAfterSeconds,
  })
}

function alreadyRegistered(): Problem {
  const message = 'this bot is registered already'
  return new Problem('CONFLICT', `token: ${message}`, { details: [{ path: 'token', message }] })
}

/** Throws NOT_FOUND. */
export function throwUnknownBot(): never {
  throw new Problem('NOT_FOUND', 'Bot not found')
}
