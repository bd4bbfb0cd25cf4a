import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { failOver } from '../../../src/core/messages/failover-store.ts'
import {
  type AcceptRow,
  acceptSends,
  applyReceipts,
  beginAttempts,
  type ReceiptRow,
  SEND_OPERATION,
  type SettleRow,
  settleAttempts,
} from '../../../src/core/messages/hot-store.ts'
import { readAnswerFacts, readMessage } from '../../../src/core/messages/message-store.ts'
import { endMessages } from '../../../src/core/messages/withdraw-store.ts'
import { joinParts, storeParts } from '../../../src/core/outbox/parts-store.ts'
import { claimDue, reclaimFromDead, releaseRows } from '../../../src/core/outbox/store.ts'
import { type AccountId, createIds, type MessageId, toUuid } from '../../../src/lib/ids.ts'
import { createRandom } from '../../../src/lib/random.ts'
import { createTestDatabase, type TestDatabase } from '../../support/database.ts'
import { createFakeClock, type FakeClock } from '../../support/fake-clock.ts'
import { acceptRow, settleRow } from '../../support/message-rows.ts'

/** Outcomes that come twice, or after their message has moved on. */

const NODE = 1
const KEY = 'order 7'

let database: TestDatabase
let clock: FakeClock
let account: AccountId
const ids = createIds(createFakeClock(Date.UTC(2026, 3, 1)), createRandom())
const connectionId = ids.next('cnn')

beforeAll(async () => {
  database = await createTestDatabase()
})
afterAll(() => database.drop())

beforeEach(async () => {
  clock = createFakeClock(Date.UTC(2026, 3, 1))
  account = ids.next('acc')
  await database.db.query({
    name: 'stale_wallet',
    text: 'insert into wallets (account_id, balance, credited) values ($1, 10000, 10000)',
    values: [toUuid(account)],
  })
})

async function accepted(more: Partial<AcceptRow> = {}): Promise<MessageId> {
  const row = acceptRow({ accountId: account, id: ids.next('msg'), connectionId, dueAt: clock.now() }, more)
  await acceptSends(database.db, NODE, clock.now(), [row], false)
  return row.id
}

async function settle(id: MessageId, more: Partial<SettleRow>, repeated = false) {
  const row = settleRow({ accountId: account, id, connectionId, eventId: ids.next('evt') }, more)
  return (await settleAttempts(database.db, clock.now(), [row], repeated))[0]
}

/** Begins the second attempt. */
async function beginAgain(id: MessageId, over = connectionId): Promise<void> {
  await clock.advance(1_000)
  await claimDue(database.db, NODE, clock.now(), [{ connectionId: over, limit: 10 }])
  expect(await beginAttempts(database.db, NODE, clock.now(), [{ accountId: account, id }], false)).toEqual([
    2,
  ])
}

async function outbox() {
  const { rows } = await database.db.query<{ due_at: Date; secret: Buffer | null }>({
    name: 'stale_outbox',
    text: 'select due_at, secret from outbox where account_id = $1',
    values: [toUuid(account)],
  })
  return rows[0]
}

const retried = () => ({ kind: 'queued', dueAt: clock.now() + 1_000 }) as const
const unknown = () => ({ kind: 'unknown', dueAt: clock.now() + 86_400_000, answer: 'queued' }) as const

const receipt = (providerId: string, status: ReceiptRow['status']): ReceiptRow => ({
  connectionId,
  providerId,
  status,
  atMs: null,
  providerCode: null,
  errorCode: status === 'failed' ? 'MESSAGE_REJECTED' : null,
  detail: null,
  eventId: ids.next('evt'),
})

