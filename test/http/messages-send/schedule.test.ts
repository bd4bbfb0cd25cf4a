import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { BatchResult } from '../../../src/contract/send.ts'
import { type Answer, messageIdOf, startTestApp, type TestAccount, type TestApp } from '../../support/app.ts'
import { createTestDatabase, type TestDatabase } from '../../support/database.ts'

const PHONE = '+12025550100'
const SECOND_MS = 1_000
const HOUR_MS = 3_600_000
const PRICE = 0.0079

let app: TestApp
beforeAll(async () => {
  app = await startTestApp()
})
afterAll(() => app.stop())

async function scheduleIn(own: TestAccount, inMs: number, more: object = {}): Promise<string> {
  const options = { scheduleAt: new Date(app.now() + inMs).toISOString() }
  const answer = await own.send({ to: PHONE, text: 'Later', options, ...more }, { live: true })
  expect(answer.body['status'], answer.text).toBe('scheduled')
  return messageIdOf(answer)
}

type Taken = { messageId: string; to: string; receivedAt: string; attempts: number }

/** Every submission of the message that the sandbox accepted. */
async function submissionsOf(own: TestAccount, id: string, node = app): Promise<Taken[]> {
  const { body } = await node.call('/api/v2/sandbox/messages?limit=500', { key: own.testKey })
  return (body['data'] as Taken[]).filter(taken => taken.messageId === id)
}

/**
 * Advances the test clock by less than a second, until the provider has accepted the message. It
 * polls several times after each step, so that only the test clock counts, not the machine's speed.
 */
async function submittedWithinASecond(own: TestAccount, id: string, node = app): Promise<Taken> {
  for (let passedMs = 0; passedMs < 900; passedMs += 100) {
    await node.pass(100)
    for (let look = 0; look < 25; look++) {
      const [taken] = await submissionsOf(own, id, node)
      if (taken) return taken
    }
  }
  throw new Error('it had not left within a second')
}

const untilSent = (own: TestAccount, id: string) =>
  app.until(
    () => own.message(id),
    message => message.status === 'sent' || message.status === 'delivered',
  )

test('a scheduled message is listed with its cost held, and is sent within a second of its time', async () => {
  const own = await app.createAccount({ balance: 1 })
  const id = await scheduleIn(own, 10 * SECOND_MS)
  const dueMs = app.now() + 10 * SECOND_MS
  await app.pass(9_800)
  expect((await own.messages('?status=scheduled')).map(message => message.messageId)).toEqual([id])
  expect(await own.wallet()).toMatchObject({ balance: 1 - PRICE, held: PRICE, captured: 0 })
  expect(await submissionsOf(own, id)).toEqual([])

  const taken = await submittedWithinASecond(own, id)
  expect(Date.parse(taken.receivedAt)).toBeGreaterThanOrEqual(dueMs)
  await untilSent(own, id)
  expect(await own.messages('?status=scheduled')).toEqual([])
  expect(await own.wallet()).toMatchObject({ balance: 1 - PRICE, held: 0, captured: PRICE })
})

test('a scheduled batch is sent at its time, once to each recipient', async () => {
  const own = await app.createAccount()
  const to = Array.from({ length: 100 }, (_, at) => `+1202555${1000 + at}`)
  const options = { scheduleAt: new Date(app.now() + 5 * SECOND_MS).toISOString() }
  const answer = await own.send({ to, text: 'Doors open', options }, { live: true })
  const { results } = answer.body as unknown as BatchResult
  expect(results.map(result => result.status)).toEqual(to.map(() => 'scheduled'))
  await app.pass(4_900)
  expect(await own.inbox()).toEqual([])
  await app.until(
    () => own.messages('?limit=500'),
    messages => messages.every(message => message.status === 'sent' || message.status === 'delivered'),
  )
  const taken = await own.read<{ to: string }[]>('/api/v2/sandbox/messages?limit=500')
  expect(taken.map(message => message.to).toSorted()).toEqual(to.toSorted())
})

describe('when the wall clock is changed', () => {
  let jumpedMs = 0
  const jump = (ms: number) => {
    jumpedMs += ms
    app.jump(ms)
  }
  afterEach(() => {
    app.jump(-jumpedMs)
    jumpedMs = 0
  })

  test('forward past the scheduled time, the message is sent at once, and only once', async () => {
    const own = await app.createAccount()
    const id = await scheduleIn(own, HOUR_MS)
    await app.pass(SECOND_MS)
    jump(3 * HOUR_MS)
    await submittedWithinASecond(own, id)
    await untilSent(own, id)
    await app.pass(5 * SECOND_MS)
    expect(await submissionsOf(own, id)).toMatchObject([{ attempts: 1 }])
  })

  test('back, the message is not sent until the clock reaches the scheduled time', async () => {
    const own = await app.createAccount()
    const id = await scheduleIn(own, 2 * SECOND_MS)
    jump(-HOUR_MS)
    await app.pass(5 * SECOND_MS)
    expect((await own.message(id)).status).toBe('scheduled')
    await app.leap(HOUR_MS - 2 * SECOND_MS)
    await untilSent(own, id)
    expect(await submissionsOf(own, id)).toHaveLength(1)
  })

  test('back after the message was sent, it is not sent again at its scheduled time', async () => {
    const own = await app.createAccount()
    const id = await scheduleIn(own, 2 * SECOND_MS)
    await untilSent(own, id)
    jump(-HOUR_MS)
    await app.leap(HOUR_MS + SECOND_MS)
    expect(await submissionsOf(own, id)).toMatchObject([{ attempts: 1 }])
  })

  test.each([
    ['back', -HOUR_MS],
    ['forward', HOUR_MS],
  ])('%s, messages scheduled afterwards are still sent on time', async (_, ms) => {
    const own = await app.createAccount()
    jump(ms)
    const id = await scheduleIn(own, 3 * SECOND_MS)
    await app.pass(2_900)
    expect(await submissionsOf(own, id)).toEqual([])
    await submittedWithinASecond(own, id)
  })
})

