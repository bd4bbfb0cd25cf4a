import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { MESSAGE_STATUSES, type MessageStatus } from '../../src/contract/enums.ts'
import type { MessageWithTimeline } from '../../src/contract/message.ts'
import { type RawMessage, toRow } from '../../src/core/messages/message-store.ts'
import { viewWithTimeline } from '../../src/core/messages/view.ts'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'
import { RECEIPT_MOVES } from './model.ts'
import { openWorld, setup, step, take } from './world.ts'

const RUNS = 30
/** Makes the runs the same each time; they reach every status. */
const SEED = 20261121

/** docs/states.md as a table: every allowed transition from one status to the next. */
const TRANSITIONS: Record<MessageStatus, readonly MessageStatus[]> = {
  scheduled: ['sending', 'cancelled', 'failed'],
  queued: ['sending', 'cancelled', 'failed'],
  // Back to queued only if the provider provably did not accept it.
  sending: ['sent', 'failed', 'queued', 'unknown', 'cancelled'],
  unknown: ['sending', 'sent', 'failed', 'queued', 'delivered', 'undelivered', 'read', 'cancelled'],
  sent: ['delivered', 'undelivered', 'read', 'failed'],
  delivered: ['read'],
  read: [],
  failed: [],
  undelivered: [],
  cancelled: [],
  expired: [],
}

let database: TestDatabase

beforeAll(async () => {
  database = await createTestDatabase()
})
afterAll(() => database.drop())

/** One step may be several transitions, such as a submit response and the receipt that waited for it. */
function reachable(from: MessageStatus): Set<MessageStatus> {
  const found = new Set<MessageStatus>([from])
  for (const status of found) for (const next of TRANSITIONS[status]) found.add(next)
  return found
}

async function readStatuses(): Promise<Map<string, MessageStatus>> {
  const { rows } = await database.db.query<{ id: string; status: MessageStatus }>({
    name: 'statuses',
    text: 'select id, status from messages',
  })
  return new Map(rows.map(({ id, status }) => [id, status]))
}

async function readTimelines(): Promise<MessageWithTimeline[]> {
  const { rows } = await database.db.query<RawMessage>({
    name: 'timelines',
    text: 'select * from messages',
  })
  return rows.map(row => viewWithTimeline(toRow(row), 'USD', () => null))
}

/** Expects a timeline that moves forward, ends with the status of the message, and has only attempts under way as pending. */
function expectForward({ status, timeline }: MessageWithTimeline): void {
  const told = timeline.flatMap(entry => entry.status ?? [])
  const ranks = told.map(each => MESSAGE_STATUSES.indexOf(each))
  expect(ranks, told.join()).toEqual(ranks.toSorted((a, b) => a - b))
  expect(new Set(told).size).toBe(told.length)
  expect(told.at(-1)).toBe(status)
  for (const { at, settledAt, outcome } of timeline) {
    if (settledAt != null) expect(settledAt >= at, `${at} … ${settledAt}`).toBe(true)
    expect(outcome === 'pending').toBe(outcome !== undefined && status === 'sending' && settledAt === null)
  }
}

test('receipt_moves() agrees with the table for every pair of statuses', async () => {
  const { rows } = await database.db.query<{ from: string; to: string; moves: boolean }>({
    name: 'all_moves',
    text: `select a as "from", b as "to", receipt_moves(a, b) as moves
             from unnest($1::text[]) a, unnest($1::text[]) b`,
    values: [MESSAGE_STATUSES],
  })
  expect(rows).toHaveLength(MESSAGE_STATUSES.length ** 2)
  const wrong = rows.filter(({ from, to, moves }) => moves !== (RECEIPT_MOVES[from]?.includes(to) ?? false))
  expect(wrong).toEqual([])
})

test('every transition by a receipt is a transition of docs/states.md', () => {
  for (const [from, tos] of Object.entries(RECEIPT_MOVES)) {
    expect(TRANSITIONS[from as MessageStatus]).toEqual(expect.arrayContaining([...tos]))
  }
})

/** Takes random steps with messages; returns the statuses that they reached. */
async function runSteps(parameters: { seed?: number }): Promise<Set<MessageStatus>> {
  const steps = fc.array(step, { minLength: 20, maxLength: 60, size: 'max' })
  const seen = new Set<MessageStatus>()
  await fc.assert(
    fc.asyncProperty(setup, steps, async (accounts, actions) => {
      const world = await openWorld(database.db, accounts)
      let before = await readStatuses()
      for (const action of actions) {
        await take(world, action)
        const after = await readStatuses()
        for (const [id, status] of after) {
          seen.add(status)
          const was = before.get(id)
          if (was && was !== status) expect([...reachable(was)], `${was} → ${status}`).toContain(status)
        }
        // No accepted message disappears.
        for (const id of before.keys()) expect(after.has(id)).toBe(true)
        before = after
      }
      for (const message of await readTimelines()) expectForward(message)
    }),
    { numRuns: RUNS, ...parameters },
  )
  return seen
}

test('no random sequence of events makes a transition that is not allowed', async () => {
  await runSteps({})
}, 120_000)

test('no event makes a transition that is not allowed in runs that reach every status', async () => {
  const everything = MESSAGE_STATUSES.filter(status => status !== 'expired')
  expect([...(await runSteps({ seed: SEED }))]).toEqual(expect.arrayContaining(everything))
}, 120_000)
