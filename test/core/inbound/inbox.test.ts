import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type ConsentRooms, createIncompletePartsChore } from '../../../src/compose/consent.ts'
import type { InboundMessage } from '../../../src/contract/reported-message.ts'
import { createOptOuts } from '../../../src/core/consent/opt-outs.ts'
import { findSuppressed } from '../../../src/core/consent/store.ts'
import { createInbox, MAX_INCOMPLETE } from '../../../src/core/inbound/inbox.ts'
import { sweepJoined } from '../../../src/core/inbound/joined-store.ts'
import { createInboundMessages } from '../../../src/core/inbound/read.ts'
import { createStoreInbound } from '../../../src/core/inbound/store-inbound.ts'
import { type Database, DatabaseUnavailable } from '../../../src/infra/db.ts'
import { createIds } from '../../../src/lib/ids.ts'
import { createPhones } from '../../../src/lib/phone.ts'
import { createRandom } from '../../../src/lib/random.ts'
import { countWaiting } from '../../support/cross-locks.ts'
import { createTestDatabase, type TestDatabase } from '../../support/database.ts'
import { createFakeClock } from '../../support/fake-clock.ts'
import { lookUntil } from '../../support/look-until.ts'

const clock = createFakeClock(Date.now())
const phones = createPhones({ cacheSize: 10 })
const ids = createIds(clock, createRandom())
let database: TestDatabase
let woken = 0
let connection: { id: `cnn_${string}`; provider: string }

beforeAll(async () => {
  database = await createTestDatabase()
})
afterAll(() => database.drop())
beforeEach(async () => {
  await database.db.query({ name: 't_clean', text: 'delete from inbound_parts' })
  await database.db.query({ name: 't_clean_joined', text: 'delete from inbound_joined' })
  connection = { id: ids.next('cnn'), provider: 'smpp' }
})

/** Another node on the same database; `through` overrides methods of its database client. */
function openNode(through: Partial<Database> = {}) {
  const db: Database = { ...database.db, ...through }
  const optOuts = createOptOuts({ db, clock, ids })
  return createInbox({
    db,
    clock,
    keep: createStoreInbound({ clock, ids, phones, optOuts }),
    wake: () => void woken++,
  })
}

/** The texts stored for this test's connection. */
async function kept(): Promise<(string | null)[]> {
  const all = await createInboundMessages({ db: database.db, clock, phones }).listShared({ limit: 500 })
  return all.data.filter(each => each.connectionId === connection.id).map(({ text }) => text)
}

function message(more: Partial<InboundMessage> = {}): InboundMessage {
  return {
    kind: 'message',
    eventId: ids.next('evt'),
    channel: 'int_sms',
    from: '+447700900123',
    to: '70123',
    text: 'Hello',
    button: null,
    atMs: null,
    ...more,
  }
}

const part = (reference: number, number: number, text: string, total = 2) =>
  message({ text, part: { reference, number, total } })

