import type { Outcome } from '../../channels/provider.ts'
import type { AccountSnapshot } from '../../contract/caller.ts'
import { Problem } from '../../contract/errors.ts'
import type { SenderSource, SingleSendBody } from '../../contract/send.ts'
import type { Database } from '../../infra/db.ts'
import { retryWhileUnavailable } from '../../infra/retry-unavailable.ts'
import type { Seal } from '../../infra/seal.ts'
import type { AccountId, ConnectionId } from '../../lib/ids.ts'
import type { OutboxItem } from '../outbox/dispatch-port.ts'
import { type StoredContent, sealSecret, withoutSecret } from '../outbox/stored-content.ts'
import { failoverCarriers } from '../routing/failover-carriers.ts'
import type { Carrier } from '../routing/route.ts'
import { chooseSender } from '../senders/choose.ts'
import { OFFICIAL_CHANNEL } from '../senders/official-order.ts'
import { officialConnections, officialSource } from '../senders/official-route.ts'
import { renderedToStore } from './accept-message.ts'
import { type Destination, failOver, type NewContent, type PreviousAttempt } from './failover-store.ts'
import { type MessageRow, readMessage } from './message-store.ts'
import { isPooled, needsWindow, type Planned, priceSend, type World } from './prepare.ts'
import { renderMessage } from './render-message.ts'
import { type ResolveDeps, vetSend } from './resolve.ts'
import { findSuppression } from './suppression.ts'

/** The outcome of an attempt that the provider provably did not take. */
export type NotTakenOutcome = Extract<Outcome, { kind: 'rejected' | 'retry' }>

export type FailoverResult =
  /** It failed over to another connection: this node holds it, not begun. */
  | { kind: 'moved'; item: OutboxItem }
  /** It stays with its connection; `tries` is how many attempts that one had so far. */
  | { kind: 'stays'; tries: number }

export type Failover = {
  /** Fails a message over after an attempt that was not taken, if another connection may carry it. */
  after(item: OutboxItem, attempt: number, outcome: NotTakenOutcome): Promise<FailoverResult>
}

export type FailoverDeps = ResolveDeps & {
  db: Database
  seal: Seal
  node(): number
  /** True while stopping: then a query is not retried while the database is unavailable. */
  stopping(): boolean
  account(id: AccountId): AccountSnapshot | null | Promise<AccountSnapshot | null>
  /** The most attempts of a message over a connection. */
  maxAttempts(id: ConnectionId): number
}

/** After so many attempts with `retry`, a message fails over to a connection that is ready; without one, retries go on. */
const TRIES_BEFORE_FAILOVER = 3
/** A connection that asks for a longer wait than this is not tried again before one that is ready. */
const MAX_WAIT_MS = 60_000

/**
 * Fails messages over to the next connection that may carry them. This is rare, so it reads
 * what it needs from the database; only `fail_over` changes anything.
 */
