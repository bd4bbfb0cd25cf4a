import {
  BAN_NOTICE,
  type WebSessionChat,
  type WebSessionRow,
  type WebSessionView,
} from '../../contract/web-session.ts'
import { isoOrNull, toIso } from '../../lib/clock.ts'
import { timeOf } from '../../lib/ids.ts'
import type { ChatRow } from './chat-store.ts'
import type { SessionRow } from './store.ts'

/** A QR or pairing code to link a session with; stored sealed. */
export type Pairing = { qr: string; untilMs: number } | { code: string; untilMs: number }

export type Pace = { messagesPerMinute: number; fullMessagesPerMinute: number; warmAtMs: number | null }

export function viewRow(row: SessionRow, pace: Pace): WebSessionRow {
  return {
    name: row.name,
    connectionId: row.id,
    state: row.state,
    detail: row.detail,
    phone: row.phone,
    pushName: row.pushName,
    pace: {
      messagesPerMinute: pace.messagesPerMinute,
      fullMessagesPerMinute: pace.fullMessagesPerMinute,
      warmAt: isoOrNull(pace.warmAtMs),
    },
    sandbox: row.sandbox,
    createdAt: toIso(timeOf(row.id)),
    pairedAt: isoOrNull(row.pairedAtMs),
    openedAt: isoOrNull(row.openedAtMs),
    changedAt: toIso(row.changedAtMs),
  }
}

/** A session with its QR code, drawn by `draw`, or its pairing code. */
export function viewSession(
  row: SessionRow,
  pace: Pace,
  pairing: Pairing | null,
  draw: (text: string) => string,
): WebSessionView {
  return {
    ...viewRow(row, pace),
    qr:
      pairing && 'qr' in pairing
        ? { text: pairing.qr, svg: draw(pairing.qr), expiresAt: toIso(pairing.untilMs) }
        : null,
    pairingCode:
      pairing && 'code' in pairing ? { code: pairing.code, expiresAt: toIso(pairing.untilMs) } : null,
    notice: BAN_NOTICE,
  }
}

export function viewChat(
  name: string,
  { chatId, kind, name: title, lastMessageAtMs }: ChatRow,
): WebSessionChat {
  return {
    chatId,
    kind,
    name: title,
    lastMessageAt: isoOrNull(lastMessageAtMs),
    conversationContext: { moduleType: 'chatapp_web', accountId: name, chatId },
  }
}