describe('parts of a message', () => {
  test('that arrive at two nodes at once are combined into one message', async () => {
    const nodes = [openNode(), openNode()]
    for (let reference = 0; reference < 25; reference++) {
      const [first, second] = reference % 2 ? nodes : nodes.toReversed()
      await Promise.all([
        first!.receive(connection, [part(reference, 1, 'a')]),
        second!.receive(connection, [part(reference, 2, `b${reference}`)]),
      ])
    }
    expect((await kept()).toSorted()).toEqual(Array.from({ length: 25 }, (_, n) => `ab${n}`).toSorted())
  })

  test('are combined only with the same sender, recipient and number of parts', async () => {
    const node = openNode()
    await node.receive(connection, [
      part(7, 1, 'a'),
      { ...part(7, 2, 'x'), from: '+447700900124' },
      { ...part(7, 2, 'y'), to: '70124' },
      part(7, 2, 'z', 3),
    ])
    expect(await kept()).toEqual([])
    await node.receive(connection, [part(7, 2, 'b')])
    expect(await kept()).toEqual(['ab'])
  })

  test('restore a character that was split between them; repeated parts change nothing', async () => {
    const node = openNode()
    const parts = [part(9, 1, 'smile \ud83d'), part(9, 2, '\ude00!')]
    for (const each of [...parts, ...parts]) await node.receive(connection, [each])
    expect(await kept()).toEqual(['smile 😀!'])
    await node.receive(connection, [parts[0]!])
    expect(await node.storeIncomplete()).toBe(0)
  })

  describe('to which the provider gave no id', () => {
    const unnamed = (reference: number, number: number, text: string) =>
      message({ text, part: { reference, number, total: 2, unnamed: true } })

    test('change nothing when they are delivered again, all of them or some', async () => {
      const [node, other] = [openNode(), openNode()]
      await node.receive(connection, [unnamed(1, 1, 'a'), unnamed(1, 2, 'b')])
      await other.receive(connection, [unnamed(1, 2, 'b')])
      await other.receive(connection, [unnamed(1, 1, 'a')])
      await node.receive(connection, [unnamed(1, 2, 'b')])
      await clock.advance(11 * 60_000)
      expect(await node.storeIncomplete()).toBe(1)
      expect(await kept()).toEqual(['ab'])
    })

    test('are of a new message if one of them differs, and if the same come after ten minutes', async () => {
      const node = openNode()
      const both = (second: string) => node.receive(connection, [unnamed(2, 1, 'a'), unnamed(2, 2, second)])
      await both('b')
      await both('c')
      await both('b')
      await clock.advance(11 * 60_000)
      await both('b')
      expect(await kept()).toEqual(['ab', 'ab', 'ac', 'ab'])
      await node.receive(connection, [unnamed(2, 1, 'x')])
      await clock.advance(11 * 60_000)
      expect(await node.storeIncomplete()).toBe(1)
      expect((await kept())[0]).toBe('x…')
    })

    test('are not taken for those of another sender, and with an id never for repeats', async () => {
      const node = openNode()
      const from = '+447700900125'
      await node.receive(connection, [unnamed(3, 1, 'a'), unnamed(3, 2, 'b')])
      await node.receive(connection, [
        { ...unnamed(3, 1, 'a'), from },
        { ...unnamed(3, 2, 'b'), from },
      ])
      for (let times = 0; times < 2; times++)
        await node.receive(connection, [part(4, 1, 'c'), part(4, 2, 'd')])
      expect((await kept()).toSorted()).toEqual(['ab', 'ab', 'cd', 'cd'])
    })

    test('are forgotten by the sweep', async () => {
      const node = openNode()
      await node.receive(connection, [unnamed(5, 1, 'a'), unnamed(5, 2, 'b')])
      expect(await sweepJoined(database.db, clock.now(), 100)).toBe(0)
      await clock.advance(1)
      expect(await sweepJoined(database.db, clock.now(), 100)).toBe(1)
    })
  })

  test.each([
    [{ reference: 1, number: 3, total: 2 }],
    [{ reference: 1, number: 0, total: 2 }],
    [{ reference: 1, number: 1, total: 1 }],
    [{ reference: 1, number: 1, total: 256 }],
  ])('with invalid numbers are stored as whole messages: %j', async part => {
    await openNode().receive(connection, [message({ part })])
    expect(await kept()).toEqual(['Hello'])
  })

  test('are stored as an incomplete message, once, ten minutes after the last of them', async () => {
    const node = openNode()
    await node.receive(connection, [part(3, 1, 'a', 3)])
    await clock.advance(9 * 60_000)
    await node.receive(connection, [part(3, 3, 'c', 3)])
    await clock.advance(9 * 60_000)
    expect(await node.storeIncomplete()).toBe(0)
    await clock.advance(60_000 + 1)
    const both = await Promise.all([node.storeIncomplete(), openNode().storeIncomplete()])
    expect(both.toSorted()).toEqual([0, 1])
    expect(await kept()).toEqual(['a…c'])
  })

  test('of an incomplete message are no keyword', async () => {
    const node = openNode()
    await node.receive(connection, [part(4, 2, 'stop'), part(5, 1, 'st'), part(5, 2, 'op')])
    await clock.advance(11 * 60_000)
    expect(await node.storeIncomplete()).toBe(1)
    const all = await createInboundMessages({ db: database.db, clock, phones }).listShared({ limit: 2 })
    expect(all.data).toMatchObject([
      { text: '…stop', keyword: null },
      { text: 'stop', keyword: 'stop' },
    ])
  })

  test('that are still arriving in large numbers do not delay the storing of incomplete messages', async () => {
    const node = openNode()
    const many = Array.from({ length: 2 * MAX_INCOMPLETE }, (_, at) => at)
    await node.receive(
      connection,
      many.map(at => part(at, 1, 'a', 3)),
    )
    const left = Array.from({ length: 10 }, (_, at) => part(5_000 + at, 1, `left ${at}`))
    await node.receive(connection, left)
    await clock.advance(11 * 60_000)
    await node.receive(
      connection,
      many.map(at => part(at, 2, 'b', 3)),
    )
    expect(await node.storeIncomplete()).toBe(left.length)
    expect(await kept()).toHaveLength(left.length)
  })

  test('of very many incomplete messages are stored in one round of the chore', async () => {
    const node = openNode()
    const many = Array.from({ length: MAX_INCOMPLETE + 1 }, (_, at) => part(at, 1, 'a', 3))
    await node.receive(connection, many)
    await clock.advance(11 * 60_000)
    await createIncompletePartsChore({ giveUpParts: node.storeIncomplete } as unknown as ConsentRooms).run()
    expect(await node.storeIncomplete()).toBe(0)
  })
})

