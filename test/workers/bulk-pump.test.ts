import { expect, test } from 'vitest'
import type { AccountSnapshot } from '../../src/contract/caller.ts'
import type { Query } from '../../src/infra/db.ts'
import { type AccountId, createIds, toUuid } from '../../src/lib/ids.ts'
import { createRandom } from '../../src/lib/random.ts'
import { TAKEOVER_WAIT_MS } from '../../src/workers/bulk-lane.ts'
import { type BulkPumpDeps, createBulkPump } from '../../src/workers/bulk-pump.ts'
import { createFakeClock, turn } from '../support/fake-clock.ts'
import { sentInt8s, sentUuids } from '../support/sent-array.ts'

/** The database is a fake that responds on command, to control what happens between its responses. */

const clock = createFakeClock()
const ids = createIds(clock, createRandom())
const account = { status: 'active', plan: { bulkCeilingPerSecond: 10 } } as AccountSnapshot

function sending(accountId: AccountId) {
  const none = { body_hash: null, pause_reason: null, error_code: null, error_message: null }
  const counts = { total: 1, validated: 1, invalid: 0, sent: 0, failed: 0, cancelled: 0, handed_below: 0 }
  const key_id = toUuid(ids.next('key'))
  const id = toUuid(ids.next('job'))
  return {
    account_id: toUuid(accountId),
    id,
    live: true,
    key_id,
    name: '',
    per_second: 1,
    status: 'queued',
    ...none,
    ...counts,
  }
}

test('a lane that is lost while another one is being released is released afterwards', async () => {
  const [one, other] = [ids.next('acc'), ids.next('acc')]
  const jobs = [sending(one), sending(other)]
  const toClaim = [one, other]
  const notOurs = [Promise.withResolvers<object[]>(), Promise.withResolvers<object[]>()]
  const left = Promise.withResolvers<object[]>()
  let fails = 0
  const released: unknown[] = []

  const answers: Answers = {
    claim_bulk_lanes: () => toClaim.splice(0, 1).map(id => ({ account_id: toUuid(id), fence: 1 })),
    bulk_list_sending: ([accounts]) => jobs.filter(job => sentUuids(accounts).includes(job.account_id)),
    bulk_read_waiting: () => [{ ask: 1, n: 0, body: '{}' }],
    fail_bulk_rows: () => notOurs[fails++]!.promise,
    release_bulk_lanes([, accounts]) {
      released.push(sentUuids(accounts))
      return left.promise
    },
  }
  const pump = pumpOver(answers)

  for (let lanes = 0; lanes < 2; lanes++) {
    pump.changed(null)
    await pump.round()
    await settled()
  }
  notOurs[0]!.resolve([{ item: 1 }])
  await settled()
  const giving = pump.round()
  await settled()
  expect(released).toEqual([[toUuid(one)]])
  notOurs[1]!.resolve([{ item: 1 }])
  await settled()
  left.resolve([])
  await giving
  await pump.round()
  expect(released).toEqual([[toUuid(one)], [toUuid(other)]])
})

test('lanes are looked for again in the next round if a job is announced while they are being looked for', async () => {
  const looked: PromiseWithResolvers<object[]>[] = []
  const pump = pumpOver({
    claim_bulk_lanes() {
      looked.push(Promise.withResolvers())
      return looked.at(-1)!.promise
    },
  })
  const round = pump.round()
  await settled()
  pump.changed(ids.next('acc'))
  looked[0]!.resolve([])
  await round
  void pump.round()
  await settled()
  expect(looked).toHaveLength(2)
})

test('a lane that this node left is used at once when no row sent from it counts any more, unless another node had it', async () => {
  const accountId = ids.next('acc')
  let jobs: object[] = []
  const fences = [1, 2, 3, 5]
  let toClaim: object[] = []
  let failed = 0
  const pump = pumpOver({
    claim_bulk_lanes: () => toClaim.splice(0, 1),
    bulk_list_sending: () => jobs,
    bulk_read_waiting: () => [{ ask: 1, n: 0, body: '{}' }],
    fail_bulk_rows() {
      failed++
      return []
    },
  })
  /** Claims the lane for a job of one row, which fails as soon as the lane hands it over. */
  async function addJob(): Promise<void> {
    jobs = [sending(accountId)]
    toClaim = [{ account_id: toUuid(accountId), fence: fences.shift() }]
    pump.changed(null)
    await pump.round()
    await settled()
  }
  async function endJob(): Promise<void> {
    jobs = []
    pump.changed(accountId)
    await pump.round()
    await settled()
  }

  await addJob()
  expect(failed).toBe(1)
  await endJob()
  await clock.advance(TAKEOVER_WAIT_MS - 1)
  await addJob()
  expect(failed).toBe(1)
  await clock.advance(1)
  await settled()
  expect(failed).toBe(2)
  await endJob()
  await clock.advance(TAKEOVER_WAIT_MS)
  await addJob()
  expect(failed).toBe(3)
  await endJob()
  await clock.advance(60_000)
  await addJob()
  expect(failed).toBe(3)
  await clock.advance(TAKEOVER_WAIT_MS)
  await settled()
  expect(failed).toBe(4)
})

test('a lane that this node claims anew, since it was taken for dead, hands over no rows by its earlier claim any more', async () => {
  const accountId = ids.next('acc')
  let toClaim = [{ account_id: toUuid(accountId), fence: 1 }]
  const fences: number[] = []
  let row = 0
  const pump = pumpOver({
    claim_bulk_lanes: () => toClaim.splice(0, 1),
    bulk_list_sending: () => [{ ...sending(accountId), total: 1_000 }],
    bulk_read_waiting: () => [{ ask: 1, n: row++, body: '{}' }],
    fail_bulk_rows([, , , , , ofRows]) {
      fences.push(...sentInt8s(ofRows))
      return []
    },
  })
  await pump.round()
  await settled()
  expect(fences).toEqual([1])

  toClaim = [{ account_id: toUuid(accountId), fence: 2 }]
  pump.changed(null)
  await pump.round()
  await clock.advance(10_000, settled)
  const after = fences.slice(1)
  expect(after.length).toBeGreaterThan(1)
  expect(new Set(after)).toEqual(new Set([2]))
  await pump.stop()
})

/** A pump whose database responds to each statement by its name; to others with no rows. */
function pumpOver(answers: Answers) {
  return createBulkPump({
    db: {
      async query({ name, values = [] }: Query) {
        const rows = (await answers[name]?.(values)) ?? []
        return { rows, rowCount: rows.length }
      },
    },
    clock,
    ids,
    log: { debug() {}, info() {}, warn() {}, error() {} },
    rows: { faultsOf: () => [{ path: 'to', message: 'must be there' }] },
    connections: {
      freeSlotsAt: () => Number.POSITIVE_INFINITY,
      onSlotFree() {},
      onReturn() {},
      returnHeld() {},
    },
    pausedUntil: () => 0,
    node: () => 1,
    account: () => account,
  } as unknown as BulkPumpDeps)
}
type Answers = Record<string, (values: readonly unknown[]) => object[] | Promise<object[]>>

/** Resolves when nothing more can happen without another response. */
async function settled(): Promise<void> {
  for (let turns = 0; turns < 20; turns++) await turn()
}
