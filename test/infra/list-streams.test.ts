import { expect, test } from 'vitest'
import type { ListEvent } from '../../src/infra/list-events.ts'
import { createListStreams } from '../../src/infra/list-streams.ts'
import type { AccountId } from '../../src/lib/ids.ts'
import { createFakeClock } from '../support/fake-clock.ts'

const ACCOUNT: AccountId = 'acc_01ky0000000000000000000000'
const gone = new AbortController().signal

/** A list in memory. A stream that resumes gets what is in the list behind its place. */
function openStreams() {
  const clock = createFakeClock(0)
  const list: string[] = []
  let untilMayRead = Promise.resolve()
  let untilMayBegin = Promise.resolve()
  const streams = createListStreams<number, string, { accountId: AccountId; upTo: number }, number>({
    clock,
    pollIntervalMs: 1_000,
    accountOf: () => ACCOUNT,
    queue: (waiting, next) => [...waiting, next],
    openTail: async accountId => ({ accountId, upTo: list.length }),
    cursorOf: ({ upTo }) => String(upTo),
    async begin({ subject, push }) {
      const { upTo } = await streams.tailOf(ACCOUNT)
      const missed = list.slice(subject, upTo)
      await untilMayBegin
      for (const message of missed) push({ kind: 'message', cursor: String(subject), message })
      push({ kind: 'beat', cursor: String(upTo) })
    },
    async read() {
      await untilMayRead
      return list.length
    },
    async send(tail, end, all) {
      for (const message of list.slice(tail.upTo, end)) {
        for (const { push } of all) push({ kind: 'message', cursor: String(end), message })
      }
      tail.upTo = end
    },
  })

  async function follow(from: number): Promise<ListEvent<string>[]> {
    const received: ListEvent<string>[] = []
    const events = await streams.follow(from, gone)
    void (async () => {
      for await (const event of events!) received.push(event)
    })()
    return received
  }

  /** Keeps reads, or beginnings, from going on; returns how to let them. */
  function hold(what: 'reads' | 'beginnings'): () => void {
    const { promise, resolve } = Promise.withResolvers<void>()
    if (what === 'reads') untilMayRead = promise
    else untilMayBegin = promise
    return resolve
  }

  const turn = () => new Promise(resolve => setImmediate(resolve))
  async function poll(): Promise<void> {
    await clock.advance(1_000)
    await turn()
  }

  return { list, follow, hold, poll, turn }
}

const messagesOf = (received: readonly ListEvent<string>[]) =>
  received.flatMap(event => (event.kind === 'message' ? [event.message] : []))

test('a stream that begins while changes are being read gets those that come before the end of the read', async () => {
  const { list, follow, hold, poll, turn } = openStreams()
  const first = await follow(0)
  const letRead = hold('reads')
  await poll()
  const second = await follow(0)
  list.push('a')
  letRead()
  await turn()
  expect([first, second].map(messagesOf)).toEqual([['a'], ['a']])
})

test('a stream that resumes gets what it missed before what comes meanwhile', async () => {
  const { list, follow, hold, poll, turn } = openStreams()
  list.push('a')
  await follow(1)
  const letBegin = hold('beginnings')
  const resuming = follow(0)
  list.push('b')
  await poll()
  letBegin()
  const received = await resuming
  await turn()
  expect(received.map(({ kind, cursor }) => [kind, cursor])).toEqual([
    ['message', '0'],
    ['beat', '1'],
    ['message', '2'],
  ])
  expect(messagesOf(received)).toEqual(['a', 'b'])
})
