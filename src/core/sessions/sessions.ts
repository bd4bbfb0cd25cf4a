import type { Caller } from '../../contract/caller.ts'
import {
  DEFAULT_LIMIT,
  type Page,
  type PageQuery,
  pageOf,
  readCursor,
  readIdCursor,
  writeCursor,
} from '../../contract/cursor.ts'
import { invalid, noConnection, Problem } from '../../contract/errors.ts'
import {
  SESSION_NAME_PATTERN,
  type WebSessionChat,
  type WebSessionChatQuery,
  type WebSessionCreate,
  type WebSessionRow,
  type WebSessionView,
} from '../../contract/web-session.ts'
import type { Database } from '../../infra/db.ts'
import type { Seal } from '../../infra/seal.ts'
import type { Clock } from '../../lib/clock.ts'
import type { AccountId, ConnectionId, Ids } from '../../lib/ids.ts'
import type { Phones } from '../../lib/phone.ts'
import { lockAccount } from '../accounts/store.ts'
import { listChats } from './chat-store.ts'
import {
  countSessions,
  insertSession,
  listSessions,
  removeSession,
  restartSession,
  type SessionRow,
  selectSession,
} from './store.ts'
import { type Pace, type Pairing, viewChat, viewRow, viewSession } from './view.ts'

/**
 * The web sessions of an account; test keys have their own. Those of test keys, and of live keys while no connection
 * carries the channel, are the sandbox's. NOT_FOUND for an unknown name.
 */
export type WebSessions = {
  /**
   * VALIDATION_ERROR, also where nothing carries the channel, CONFLICT for a name that is taken or at `MAX_SESSIONS`,
   * SERVICE_UNAVAILABLE if the server cannot run sessions.
   */
  create(caller: Caller, body: WebSessionCreate): Promise<WebSessionView>
  /** The newest first. */
  list(caller: Caller, query: PageQuery): Promise<Page<WebSessionRow>>
  read(caller: Caller, name: string): Promise<WebSessionView>
  chats(caller: Caller, name: string, query: WebSessionChatQuery): Promise<Page<WebSessionChat>>
  /**
   * Reconnects a session; one that was logged out, or was the sandbox's until a connection came, can be linked. For the
   * latter SERVICE_UNAVAILABLE as for `create`.
   */
  restart(caller: Caller, name: string): Promise<WebSessionView>
  /** Logs the session out at the phone and deletes its keys; the node that holds it does so later. */
  remove(caller: Caller, name: string): Promise<{ name: string; deleted: true }>
}

export type WebSessionsDeps = {
  db: Database
  clock: Clock
  ids: Ids
  phones: Phones
  seal: Pick<Seal, 'open'>
  /** What carries the channel of sessions for a key. */
  carriedBy(caller: Caller): Promise<'real' | 'sandbox' | 'nothing'>
  /** Why this server cannot run sessions; null if it can. */
  unavailableReason(): string | null
  /** How fast a session may send that was linked at this time. */
  paceOf(accountId: AccountId, pairedAtMs: number | null): Promise<Pace>
  /** Loads a function that draws a QR code as SVG. */
  loadQrRenderer(): Promise<(text: string) => string>
  /** Makes a change take effect on this node at once; the database notifies the others. */
  changed(accountId: AccountId): void
}

const MAX_SESSIONS = 20
const NAME = new RegExp(SESSION_NAME_PATTERN)
/** The rate of sandbox sessions, which have no phone. */
const SANDBOX_PACE: Pace = { messagesPerMinute: 60, fullMessagesPerMinute: 60, warmAtMs: null }

