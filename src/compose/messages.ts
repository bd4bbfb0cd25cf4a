import { createLinks, type LinkSpec, type Links } from '../channels/links.ts'
import type { Inbound, Io, LinkState, Provider } from '../channels/provider.ts'
import { WHATSAPP_WEB } from '../channels/whatsapp-web.ts'
import type { ConnectionState } from '../contract/admin.ts'
import type { Caller } from '../contract/caller.ts'
import type { Channel } from '../contract/enums.ts'
import type { InboundDoor } from '../contract/inbound.ts'
import type { SingleSendBody } from '../contract/send.ts'
import { PLATFORM, PLATFORM_UUID } from '../core/accounts/platform.ts'
import { selectFunding } from '../core/billing/funding-store.ts'
import { type ConnectionSnapshot, snapshotOf } from '../core/connections/snapshot.ts'
import { selectAllConnections } from '../core/connections/store.ts'
import type { Media } from '../core/media/media.ts'
import { createAccept, SENDS } from '../core/messages/accept.ts'
import { createAcceptMessage } from '../core/messages/accept-message.ts'
import { assetIdsOf } from '../core/messages/assets.ts'
import { createBatches } from '../core/messages/batches.ts'
import { createConclude } from '../core/messages/conclude.ts'
import { createEstimate } from '../core/messages/estimate.ts'
import { createFailover } from '../core/messages/failover.ts'
import { createIdempotency } from '../core/messages/idempotency.ts'
import type { Planned, World } from '../core/messages/prepare.ts'
import { createMessages } from '../core/messages/read.ts'
import { createReceipts, type Receipts } from '../core/messages/receipts.ts'
import type { ResolveDeps } from '../core/messages/resolve.ts'
import { createSend } from '../core/messages/send.ts'
import { createSendBatch } from '../core/messages/send-batch.ts'
import { createSettle } from '../core/messages/settle.ts'
import { findSuppressedAmong } from '../core/messages/suppressed.ts'
import type { SettlePolicy } from '../core/messages/transitions.ts'
import { createWaiters } from '../core/messages/waiters.ts'
import { dropAttachment, storeAttachment } from '../core/outbox/store.ts'
import { createPolicies } from '../core/routing/policies.ts'
import { withinMs } from '../lib/clock.ts'
import { type AccountId, type ConnectionId, fromUuid, isId, timeOf } from '../lib/ids.ts'
import { type Circuits, createCircuits } from '../workers/circuit.ts'
import { createDispatcher } from '../workers/dispatch.ts'
import { createFileSources } from '../workers/files.ts'
import type { NodeLease } from '../workers/node-lease.ts'
import { createReconciler } from '../workers/reconcile.ts'
import type { AccountRooms } from './accounts.ts'
import type { BotRooms } from './bots.ts'
import type { ConsentRooms } from './consent.ts'
import type { Foundation } from './foundation.ts'
import { createInboundFileRoom } from './inbound-files.ts'
import type { MediaRooms } from './media.ts'
import type { TemplateRooms } from './templates.ts'
import { receiptTokenOf, receiptUrlOf } from './webhook-address.ts'

export type MessageRooms = ReturnType<typeof createMessageRooms>

