import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { AccountSnapshot } from '../../../src/contract/caller.ts'
import { Problem } from '../../../src/contract/errors.ts'
import type { SendBody } from '../../../src/contract/send.ts'
import { type Answer, problemAnswer } from '../../../src/core/messages/answers.ts'
import {
  type AcceptRow,
  acceptSends,
  type ExistingKey,
  type KeyClaim,
} from '../../../src/core/messages/hot-store.ts'
import {
  createIdempotency,
  type Idempotency,
  REPLAY_WINDOW_MS,
} from '../../../src/core/messages/idempotency.ts'
import { dropExpiredKey, dropMessageKey, readKey } from '../../../src/core/messages/idempotency-store.ts'
import { createSeal } from '../../../src/infra/seal.ts'
import { canonicalHash } from '../../../src/lib/canonical-json.ts'
import { type AccountId, createIds, type Ids, type MessageId, toUuid } from '../../../src/lib/ids.ts'
import { createRandom } from '../../../src/lib/random.ts'
import { createTestDatabase, type TestDatabase } from '../../support/database.ts'
import { createFakeClock, type FakeClock } from '../../support/fake-clock.ts'
import { acceptRow } from '../../support/message-rows.ts'

const SYNC_WAIT_MS = 2_000
const BODY = { to: '+12025550100', text: 'Hello' } as SendBody

let database: TestDatabase
let clock: FakeClock
let ids: Ids
let idempotency: Idempotency
let account: AccountId
const seal = createSeal(Buffer.alloc(32, 1), createRandom())

beforeAll(async () => {
  database = await createTestDatabase()
})
afterAll(() => database.drop())

beforeEach(async () => {
  clock = createFakeClock(Date.now())
  ids = createIds(clock, createRandom())
  idempotency = createIdempotency({ db: database.db, clock, seal, syncWaitMs: SYNC_WAIT_MS })
  account = ids.next('acc')
  await run('delete from nodes')
  await run('insert into wallets (account_id, balance, credited) values ($1, 1000, 1000)', [toUuid(account)])
})

let statements = 0
function run(text: string, values: unknown[] = []) {
  return database.db.query({ name: `idempotency_${statements++}`, text, values })
}

/** The fields of an account that are needed to render an answer. */
const caller = () => ({ id: account, currency: 'USD' }) as AccountSnapshot

async function accepted(claim: KeyClaim, more: Partial<AcceptRow> = {}): Promise<MessageId> {
  const row = acceptRow(
    { accountId: account, id: ids.next('msg'), connectionId: ids.next('cnn'), dueAt: clock.now() },
    { claim, ...more },
  )
  const [verdict] = await acceptSends(database.db, 1, clock.now(), [row], false)
  expect(verdict!.kind).toBe('accepted')
  return row.id
}

/** The stored key as the next request with it finds it. */
async function existing(claim: KeyClaim): Promise<ExistingKey> {
  const row = acceptRow(
    { accountId: account, id: ids.next('msg'), connectionId: ids.next('cnn'), dueAt: clock.now() },
    { claim },
  )
  const [verdict] = await acceptSends(database.db, 1, clock.now(), [row], false)
  if (verdict?.kind !== 'exists') throw new Error(`the key is free: ${verdict?.kind}`)
  return verdict
}

const claimOf = (body: SendBody = BODY, key = 'a key') => idempotency.claim(key, body)!

