import { expect, test } from 'vitest'
import type { Links, OpenLink } from '../../src/channels/links.ts'
import type { Outcome } from '../../src/channels/provider.ts'
import { createWaiters } from '../../src/core/messages/waiters.ts'
import type { OutboxItem } from '../../src/core/outbox/dispatch-port.ts'
import { DatabaseUnavailable, type Query } from '../../src/infra/db.ts'
import { createIds } from '../../src/lib/ids.ts'
import { createRandom } from '../../src/lib/random.ts'
import { createCircuits } from '../../src/workers/circuit.ts'
import { createDispatcher, type DispatchDeps } from '../../src/workers/dispatch.ts'
import { createFakeClock, turn } from '../support/fake-clock.ts'

const clock = createFakeClock()
const ids = createIds(clock, createRandom())

/**
 * A dispatcher with one connection of one slot, whose provider never responds. The responses to the first `lost` records of an
 * attempt are lost, and the stop waits for the database.
 */
function started({ lost = 0 } = {}) {
  const sent: string[] = []
  const outcomes = new Map<string, Outcome['kind']>()
  const released: string[] = []
  const open = {
    id: ids.next('cnn'),
    provider: 'silent',
    calls: { begin() {}, end() {} },
    link: {
      concurrency: 1,
      send({ messageId }: { messageId: string }) {
        sent.push(messageId)
        return new Promise(() => {})
      },
    },
  } as unknown as OpenLink
  const dispatcher = createDispatcher({
    db: {
      async query({ name }: Query) {
        if (name === 'give_back') released.push(name)
        if (name === 'begin_attempts' && lost-- > 0) throw new DatabaseUnavailable(new Error('no answer'))
        return { rows: name === 'begin_attempts' ? [{ item: 1, attempt: 1 }] : [], rowCount: 0 }
      },
    },
    clock,
    log: { debug() {}, info() {}, warn() {}, error() {} },
    links: { all: () => [open], get: () => open } as unknown as Links,
    acceptsLive: () => true,
    waiters: createWaiters(),
    circuits: createCircuits({ clock, random: createRandom() }),
    conclude: {
      async attempt({ id }: OutboxItem, _: number, outcome: Outcome) {
        outcomes.set(id, outcome.kind)
        return { kind: 'settled', applied: true, dueAt: null }
      },
    },
    files: {},
    findUnwanted: async () => new Map(),
    node: () => 1,
    stopping: () => false,
  } as unknown as DispatchDeps)
  dispatcher.syncLanes()
  const item = (): OutboxItem => ({
    accountId: ids.next('acc'),
    id: ids.next('msg'),
    connectionId: open.id,
    channel: 'local_sms',
    messageType: 'utility',
    recipient: '+4915112345678',
    sender: null,
    content: { text: 'Hello', subject: null, html: false, attachment: null, context: null },
  })
  return { dispatcher, open, sent, outcomes, released, item }
}

test('once a stop does not wait for providers any more, no further message is submitted, and none uses up a try', async () => {
  const { dispatcher, open, sent, outcomes, released, item } = started()
  const [first, held, admitted] = [item(), item(), item()]
  dispatcher.push(first, true)
  dispatcher.push(held, false)
  await turn()
  expect(sent).toEqual([first.id])
  dispatcher.abandonSubmits()
  await clock.advance(250)
  expect(outcomes.get(first.id)).toBe('unknown')
  // Its accept was under way.
  dispatcher.push(admitted, true)
  await turn()
  expect(outcomes.get(admitted.id)).toBe('throttled')
  expect(dispatcher.admit(open.id, ids.next('acc')).kind).toBe('wait')
  await dispatcher.stop()
  expect(sent).toEqual([first.id])
  expect(outcomes.has(held.id)).toBe(false)
  expect(released).toHaveLength(1)
})

test('a message that was admitted before a stop and is accepted after it goes back to the outbox, and is not submitted', async () => {
  const { dispatcher, open, sent, outcomes, item } = started()
  const admitted = item()
  expect(dispatcher.admit(open.id, admitted.accountId).kind).toBe('begin')
  await dispatcher.stop()
  dispatcher.push(admitted, true)
  await turn()
  expect([sent, outcomes.get(admitted.id)]).toEqual([[], 'throttled'])
})

test('a message whose attempt is being recorded when the node stops is submitted, although the response to that is lost', async () => {
  const { dispatcher, sent, outcomes, item } = started({ lost: 1 })
  const held = item()
  dispatcher.push(held, false)
  const stopped = dispatcher.stop()
  await turn()
  await clock.advance(200)
  await turn()
  expect(sent).toEqual([held.id])
  dispatcher.abandonSubmits()
  await clock.advance(250)
  await stopped
  expect(outcomes.get(held.id)).toBe('unknown')
})