/** The way of a message: accept, dispatch, settle, and what is read of it. */
export function createMessageRooms(
  base: Foundation,
  rooms: AccountRooms,
  consent: ConsentRooms,
  { media }: Pick<MediaRooms, 'media'>,
  templates: TemplateRooms,
  bots: BotRooms,
  providers: ReadonlyMap<string, Provider>,
  lease: NodeLease,
  stopping: () => boolean,
) {
  const { config, db, clock, ids, random, seal, log, metrics } = base
  const waiters = createWaiters()
  const circuits = createCircuits({ clock, random })
  const accept = createAccept({
    db,
    clock,
    store: SENDS,
    node: lease.id,
    observe: items => metrics.batch('accept', items),
  })
  const settle = createSettle({
    db,
    clock,
    node: lease.id,
    stopping,
    observe: items => metrics.batch('settle', items),
  })
  const policyOf = (id: ConnectionId): SettlePolicy => ({
    ...(links.get(id)?.retryPolicy ?? POLICY_OF_THE_GONE),
    unknownDeadlineMs: config.unknownDeadlineMs,
  })
  const conclude = createConclude({
    clock,
    ids,
    random,
    log,
    settle,
    waiters,
    stopping,
    failover: { after: (item, attempt, outcome) => failover.after(item, attempt, outcome) },
    policyOf,
    optedOut: (item, providerCode) => consent.optOuts.refused({ ...item, providerCode }),
  })
  const receipts = createReceipts({
    db,
    clock,
    ids,
    stopping,
    settle,
    conclude,
    handOver: item => dispatcher.push(item, false),
    observe: metrics.receipt,
  })
  const inbox = createInbox(receipts, consent, templates, bots)
  const links: Links = createLinks({
    providers,
    log,
    io(spec, report) {
      const hear = circuits.opened(spec.id)
      return createIo(base, inbox, bots, spec, state => {
        report(state)
        hear(state.state)
      })
    },
    openConfig: async id => (await rooms.connectionAdmin.openConfig(id))?.config ?? null,
    changed: () => dispatcher.relink(),
  })
  const planning: ResolveDeps = {
    clock,
    world: (caller, body) =>
      withConversation(
        withAssets(worldOf(rooms, templates, caller), media, caller, body),
        bots,
        caller,
        body,
      ),
    checksRecipient: (planned: Planned) =>
      CHECKED.has(planned.channel) && links.get(planned.connectionId)?.link.reaches !== undefined,
    reaches: (planned: Planned) => reaches(base, links, planned),
    phones: base.phones,
    checkUrl: base.guarded.check,
    sandboxForLive: config.sandbox,
    bareSessions: bareSessionsOf(providers),
    suppressedOn: consent.suppressedOn,
    windowOpen: consent.windows.isOpen,
    mayLeaveAt: consent.mayLeaveAt,
    ready: id => links.get(id) !== undefined && circuits.ready(id),
  }
  const failover = createFailover({
    ...planning,
    db,
    seal,
    node: lease.id,
    stopping,
    account: rooms.accounts.snapshot,
    maxAttempts: id => policyOf(id).maxAttempts,
  })
  const dispatcher = createDispatcher({
    db,
    clock,
    seal,
    log,
    links,
    waiters,
    circuits,
    conclude,
    files: createFileSources({ db, guarded: base.guarded, media }),
    unwanted: rows => findSuppressedAmong(rows, consent.suppressedOn),
    node: lease.id,
    observe(outcome, item, provider) {
      metrics.attempt(item.channel, provider, outcome)
      if (outcome !== 'retry' && outcome !== 'throttled') {
        metrics.settled(item.channel, (clock.now() - timeOf(item.id)) / 1_000)
      }
    },
  })
  const reconciler = createReconciler({
    db,
    clock,
    log,
    links,
    takeLate: receipts.takeLate,
    observe: metrics.lookup,
  })
  const idempotency = createIdempotency({ db, clock, syncWaitMs: config.syncWaitMs })
  const acceptMessage = createAcceptMessage({
    clock,
    seal,
    accept,
    dispatch: dispatcher,
    async storeAttachment(accountId, messageId, bytes) {
      const id = ids.next('att')
      await storeAttachment(db, accountId, id, messageId, bytes)
      return id
    },
    dropAttachment: (accountId, id) => dropAttachment(db, accountId, id),
    useAsset: media.use,
    unuseAssets: media.unuse,
  })
  const send = createSend({
    ...planning,
    db,
    acceptMessage,
    waiters,
    idempotency,
    syncWaitMs: config.syncWaitMs,
  })
  const sendBatch = createSendBatch({
    ...planning,
    ids,
    acceptMessage,
    idempotency,
    batches: createBatches({ db, clock, ids }),
  })
  return {
    planning,
    acceptMessage,
    waiters,
    accept,
    settle,
    links,
    stateOf: (id: ConnectionId) => stateOf(links, circuits, id),
    syncLinks: async () => links.sync((await selectAllConnections(db)).map(snapshotOf)),
    /** What a link is given that is opened elsewhere; its health is told by whether it is attached. */
    ioOf: (spec: LinkSpec) => createIo(base, inbox, bots, spec, () => {}),
    dispatcher,
    reconciler,
    inbound: createInboundDoor(links, inbox, bots),
    inboundFiles: createInboundFileRoom(base, links, providers),
    send,
    sendBatch,
    estimate: createEstimate({
      ...planning,
      funding: ({ accountId, channel, amount }) => selectFunding(db, accountId, channel, amount, clock.now()),
    }),
    messages: createMessages({
      db,
      clock,
      explain: (provider, code) => providers.get(provider)?.explain?.(code) ?? null,
      officialNames: rooms.officialSenders.namesFor,
    }),
    policies: createPolicies({ connections: rooms.connections, providers }),
  }
}

function stateOf(links: Links, circuits: Circuits, id: ConnectionId): ConnectionState {
  const open = links.get(id)
  if (!open)
    return { link: 'closed', detail: 'disabled, or its configuration does not work', circuit: 'closed' }
  const { state: link, detail } = open.state()
  return { link, detail, circuit: circuits.phase(id) }
}

