import type { Db } from '../../infra/db.ts'
import type { AccountId, BotId } from '../../lib/ids.ts'
import { noteFeeds } from './feed-store.ts'
import type { BotRow } from './store.ts'
import type { Subscriber } from './subscriber.ts'
import { putChats } from './subscriber-store.ts'

/** What a test key's token stands for: a bot that no platform knows. */
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
 * Chats whose endings show what the sandbox does (docs/sandbox.md): taken, refused, undelivered,
 * unknown. Listed in this order: who takes the first one to try has their message taken.
 */
const CHATS = ['7000001000', '7000000002', '7000000004', '7000000005']

/** Nobody can start a bot of the sandbox, and so it is born with subscribers. */
export async function addSandboxSubscribers(
  tx: Db,
  { accountId, id: botId }: Pick<BotRow, 'accountId' | 'id'>,
  nowMs: number,
): Promise<void> {
  await putChats(
    tx,
    CHATS.map((chatId, at) => ({ ...subscriberOf(chatId, nowMs - at), accountId, botId })),
  )
  await noteFeeds(tx, [{ accountId, botId, subscribers: CHATS.length, lastUpdateAtMs: null }])
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
    seenUpdate: 0,
    blockedAtMs: null,
    movedTo: null,
  }
}