describe('an outcome', () => {
  test('of an earlier attempt does not end the one that is being made', async () => {
    const id = await accepted()
    await settle(id, retried())
    await beginAgain(id)
    expect(await settle(id, { attempt: 1, kind: 'failed', errorCode: 'MESSAGE_REJECTED' })).toBeNull()
    expect(await readMessage(database.db, account, id)).toMatchObject({ status: 'sending', attempt: 2 })
  })

  test('that was given up and stored by its repeat does not end the attempt that was begun since, if it is executed after all', async () => {
    const id = await accepted()
    const throttled = { ...retried(), uncounted: true }
    const givenUp = settleRow({ accountId: account, id, connectionId, eventId: ids.next('evt') }, throttled)
    const givenUpAt = clock.now()
    await settle(id, throttled, true)
    await clock.advance(1_000)
    await claimDue(database.db, NODE, clock.now(), [{ connectionId, limit: 10 }])
    expect(await beginAttempts(database.db, NODE, clock.now(), [{ accountId: account, id }], false)).toEqual([
      1,
    ])
    expect(await settleAttempts(database.db, givenUpAt, [givenUp], false)).toEqual([null])
    expect(await readMessage(database.db, account, id)).toMatchObject({ status: 'sending', attempt: 1 })
    expect(await claimDue(database.db, NODE, clock.now() + 60_000, [{ connectionId, limit: 10 }])).toEqual([])
  })

  test('that is unknown a second time does not move the deadline', async () => {
    const id = await accepted()
    await settle(id, unknown())
    const before = await outbox()
    await clock.advance(1_000)
    expect(await settle(id, unknown())).toBeNull()
    expect(await outbox()).toEqual(before)
  })

  test('of a later attempt is stored by a repeat of which nothing was stored before', async () => {
    const id = await accepted()
    await settle(id, retried())
    await beginAgain(id)
    expect(await settle(id, { attempt: 2, answer: 'sent' }, true)).toEqual({ answer: 'sent' })
    expect(await readMessage(database.db, account, id)).toMatchObject({ status: 'sent' })
  })

  test('of which nothing was stored before is stored by its repeat, also if the clock was set back since the attempt began', async () => {
    const id = await accepted()
    await settle(id, { ...retried(), uncounted: true })
    await clock.advance(1_000)
    await claimDue(database.db, NODE, clock.now(), [{ connectionId, limit: 10 }])
    await beginAttempts(database.db, NODE, clock.now(), [{ accountId: account, id }], false)
    await settle(id, retried())
    await beginAgain(id)
    const row = settleRow({ accountId: account, id, connectionId, eventId: ids.next('evt') }, { attempt: 2 })
    const failed: SettleRow = { ...row, kind: 'failed', errorCode: 'MESSAGE_REJECTED' }
    expect(await settleAttempts(database.db, clock.now() - 60_000, [failed], true)).toEqual([
      { answer: null },
    ])
    expect(await readMessage(database.db, account, id)).toMatchObject({ status: 'failed', money: 'released' })
  })

  test('without an id of the provider keeps the one that is known of the unknown message', async () => {
    const id = await accepted()
    await settle(id, { ...unknown(), providerId: 'first part' })
    await clock.advance(1_000)
    await settle(id, { kind: 'failed', errorCode: 'MESSAGE_REJECTED' })
    expect(await readMessage(database.db, account, id)).toMatchObject({
      status: 'failed',
      providerId: 'first part',
    })
  })

  test('does not change the first answer', async () => {
    const id = await accepted()
    expect(await settle(id, unknown())).toEqual({ answer: 'queued' })
    expect(await settle(id, { answer: 'sent' })).toEqual({ answer: 'queued' })
    expect(await readMessage(database.db, account, id)).toMatchObject({ status: 'sent' })
  })

  test.each<[string, (id: MessageId) => Promise<unknown>]>([
    ['is unknown', id => settle(id, unknown())],
    [
      'the death of its node hides',
      () => reclaimFromDead(database.db, clock.now(), clock.now() + 1_000, 1_000),
    ],
  ])('that %s erases the sealed text of the message', async (_, end) => {
    const waiting = { status: 'queued', begun: false } as const
    const id = await accepted({ ...waiting, messageType: 'otp', secret: () => Buffer.from('sealed') })
    await beginAttempts(database.db, NODE, clock.now(), [{ accountId: account, id }], false)
    expect((await outbox())!.secret).toEqual(Buffer.from('sealed'))
    await end(id)
    expect(await readMessage(database.db, account, id)).toMatchObject({ status: 'unknown' })
    expect((await outbox())!.secret).toBeNull()
  })
})

