import { expect, test } from 'vitest'
import { createIds } from '../../src/lib/ids.ts'
import { createRandom } from '../../src/lib/random.ts'
import { createJobTurns, type JobItem, type JobTurnsDeps } from '../../src/workers/job-turns.ts'
import { createFakeClock, turn } from '../support/fake-clock.ts'

test('deferred messages are due again one after the other, at the rate of their job', async () => {
  const clock = createFakeClock()
  const ids = createIds(clock, createRandom())
  const turns = createJobTurns({
    clock,
    db: { query: async () => ({ rows: [] }) },
    log: { debug() {}, info() {}, warn() {}, error() {} },
    node: () => 1,
  } as unknown as JobTurnsDeps)
  const again: [name: string, inMs: number][] = []
  function ask(name: string, bulkJobId: JobItem['bulkJobId']) {
    const item = { accountId: ids.next('acc'), id: ids.next('msg'), bulkJobId } as JobItem
    turns.requestTurn(item, { go() {}, deferred: dueAtMs => void again.push([name, dueAtMs - clock.now()]) })
  }
  const [one, other] = [ids.next('job'), ids.next('job')]
  // No node holds the lane: none of them may be sent.
  for (const name of ['a', 'b', 'c']) ask(name, one)
  ask('other', other)
  turns.onReturn((_, returning) => returning.defer(2))
  ask('slow', other)
  for (let looks = 0; looks < 5; looks++) await turn()
  expect(again).toEqual([
    ['a', 1_100],
    ['b', 1_200],
    ['c', 1_300],
    ['other', 1_100],
    ['slow', 1_600],
  ])
  // Their due times have passed and no longer delay later messages.
  again.length = 0
  await clock.advance(5_000)
  ask('a', one)
  for (let looks = 0; looks < 5; looks++) await turn()
  expect(again).toEqual([['a', 1_500]])
})
