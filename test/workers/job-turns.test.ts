import { expect, test } from 'vitest'
import { createIds } from '../../src/lib/ids.ts'
import { createRandom } from '../../src/lib/random.ts'
import { createJobTurns, type JobItem, type JobTurnsDeps } from '../../src/workers/job-turns.ts'
import { createFakeClock, turn } from '../support/fake-clock.ts'

test('what is put off comes again at times of its own, of each job as many in a second as it may', async () => {
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
  // Nobody has the lane: none of them may leave.
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
  // Their times have passed, and nothing is left of them.
  again.length = 0
  await clock.advance(5_000)
  ask('a', one)
  for (let looks = 0; looks < 5; looks++) await turn()
  expect(again).toEqual([['a', 1_500]])
})
