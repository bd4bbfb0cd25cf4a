import type { SessionEventData, SessionState } from '../../contract/web-session.ts'
import type { EventType } from '../../contract/webhook.ts'
import type { Database, Db } from '../../infra/db.ts'
import type { Seal } from '../../infra/seal.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Ids } from '../../lib/ids.ts'
import { toStorableText } from '../../lib/storable.ts'
import { insertSubscribedEvents } from '../callbacks/event-store.ts'
import { type ChatRow, deleteAllChats, pruneChats, upsertChats } from './chat-store.ts'
import { deleteAllKeys } from './key-store.ts'
import { pairingContext } from './sessions.ts'
import {
  isRemovedBy,
  lockClaim,
  type SessionClaim,
  type StateChange,
  storeLastEvent,
  writeState,
} from './store.ts'
import type { Pairing } from './view.ts'

/** The state of a session, as reported by the node that holds it. */
export type ReportedState =
  | { state: 'connecting' }
  | { state: 'qr' | 'pairing_code'; pairing: Pairing }
  | { state: 'open'; phone: string | null; pushName: string | null }
  /** `reconnects`: the node tries again by itself. */
  | { state: 'closed'; detail: string; reconnects: boolean }
  | { state: 'logged_out'; detail: string }

export type SessionStates = {
  /**
   * Stores the state and its event for webhooks, neither of a session that is being removed; false if this claim of the
   * session is no longer valid.
   */
  recordState(hold: SessionClaim, reported: ReportedState): Promise<boolean>
  /** Stores chats that became known; false if this claim of the session is no longer valid. */
  recordChats(hold: SessionClaim, chats: readonly ChatRow[]): Promise<boolean>
}

/** The event of each state; reconnecting has none. */
const EVENT_OF: Partial<Record<SessionState, EventType>> = {
  qr: 'session.pairing',
  pairing_code: 'session.pairing',
  open: 'session.open',
  closed: 'session.closed',
  logged_out: 'session.logged_out',
}

const MAX_CHATS = 5_000
const MAX_NAME_LENGTH = 255
const MAX_DETAIL_LENGTH = 500

export function createSessionStates(deps: {
  db: Database
  clock: Clock
  ids: Ids
  seal: Pick<Seal, 'seal'>
}): SessionStates {
  const { db, clock, ids } = deps

  function changeOf(claim: SessionClaim, reported: ReportedState): StateChange {
    const { state } = reported
    return {
      state,
      detail: 'detail' in reported ? toStorableText(reported.detail, MAX_DETAIL_LENGTH) : null,
      pairing:
        'pairing' in reported
          ? deps.seal.seal(JSON.stringify(reported.pairing), pairingContext(claim.id))
          : null,
      phone: state === 'open' ? reported.phone : null,
      pushName: state === 'open' ? nameOf(reported.pushName) : null,
      wanted: state === 'closed' ? reported.reconnects : state !== 'logged_out',
      unlinked: state === 'logged_out',
      atMs: clock.now(),
    }
  }

  async function publishEvent(
    tx: Db,
    claim: SessionClaim,
    change: StateChange,
    { name, phone, told }: { name: string; phone: string | null; told: string | null },
  ): Promise<void> {
    const type = EVENT_OF[change.state]
    if (type === undefined || type === told) return
    const data: SessionEventData = {
      name,
      connectionId: claim.id,
      state: change.state,
      phone,
      detail: change.detail,
    }
    await insertSubscribedEvents(tx, [
      { accountId: claim.accountId, id: ids.next('evt'), type, atMs: change.atMs, data },
    ])
    await storeLastEvent(tx, claim, type)
  }

  return {
    recordState(hold, reported) {
      const change = changeOf(hold, reported)
      return db.transaction(async tx => {
        const written = await writeState(tx, hold, change)
        // Without its claim, its holder could neither connect it nor log it out.
        if (!written) return isRemovedBy(tx, hold)
        if (change.unlinked) {
          await deleteAllKeys(tx, hold)
          await deleteAllChats(tx, hold)
        }
        await publishEvent(tx, hold, change, written)
        return true
      })
    },
    recordChats(hold, chats) {
      const rows = chats.map(chat => ({ ...chat, name: nameOf(chat.name) }))
      return db.transaction(async tx => {
        if (!(await lockClaim(tx, hold))) return false
        if (await upsertChats(tx, hold, rows)) await pruneChats(tx, hold, MAX_CHATS)
        return true
      })
    },
  }
}

/** The name of a person or group, which may contain anything, in a form that can be stored; null for none. */
function nameOf(text: string | null): string | null {
  return (text && toStorableText(text, MAX_NAME_LENGTH)) || null
}