export function createWebSessions(deps: WebSessionsDeps): WebSessions {
  const { db, clock, ids } = deps

  async function view(row: SessionRow): Promise<WebSessionView> {
    const pairing = openPairing(row)
    const draw = pairing && 'qr' in pairing ? await deps.loadQrRenderer() : () => ''
    return viewSession(row, await paceOf(row), pairing, draw)
  }

  function paceOf({ sandbox, accountId, pairedAtMs }: SessionRow): Pace | Promise<Pace> {
    return sandbox ? SANDBOX_PACE : deps.paceOf(accountId, pairedAtMs)
  }

  /** The pairing code, or null if there is none or it has expired. */
  function openPairing({ id, state, pairing }: SessionRow): Pairing | null {
    if (!pairing || (state !== 'qr' && state !== 'pairing_code')) return null
    const opened = JSON.parse(deps.seal.open(pairing, pairingContext(id)).toString()) as Pairing
    return opened.untilMs > clock.now() ? opened : null
  }

  async function find(caller: Caller, name: string): Promise<SessionRow> {
    return (await selectSession(db, caller.account.id, caller.mode === 'live', name)) ?? throwUnknownSession()
  }

  function newRow(
    { account, mode }: Caller,
    { name, phone }: WebSessionCreate,
    sandbox: boolean,
  ): SessionRow {
    if (!NAME.test(name)) {
      throw invalid('name', 'must be 1 to 64 letters, digits, underscores and hyphens')
    }
    const nowMs = clock.now()
    const e164 = phone === undefined ? null : readPhone(phone)
    return {
      accountId: account.id,
      id: ids.next('cnn'),
      name,
      live: mode === 'live',
      sandbox,
      state: sandbox ? 'open' : 'connecting',
      detail: null,
      pairing: null,
      askedPhone: e164,
      phone: sandbox ? e164 : null,
      pushName: null,
      pairedAtMs: sandbox ? nowMs : null,
      openedAtMs: sandbox ? nowMs : null,
      changedAtMs: nowMs,
      wanted: !sandbox,
      removing: false,
      turn: 0,
      node: null,
      fence: 0,
    }
  }

  function requireLibrary(): void {
    const missing = deps.unavailableReason()
    if (missing !== null) throw new Problem('SERVICE_UNAVAILABLE', missing, { retryAfterSeconds: 60 })
  }

  function readPhone(text: string): string {
    const phone = deps.phones.parse(text)
    if (!phone?.possible) throw invalid('phone', 'must be a phone number in E.164, as in +14155550123')
    return phone.e164
  }

  return {
    async create(caller, body) {
      const carrier = await deps.carriedBy(caller)
      const row = newRow(caller, body, carrier === 'sandbox')
      if (carrier === 'nothing') throw noConnection('user_chatapp_session')
      if (!row.sandbox) requireLibrary()
      await db.transaction(async tx => {
        await lockAccount(tx, row.accountId)
        if ((await countSessions(tx, row.accountId, row.live)) >= MAX_SESSIONS) {
          throw new Problem('CONFLICT', `An account has at most ${MAX_SESSIONS} web sessions.`)
        }
        if (!(await insertSession(tx, row))) {
          throw new Problem('CONFLICT', `A web session "${row.name}" exists already.`, {
            details: [{ path: 'name', message: 'exists already' }],
          })
        }
      })
      deps.changed(row.accountId)
      return view(row)
    },

    async list({ account, mode }, { limit = DEFAULT_LIMIT, cursor }) {
      const before = readIdCursor('cnn', cursor)
      const rows = await listSessions(db, account.id, mode === 'live', before, limit + 1)
      const paces = await Promise.all(rows.map(paceOf))
      const paced = rows.map((row, at) => ({ row, pace: paces[at]! }))
      return pageOf(
        paced,
        limit,
        ({ row, pace }) => viewRow(row, pace),
        ({ row }) => writeCursor(row.id),
      )
    },

    read: async (caller, name) => view(await find(caller, name)),

    async chats(caller, name, { limit = DEFAULT_LIMIT, cursor, kind }) {
      const row = await find(caller, name)
      const after = cursor === undefined ? null : readChatCursor(cursor)
      const chats = await listChats(db, row, kind ?? null, after, limit + 1)
      return pageOf(
        chats,
        limit,
        chat => viewChat(row.name, chat),
        chat => writeCursor(chat.chatId),
      )
    },

    async restart(caller, name) {
      const { account, mode } = caller
      const links = (await deps.carriedBy(caller)) === 'real'
      if (links && (await find(caller, name)).sandbox) requireLibrary()
      const row = await restartSession(db, account.id, mode === 'live', name, links, clock.now())
      deps.changed(account.id)
      return view(row ?? throwUnknownSession())
    },

    async remove({ account, mode }, name) {
      if (!(await removeSession(db, account.id, mode === 'live', name))) throwUnknownSession()
      deps.changed(account.id)
      return { name, deleted: true }
    },
  }
}

/** The context that binds a sealed pairing to its session. */
export function pairingContext(id: ConnectionId): string {
  return `web-session-pairing:${id}`
}

function throwUnknownSession(): never {
  throw new Problem('NOT_FOUND', 'Web session not found')
}

function readChatCursor(cursor: string): string {
  return readCursor(cursor, words => words.length === 1 && words[0] !== '')[0]!
}