describe('the idempotency key of a request', () => {
  test.each<[string | undefined, object, string | null]>([
    [undefined, {}, null],
    ['header', {}, 'header'],
    ['header', { idempotencyKey: 'body', options: { idempotencyKey: 'options' } }, 'header'],
    [undefined, { idempotencyKey: 'body', options: { idempotencyKey: 'options' } }, 'body'],
    [undefined, { options: { idempotencyKey: 'options' } }, 'options'],
    [undefined, { idempotencyKey: null, options: { idempotencyKey: 'options' } }, 'options'],
    [undefined, { options: null }, null],
    // Invalid keys: the schema reports them, and there is no key to store the refusal under.
    [undefined, { idempotencyKey: 7 }, null],
    [undefined, { idempotencyKey: '' }, null],
    [undefined, { idempotencyKey: 'x'.repeat(201) }, null],
    ['x'.repeat(200), {}, 'x'.repeat(200)],
    // The schema counts characters, not UTF-16 units, so this is valid.
    [undefined, { idempotencyKey: '📯'.repeat(200) }, '📯'.repeat(200)],
    [undefined, { idempotencyKey: '📯'.repeat(201) }, null],
  ])('header %j and %j: %j', (header, given, key) => {
    const body = { ...BODY, ...given } as SendBody
    expect(idempotency.claim(header, body)?.key ?? null).toBe(key)
  })

  test.each(['', 'x'.repeat(201)])(
    'a header of %j is refused by an error that names Idempotency-Key',
    header => {
      expect(() => idempotency.claim(header, BODY)).toThrow(/Idempotency-Key/)
    },
  )

  test('does not change the hash of the body, wherever it is given; any other field does', () => {
    const hash = (given: object) =>
      idempotency.claim('k', { ...BODY, ...given } as SendBody)!.bodyHash.toString('hex')
    const plain = hash({})
    expect(hash({ idempotencyKey: 'one' })).toBe(plain)
    expect(hash({ options: { idempotencyKey: 'two' } })).toBe(plain)
    expect(hash({ idempotencyKey: 'one', options: { idempotencyKey: 'two' } })).toBe(plain)
    expect(hash({ options: { idempotencyKey: 'two', metadata: 1 } })).toBe(hash({ options: { metadata: 1 } }))
    expect(hash({ options: { metadata: 1 } })).not.toBe(plain)
    // Empty options hash like none, also if they are empty only without the key.
    expect(hash({ options: {} })).toBe(plain)
    expect(hash({ options: { idempotencyKey: 'two' }, idempotencyKey: 'one' })).toBe(hash({ options: {} }))
    expect(hash({ text: 'Hello ' })).not.toBe(plain)
  })

  test('has a hash of the body that does not tell its code to who reads the database', () => {
    const body = { to: '+12025550100', content: { otpCode: '0417' } } as SendBody
    const { bodyHash } = idempotency.claim('k', body)!
    const codes = Array.from({ length: 10_000 }, (_, code) => String(code).padStart(4, '0'))
    const found = codes.filter(otpCode => canonicalHash({ ...body, content: { otpCode } }).equals(bodyHash))
    expect(found).toEqual([])
    const restarted = createSeal(Buffer.alloc(32, 1), createRandom())
    const sameKey = createIdempotency({ db: database.db, clock, seal: restarted, syncWaitMs: SYNC_WAIT_MS })
    expect(sameKey.claim('k', body)!.bodyHash).toEqual(bodyHash)
  })
})

describe('a stored refusal', () => {
  test('is stored once and replayed byte for byte', async () => {
    const claim = claimOf()
    const refused = problemAnswer(new Problem('NOT_FOUND', 'Template “ß” not found'), ids.next('msg'))
    expect(await idempotency.storeRefusal(account, claim, refused)).toBeNull()
    // The second request gets what the first one stored.
    const second = await idempotency.storeRefusal(account, claim, { ...refused, body: '{"another":1}' })
    const answer = (await idempotency.replay(caller(), claim, second!)) as Answer
    expect(answer).toEqual({ ...refused, replayed: true })
    expect(await idempotency.replay(caller(), claim, await existing(claim))).toEqual(answer)
  })

  test('for insufficient balance is rebuilt from the id of the message that was not accepted', async () => {
    const claim = claimOf()
    const row = acceptRow(
      { accountId: account, id: ids.next('msg'), connectionId: ids.next('cnn'), dueAt: clock.now() },
      { claim, amount: 1_001 },
    )
    const [verdict] = await acceptSends(database.db, 1, clock.now(), [row], false)
    expect(verdict!.kind).toBe('insufficient')
    // The refusal stays, also for a repeat of the call after a credit.
    await run('update wallets set balance = 2000, credited = 2000 where account_id = $1', [toUuid(account)])
    const [again] = await acceptSends(database.db, 1, clock.now(), [row], true)
    expect(again).toMatchObject({ kind: 'exists', status: 402 })
    const first = problemAnswer(new Problem('INSUFFICIENT_BALANCE'), row.id)
    expect(await idempotency.replay(caller(), claim, await existing(claim))).toEqual({
      ...first,
      replayed: true,
    })
  })

  test('another body under the same key is a 409 conflict', async () => {
    const claim = claimOf()
    await accepted(claim)
    const other = claimOf({ ...BODY, text: 'Other' } as SendBody)
    const answer = (await idempotency.replay(caller(), other, await existing(claim))) as Problem
    expect([answer.status, answer.code, answer.retryAfterSeconds]).toEqual([
      409,
      'IDEMPOTENCY_KEY_CONFLICT',
      undefined,
    ])
  })
})

describe('the replay window', () => {
  test('frees the key after 24 hours and not before', async () => {
    const claim = claimOf()
    await accepted(claim)
    await clock.advance(REPLAY_WINDOW_MS)
    expect(await idempotency.replay(caller(), claim, await existing(claim))).toMatchObject({ status: 200 })
    await clock.advance(1)
    expect(await idempotency.replay(caller(), claim, await existing(claim))).toBe('free')
    await accepted(claim)
  })
})