describe('an attempt', () => {
  test('whose recording was given up, and then recorded and settled by its repeat, is not recorded once more', async () => {
    const id = await accepted({ status: 'queued', begun: false })
    const begin = (nowMs: number, repeated = false) =>
      beginAttempts(database.db, NODE, nowMs, [{ accountId: account, id }], repeated)
    const givenUpAt = clock.now()
    expect(await begin(givenUpAt, true)).toEqual([1])
    await clock.advance(3_000)
    await settle(id, { ...retried(), uncounted: true })
    await clock.advance(1_000)
    await claimDue(database.db, NODE, clock.now(), [{ connectionId, limit: 10 }])
    expect(await begin(givenUpAt)).toEqual([null])
    expect(await begin(clock.now())).toEqual([1])
  })
})

describe('the idempotency key of a message that failed because of its provider', () => {
  const claim = { operation: SEND_OPERATION, key: KEY, bodyHash: Buffer.alloc(32) }
  const failed = {
    kind: 'failed',
    errorCode: 'PROVIDER_UNAVAILABLE',
    answer: 'failed',
    keyToFree: claim,
  } as const

  async function holderOfKey(): Promise<string | null | undefined> {
    const { rows } = await database.db.query<{ message_id: string | null }>({
      name: 'stale_key',
      text: 'select message_id from idempotency where account_id = $1',
      values: [toUuid(account)],
    })
    return rows[0]?.message_id
  }

  test('is freed if that is the first answer', async () => {
    const id = await accepted({ claim })
    await settle(id, failed)
    expect(await holderOfKey()).toBeUndefined()
  })

  test('is kept if the request was told that the message is queued', async () => {
    const id = await accepted({ claim })
    await settle(id, unknown())
    await settle(id, failed)
    expect(await holderOfKey()).toBe(toUuid(id))
  })

  test('is kept if another message has it by now', async () => {
    const id = await accepted()
    const other = await accepted({ claim })
    await settle(id, failed)
    expect(await holderOfKey()).toBe(toUuid(other))
  })
})

