import type { AcceptRow, AcceptVerdict, ReceiptRow, SettleRow } from '../../src/core/messages/hot-store.ts'
import type { AccountId, MessageId } from '../../src/lib/ids.ts'
import { toUuid } from '../../src/lib/ids.ts'

/**
 * The results that the SQL functions of the hot path must have, computed simply: one item after the other,
 * without sets and locks.
 */
export type Wallet = { balance: number; held: number; captured: number; credited: number }
export type Pool = { id: number; channels: string[]; included: number; used: number; resetsAt: number }
export type Account = { id: AccountId; wallet: Wallet; pools: Pool[] }

export type Message = {
  accountId: AccountId
  id: MessageId
  live: boolean
  status: string
  channel: string
  attempt: number
  amount: number
  funding: string
  pool: number | null
  /** When its pool counted it, if it has one. */
  countedAt: number
  money: string
  answer: string | null
  attemptAt: number | null
  settledAt: number | null
  /** It is unknown because its node has died. */
  isLost?: boolean
}
export type Waiting = { id: MessageId; owner: number | null; begun: boolean; dueAt: number }
export type Key = { messageId: MessageId | null; status: number | null }
export type Parked = { providerId: string; status: string }

export type State = {
  accounts: Map<AccountId, Account>
  messages: Map<MessageId, Message>
  outbox: Map<MessageId, Waiting>
  keys: Map<string, Key>
  refs: Map<string, MessageId>
  parked: Parked[]
  nodes: Set<number>
}

export function createModel(accounts: readonly Account[]): State {
  return {
    accounts: new Map(accounts.map(account => [account.id, structuredClone(account)])),
    messages: new Map(),
    outbox: new Map(),
    keys: new Map(),
    refs: new Map(),
    parked: [],
    nodes: new Set(),
  }
}

export const keyOf = (accountId: AccountId, key: string): string => `${accountId}/${key}`

// --- accept -----------------------------------------------------------------

/** The verdicts, in the order of the rows, and for `exists` the message of the key. */
export function accept(state: State, node: number, nowMs: number, rows: AcceptRow[], repeated: boolean) {
  const verdicts: AcceptVerdict['kind'][] = rows.map(() => 'accepted')
  const existing: (MessageId | null)[] = rows.map(() => null)
  const takes = rows.map(row => !(repeated && state.messages.has(row.id)))
  rows.forEach((row, at) => {
    if (!takes[at] || !row.claim) return
    const key = keyOf(row.accountId, row.claim.key)
    const held = state.keys.get(key)
    if (!held) state.keys.set(key, { messageId: row.id, status: null })
    else if (held.messageId !== row.id || held.status !== null) {
      takes[at] = false
      verdicts[at] = 'exists'
      existing[at] = held.messageId
    }
  })
  const funded = fundAll(state, nowMs, rows, takes)
  rows.forEach((row, at) => {
    if (!takes[at]) return
    const paid = funded.get(at)
    if (row.live && !paid) {
      verdicts[at] = 'insufficient'
      if (row.claim) state.keys.set(keyOf(row.accountId, row.claim.key), { messageId: row.id, status: 402 })
      return
    }
    store(state, node, nowMs, row, paid ?? null)
  })
  return { verdicts, existing }
}

type Paid = { funding: 'wallet' | 'pool'; pool: number | null }

function fundAll(state: State, nowMs: number, rows: AcceptRow[], takes: boolean[]): Map<number, Paid> {
  const funded = new Map<number, Paid>()
  for (const account of state.accounts.values()) {
    const mine = rows
      .map((row, at) => ({ row, at }))
      .filter(({ row, at }) => takes[at] && row.live && row.accountId === account.id)
    if (mine.length === 0) continue
    const needed = mine.reduce((sum, { row }) => sum + row.amount, 0)
    const simple = !mine.some(({ row }) => row.pooled) && account.wallet.balance >= needed
    if (!simple) resetPools(account, nowMs)
    for (const { row, at } of mine) {
      const paid = fund(account, row, simple)
      if (paid) funded.set(at, paid)
    }
  }
  return funded
}

function fund(account: Account, row: { channel: string; amount: number }, simple: boolean): Paid | null {
  const pool = simple
    ? undefined
    : account.pools.find(each => each.channels.includes(row.channel) && each.used < each.included)
  if (pool) {
    pool.used++
    return { funding: 'pool', pool: pool.id }
  }
  if (account.wallet.balance < row.amount) return null
  account.wallet.balance -= row.amount
  account.wallet.held += row.amount
  return { funding: 'wallet', pool: null }
}

function resetPools(account: Account, nowMs: number): void {
  for (const pool of account.pools) {
    if (pool.resetsAt > nowMs) continue
    pool.used = 0
    pool.resetsAt = startOfMonth(nowMs, 1)
  }
}

/** Midnight UTC of the first of the month that lies `offset` months after this one. */
export function startOfMonth(atMs: number, offset: number): number {
  const at = new Date(atMs)
  return Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + offset, 1)
}

