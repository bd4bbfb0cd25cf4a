import fc from 'fast-check'
import { expect } from 'vitest'
import { failOver } from '../../src/core/messages/failover-store.ts'
import {
  type AcceptRow,
  acceptSends,
  applyReceipts,
  beginAttempts,
  type SettleRow,
  settleAttempts,
} from '../../src/core/messages/hot-store.ts'
import { cancelMessage, withdrawUnconfirmed } from '../../src/core/messages/withdraw-store.ts'
import { registerNode, removeNode } from '../../src/core/outbox/node-store.ts'
import { applyParked, closeUnknown } from '../../src/core/outbox/reconcile-store.ts'
import { claimDue, reclaimFromDead, releaseRows } from '../../src/core/outbox/store.ts'
import type { Database } from '../../src/infra/db.ts'
import { type AccountId, createIds, type MessageId } from '../../src/lib/ids.ts'
import { createRandom } from '../../src/lib/random.ts'
import { createFakeClock, type FakeClock } from '../support/fake-clock.ts'
import { acceptRow, settleRow } from '../support/message-rows.ts'
import * as model from './model.ts'
import { addAccount, credit, emptyStore } from './store.ts'

/**
 * Random sequences of steps with messages. Each step is taken in the database and in the model at once, and
 * compares the results.
 */
const START_MS = Date.UTC(2026, 0, 20, 12)
const DAY_MS = 24 * 3_600_000

// --- the possible steps, as abstract picks that are resolved against the model

const pick = fc.nat({ max: 999 })
const picks = fc.array(pick, { minLength: 1, maxLength: 6 })
const item = fc.record({
  account: pick,
  amount: fc.integer({ min: 0, max: 40 }),
  key: fc.option(fc.nat({ max: 5 }), { nil: null, freq: 2 }),
  mail: fc.boolean(),
  live: fc.integer({ min: 0, max: 9 }).map(n => n > 0),
  how: fc.constantFrom(
    'begin' as const,
    'begin' as const,
    'hold' as const,
    'wait' as const,
    'scheduled' as const,
  ),
})
const outcome = fc.record({
  message: pick,
  late: fc.integer({ min: 0, max: 9 }).map(n => n === 0),
  kind: fc.constantFrom(
    'sent' as const,
    'sent' as const,
    'failed' as const,
    'queued' as const,
    'unknown' as const,
  ),
  uncounted: fc.boolean(),
  // Few, so that a provider uses an id twice.
  provider: fc.nat({ max: 30 }),
  forget: fc.boolean(),
})
const receipt = fc.record({
  provider: fc.nat({ max: 30 }),
  status: fc.constantFrom(
    'sent' as const,
    'delivered' as const,
    'undelivered' as const,
    'read' as const,
    'failed' as const,
  ),
})
export const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('accept' as const),
      node: pick,
      items: fc.array(item, { minLength: 1, maxLength: 8 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('accept again' as const), node: pick }) },
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant('begin' as const),
      node: pick,
      messages: picks,
      again: fc.boolean(),
    }),
  },
  {
    weight: 7,
    arbitrary: fc.record({
      do: fc.constant('settle' as const),
      outcomes: fc.array(outcome, { minLength: 1, maxLength: 6 }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('settle again' as const) }) },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('settle again, overtaken' as const), node: pick, outcome }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('receipts' as const),
      receipts: fc.array(receipt, { minLength: 1, maxLength: 5 }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('fail over' as const),
      node: pick,
      message: pick,
      late: fc.integer({ min: 0, max: 9 }).map(n => n === 0),
      mail: fc.boolean(),
      amount: fc.integer({ min: 0, max: 40 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('parked' as const) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('cancel' as const), message: pick }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('withdraw' as const), messages: picks }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('claim' as const), node: pick }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('give back' as const), node: pick, messages: picks }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('a node dies' as const), node: pick }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('close unknown' as const) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('credit' as const),
      account: pick,
      amount: fc.integer({ min: 1, max: 200 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('time' as const),
      ms: fc.constantFrom(1, 1_000, 3_600_000, DAY_MS, 20 * DAY_MS),
    }),
  },
)
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