describe('a receipt', () => {
  test('for an id that its provider has given twice is for the later message', async () => {
    const [earlier, later] = [await accepted(), await accepted()]
    await settle(earlier, { providerId: 'again' })
    await settle(later, { providerId: 'again' })
    expect(await applyReceipts(database.db, clock.now(), [receipt('again', 'delivered')])).toEqual([true])
    expect(await readMessage(database.db, account, earlier)).toMatchObject({ status: 'sent' })
    expect(await readMessage(database.db, account, later)).toMatchObject({ status: 'delivered' })
  })

  test('of a submit that is not answered yet waits for it, also beside one of a known message', async () => {
    const [known, early] = [await accepted(), await accepted()]
    await settle(known, { providerId: 'known' })
    const both = [receipt('known', 'delivered'), receipt('early', 'delivered')]
    expect(await applyReceipts(database.db, clock.now(), both)).toEqual([true, false])
    await settle(early, { providerId: 'early' })
    expect(await readMessage(database.db, account, early)).toMatchObject({ status: 'delivered' })
  })

  test('that rejects a captured message dates the refund, and lowers the cost once', async () => {
    const id = await accepted()
    await settle(id, { providerId: 'refunded' })
    await clock.advance(1_000)
    await applyReceipts(database.db, clock.now(), [receipt('refunded', 'failed')])
    const { rows } = await database.db.query<{ money_at: Date }>({
      name: 'stale_money_at',
      text: 'select money_at from messages where account_id = $1',
      values: [toUuid(account)],
    })
    expect(rows[0]!.money_at.getTime()).toBe(clock.now())
    expect(await cost()).toBe(0)
  })

  test('that rejects a message whose money was only held does not change the cost', async () => {
    const id = await accepted()
    await settle(id, { ...unknown(), providerId: 'never captured' })
    await applyReceipts(database.db, clock.now(), [receipt('never captured', 'failed')])
    expect(await readMessage(database.db, account, id)).toMatchObject({ status: 'failed' })
    expect(await cost()).toBe(0)
  })

  async function cost(): Promise<number> {
    const { rows } = await database.db.query<{ cost: number }>({
      name: 'stale_cost',
      text: 'select coalesce(sum(cost), 0)::integer as cost from message_deltas where account_id = $1',
      values: [toUuid(account)],
    })
    return rows[0]!.cost
  }

  test('of a part that was delivered already does not make the message undelivered', async () => {
    const id = await accepted()
    const partIds = [`${id}-a`, `${id}-b`]
    const parts = partIds.map(partId => ({ connectionId, partId }))
    await storeParts(database.db, clock.now(), [{ connectionId, wholeId: id, partIds, total: 2 }])
    await settle(id, { providerId: id })
    for (const status of ['delivered', 'undelivered'] as const) {
      await applyReceipts(database.db, clock.now(), [receipt(partIds[0]!, status)])
      await joinParts(database.db, clock.now(), parts)
    }
    expect(await readMessage(database.db, account, id)).toMatchObject({ status: 'sent' })
  })
})

