import type { Db } from '../../infra/db.ts'
import { textArray, uuidArray } from '../../infra/pg-array.ts'
import { toIso } from '../../lib/clock.ts'
import type { AccountId, MessageId } from '../../lib/ids.ts'
import { addressKeyOf } from '../consent/address.ts'
import { SUPERSEDING } from './store.ts'

/** A waiting message that carries a code. */
export type WaitingCode = { accountId: AccountId; id: MessageId; recipient: string }

/** Why a code is void: it has expired; or a later one is valid, or it was used, or its tries are used up. */
export type CodeVoid = 'expired' | 'superseded'

/**
 * Which of these messages carry void codes, and why. Codes that a sender made itself are not considered.
 * One query, by the recipients' index.
 */
export async function findVoidCodes<Message extends WaitingCode>(
  db: Db,
  nowMs: number,
  messages: readonly Message[],
): Promise<Map<Message, CodeVoid>> {
  if (messages.length === 0) return new Map()
  const { rows } = await db.query<{ item: number; expired: boolean }>({
    name: 'find_void_codes',
    text: `select i.item::integer, v.expires_at <= $1 as expired
             from unnest($2::uuid[], $3::uuid[], $4::text[]) with ordinality as i (account_id, id, key, item)
             join verifications v on v.recipient_key = i.key and v.account_id = i.account_id and i.id = any(v.messages)
            where v.expires_at <= $1 or v.status in ('verified', 'exhausted') or exists (${SUPERSEDING})
               or array_position(v.messages, i.id) < array_position(v.messages, v.message_id)`,
    values: [
      toIso(nowMs),
      uuidArray(messages, message => message.accountId),
      uuidArray(messages, message => message.id),
      textArray(messages, message => addressKeyOf(message.recipient)),
    ],
  })
  return new Map(rows.map(({ item, expired }) => [messages[item - 1]!, expired ? 'expired' : 'superseded']))
}