function store(state: State, node: number, nowMs: number, row: AcceptRow, paid: Paid | null): void {
  state.messages.set(row.id, {
    accountId: row.accountId,
    id: row.id,
    live: row.live,
    status: row.status,
    channel: row.channel,
    attempt: row.begun ? 1 : 0,
    amount: row.amount,
    funding: row.live ? paid!.funding : 'none',
    pool: paid?.pool ?? null,
    countedAt: nowMs,
    money: row.live ? 'held' : 'none',
    answer: row.answer,
    attemptAt: row.begun ? nowMs : null,
    settledAt: null,
  })
  state.outbox.set(row.id, {
    id: row.id,
    owner: row.owned ? node : null,
    begun: row.begun,
    dueAt: row.dueAt,
  })
}

// --- begin and claim --------------------------------------------------------

export function begin(state: State, node: number, nowMs: number, ids: MessageId[], repeated: boolean) {
  return ids.map(id => {
    const waiting = state.outbox.get(id)
    const message = state.messages.get(id)
    if (repeated && waiting && message) resume(state, node, nowMs, waiting, message)
    if (!waiting || !message || waiting.owner !== node || (waiting.begun && !repeated)) return null
    waiting.begun = true
    if (message.status === 'sending') return message.attemptAt === nowMs ? message.attempt : null
    if (message.status !== 'queued' && message.status !== 'scheduled') return null
    if (message.attemptAt === nowMs && message.settledAt !== null && message.settledAt > nowMs) {
      // The attempt of this very call was made before.
      waiting.begun = false
      return null
    }
    message.status = 'sending'
    message.attempt++
    message.attemptAt = nowMs
    return message.attempt
  })
}

/** What this node has begun at this time, before it was taken for dead. */
function resume(state: State, node: number, nowMs: number, waiting: Waiting, message: Message): void {
  if (!waiting.begun || message.attemptAt !== nowMs) return
  if (waiting.owner !== null && state.nodes.has(waiting.owner)) return
  const isUnmade = message.status === 'unknown' && message.isLost === true
  if (message.status !== 'sending' && !isUnmade) return
  waiting.owner = node
  if (!isUnmade) return
  waiting.begun = false
  Object.assign(message, { status: 'queued', settledAt: nowMs })
}

export function claimDue(state: State, node: number, nowMs: number, limit: number): MessageId[] {
  const due = [...state.outbox.values()]
    .filter(row => row.owner === null && !row.begun && row.dueAt <= nowMs)
    .sort((a, b) => a.dueAt - b.dueAt)
  // Rows that are due at the same moment come in any order: the caller takes all or none of them.
  const taken = due.slice(0, limit)
  for (const row of taken) row.owner = node
  return taken.map(row => row.id)
}

export function giveBack(state: State, node: number, ids: MessageId[]): void {
  for (const id of ids) {
    const row = state.outbox.get(id)
    if (row && row.owner === node && !row.begun) row.owner = null
  }
}

// --- settle -----------------------------------------------------------------

export function settle(state: State, nowMs: number, rows: SettleRow[], repeated: boolean) {
  const results = rows.map(row => settleOne(state, nowMs, row, repeated))
  for (const row of rows) {
    const message = state.messages.get(row.id)
    if (!row.keyToFree || message?.answer !== 'failed') continue
    const key = keyOf(row.accountId, row.keyToFree.key)
    if (state.keys.get(key)?.messageId === row.id) state.keys.delete(key)
  }
  for (const row of rows) if (row.providerId) applyParked(state, row.providerId)
  return results
}

function settleOne(state: State, nowMs: number, row: SettleRow, repeated: boolean) {
  const message = state.messages.get(row.id)
  if (!message || message.attempt !== row.attempt) return null
  const open = message.status === 'sending' || (message.status === 'unknown' && row.kind !== 'unknown')
  if (!open) return null
  if (repeated && message.settledAt === nowMs && message.status !== 'unknown') return null
  message.status = row.kind
  message.isLost = false
  if (row.uncounted) message.attempt--
  message.settledAt = nowMs
  message.answer ??= row.answer
  const waiting = state.outbox.get(row.id)!
  if (row.kind === 'sent') capture(state, message)
  if (row.kind === 'failed') release(state, message)
  if (row.kind === 'sent' || row.kind === 'failed') state.outbox.delete(row.id)
  else Object.assign(waiting, { owner: null, begun: row.kind === 'unknown', dueAt: row.dueAt })
  if (row.kind === 'sent' && row.providerId) state.refs.set(row.providerId, row.id)
  return { answer: message.answer }
}

function capture(state: State, message: Message): void {
  if (message.money !== 'held') return
  message.money = 'captured'
  if (message.funding !== 'wallet') return
  const { wallet } = state.accounts.get(message.accountId)!
  wallet.held -= message.amount
  wallet.captured += message.amount
}

function release(state: State, message: Message): void {
  if (message.money !== 'held') return
  message.money = 'released'
  giveMoneyBack(state.accounts.get(message.accountId)!, message)
}