describe('cancelling a message at its scheduled time', () => {
  test('either cancels or sends the message, never both, and the wallet is correct', async () => {
    const own = await app.createAccount({ balance: 10 })
    const seen = new Set<string>()
    for (let round = 0; round < 10 && (round < 2 || seen.size < 2); round++) {
      const ids = await Promise.all(Array.from({ length: 40 }, () => scheduleIn(own, SECOND_MS)))
      await app.pass(700)
      // Some cancels come before the scheduled time, some at it, some after it.
      const answers: Promise<Answer>[] = []
      for (const id of ids) {
        answers.push(app.call(`/api/v2/messages/${id}/cancel`, { method: 'POST', key: own.liveKey }))
        if (answers.length % 5 === 0) await app.pass(100)
      }
      const given = await Promise.all(answers)
      await app.until(
        () => own.footprint(),
        ({ outbox }) => outbox === 0,
      )
      for (const [at, id] of ids.entries()) seen.add(await judge(own, id, given[at]!.status))
    }
    expect(seen).toEqual(new Set(['cancelled', 'sent']))
    const messages = await own.messages('?limit=500')
    const sent = messages.filter(message => message.status !== 'cancelled').length
    const wallet = await own.wallet()
    expect(wallet.held).toBe(0)
    expect(wallet.captured).toBeCloseTo(sent * PRICE, 6)
    expect(wallet.balance + wallet.captured).toBeCloseTo(10, 6)
  })

  async function judge(own: TestAccount, id: string, status: number): Promise<'cancelled' | 'sent'> {
    const message = await own.message(id)
    const taken = await submissionsOf(own, id)
    if (status === 200) {
      expect(message).toMatchObject({ status: 'cancelled', billing: { state: 'released' } })
      expect(taken).toEqual([])
      return 'cancelled'
    }
    expect(status).toBe(409)
    expect(message.billing.state).toBe('captured')
    expect(taken).toHaveLength(1)
    return 'sent'
  }
})

describe('with several nodes', () => {
  let database: TestDatabase
  const nodes: TestApp[] = []
  afterEach(async () => {
    for (const node of nodes.splice(0)) await node.stop()
    await database.drop()
  })

  test('a message that became due while no node ran is sent when the next one starts', async () => {
    database = await createTestDatabase()
    const before = await startTestApp({ database })
    const own = await before.createAccount()
    const options = { scheduleAt: new Date(before.now() + 60 * SECOND_MS).toISOString() }
    const id = messageIdOf(await own.send({ to: PHONE, text: 'Later', options }, { live: true }))
    await before.stop()

    const after = await startTestApp({ database, startMs: before.now() + HOUR_MS })
    nodes.push(after)
    expect(await submittedWithinASecond(own, id, after)).toMatchObject({ attempts: 1 })
  })

  test('each message is sent once when two nodes run at the scheduled time', async () => {
    database = await createTestDatabase()
    const startMs = Date.now()
    nodes.push(await startTestApp({ database, startMs }), await startTestApp({ database, startMs }))
    const [one, two] = nodes as [TestApp, TestApp]
    const own = await one.createAccount({ balance: 10 })
    const options = { scheduleAt: new Date(one.now() + 5 * SECOND_MS).toISOString() }
    const to = Array.from({ length: 100 }, (_, at) => `+1202555${1000 + at}`)
    for (let batch = 0; batch < 5; batch++) {
      const answer = await own.send({ to, text: `Batch ${batch}`, options }, { live: true })
      expect(answer.status, answer.text).toBe(200)
    }
    const messages = await one.until(
      async () => {
        await two.pass(100)
        return own.messages('?limit=500')
      },
      found => found.every(message => message.billing.state === 'captured'),
    )
    expect(messages).toHaveLength(500)
    const { rows } = await database.db.query<{ takes: number; messages: number; attempts: number }>({
      name: 'taken_by_two',
      text: `select count(*)::integer as takes, count(distinct message_id)::integer as messages,
                    (select max(attempt) from messages)::integer as attempts from sandbox_messages`,
    })
    expect(rows[0]).toEqual({ takes: 500, messages: 500, attempts: 1 })
    expect(await own.wallet()).toMatchObject({ held: 0 })
  })

  test('a message is sent by another node when the node that accepted it has stopped', async () => {
    database = await createTestDatabase()
    const startMs = Date.now()
    const one = await startTestApp({ database, startMs })
    const two = await startTestApp({ database, startMs })
    nodes.push(two)
    const own = await one.createAccount()
    const options = { scheduleAt: new Date(one.now() + 5 * SECOND_MS).toISOString() }
    const id = messageIdOf(await own.send({ to: PHONE, text: 'Later', options }, { live: true }))
    await one.stop()
    await two.pass(4_900)
    expect(await submissionsOf(own, id, two)).toEqual([])
    await submittedWithinASecond(own, id, two)
  })
})