describe('a first response that was never sent', () => {
  test('is a retryable conflict while a live node may still send it, then is decided from the message', async () => {
    await run(
      'insert into nodes (host, started_at) values ($1, now() - interval $2)'.replace('$2', `'1 hour'`),
      ['living'],
    )
    const claim = claimOf()
    await accepted(claim)
    const replayNow = async () => idempotency.replay(caller(), claim, await existing(claim))
    const busy = (await replayNow()) as Problem
    expect([busy.status, busy.code, busy.retryAfterSeconds]).toEqual([409, 'IDEMPOTENCY_KEY_CONFLICT', 1])
    await clock.advance(SYNC_WAIT_MS + 2_999)
    expect(await replayNow()).toBeInstanceOf(Problem)
    await clock.advance(1)
    expect(await replayNow()).toMatchObject({ status: 200, replayed: true })
  })

  test('is decided at once from a message that is older than any request', async () => {
    await run(`insert into nodes (host, started_at) values ('old', now() - interval '1 hour')`)
    const claim = claimOf()
    await accepted(claim)
    await clock.advance(SYNC_WAIT_MS + 3_000)
    expect(await idempotency.replay(caller(), claim, await existing(claim))).toMatchObject({ status: 200 })
  })

  test('is no conflict for longer because the clock was set back: that lasted until the clock had caught up', async () => {
    await run(`insert into nodes (host, started_at) values ('set back', now() - interval '1 hour')`)
    const claim = claimOf()
    await accepted(claim)
    clock.jump(-1_800_000)
    const replayNow = async () => idempotency.replay(caller(), claim, await existing(claim))
    expect(await replayNow()).toBeInstanceOf(Problem)
    await clock.advance(SYNC_WAIT_MS + 2_999)
    expect(await replayNow()).toBeInstanceOf(Problem)
    await clock.advance(1)
    expect(await replayNow()).toMatchObject({ status: 200, replayed: true })
  })

  test.each([
    ['no node is live', `'1 hour'`, `'6 seconds'`],
    ['the only live node started after the message', `'-1 hour'`, `'0 seconds'`],
  ])('is decided at once from the message if %s', async (_, started, seen) => {
    await run(
      `insert into nodes (host, started_at, seen_at) values ('x', now() - interval ${started}, now() - interval ${seen})`,
    )
    const claim = claimOf()
    await accepted(claim)
    expect(await idempotency.replay(caller(), claim, await existing(claim))).toMatchObject({ status: 200 })
  })

  test.each([
    ['queued', 200, 'queued'],
    ['sending', 200, 'queued'],
    ['unknown', 200, 'queued'],
    ['cancelled', 200, 'queued'],
    ['sent', 200, 'sent'],
    ['delivered', 200, 'sent'],
    ['read', 200, 'sent'],
    ['undelivered', 200, 'sent'],
    ['failed', 400, undefined],
  ])('is decided from a message that is %s: %i %s', async (status, code, word) => {
    const claim = claimOf()
    const id = await accepted(claim)
    await run(
      `update messages set status = $2, error_code = 'RECIPIENT_REJECTED', error_detail = 'no such number' where id = $1`,
      [toUuid(id), status],
    )
    const answer = (await idempotency.replay(caller(), claim, await existing(claim))) as Answer
    expect(answer.status).toBe(code)
    const body = JSON.parse(answer.body) as Record<string, unknown>
    expect(body['status']).toBe(word)
    if (code === 400)
      expect(body).toMatchObject({
        code: 'RECIPIENT_REJECTED',
        error: expect.stringContaining('no such number'),
      })
    // The answer stays the same, whatever the message becomes later.
    await run(`update messages set status = 'read' where id = $1`, [toUuid(id)])
    const again = (await idempotency.replay(caller(), claim, await existing(claim))) as Answer
    expect(again).toEqual(answer)
  })

  test('has the time of a scheduled message, even after it was sent', async () => {
    const claim = claimOf()
    const scheduledAt = clock.now() + 60_000
    const id = await accepted(claim, {
      status: 'scheduled',
      begun: false,
      owned: false,
      scheduledAt,
      dueAt: scheduledAt,
      answer: 'scheduled',
    })
    await run(`update messages set status = 'sent' where id = $1`, [toUuid(id)])
    const answer = (await idempotency.replay(caller(), claim, await existing(claim))) as Answer
    expect(JSON.parse(answer.body)).toMatchObject({
      status: 'scheduled',
      scheduledAt: new Date(scheduledAt).toISOString(),
    })
  })

  test('is not a 5xx: the key is free and the next request is accepted as new', async () => {
    const claim = claimOf()
    const id = await accepted(claim)
    await run(
      `update messages set status = 'failed', answer = 'failed', error_code = 'PROVIDER_UNAVAILABLE' where id = $1`,
      [toUuid(id)],
    )
    expect(await idempotency.replay(caller(), claim, await existing(claim))).toBe('free')
    await accepted(claim)
  })
})

describe('a key that another request took meanwhile is not freed', () => {
  const holder = async (claim: KeyClaim) => (await readKey(database.db, account, claim))?.messageId

  test('as an expired one', async () => {
    const claim = claimOf()
    const id = await accepted(claim)
    await dropExpiredKey(database.db, account, claim, clock.now())
    expect(await holder(claim)).toBe(id)
    await dropExpiredKey(database.db, account, claim, clock.now() + 1)
    expect(await holder(claim)).toBeUndefined()
  })

  test('as that of a message that failed', async () => {
    const claim = claimOf()
    const id = await accepted(claim)
    await dropMessageKey(database.db, account, claim, ids.next('msg'))
    expect(await holder(claim)).toBe(id)
    await dropMessageKey(database.db, account, claim, id)
    expect(await holder(claim)).toBeUndefined()
  })
})
