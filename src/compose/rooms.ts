import { timingSafeEqual } from 'node:crypto'
import type { Provider } from '../channels/provider.ts'
import { createSandboxMessages } from '../core/sandbox/messages.ts'
import { hashToken, type OperatorToken } from '../http/auth.ts'
import type { NodeLease } from '../workers/node-lease.ts'
import type { AccountRooms } from './accounts.ts'
import { type BotRooms, createBotRooms } from './bots.ts'
import { createBulkRooms } from './bulk.ts'
import { createCallbackRooms } from './callbacks.ts'
import { createConsentRooms } from './consent.ts'
import type { Foundation } from './foundation.ts'
import { createFraudRooms } from './fraud.ts'
import type { MediaRooms } from './media.ts'
import { createMessageRooms, type MessageRooms } from './messages.ts'
import { createOverviewRooms } from './overview.ts'
import { createPeopleRooms } from './people.ts'
import { createSessionRooms } from './sessions.ts'
import { createTemplateRooms, type TemplateRooms } from './templates.ts'
import { createVerificationRooms } from './verification.ts'

export type Rooms = ReturnType<typeof createRooms>

export type RoomsDeps = {
  accounts: AccountRooms
  mediaRooms: MediaRooms
  providers: ReadonlyMap<string, Provider>
  lease: NodeLease
  operatorToken: OperatorToken
  /** True during shutdown: then operations do not wait for a database that is away. */
  stopping(): boolean
  /** Makes the courier look for events at once rather than at its next poll. */
  wakeCallbacks(): void
}

/** All rooms that depend on accounts. Background work is started separately (./work.ts). */
export function createRooms(base: Foundation, deps: RoomsDeps) {
  const { accounts, mediaRooms, providers, lease, operatorToken, stopping } = deps
  const { media } = mediaRooms
  const consent = createConsentRooms(base, deps.wakeCallbacks)
  const templates: TemplateRooms = createTemplateRooms(
    base,
    accounts,
    media,
    accounts.officialSenders,
    () => messages,
  )
  const bots: BotRooms = createBotRooms(base, accounts, consent, lease, () => messages)
  const messages: MessageRooms = createMessageRooms(base, {
    accounts,
    consent,
    media,
    templates,
    bots,
    providers,
    lease,
    stopping,
  })
  const fraud = createFraudRooms(base, lease)
  const verification = createVerificationRooms(base, messages, fraud, lease)
  const people = createPeopleRooms(base, accounts, messages.send, token =>
    timingSafeEqual(hashToken(token), operatorToken.hash),
  )
  return {
    accounts,
    mediaRooms,
    consent,
    templates,
    bots,
    messages,
    fraud,
    verification,
    bulk: createBulkRooms(base, accounts, messages, { media }, lease),
    sessions: createSessionRooms(base, accounts, messages, providers, lease, stopping),
    people,
    overview: createOverviewRooms(base, providers, messages, lease),
    callbacks: createCallbackRooms(base, lease),
    sandboxMessages: createSandboxMessages(base),
  }
}

/** Withdraws messages that may be stored although their accept was reported as failed. */
export async function withdrawUnconfirmed({ messages, verification }: Rooms): Promise<void> {
  await messages.accept.withdrawUnconfirmed()
  await verification.withdrawUnconfirmed()
}