test('overlong event ids with the same beginning are told apart, and their repeats are recognised', async () => {
  const long = `wamid.${'A'.repeat(400)}`
  const messages = ['1', '2'].map(end => message({ eventId: `${long}${end}`, text: end }))
  const node = openNode()
  await node.receive(connection, messages)
  await node.receive(connection, messages)
  expect((await kept()).toSorted()).toEqual(['1', '2'])
})

test('a message with an invalid time is stored all the same', async () => {
  const times = [9e15, 1_767_225_600_000_000, -9e15].map(atMs => message({ text: `${atMs}`, atMs }))
  await openNode().receive(connection, times)
  expect((await kept()).toSorted()).toEqual(times.map(({ text }) => text).toSorted())
})

describe('an unavailable database', () => {
  const gone = () => Promise.reject(new DatabaseUnavailable(new Error('away')))

  test('is retried until it is back', async () => {
    let tries = 0
    const node = openNode({ transaction: work => (++tries < 3 ? gone() : database.db.transaction(work)) })
    const taken = node.receive(connection, [message()])
    while (tries < 3) await clock.advance(200)
    await taken
    expect(await kept()).toEqual(['Hello'])
  })

  test('fails the request after nine seconds, so that the provider repeats the message', async () => {
    const node = openNode({ transaction: gone })
    const told = message()
    const refused = node.receive(connection, [told]).catch(error => error)
    await clock.advance(9_000)
    expect(await refused).toBeInstanceOf(DatabaseUnavailable)
    await openNode().receive(connection, [told])
    expect(await kept()).toEqual(['Hello'])
  })

  test('may have committed although its response was lost: the retry stores no second message', async () => {
    const lost = Promise.withResolvers<void>()
    let tries = 0
    const node = openNode({
      async transaction(work) {
        const result = await database.db.transaction(work)
        if (++tries > 1) return result
        lost.resolve()
        return gone()
      },
    })
    const taken = node.receive(connection, [message({ text: 'once' })])
    await lost.promise
    while (tries < 2) await clock.advance(200)
    await taken
    expect(await kept()).toEqual(['once'])
  })
})

describe('a decision that the provider tells', () => {
  const FROM = '+447700900177'

  async function isSuppressed(): Promise<boolean> {
    const place = { accountId: ids.next('acc'), key: FROM, connectionId: connection.id, sender: null }
    const found = await findSuppressed(database.db, [place])
    return found[0]!.length > 0
  }

  test('is the keyword, whatever the text', async () => {
    const node = openNode()
    await node.receive(connection, [message({ from: FROM, text: 'Genug', decision: 'stop' })])
    expect(await isSuppressed()).toBe(true)
    await node.receive(connection, [message({ from: FROM, text: 'Stop', decision: 'start' })])
    expect(await isSuppressed()).toBe(false)
    const all = await createInboundMessages({ db: database.db, clock, phones }).listShared({ limit: 2 })
    expect(all.data.map(({ keyword }) => keyword).sort()).toEqual(['start', 'stop'])
  })
})

