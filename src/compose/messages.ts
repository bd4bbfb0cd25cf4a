import { createLinks, type LinkSpec, type Links } from '../channels/links.ts'
import type { Provider } from '../channels/provider.ts'
import type { ConnectionState } from '../contract/admin.ts'
import { SANDBOX } from '../contract/sandbox.ts'
import { selectFunding } from '../core/billing/funding-store.ts'
import { snapshotOf } from '../core/connections/snapshot.ts'
import { selectAllConnections, selectConnection } from '../core/connections/store.ts'
import type { Media } from '../core/media/media.ts'
import { createAccept, SENDS } from '../core/messages/accept.ts'
import { createAcceptMessage } from '../core/messages/accept-message.ts'
import { createBatches } from '../core/messages/batches.ts'
import { createConclude } from '../core/messages/conclude.ts'
import { createEstimate } from '../core/messages/estimate.ts'
import { createFailover } from '../core/messages/failover.ts'
import { createIdempotency } from '../core/messages/idempotency.ts'
import { createMessageParts } from '../core/messages/parts.ts'
import { createMessages } from '../core/messages/read.ts'
import { createReceipts } from '../core/messages/receipts.ts'
import { createSend } from '../core/messages/send.ts'
import { createSendBatch } from '../core/messages/send-batch.ts'
import { createSettle } from '../core/messages/settle.ts'
import type { SettlePolicy } from '../core/messages/transitions.ts'
import { createWaiters } from '../core/messages/waiters.ts'
import { createMessageWatch } from '../core/messages/watch.ts'
import { dropAttachment, measureAttachments, storeAttachment } from '../core/outbox/attachment-store.ts'
import { createWaitingFiles } from '../core/outbox/waiting-files.ts'
import { createPolicies } from '../core/routing/policies.ts'
import { type ConnectionId, timeOf } from '../lib/ids.ts'
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
import { createInboundDoor, createInbox, createIo } from './link-io.ts'
import { createPlanning } from './planning.ts'
import type { TemplateRooms } from './templates.ts'
import { createUnwanted } from './unwanted.ts'

export type MessageRooms = ReturnType<typeof createMessageRooms>

export type MessageRoomsDeps = {
  accounts: AccountRooms
  consent: ConsentRooms
  media: Media
  templates: TemplateRooms
  bots: BotRooms
  providers: ReadonlyMap<string, Provider>
  lease: NodeLease
  /** True during shutdown: then operations do not wait for a database that is away. */
  stopping(): boolean
}