describe('a failover', () => {
  const refused = { outcome: 'rejected', code: null, providerCode: null, detail: 'not here' } as const
  const sender = { sender: null, senderSource: 'platform', parts: null } as const
  const here = { provider: 'model', channel: 'local_sms', amount: 30, ...sender } as const
  const there = { provider: 'model', channel: 'int_sms', amount: 30, ...sender } as const

  function moveTo(
    id: MessageId,
    to: typeof here | typeof there,
    more: { attempt?: number; repeated?: boolean; secret?: Buffer } = {},
  ) {
    const from = { accountId: account, id, attempt: more.attempt ?? 1, ...refused }
    const destination = { connectionId: other, ...to, newContent: null, secret: more.secret ?? null }
    return failOver(database.db, NODE, clock.now(), from, destination, more.repeated ?? false)
  }
  const other = ids.next('cnn')

  test('changes nothing once the outcome of its attempt was stored, and the message waits for the next one', async () => {
    const id = await accepted()
    await settle(id, retried())
    const before = await money()
    expect(await moveTo(id, there)).toBe('stale')
    expect(await money()).toEqual(before)
    expect(await readMessage(database.db, account, id)).toMatchObject({
      status: 'queued',
      channel: 'local_sms',
      connectionId,
    })
  })

  test('replaces the sealed text by the one for its new channel, and keeps it if there is none', async () => {
    const [first, second] = [Buffer.from('first'), Buffer.from('second')]
    const id = await accepted()
    await settle(id, { ...retried(), secret: first })
    await beginAgain(id)
    expect(await moveTo(id, there, { attempt: 2 })).toBe('moved')
    expect((await outbox())!.secret).toEqual(first)
    await beginAttempts(database.db, NODE, clock.now(), [{ accountId: account, id }], false)
    expect(await moveTo(id, here, { attempt: 3, secret: second })).toBe('moved')
    expect((await outbox())!.secret).toEqual(second)
  })

  async function money() {
    const { rows } = await database.db.query<object>({
      name: 'stale_money',
      text: `select w.balance, w.held, m.amount, m.funding, m.money from wallets w join messages m using (account_id)
              where w.account_id = $1`,
      values: [toUuid(account)],
    })
    return rows[0]
  }

  test('to another channel holds the new price, within a channel the old one', async () => {
    const id = await accepted()
    expect(await moveTo(id, here)).toBe('moved')
    const wallet = { amount: 10, funding: 'wallet', money: 'held' }
    expect(await money()).toEqual({ balance: 9_990, held: 10, ...wallet })
    await beginAgain(id, other)
    expect(await moveTo(id, there, { attempt: 2 })).toBe('moved')
    expect(await money()).toEqual({ balance: 9_970, held: 30, ...wallet, amount: 30 })
  })

  test('keeps the template whose text goes on unchanged', async () => {
    const templateId = ids.next('tpl')
    const id = await accepted({ templateId })
    expect(await moveTo(id, here)).toBe('moved')
    expect(await readMessage(database.db, account, id)).toMatchObject({ connectionId: other, templateId })
  })

  test('leaves the receipts of the connection before behind, whatever they say later', async () => {
    const id = await accepted()
    await settle(id, { ...unknown(), providerId: 'left' })
    expect(await moveTo(id, here)).toBe('moved')
    expect(await readMessage(database.db, account, id)).toMatchObject({ providerId: null })
    await beginAgain(id, other)
    await settle(id, { connectionId: other, attempt: 2, providerId: 'taken' })
    for (const status of ['undelivered', 'failed', 'delivered'] as const) {
      await applyReceipts(database.db, clock.now(), [receipt('left', status)])
    }
    expect(await readMessage(database.db, account, id)).toMatchObject({ status: 'sent', money: 'captured' })
    await applyReceipts(database.db, clock.now(), [{ ...receipt('taken', 'delivered'), connectionId: other }])
    expect(await readMessage(database.db, account, id)).toMatchObject({ status: 'delivered' })
  })

  test('of a test message moves no money', async () => {
    const id = await accepted({ live: false })
    expect(await moveTo(id, there)).toBe('moved')
    expect(await money()).toEqual({ balance: 10_000, held: 0, amount: 30, funding: 'none', money: 'none' })
  })

  test('after an earlier attempt than the last one changes nothing', async () => {
    const id = await accepted()
    await settle(id, retried())
    await beginAgain(id)
    expect(await moveTo(id, there)).toBe('stale')
    expect(await money()).toMatchObject({ balance: 9_990, held: 10, amount: 10 })
  })

  test('whose answer was lost is found by its repeat, and made once', async () => {
    const id = await accepted()
    expect(await moveTo(id, there)).toBe('moved')
    expect(await moveTo(id, there, { repeated: true })).toBe('moved')
    expect(await money()).toMatchObject({ balance: 9_970, held: 30 })
  })

  test('does not change the facts of the first answer, nor does the next one', async () => {
    const id = await accepted()
    await settle(id, unknown())
    expect(await moveTo(id, there)).toBe('moved')
    await beginAgain(id, other)
    expect(await moveTo(id, { ...here }, { attempt: 2 })).toBe('moved')
    expect((await readAnswerFacts(database.db, account, id)).facts).toMatchObject({
      channel: 'local_sms',
      amount: 10,
    })
  })
})

