import type { Links } from '../channels/links.ts'
import type { Caller } from '../contract/caller.ts'
import type { Channel } from '../contract/enums.ts'
import type { SingleSendBody } from '../contract/send.ts'
import type { Media } from '../core/media/media.ts'
import { assetIdsOf } from '../core/messages/assets.ts'
import type { Planned, World } from '../core/messages/prepare.ts'
import type { ResolveDeps } from '../core/messages/resolve.ts'
import { withinMs } from '../lib/clock.ts'
import type { AccountId, ConnectionId } from '../lib/ids.ts'
import type { AccountRooms } from './accounts.ts'
import type { BotRooms } from './bots.ts'
import type { ConsentRooms } from './consent.ts'
import type { Foundation } from './foundation.ts'
import type { TemplateRooms } from './templates.ts'

export type PlanningDeps = {
  accounts: AccountRooms
  consent: ConsentRooms
  media: Media
  templates: TemplateRooms
  bots: BotRooms
  links: Links
  /** Whether a connection's circuit lets messages through now. */
  circuitReady(id: ConnectionId): boolean
}

/** The dependencies with which sends, batches, estimates and bulk rows are resolved. */
export function createPlanning(base: Foundation, deps: PlanningDeps): ResolveDeps {
  const { accounts, consent, media, templates, bots, links, circuitReady } = deps
  return {
    clock: base.clock,
    world: (caller, body) =>
      withConversation(
        withAssets(worldOf(accounts, templates, caller), media, caller, body),
        bots,
        caller,
        body,
      ),
    checksRecipient: (planned: Planned) =>
      RECIPIENT_CHECKED_CHANNELS.has(planned.channel) &&
      links.get(planned.connectionId)?.link.reaches !== undefined,
    reaches: (planned: Planned) => reaches(base, links, planned),
    phones: base.phones,
    checkUrl: base.guarded.check,
    sandboxForLive: base.config.sandbox,
    suppressedOn: consent.suppressedOn,
    windowOpen: consent.windows.isOpen,
    mayLeaveAt: consent.mayLeaveAt,
    ready: id => links.get(id) !== undefined && circuitReady(id),
  }
}

/** The data that a send depends on; synchronous when all of it is cached. */
function worldOf(
  rooms: AccountRooms,
  { templateSnapshots }: TemplateRooms,
  { account }: Pick<Caller, 'account'>,
): World | Promise<World> {
  const connections = rooms.connections.forAccount(account.id)
  const senders = rooms.senders.forAccount(account.id)
  const templates = templateSnapshots.forAccount(account.id)
  const sessions = rooms.sessions.forAccount(account.id)
  const prices = rooms.prices.table()
  if (
    !(connections instanceof Promise) &&
    !(senders instanceof Promise) &&
    !(templates instanceof Promise) &&
    !(sessions instanceof Promise) &&
    !(prices instanceof Promise)
  ) {
    return { connections, senders, templates, sessions, prices }
  }
  return Promise.all([connections, senders, templates, sessions, prices]).then(
    ([connections, senders, templates, sessions, prices]) => ({
      connections,
      senders,
      templates,
      sessions,
      prices,
    }),
  )
}

/** Uploaded files are looked up only if a body names some: few bodies do, and files may be deleted. */
async function withFoundAssets(
  world: World | Promise<World>,
  media: Media,
  accountId: AccountId,
  ids: readonly string[],
) {
  const [known, assets] = await Promise.all([world, media.find(accountId, ids)])
  return { ...known, assets }
}

function withAssets(
  world: World | Promise<World>,
  media: Media,
  { account }: Pick<Caller, 'account'>,
  body: SingleSendBody | undefined,
): World | Promise<World> {
  const ids = body ? assetIdsOf(body) : []
  return ids.length === 0 ? world : withFoundAssets(world, media, account.id, ids)
}

/** The same for bots and their chats, of which there may be millions: one look-up if a body names one. */
async function withFoundConversation(
  world: World | Promise<World>,
  { findConversation }: BotRooms,
  accountId: AccountId,
  named: NonNullable<SingleSendBody['conversationContext']>,
) {
  const [known, conversation] = await Promise.all([world, findConversation(accountId, named)])
  return { ...known, conversation }
}

function withConversation(
  world: World | Promise<World>,
  bots: BotRooms,
  { account }: Pick<Caller, 'account'>,
  body: SingleSendBody | undefined,
): World | Promise<World> {
  const named = body?.conversationContext
  return named?.moduleType === 'botapp_bot' ? withFoundConversation(world, bots, account.id, named) : world
}

/** The channels that do not reach every phone number. */
const RECIPIENT_CHECKED_CHANNELS: ReadonlySet<Channel> = new Set(['official_chatapp', 'user_chatapp_session'])
/** Without an answer by then, the submit will show whether the recipient is reached. */
const REACHES_TIMEOUT_MS = 2_000

async function reaches(base: Foundation, links: Links, planned: Planned): Promise<boolean | null> {
  const link = links.get(planned.connectionId)?.link
  if (!link?.reaches) return null
  const abandon = new AbortController()
  const asked = link.reaches(planned.recipient, abandon.signal).then(
    answer => ({ answer }),
    error => {
      base.log.debug(
        { err: error, connectionId: planned.connectionId },
        'a provider did not answer whether it reaches a recipient',
      )
      return { answer: null }
    },
  )
  const inTime = await withinMs(base.clock, REACHES_TIMEOUT_MS, asked)
  if (!inTime) abandon.abort()
  return inTime ? inTime.answer : null
}
