import type { Io } from '../channels/provider.ts'
import {
  NotTheHolder,
  type SessionIo,
  type SessionKeys,
  type SessionLink,
  type SessionReport,
} from '../channels/shared/session.ts'
import type { HeldKeys } from '../core/sessions/keys.ts'
import type { ReportedState, SessionStates } from '../core/sessions/states.ts'
import type { SessionClaim, SessionRow } from '../core/sessions/store.ts'
import { retryWhileUnavailable } from '../infra/retry-unavailable.ts'
import { type Clock, within, withinMs } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'

/** A web session that this node holds: its link, and its state reports on their way to the database. */
export type HeldSession = {
  readonly hold: SessionClaim
  /** The revision of the configuration that it was opened with. */
  readonly revision: string
  /** True until it is closed, or turns out to be held by another node. */
  isHeld(): boolean
  /** Removes it from the phone's list of linked devices, if that is possible within `timeoutMs`. It takes no more messages. */
  logOut(timeoutMs: number): Promise<void>
  /** Resolves when it is closed, and its last state and what it received are stored, if the database takes them in time. */
  close(): Promise<void>
}

export type HeldSessionDeps = {
  clock: Clock
  log: Log
  sessionStates: SessionStates
  keysOf(hold: SessionClaim, mayRetry: () => boolean): HeldKeys
  openLink(io: SessionIo): Promise<SessionLink>
  io(): Io
  /** Lets the link accept messages; returns the function that ends that. */
  attach(link: SessionLink): () => void
  sentText: SessionIo['sentText']
  /** True while stopping: then nothing waits for a database that is down. */
  stopping(): boolean
}

/** How long a close waits until what the session received is stored: a stop must end although the database is away. */
const INBOUND_PATIENCE_MS = 2_000

/** Opens a session that was claimed, in the background. */
export function holdSession(
  row: SessionRow,
  hold: SessionClaim,
  revision: string,
  deps: HeldSessionDeps,
): HeldSession {
  let held = true
  let acceptsMessages = false
  let leaving = false
  let detach: (() => void) | null = null
  let storing: Promise<void> = Promise.resolve()
  /** What the session received, on its way to the database. */
  const inbound = new Set<Promise<void>>()
  const mayRetry = () => held && !deps.stopping()
  const stored = deps.keysOf(hold, mayRetry)
  const keys: SessionKeys = {
    read: stored.read,
    async write(changes) {
      if (!held || !(await stored.write(changes))) {
        release()
        throw new NotTheHolder()
      }
    },
  }
  const opening = open()

  async function open(): Promise<SessionLink | null> {
    try {
      const io = deps.io()
      return await deps.openLink({
        ...io,
        emit: inbound => storeInbound(() => io.emit(inbound)),
        accountId: row.accountId,
        name: row.name,
        askedPhone: row.askedPhone,
        pairedAtMs: row.pairedAtMs,
        keys,
        sentText: deps.sentText,
        reportState,
        reportChats: chats =>
          storeInOrder(() => releaseUnlessHeld(deps.sessionStates.recordChats(hold, chats))),
      })
    } catch (error) {
      deps.log.warn({ err: error, session: row.name }, 'a web session could not be opened')
      storeInOrder(() =>
        storeState({
          state: 'closed',
          detail: 'the server could not open the session; restart it',
          reconnects: false,
        }),
      )
      return null
    }
  }

  /** The chat app has our acknowledgement, and does not send it again, whoever holds the session by then. */
  function storeInbound(work: () => Promise<void>): Promise<void> {
    const stored = retryWhileUnavailable(deps.clock, () => !deps.stopping(), work)
    inbound.add(stored)
    return stored.finally(() => inbound.delete(stored))
  }

  /** Messages follow the present state at once; the database stores the states one after the other. */
  function reportState(news: SessionReport): void {
    if (news.state === 'open' && !leaving) attach()
    else detachLink()
    storeInOrder(() => storeState(stateOf(news)))
  }

  function attach(): void {
    acceptsMessages = true
    // The state may be reported before the link is returned.
    void opening.then(link => {
      if (link && held && acceptsMessages) detach ??= deps.attach(link)
    })
  }

  function detachLink(): void {
    acceptsMessages = false
    detach?.()
    detach = null
  }

  function release(): void {
    held = false
    detachLink()
  }

  function storeState(state: ReportedState): Promise<void> {
    return releaseUnlessHeld(deps.sessionStates.recordState(hold, state))
  }

  async function releaseUnlessHeld(noted: Promise<boolean>): Promise<void> {
    if (!(await noted)) release()
  }

  function storeInOrder(work: () => Promise<void>): void {
    storing = storing
      .then(() => (held ? retryWhileUnavailable(deps.clock, mayRetry, work) : undefined))
      .catch(error =>
        deps.log.warn({ err: error, session: row.name }, 'the state of a web session could not be stored'),
      )
  }

  return {
    hold,
    revision,
    isHeld: () => held,
    async logOut(timeoutMs) {
      leaving = true
      detachLink()
      const link = await opening
      if (link) await within(deps.clock, timeoutMs, signal => link.logOut(signal))
    },
    async close() {
      leaving = true
      detachLink()
      const link = await opening
      await link?.close()
      await storing
      await withinMs(deps.clock, INBOUND_PATIENCE_MS, Promise.allSettled(inbound))
      held = false
    },
  }
}

function stateOf(news: SessionReport): ReportedState {
  switch (news.state) {
    case 'qr':
      return { state: 'qr', pairing: { qr: news.text, untilMs: news.untilMs } }
    case 'pairing_code':
      return { state: 'pairing_code', pairing: { code: news.code, untilMs: news.untilMs } }
    default:
      return news
  }
}