function giveMoneyBack({ wallet, pools }: Account, message: Message): void {
  if (message.funding === 'wallet') {
    wallet.held -= message.amount
    wallet.balance += message.amount
  }
  const pool = pools.find(each => each.id === message.pool)
  // A message that the pool counted in an earlier month is not given back to this one.
  if (pool && message.countedAt >= startOfMonth(pool.resetsAt, -1)) pool.used = Math.max(0, pool.used - 1)
}

// --- failover ----------------------------------------------------------------

/** On another channel the message costs the price of that channel, if it is covered; on the same one its price stays. */
export function failOver(
  state: State,
  node: number,
  nowMs: number,
  message: Message,
  attempt: number,
  to: { channel: string; amount: number },
): 'moved' | 'uncovered' | 'stale' {
  const open = message.status === 'sending' || message.status === 'unknown'
  if (!open || message.attempt !== attempt) return 'stale'
  if (to.channel !== message.channel) {
    if (message.live && !moveMoney(state, nowMs, message, to)) return 'uncovered'
    message.amount = to.amount
  }
  Object.assign(message, { status: 'queued', channel: to.channel, settledAt: nowMs })
  Object.assign(state.outbox.get(message.id)!, { owner: node, begun: false, dueAt: nowMs })
  return 'moved'
}

function moveMoney(state: State, nowMs: number, message: Message, to: { channel: string; amount: number }) {
  const account = state.accounts.get(message.accountId)!
  const tried = structuredClone(account)
  giveMoneyBack(tried, message)
  resetPools(tried, nowMs)
  const paid = fund(tried, to, false)
  if (!paid) return false
  Object.assign(account, { wallet: tried.wallet, pools: tried.pools })
  Object.assign(message, { ...paid, countedAt: nowMs })
  return true
}

// --- receipts ---------------------------------------------------------------

/** The transitions by receipts in docs/states.md: from → to. */
export const RECEIPT_MOVES: Record<string, readonly string[]> = {
  sent: ['delivered', 'undelivered', 'read', 'failed'],
  unknown: ['sent', 'delivered', 'undelivered', 'read', 'failed'],
  delivered: ['read'],
}

export function receipts(state: State, rows: Pick<ReceiptRow, 'providerId' | 'status'>[]): boolean[] {
  return rows.map(row => {
    const id = state.refs.get(row.providerId)
    if (id === undefined) {
      state.parked.push({ providerId: row.providerId, status: row.status })
      return false
    }
    const message = state.messages.get(id)!
    if (!RECEIPT_MOVES[message.status]?.includes(row.status)) return false
    message.status = row.status
    if (row.status === 'failed') takeBack(state, message)
    else capture(state, message)
    state.outbox.delete(id)
    return true
  })
}

/** Refunds what was captured, and releases what was only held. */
function takeBack(state: State, message: Message): void {
  if (message.money === 'captured' && message.funding === 'wallet') {
    const { wallet } = state.accounts.get(message.accountId)!
    wallet.captured -= message.amount
    wallet.held += message.amount
  }
  if (message.money === 'captured') message.money = 'held'
  release(state, message)
}

/** Applies the parked receipts of one provider id, or of all. */
export function applyParked(state: State, providerId?: string): number {
  const found = state.parked.filter(
    each => state.refs.has(each.providerId) && (providerId === undefined || each.providerId === providerId),
  )
  state.parked = state.parked.filter(each => !found.includes(each))
  receipts(state, found as Pick<ReceiptRow, 'providerId' | 'status'>[])
  return found.length
}

// --- final statuses ---------------------------------------------------------

export function withdraw(state: State, id: MessageId, statuses: string[], begunToo: boolean): boolean {
  const message = state.messages.get(id)
  const waiting = state.outbox.get(id)
  if (!message || !waiting || (waiting.begun && !begunToo) || !statuses.includes(message.status)) return false
  message.status = 'cancelled'
  release(state, message)
  state.outbox.delete(id)
  return true
}

export function reclaim(state: State, nowMs: number, deadlineMs: number) {
  const counts = { freed: 0, unknown: 0 }
  for (const row of state.outbox.values()) {
    if (row.owner === null || state.nodes.has(row.owner)) continue
    row.owner = null
    if (!row.begun) {
      counts.freed++
      continue
    }
    row.dueAt = deadlineMs
    const message = state.messages.get(row.id)!
    message.status = 'unknown'
    message.isLost = true
    message.settledAt = nowMs
    counts.unknown++
  }
  return counts
}

export function closeUnknown(state: State, nowMs: number): number {
  let closed = 0
  for (const row of [...state.outbox.values()]) {
    if (row.owner !== null || !row.begun || row.dueAt > nowMs) continue
    const message = state.messages.get(row.id)!
    message.status = 'sent'
    capture(state, message)
    state.outbox.delete(row.id)
    // For a receipt that names the attempt and comes later.
    state.refs.set(`${toUuid(row.id)}.${message.attempt}`, row.id)
    closed++
  }
  return closed
}