/** Messages: accept, dispatch, settle, receipts, and reading them. */
export function createMessageRooms(base: Foundation, deps: MessageRoomsDeps) {
  const { accounts, consent, media, templates, bots, providers, lease, stopping } = deps
  const { config, db, clock, ids, random, phones, seal, log, metrics } = base
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
    stopping,
    observe: items => metrics.batch('settle', items),
  })
  const policyOf = (id: ConnectionId): SettlePolicy => ({
    ...(links.get(id)?.retryPolicy ?? DELETED_CONNECTION_POLICY),
    unknownDeadlineMs: config.unknownDeadlineMs,
  })
  const parts = createMessageParts({ db, clock, stopping })
  const conclude = createConclude({
    clock,
    ids,
    random,
    log,
    seal,
    settle,
    parts,
    waiters,
    stopping,
    failover: { after: (item, attempt, outcome) => failover.after(item, attempt, outcome) },
    policyOf,
    storeOptOut: (item, providerCode) => consent.optOuts.refused({ ...item, providerCode }),
  })
  const receipts = createReceipts({
    db,
    clock,
    ids,
    stopping,
    settle,
    parts,
    conclude,
    handOver: item => dispatcher.requeue(item),
    observe: metrics.receipt,
  })
  const inbox = createInbox(receipts, consent, templates, bots)
  let linksChanged = (): void => {}
  const links: Links = createLinks({
    clock,
    providers,
    log,
    io(spec, report) {
      const onLinkState = circuits.opened(spec.id)
      return createIo(base, inbox, bots, spec, state => {
        report(state)
        onLinkState(state.state)
      })
    },
    readSpecs: async () => (await selectAllConnections(db)).map(snapshotOf),
    openConfig: async id => (await accounts.connectionAdmin.openConfig(id))?.config ?? null,
    changed() {
      dispatcher.syncLanes()
      linksChanged()
    },
  })
  const planning = createPlanning(base, { ...deps, links, circuitReady: circuits.ready })
  const failover = createFailover({
    ...planning,
    db,
    seal,
    node: lease.id,
    stopping,
    account: accounts.accounts.snapshot,
    maxAttempts: id => policyOf(id).maxAttempts,
  })
  const dispatcher = createDispatcher({
    db,
    clock,
    seal,
    log,
    links,
    // As in routing: while live keys may not use the sandbox, their messages wait in the outbox.
    acceptsLive: ({ provider, enabled }) => provider !== SANDBOX || (enabled && config.sandbox),
    waiters,
    circuits,
    stopping,
    conclude,
    files: createFileSources({ db, guarded: base.guarded, media }),
    findUnwanted: createUnwanted(base, consent.suppressedOn),
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
    concludeLate: receipts.applyLate,
    observe: metrics.lookup,
  })
  const idempotency = createIdempotency({ db, clock, seal, syncWaitMs: config.syncWaitMs })
  const waitingFiles = createWaitingFiles({
    clock,
    accountBytes: config.mediaAccountBytes,
    measure: accountId => measureAttachments(db, accountId),
  })
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
    reserveRoom: waitingFiles.reserve,
    retainAsset: media.addUse,
    releaseAssets: media.removeUses,
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
    accept,
    acceptMessage,
    idempotency,
    batches: createBatches({ db, clock, ids }),
    log,
  })
  const messages = createMessages({
    db,
    clock,
    phones,
    explain: (provider, code) => providers.get(provider)?.explain?.(code) ?? null,
    officialNames: accounts.officialSenders.namesFor,
  })
  return {
    planning,
    acceptMessage,
    waiters,
    accept,
    settle,
    links,
    /** Sets the listener for links that were opened, closed or changed. */
    onLinks(listener: () => void) {
      linksChanged = listener
    },
    stateOf: (id: ConnectionId) => stateOf(links, circuits, id),
    syncLinks: links.sync,
    /** For links of web sessions, which are opened in ./sessions.ts and attached while they are up. */
    ioOf: (spec: LinkSpec) => createIo(base, inbox, bots, spec, () => {}),
    dispatcher,
    reconciler,
    inbound: createInboundDoor(links, inbox, bots, async (provider, id) => {
      const row = await selectConnection(db, id)
      return row?.provider === provider && (row.enabled || providers.get(provider)?.usesWebhooks === true)
    }),
    inboundFiles: createInboundFileRoom(base, links, providers),
    send,
    sendBatch,
    estimate: createEstimate({
      ...planning,
      checkRoom: waitingFiles.check,
      funding: ({ accountId, channel, amount }) => selectFunding(db, accountId, channel, amount, clock.now()),
    }),
    messages,
    messageWatch: createMessageWatch({ db, clock, view: messages.view }),
    policies: createPolicies({
      connections: accounts.connections,
      providers,
      sandboxForLive: config.sandbox,
    }),
  }
}

function stateOf(links: Links, circuits: Circuits, id: ConnectionId): ConnectionState {
  const open = links.get(id)
  if (!open)
    return { link: 'closed', detail: 'disabled, or its configuration does not work', circuit: 'closed' }
  const { state: link, detail } = open.state()
  return { link, detail, circuit: circuits.phase(id) }
}

/** For messages whose connection was deleted during the attempt. */
const DELETED_CONNECTION_POLICY = { maxAttempts: 3, backoffMs: 5_000 }