export const setup = fc.array(
  fc.record({
    balance: fc.integer({ min: 0, max: 150 }),
    pools: fc.array(
      fc.record({
        channels: fc.constantFrom<string[]>(['email_user'], ['local_sms'], ['email_user', 'local_sms']),
        included: fc.integer({ min: 0, max: 6 }),
      }),
      { maxLength: 2 },
    ),
  }),
  { minLength: 2, maxLength: 3 },
)

// --- database and model at once ----------------------------------------------

export type World = Awaited<ReturnType<typeof openWorld>>

export async function openWorld(
  db: Database,
  accounts: { balance: number; pools: { channels: string[]; included: number }[] }[],
) {
  await emptyStore(db)
  const clock: FakeClock = createFakeClock(START_MS)
  const ids = createIds(clock, createRandom())
  const made = accounts.map(({ balance, pools }) => ({
    id: ids.next('acc'),
    wallet: { balance, held: 0, captured: 0, credited: balance },
    pools: pools.map((pool, at) => ({
      ...pool,
      id: at + 1,
      used: 0,
      resetsAt: model.startOfMonth(START_MS, 1),
    })),
  }))
  for (const account of made) await addAccount(db, account)
  const state = model.createModel(made)
  for (let n = 0; n < 2; n++) state.nodes.add(await registerNode(db, 'model', clock.now(), false))
  return {
    db,
    clock,
    ids,
    state,
    accountIds: made.map(account => account.id),
    connectionId: ids.next('cnn'),
    /** The calls to repeat, as a node does when a response was lost. */
    lastAccept: null as { rows: AcceptRow[] } | null,
    lastSettle: null as { rows: SettleRow[]; nowMs: number } | null,
    lastBegin: null as { nowMs: number } | null,
  }
}

const choose = <T>(from: readonly T[], n: number): T | undefined => from[n % from.length]
const byLockOrder = (a: { accountId: string; id: string }, b: { accountId: string; id: string }) =>
  a.accountId + a.id < b.accountId + b.id ? -1 : 1

/** Different messages of the model, in lock order. */
function chooseMessages(world: World, numbers: readonly number[]): model.Message[] {
  const all = [...world.state.messages.values()]
  return [...new Set(numbers.map(n => choose(all, n)).filter(message => message !== undefined))].sort(
    byLockOrder,
  )
}

function toAcceptRow(world: World, wanted: typeof item extends fc.Arbitrary<infer T> ? T : never): AcceptRow {
  const accountId = choose(world.accountIds, wanted.account)!
  const channel = wanted.mail ? 'email_user' : 'local_sms'
  const { pools } = world.state.accounts.get(accountId)!
  const scheduledAt = wanted.how === 'scheduled' ? world.clock.now() + 3_600_000 : null
  return acceptRow(
    {
      accountId,
      id: world.ids.next('msg'),
      connectionId: world.connectionId,
      dueAt: scheduledAt ?? world.clock.now(),
    },
    {
      claim: wanted.key === null ? null : claimOf(`key ${wanted.key}`),
      live: wanted.live,
      status: wanted.how === 'scheduled' ? 'scheduled' : wanted.how === 'begin' ? 'sending' : 'queued',
      channel,
      amount: wanted.amount,
      pooled: pools.some(pool => pool.channels.includes(channel)),
      scheduledAt,
      owned: wanted.how === 'begin' || wanted.how === 'hold',
      begun: wanted.how === 'begin',
      answer: scheduledAt === null ? null : 'scheduled',
    },
  )
}

function claimOf(key: string) {
  return { operation: 1, key, bodyHash: Buffer.from('body') }
}

async function accept(world: World, node: number, rows: AcceptRow[], repeated: boolean): Promise<void> {
  const nowMs = world.clock.now()
  const expected = model.accept(world.state, node, nowMs, rows, repeated)
  const verdicts = await acceptSends(world.db, node, nowMs, rows, repeated)
  expect(verdicts.map(verdict => verdict.kind)).toEqual(expected.verdicts)
  expect(verdicts.map(verdict => (verdict.kind === 'exists' ? verdict.messageId : null))).toEqual(
    expected.existing,
  )
}