describe('keywords that arrive in another order than they were sent', () => {
  const FROM = '+447700900199'
  /** Whether the author is suppressed after these keywords, in the order of their arrival, with the seconds at which they were sent. */
  async function isSuppressed(...said: [text: string, sentS: number | null][]): Promise<boolean> {
    const node = openNode()
    for (const [text, sentS] of said)
      await node.receive(connection, [
        word(text, sentS === null ? null : clock.now() + (sentS - 1_000) * 1_000),
      ])
    const found = await findSuppressed(database.db, [
      { accountId: ids.next('acc'), key: FROM, connectionId: connection.id, sender: null },
    ])
    return found[0]!.length > 0
  }
  const word = (text: string, atMs: number | null, more: Partial<InboundMessage> = {}) =>
    message({ text, from: FROM, atMs, ...more })

  test.each([
    [
      'a START that is late',
      [
        ['STOP', 200],
        ['START', 100],
      ],
      true,
    ],
    [
      'a STOP that is late',
      [
        ['STOP', 100],
        ['START', 300],
        ['STOP', 200],
      ],
      false,
    ],
    [
      'both in order',
      [
        ['STOP', 100],
        ['START', 200],
      ],
      false,
    ],
    [
      'of the same second',
      [
        ['STOP', 100],
        ['START', 100],
      ],
      false,
    ],
    [
      'without times',
      [
        ['STOP', null],
        ['START', null],
      ],
      false,
    ],
    [
      'after a time in the future',
      [
        ['STOP', 90_000],
        ['START', 900],
      ],
      false,
    ],
    [
      'with a time that is too old to be right',
      [
        ['STOP', 200],
        ['START', -1_000_000_000],
      ],
      false,
    ],
  ] as [string, [string, number | null][], boolean][])('%s', async (_, said, suppressed) => {
    expect(await isSuppressed(...said)).toBe(suppressed)
  })

  test('count by the time also if they come in one call', async () => {
    const nowMs = clock.now()
    await openNode().receive(connection, [word('STOP', nowMs - 1_000), word('START', nowMs - 2_000)])
    expect(await isSuppressed()).toBe(true)
  })

  test('count by the time also if two nodes store them at the same moment', async () => {
    const nowMs = clock.now()
    await openNode().receive(connection, [word('STOP', nowMs - 9_000)])
    const looked = Promise.withResolvers<void>()
    const goOn = Promise.withResolvers<void>()
    const slow = openNode({
      transaction: work =>
        database.db.transaction(tx =>
          work({
            async query(query) {
              const result = await tx.query(query)
              if (query.name === 'inbound_outdated_decisions') {
                looked.resolve()
                await goOn.promise
              }
              return result as never
            },
          }),
        ),
    })
    const started = slow.receive(connection, [word('START', nowMs - 5_000)])
    await looked.promise
    let isStored = false
    const stopped = openNode()
      .receive(connection, [word('STOP', nowMs - 1_000)])
      .then(() => (isStored = true))
    await lookUntil(
      async () => isStored || (await countWaiting(database.db)) > 0,
      is => is,
      10_000,
    )
    goOn.resolve()
    await Promise.all([started, stopped])
    expect(await isSuppressed()).toBe(true)
  })

  test('do not concern another channel or another shared number', async () => {
    const nowMs = clock.now()
    const other = { id: ids.next('cnn'), provider: 'smpp' }
    await openNode().receive(connection, [word('STOP', nowMs - 9_000)])
    await openNode().receive(other, [word('STOP', nowMs - 1_000)])
    await openNode().receive(connection, [word('STOP', nowMs - 1_000, { channel: 'official_chatapp' })])
    await openNode().receive(connection, [word('START', nowMs - 5_000)])
    const found = await findSuppressed(database.db, [
      { accountId: ids.next('acc'), key: FROM, connectionId: connection.id, sender: null },
    ])
    expect(found).toEqual([['official_chatapp']])
  })
})