/** Stored before it is answered: what the provider is told that we have, we have. */
function createInboundDoor(links: Links, inbox: Inbox, { botDoor }: BotRooms): InboundDoor {
  return {
    async receive(provider, connectionId, request) {
      if (provider === BOTS) return botDoor.receive(connectionId, request)
      const open = isId('cnn', connectionId) ? links.get(connectionId) : undefined
      if (open?.provider !== provider || !open.enabled || !open.link.receive) return { kind: 'unknown' }
      const answer = await open.link.receive(request)
      if (answer.kind !== 'taken') return answer
      await inbox.take(open, answer.inbound)
      return { kind: 'stored', ...(answer.reply && { reply: answer.reply }) }
    },
  }
}

/** Stands where others have their provider: a bot is named by itself, whoever its platform is. */
const BOTS = 'botapp'

/** What providers tell us, by its kinds. */
type Inbox = {
  /** Resolves once all of it is stored. */
  take(connection: { id: ConnectionId; provider: string }, inbound: readonly Inbound[]): Promise<void>
  takeLate: Receipts['takeLate']
}

function createInbox(
  receipts: Receipts,
  { takeInbound, optOuts }: ConsentRooms,
  { templateStates }: TemplateRooms,
  { learnOfBot }: BotRooms,
): Inbox {
  return {
    async take(connection, inbound) {
      const messages = inbound.filter(each => each.kind === 'message')
      const states = inbound.filter(each => each.kind === 'template')
      const optedOut = inbound.filter(each => each.kind === 'receipt').filter(each => each.optedOut)
      await Promise.all([
        receipts.take(connection.id, inbound),
        optOuts.refusedLater(optedOut.map(receipt => ({ ...receipt, connectionId: connection.id }))),
        takeInbound(connection, messages),
        ...states.map(({ state }) => templateStates.take(connection.id, state)),
        ...inbound.filter(each => each.kind === 'sender').map(learnOfBot),
      ])
    },
    takeLate: receipts.takeLate,
  }
}

/** Of a connection that was closed while its message was under way. */
const POLICY_OF_THE_GONE = { maxAttempts: 3, backoffMs: 5_000 }

/** The channels on which not everybody who has a number can be reached. */
const CHECKED: ReadonlySet<Channel> = new Set(['official_chatapp', 'user_chatapp_session'])
/** A provider that does not say by then is asked by the send itself. */
const REACHES_TIMEOUT_MS = 2_000

async function reaches(base: Foundation, links: Links, planned: Planned): Promise<boolean | null> {
  const link = links.get(planned.connectionId)?.link
  if (!link?.reaches) return null
  const giveUp = new AbortController()
  const asked = link.reaches(planned.recipient, giveUp.signal).then(
    answer => ({ answer }),
    error => {
      base.log.debug(
        { err: error, connectionId: planned.connectionId },
        'a provider could not say whether it reaches a recipient',
      )
      return { answer: null }
    },
  )
  const inTime = await withinMs(base.clock, REACHES_TIMEOUT_MS, asked)
  if (!inTime) giveUp.abort()
  return inTime ? inTime.answer : null
}

/** Web sessions by their defaults: what the operator's own connection would say otherwise. */
function bareSessionsOf(providers: ReadonlyMap<string, Provider>): ConnectionSnapshot {
  const { key, channels, policy } = providers.get(WHATSAPP_WEB)!
  return {
    id: fromUuid('cnn', PLATFORM_UUID),
    accountId: PLATFORM,
    provider: key,
    name: 'Web sessions',
    channels,
    config: {},
    enabled: true,
    priorityOrder: 100,
    retryPolicy: policy.retryPolicy,
    allowedTypes: policy.allowedTypes,
    sendModeByType: policy.sendModeByType,
    revision: 0,
  }
}

/** Uploaded files are looked up where a body names them: few do, and they may be gone. */
async function findAssets(
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
  return ids.length === 0 ? world : findAssets(world, media, account.id, ids)
}

/** So are bots and their chats, of which there may be millions: one look-up, for those who name one. */
async function findNamed(
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
  return named?.moduleType === 'botapp_bot' ? findNamed(world, bots, account.id, named) : world
}

/** What a send depends on; at once when the caches are warm. */
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

function createIo(
  base: Foundation,
  inbox: Inbox,
  { botTokens }: BotRooms,
  spec: LinkSpec,
  report: (state: LinkState) => void,
): Io {
  const log = base.log.child({ connectionId: spec.id, provider: spec.provider })
  return {
    connectionId: spec.id,
    receiptUrl: receiptUrlOf(base, spec),
    receiptToken: receiptTokenOf(base, spec),
    clock: base.clock,
    random: base.random,
    log,
    vault: { read: id => botTokens.read(spec.id, id) },
    emit: inbound => inbox.take(spec, inbound),
    tellLate: late => inbox.takeLate(spec.id, late),
    report(state) {
      report(state)
      log.debug({ state: state.state, detail: state.detail }, 'link')
    },
  }
}
