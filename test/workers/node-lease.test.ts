import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Database, Query } from '../../src/infra/db.ts'
import { type NodeLease, startNodeLease } from '../../src/workers/node-lease.ts'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'
import { createFakeClock } from '../support/fake-clock.ts'

const BEAT_MS = 1_000
const LEASE_MS = 5_000

let database: TestDatabase
let nodes: Node[]

beforeEach(async () => {
  database = await createTestDatabase()
  nodes = [await startNode(), await startNode()]
})
afterEach(async () => {
  for (const node of nodes) await node.lease.stop()
  await database.drop()
})

/** A node whose heartbeats are sent only when the test advances its clock. */
type Node = { lease: NodeLease; passes(ms: number): Promise<void> }

async function startNode(): Promise<Node> {
  const clock = createFakeClock()
  let asked = 0
  const query = async (request: Query) => {
    asked++
    return database.db.query(request).finally(() => asked--)
  }
  const db = { ...database.db, query } as Database
  const log = { debug() {}, info() {}, warn() {} }
  const lease = await startNodeLease({
    db,
    clock,
    log,
    host: 'here',
    isExclusive: false,
    unknownDeadlineMs: 1,
  })
  const answered = async () => {
    do await new Promise(setImmediate)
    while (asked > 0)
  }
  const node = { lease, passes: (ms: number) => clock.advance(ms, answered) }
  await node.passes(0)
  return node
}

/** Ages the heartbeats of all nodes, as if the database was unavailable for this long. */
async function ageHeartbeats(ms: number): Promise<void> {
  await database.db.query({
    name: 'lease_silence',
    text: `update nodes set seen_at = seen_at - make_interval(secs => $1::double precision / 1000)`,
    values: [ms],
  })
}

async function listed(): Promise<number[]> {
  const { rows } = await database.db.query<{ id: number }>({
    name: 'lease_listed',
    text: 'select id from nodes order by id',
  })
  return rows.map(row => row.id)
}

test('after an outage for all nodes, the first to return gives the others time to return', async () => {
  const [first, second] = nodes as [Node, Node]
  const before = [first.lease.id(), second.lease.id()]
  await ageHeartbeats(60_000)
  await first.passes(BEAT_MS)
  expect(await listed()).toEqual(before)
  await second.passes(BEAT_MS)
  expect(second.lease.id()).toBe(before[1])
  await first.passes(LEASE_MS + BEAT_MS)
  expect(await listed()).toEqual(before)
})

test('after an outage for all nodes, those that do not return in time are removed', async () => {
  const [first, second] = nodes as [Node, Node]
  await ageHeartbeats(60_000)
  await first.passes(LEASE_MS)
  expect(await listed()).toHaveLength(2)
  await first.passes(2 * BEAT_MS)
  expect(await listed()).toEqual([first.lease.id()])
  const before = second.lease.id()
  await second.passes(BEAT_MS)
  expect(second.lease.id()).not.toBe(before)
})

test('a node that alone missed its heartbeats is removed at once', async () => {
  const [first, second] = nodes as [Node, Node]
  await ageHeartbeats(60_000)
  await database.db.query({
    name: 'lease_heard',
    text: 'update nodes set seen_at = now() where id = $1',
    values: [first.lease.id()],
  })
  await first.passes(BEAT_MS)
  expect(await listed()).toEqual([first.lease.id()])
  expect(second.lease.count()).toBe(2)
})

test('after the clock of the database was set back, a node that died before is removed, and one that lives is not', async () => {
  const [first, second] = nodes as [Node, Node]
  const third = await startNode()
  nodes.push(third)
  await ageHeartbeats(-3_600_000)
  await first.passes(BEAT_MS)
  expect(await listed()).toHaveLength(3)
  await second.passes(BEAT_MS)
  await first.passes(LEASE_MS + BEAT_MS)
  expect(await listed()).toEqual([first.lease.id(), second.lease.id()])
})