export function createFailover(deps: FailoverDeps): Failover {
  const isRunning = () => !deps.stopping()
  /** Retries while the database is unavailable, which must not make a refusal final. */
  const readWithRetry = <T>(work: () => T | Promise<T>): Promise<T> =>
    retryWhileUnavailable(deps.clock, isRunning, async () => work())

  async function after(item: OutboxItem, attempt: number, outcome: NotTakenOutcome): Promise<FailoverResult> {
    const stays: FailoverResult = { kind: 'stays', tries: attempt }
    // An opt-out holds for every connection.
    if (outcome.kind === 'rejected' && outcome.optedOut) return stays
    const account = await readWithRetry(() => deps.account(item.accountId))
    if (!account) return stays
    const world = await readWithRetry(() => deps.world({ account }))
    // Attempts are counted over all connections; those of this one are read only if they may be used up.
    const usedUp = outcome.kind === 'retry' && attempt >= deps.maxAttempts(item.connectionId)
    if (!hasAlternative(world, item) && !usedUp) return stays
    const row = await readWithRetry(() => readMessage(deps.db, item.accountId, item.id))
    if (row?.attempt !== attempt) return stays

    const tries = triesOf(row)
    for (const carrier of nextCarriers(row, item, tries, outcome, world)) {
      const to = await readWithRetry(() => planDestination(row, item, carrier, account, world))
      const verdict = to && (await move(toPreviousAttempt(item, attempt, outcome), to))
      if (verdict === 'moved') return { kind: 'moved', item: itemAfterMove(to!, item) }
      if (verdict === 'stale') break
    }
    return { kind: 'stays', tries }
  }

  /** The connections that may carry it now; none while its own one is to try again first. */
  function nextCarriers(
    row: MessageRow,
    item: OutboxItem,
    tries: number,
    outcome: NotTakenOutcome,
    world: World,
  ): Carrier[] {
    if (isBoundToConnection(row, item)) return []
    const previous = previousConnections(row)
    const unreachable = previous
      .filter(each => each.code === 'CHATAPP_NOT_REGISTERED')
      .map(each => each.channel)
    const carriers = failoverCarriers({
      mode: row.live ? 'live' : 'test',
      messageType: row.messageType,
      connections: connectionsFor(row, item, world),
      sandboxForLive: deps.sandboxForLive,
      ready: deps.ready,
      channel: row.channel,
      provider: row.provider,
      candidates: row.candidates,
      tried: [...previous, { channel: row.channel, connectionId: row.connectionId }],
      unreachableChannels:
        outcome.kind === 'rejected' && outcome.code === 'CHATAPP_NOT_REGISTERED'
          ? [...unreachable, row.channel]
          : unreachable,
      isBoundToChannel: isBoundToChannel(item),
    })
    if (outcome.kind === 'rejected' || tries >= deps.maxAttempts(item.connectionId)) return carriers
    // It may be retried here, so another connection is better only if it is ready, and this one is not or was tried enough.
    const isPrompt = (outcome.atLeastMs ?? 0) <= MAX_WAIT_MS
    const stays = isPrompt && tries < TRIES_BEFORE_FAILOVER && deps.ready(item.connectionId)
    return stays ? [] : carriers.filter(each => deps.ready(each.connection.id))
  }

  /** The message as the new connection would send it; null if it must not or cannot be sent there. */
  async function planDestination(
    row: MessageRow,
    item: OutboxItem,
    { channel, connection }: Carrier,
    account: AccountSnapshot,
    world: World,
  ): Promise<Destination | null> {
    const where = { connectionId: connection.id, provider: connection.provider, channel }
    if (channel === row.channel && !item.content.template) {
      const { sender, amount, parts } = row
      // An opt-out may hold for one sender only, which may be the connection's own number.
      const there = { ...item, sender, connectionId: connection.id }
      if ((await findSuppression(there, deps.suppressedOn)) !== null) return null
      // The 24-hour window, too, belongs to one sender.
      const needed = needsWindow({ channel, connection }, row.messageType, null)
      if (needed && !(await deps.windowOpen(there, deps.clock.now()))) return null
      const senderSource = senderSourceAt(connection, row, item, world)
      const secret = sealSecret(deps.seal, item)
      return { ...where, sender, senderSource, amount, parts, newContent: null, secret }
    }
    try {
      const planned = replan(row, item, { channel, connection }, account, world)
      if (await vetSend(planned, deps)) return null
      const { sender, senderSource, amount, parts } = priceSend(planned, world)
      const newContent = renderNewContent(item, planned)
      const secret = sealSecret(deps.seal, { ...item, content: newContent?.content ?? item.content })
      return { ...where, sender, senderSource, amount, parts, newContent, secret }
    } catch (error) {
      if (error instanceof Problem) return null
      throw error
    }
  }

  /** A bare code is rendered anew for its channel; null for other content, which does not change. */
  function renderNewContent({ content }: OutboxItem, planned: Planned): NewContent | null {
    if (content.code === undefined) return null
    const { template: _, ...rest } = content
    const rendered: StoredContent = { ...rest, ...renderedToStore(planned) }
    return {
      content: rendered,
      stored: JSON.stringify(withoutSecret(rendered)),
      templateId: planned.template?.id ?? null,
    }
  }

  /** Plans the message as a send over the new channel. Throws a Problem if it does not fit that channel. */
  function replan(
    row: MessageRow,
    { content }: OutboxItem,
    carrier: Carrier,
    account: AccountSnapshot,
    world: World,
  ): Planned {
    const { channel, connection } = carrier
    const { code, text } = content
    const given = code === undefined ? { text: text ?? '' } : { otpCode: code }
    const body: SingleSendBody = { ...content.asked, to: row.recipient, content: given }
    const mode = row.live ? 'live' : 'test'
    const rendered = renderMessage(body, carrier, null, {
      checkUrl: deps.checkUrl,
      assets: world.assets,
      templates: world.templates,
      mode,
    })
    const sender = chooseSender(body, channel, account.id, world.senders, connection)
    return {
      ...rendered,
      connectionId: connection.id,
      provider: connection.provider,
      channel,
      accountId: row.accountId,
      mode,
      candidates: row.candidates,
      messageType: row.messageType,
      recipient: row.recipient,
      country: row.country,
      sender: sender.from,
      senderSource: sender.source,
      requestedSender: content.asked ?? null,
      attachment: null,
      context: null,
      metadata: row.metadata,
      needsWindow: needsWindow(carrier, row.messageType, rendered.template?.stored ?? null),
      currency: account.currency,
      parts: rendered.rendered.sms?.parts ?? null,
      pooled: isPooled(account, channel),
      scheduledAt: null,
    }
  }

  async function move(previous: PreviousAttempt, to: Destination) {
    const nowMs = deps.clock.now()
    return retryWhileUnavailable(deps.clock, isRunning, repeated =>
      failOver(deps.db, deps.node(), nowMs, previous, to, repeated),
    )
  }

  return { after }
}