describe('an attempt', () => {
  const begin = (node: number, id: MessageId, repeated = false) =>
    beginAttempts(database.db, node, clock.now(), [{ accountId: account, id }], repeated)

  test('is begun only by the node that holds the message', async () => {
    const id = await accepted({ status: 'queued', begun: false })
    expect(await begin(NODE + 1, id)).toEqual([null])
    expect(await begin(NODE, id)).toEqual([1])
  })

  test('is begun also if another node has given the message back', async () => {
    const id = await accepted({ status: 'queued', begun: false })
    await releaseRows(database.db, NODE + 1, [{ accountId: account, id }])
    expect(await begin(NODE, id)).toEqual([1])
  })

  test('that has begun is not given back, so that it does not count as unknown', async () => {
    const id = await accepted()
    await releaseRows(database.db, NODE, [{ accountId: account, id }])
    const { rows } = await database.db.query({
      name: 'stale_owner',
      text: 'select owner, begun from outbox where account_id = $1',
      values: [toUuid(account)],
    })
    expect(rows).toEqual([{ owner: NODE, begun: true }])
  })

  test('with an unknown outcome is not claimed to be made again, also after its deadline', async () => {
    const id = await accepted()
    await settle(id, unknown())
    clock.jump(2 * 86_400_000)
    expect(await claimDue(database.db, NODE, clock.now(), [{ connectionId, limit: 10 }])).toEqual([])
    expect(await readMessage(database.db, account, id)).toMatchObject({ status: 'unknown' })
  })

  test('that an earlier call has begun is not begun again by a repeat of a later one', async () => {
    const id = await accepted({ status: 'queued', begun: false })
    expect(await begin(NODE, id)).toEqual([1])
    expect(await begin(NODE, id, true)).toEqual([1])
    await clock.advance(1)
    expect(await begin(NODE, id, true)).toEqual([null])
  })

  describe('whose recording its node has not heard of when others take it for dead', () => {
    /** The number under which the node has registered again. */
    const AGAIN = NODE + 10

    async function recorded(): Promise<MessageId> {
      const id = await accepted({ status: 'queued', begun: false })
      expect(await begin(NODE, id)).toEqual([1])
      return id
    }

    const reclaim = () => reclaimFromDead(database.db, clock.now() + 5_000, clock.now() + 86_400_000, 1_000)

    test('is followed by another one, made by that node', async () => {
      const id = await recorded()
      await reclaim()
      expect(await readMessage(database.db, account, id)).toMatchObject({ status: 'unknown' })
      expect(await begin(AGAIN, id, true)).toEqual([2])
      // The response to the repeat may be lost as well.
      expect(await begin(AGAIN, id, true)).toEqual([2])
      const message = (await readMessage(database.db, account, id))!
      expect(message).toMatchObject({ status: 'sending', attempt: 2, unknownAt: null, money: 'held' })
      expect(message.pastAttempts).toMatchObject([
        { attempt: 1, detail: 'the attempt was recorded but not made' },
      ])
      // A look-up of the first one that comes too late changes nothing.
      expect(await settle(id, retried())).toBeNull()
      expect(await settle(id, { attempt: 2, answer: 'sent' })).toEqual({ answer: 'sent' })
    })

    test('is made by that node if they have not reclaimed its messages yet', async () => {
      const id = await recorded()
      expect(await begin(AGAIN, id, true)).toEqual([1])
      expect(await readMessage(database.db, account, id)).toMatchObject({ status: 'sending', attempt: 1 })
    })

    test('is left alone if it was settled meanwhile', async () => {
      const id = await recorded()
      await reclaim()
      await settle(id, retried())
      expect(await begin(AGAIN, id, true)).toEqual([null])
      expect(await readMessage(database.db, account, id)).toMatchObject({ status: 'queued', attempt: 1 })
    })

    test('is left alone if a repeat has made it, and its outcome is unknown', async () => {
      const id = await recorded()
      expect(await begin(AGAIN, id, true)).toEqual([1])
      await settle(id, unknown())
      // A repeat that was given up, and is executed after all.
      expect(await begin(AGAIN, id, true)).toEqual([null])
      expect(await readMessage(database.db, account, id)).toMatchObject({ status: 'unknown', attempt: 1 })
    })
  })
})

test('a message whose code expires before it is sent counts as failed', async () => {
  const id = await accepted({ status: 'queued', begun: false, owned: false })
  await endMessages(database.db, clock.now(), new Map([[{ accountId: account, id }, 'expired']]))
  expect(await readMessage(database.db, account, id)).toMatchObject({ status: 'expired' })
  const { rows } = await database.db.query({
    name: 'stale_counts',
    text: 'select failed, cancelled from message_deltas where account_id = $1',
    values: [toUuid(account)],
  })
  expect(rows).toEqual([{ failed: 1, cancelled: 0 }])
})