function toSettleRow(
  world: World,
  message: model.Message,
  said: typeof outcome extends fc.Arbitrary<infer T> ? T : never,
): SettleRow {
  const claimed = [...world.state.keys].find(([, key]) => key.messageId === message.id)
  return settleRow(
    {
      accountId: message.accountId,
      id: message.id,
      connectionId: world.connectionId,
      eventId: world.ids.next('evt'),
    },
    {
      attempt: said.late ? message.attempt - 1 : message.attempt,
      kind: said.kind,
      providerId: said.kind === 'sent' ? `provider ${said.provider}` : null,
      errorCode: said.kind === 'failed' ? 'MESSAGE_REJECTED' : null,
      dueAt: world.clock.now() + (said.kind === 'unknown' ? DAY_MS : 1_000),
      uncounted: said.kind === 'queued' && said.uncounted,
      answer: said.kind === 'queued' ? null : said.kind === 'unknown' ? 'queued' : said.kind,
      keyToFree: said.forget && claimed ? claimOf(claimed[0].slice(claimed[0].indexOf('/') + 1)) : null,
    },
  )
}

/** Fails a message over. A repeat, as after a lost response, returns the same and moves nothing. */
async function takeOver(world: World, wanted: Extract<Step, { do: 'fail over' }>): Promise<void> {
  const { db, state, clock, connectionId } = world
  const open = [...state.messages.values()].filter(each => ['sending', 'unknown'].includes(each.status))
  const message = choose(open.length > 0 ? open : [...state.messages.values()], wanted.message)
  if (!message) return
  const node = choose([...state.nodes], wanted.node)!
  const channel = wanted.mail ? ('email_user' as const) : ('local_sms' as const)
  const attempt = wanted.late ? message.attempt - 1 : message.attempt
  const { accountId, id } = message
  const left = {
    accountId,
    id,
    attempt,
    outcome: 'retry' as const,
    code: null,
    providerCode: null,
    detail: '',
  }
  const to = {
    connectionId,
    provider: 'model',
    channel,
    sender: null,
    senderSource: 'platform' as const,
    amount: wanted.amount,
    parts: null,
    newContent: null,
    secret: null,
  }
  const nowMs = clock.now()
  const expected = model.failOver(state, node, nowMs, message, attempt, to)
  expect(await failOver(db, node, nowMs, left, to, false)).toBe(expected)
  if (expected === 'moved') expect(await failOver(db, node, nowMs, left, to, true)).toBe('moved')
}

async function settle(world: World, rows: SettleRow[], nowMs: number, repeated: boolean): Promise<void> {
  const expected = model.settle(world.state, nowMs, rows, repeated)
  expect(await settleAttempts(world.db, nowMs, rows, repeated)).toEqual(expected)
}

