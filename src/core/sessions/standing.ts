import type { SessionEventData, SessionState } from '../../contract/web-session.ts'
import type { EventType } from '../../contract/webhook.ts'
import type { Database, Db } from '../../infra/db.ts'
import type { Seal } from '../../infra/seal.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Ids } from '../../lib/ids.ts'
import { storable } from '../../lib/storable.ts'
import { insertHeardEvents } from '../callbacks/event-store.ts'
import { type ChatRow, pruneChats, upsertChats, wipeChats } from './chat-store.ts'
import { wipeKeys } from './key-store.ts'
import { pairingContext } from './sessions.ts'
import { type Hold, lockHold, type StateChange, writeState, writeTold } from './store.ts'
import type { Pairing } from './view.ts'

/** The state of a session, as reported by the node that holds it. */
export type Standing =
  | { state: 'connecting' }
  | { state: 'qr' | 'pairing_code'; pairing: Pairing }
  | { state: 'open'; phone: string | null; pushName: string | null }
  /** `goesOn`: the node tries again by itself. */
  | { state: 'closed'; detail: string; goesOn: boolean }
  | { state: 'logged_out'; detail: string }

export type Standings = {
  /** Stores the state and its event for webhooks; false if this claim of the session is no longer valid. */
  note(hold: Hold, standing: Standing): Promise<boolean>
  /** Stores chats that became known; false if this claim of the session is no longer valid. */
  noteChats(hold: Hold, chats: readonly ChatRow[]): Promise<boolean>
}

/** The event of each state; reconnecting has none. */
const EVENT_OF: Partial<Record<SessionState, EventType>> = {
  qr: 'session.pairing',
  pairing_code: 'session.pairing',
  open: 'session.open',
  closed: 'session.closed',
  logged_out: 'session.logged_out',
}

const MOST_CHATS = 5_000
const LONGEST_NAME = 255
const LONGEST_DETAIL = 500

export function createStandings(deps: {
  db: Database
  clock: Clock
  ids: Ids
  seal: Pick<Seal, 'seal'>
}): Standings {
  const { db, clock, ids } = deps

  function changeOf(hold: Hold, standing: Standing): StateChange {
    const { state } = standing
    return {
      state,
      detail: 'detail' in standing ? storable(standing.detail, LONGEST_DETAIL) : null,
      pairing:
        'pairing' in standing
          ? deps.seal.seal(JSON.stringify(standing.pairing), pairingContext(hold.id))
          : null,
      phone: state === 'open' ? standing.phone : null,
      pushName: state === 'open' ? nameOf(standing.pushName) : null,
      wanted: state === 'closed' ? standing.goesOn : state !== 'logged_out',
      unlinked: state === 'logged_out',
      atMs: clock.now(),
    }
  }

  async function tell(
    tx: Db,
    hold: Hold,
    change: StateChange,
    { name, phone, told }: { name: string; phone: string | null; told: string | null },
  ): Promise<void> {
    const type = EVENT_OF[change.state]
    if (type === undefined || type === told) return
    const data: SessionEventData = {
      name,
      connectionId: hold.id,
      state: change.state,
      phone,
      detail: change.detail,
    }
    await insertHeardEvents(tx, [
      { accountId: hold.accountId, id: ids.next('evt'), type, atMs: change.atMs, data },
    ])
    await writeTold(tx, hold, type)
  }

  return {
    note(hold, standing) {
      const change = changeOf(hold, standing)
      return db.transaction(async tx => {
        const written = await writeState(tx, hold, change)
        if (!written) return false
        if (change.unlinked) {
          await wipeKeys(tx, hold)
          await wipeChats(tx, hold)
        }
        await tell(tx, hold, change, written)
        return true
      })
    },
    noteChats(hold, chats) {
      const rows = chats.map(chat => ({ ...chat, name: nameOf(chat.name) }))
      return db.transaction(async tx => {
        if (!(await lockHold(tx, hold))) return false
        if (await upsertChats(tx, hold, rows)) await pruneChats(tx, hold, MOST_CHATS)
        return true
      })
    },
  }
}

/** The name of a person or group, which may contain anything, in a form that can be stored; null for none. */
function nameOf(text: string | null): string | null {
  return (text && storable(text, LONGEST_NAME)) || null
}