/** Whether there is another connection or channel at all; if not, nothing has to be read. */
function hasAlternative({ connections }: World, item: OutboxItem): boolean {
  return connections.some(each => each.id !== item.connectionId || each.channels.length > 1)
}

/** The attempts over the current connection, including the last one; `attempt` counts those over all connections. */
function triesOf(row: MessageRow): number {
  const before = row.pastAttempts.findLast(each => each.left)
  return row.attempt - (before?.attempt ?? 0)
}

function previousConnections(row: MessageRow) {
  return row.pastAttempts.flatMap(({ left, connectionId }) => (left ? [{ ...left, connectionId }] : []))
}

/** The connections for the sender that the request named; none if that sender no longer exists. */
function connectionsFor(row: MessageRow, { accountId, content }: OutboxItem, world: World) {
  const mode = row.live ? 'live' : 'test'
  const choice = world.senders.officialChoice
  try {
    return officialConnections(
      { body: content.asked ?? {}, accountId, mode, choice, channel: 'auto' },
      world.connections,
    )
  } catch (error) {
    if (error instanceof Problem) return []
    throw error
  }
}

/** Of a message that keeps its channel. On the official chat app the connection is the sender: another one may be the platform's. */
function senderSourceAt(
  connection: Carrier['connection'],
  { channel, senderSource }: MessageRow,
  { content }: OutboxItem,
  { senders }: World,
): SenderSource {
  if (channel !== OFFICIAL_CHANNEL) return senderSource
  return officialSource(content.asked ?? {}, connection, senders.officialChoice)
}

/**
 * Whether the message may not change its connection: it is from a session, a bot, or an official number that the
 * request named, or uses an official template; or its text was erased, because it was unknown whether it was sent.
 */
function isBoundToConnection(
  { channel, sender, senderSource }: MessageRow,
  { content }: OutboxItem,
): boolean {
  if (content.text === null || usesNamedOfficialTemplate(content)) return true
  if (senderSource === 'session' || senderSource === 'bot') return sender !== null
  return channel === 'official_chatapp' && senderSource === 'request'
}

/** Whether the message may not change its channel: its template is approved, or its file was checked, for that channel. */
function isBoundToChannel({ content }: OutboxItem): boolean {
  return usesNamedOfficialTemplate(content) || content.attachment != null
}

/**
 * Whether the provider fills in a template that the request named. A template that Posthorn
 * rendered is text like any other, and a bare code in a default template is rendered anew for
 * another channel.
 */
function usesNamedOfficialTemplate({ template, code }: StoredContent): boolean {
  return template != null && code === undefined
}

function itemAfterMove(
  { connectionId, channel, sender, newContent }: Destination,
  item: OutboxItem,
): OutboxItem {
  return { ...item, connectionId, channel, sender, content: newContent?.content ?? item.content }
}

function toPreviousAttempt(
  { accountId, id }: OutboxItem,
  attempt: number,
  outcome: NotTakenOutcome,
): PreviousAttempt {
  return {
    accountId,
    id,
    attempt,
    outcome: outcome.kind,
    code: outcome.kind === 'rejected' ? outcome.code : null,
    providerCode: outcome.providerCode ?? null,
    detail: outcome.detail,
  }
}