export async function take(world: World, action: Step): Promise<void> {
  const { db, state, clock } = world
  const nowMs = clock.now()
  const nodes = [...state.nodes]
  switch (action.do) {
    case 'accept': {
      const rows = action.items.map(wanted => toAcceptRow(world, wanted)).sort(byLockOrder)
      world.lastAccept = { rows }
      return accept(world, choose(nodes, action.node)!, rows, false)
    }
    case 'accept again':
      return world.lastAccept
        ? accept(world, choose(nodes, action.node)!, world.lastAccept.rows, true)
        : undefined
    case 'begin': {
      const messages = chooseMessages(world, action.messages)
      const node = choose(nodes, action.node)!
      // A repeat has the time of the first call, which may have been executed.
      const atMs = action.again ? (world.lastBegin?.nowMs ?? nowMs) : nowMs
      world.lastBegin = { nowMs: atMs }
      const expected = model.begin(
        state,
        node,
        atMs,
        messages.map(each => each.id),
        action.again,
      )
      expect(await beginAttempts(db, node, atMs, messages, action.again)).toEqual(expected)
      return
    }
    case 'settle': {
      const said = new Map<string, SettleRow>()
      const providers = new Set<number>()
      for (const each of action.outcomes) {
        const [message] = chooseMessages(world, [each.message])
        // Callers ensure that a message, and a provider id, occurs only once in a call.
        if (!message || said.has(message.id) || providers.has(each.provider)) continue
        providers.add(each.provider)
        said.set(message.id, toSettleRow(world, message, each))
      }
      const rows = [...said.values()].sort(byLockOrder)
      world.lastSettle = { rows, nowMs }
      return settle(world, rows, nowMs, false)
    }
    case 'settle again':
      return world.lastSettle ? settle(world, world.lastSettle.rows, world.lastSettle.nowMs, true) : undefined
    case 'settle again, overtaken': {
      // The response was lost, and by the time of the repeat the next attempt of the message has begun.
      const message = [...state.messages.values()].find(each => each.status === 'sending')
      if (!message) return
      const row = toSettleRow(world, message, { ...action.outcome, kind: 'queued', late: false })
      await settle(world, [row], nowMs, false)
      await clock.advance(1_000)
      await take(world, { do: 'claim', node: action.node })
      const node = choose(nodes, action.node)!
      const expected = model.begin(state, node, clock.now(), [message.id], false)
      expect(await beginAttempts(db, node, clock.now(), [message], false)).toEqual(expected)
      return settle(world, [row], nowMs, true)
    }
    case 'receipts': {
      const ofMessages = new Set<MessageId | string>()
      const told = action.receipts
        .map(({ provider, status }) => ({ providerId: `provider ${provider}`, status }))
        .filter(({ providerId }) => {
          const target = state.refs.get(providerId) ?? providerId
          return ofMessages.has(target) ? false : ofMessages.add(target)
        })
      const expected = model.receipts(state, told)
      const rows = told.map(each => ({
        ...each,
        connectionId: world.connectionId,
        atMs: null,
        providerCode: null,
        errorCode: each.status === 'failed' ? ('CHATAPP_NOT_REGISTERED' as const) : null,
        detail: null,
        eventId: world.ids.next('evt'),
      }))
      expect(await applyReceipts(db, nowMs, rows)).toEqual(expected)
      return
    }
    case 'fail over':
      return takeOver(world, action)
    case 'parked':
      expect(await applyParked(db, nowMs)).toBe(model.applyParked(state))
      return
    case 'cancel': {
      const [message] = chooseMessages(world, [action.message])
      if (!message) return
      const expected = model.withdraw(state, message.id, ['scheduled', 'queued'], false)
      expect(await cancelMessage(db, nowMs, message.accountId, message.id)).toBe(expected)
      return
    }
    case 'withdraw': {
      const wanted = chooseMessages(world, action.messages)
      const rows = (world.lastAccept?.rows ?? []).filter(row => wanted.some(each => each.id === row.id))
      const gone = rows.filter(row =>
        row.begun
          ? model.withdraw(state, row.id, ['sending', 'unknown'], true)
          : model.withdraw(state, row.id, ['scheduled', 'queued'], false),
      )
      for (const row of gone) {
        const key = row.claim && model.keyOf(row.accountId, row.claim.key)
        if (key && state.keys.get(key)?.messageId === row.id) state.keys.delete(key)
      }
      expect(await withdrawUnconfirmed(db, nowMs, rows)).toEqual(new Set(gone.map(row => row.id)))
      return
    }
    case 'claim': {
      const node = choose(nodes, action.node)!
      const expected = model.claimDue(state, node, nowMs, 1_000)
      const claimed = await claimDue(db, node, nowMs, [{ connectionId: world.connectionId, limit: 1_000 }])
      expect(claimed.map(row => row.id).sort()).toEqual(expected.sort())
      return
    }
    case 'give back': {
      const node = choose(nodes, action.node)!
      const messages = chooseMessages(world, action.messages)
      model.giveBack(
        state,
        node,
        messages.map(each => each.id),
      )
      return releaseRows(db, node, messages)
    }
    case 'a node dies': {
      const node = choose(nodes, action.node)!
      await removeNode(db, node)
      state.nodes.delete(node)
      expect(await reclaimFromDead(db, nowMs, nowMs + DAY_MS, 1_000)).toEqual(
        model.reclaim(state, nowMs, nowMs + DAY_MS),
      )
      state.nodes.add(await registerNode(db, 'model', nowMs, false))
      return
    }
    case 'close unknown':
      expect(await closeUnknown(db, nowMs, 1_000)).toBe(model.closeUnknown(state, nowMs))
      return
    case 'credit': {
      const accountId: AccountId = choose(world.accountIds, action.account)!
      const { wallet } = state.accounts.get(accountId)!
      wallet.balance += action.amount
      wallet.credited += action.amount
      return credit(db, world.ids, accountId, action.amount)
    }
    case 'time':
      return clock.advance(action.ms)
  }
}
