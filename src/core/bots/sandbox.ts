import type { Db } from '../../infra/db.ts'
import type { AccountId, BotId } from '../../lib/ids.ts'
import { updateFeeds } from './feed-store.ts'
import type { BotRow } from './store.ts'
import type { Subscriber } from './subscriber.ts'
import { upsertChats } from './subscriber-store.ts'

/** The bot of a test key's token, which exists on no platform. */
export function sandboxBot(accountId: AccountId, id: BotId, platformId: string): BotRow {
  return {
    accountId,
    id,
    connectionId: null,
    sandbox: true,
    platformId,
    username: `sandbox_${platformId}_bot`,
    name: 'Sandbox bot',
    token: null,
    state: 'active',
    mode: null,
    publicUrl: null,
  }
}

/**
 * Chats whose last digits choose the outcome in the sandbox (docs/sandbox.md): accepted, rejected, undelivered,
 * unknown. Listed in this order, so that a message to the first one succeeds.
 */
const CHATS = ['7000001000', '7000000002', '7000000004', '7000000005']

/** Adds subscribers, since nobody can start a bot of the sandbox. */
export async function addSandboxSubscribers(
  tx: Db,
  { accountId, id: botId }: Pick<BotRow, 'accountId' | 'id'>,
  nowMs: number,
): Promise<void> {
  await upsertChats(
    tx,
    CHATS.map((chatId, at) => ({ ...subscriberOf(chatId, nowMs - at), accountId, botId })),
  )
  await updateFeeds(tx, [{ accountId, botId, subscriberDelta: CHATS.length, lastUpdateAtMs: null }])
}

function subscriberOf(chatId: string, nowMs: number): Subscriber {
  return {
    chatId,
    userId: chatId,
    username: `sandbox_${chatId}`,
    firstName: 'Sandbox',
    lastName: chatId.slice(-4),
    startPayload: null,
    startedAtMs: nowMs,
    lastSeenAtMs: nowMs,
    lastUpdateId: 0,
    blockedAtMs: null,
    movedTo: null,
  }
}
