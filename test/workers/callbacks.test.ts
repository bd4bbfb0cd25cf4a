import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Caller } from '../../src/contract/caller.ts'
import type { WebhookId } from '../../src/core/callbacks/store.ts'
import type { Database, Db } from '../../src/infra/db.ts'
import { createSeal } from '../../src/infra/seal.ts'
import { firstUuidAt, fromUuid, type Id, toUuid } from '../../src/lib/ids.ts'
import { createRandom } from '../../src/lib/random.ts'
import { type CallbackWorld, openCallbacks, WITH_JITTER } from '../support/callbacks.ts'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'
import { lookUntil } from '../support/look-until.ts'
import { type Got, type Receiver, startReceiver, verify } from '../support/receiver.ts'

const SECOND_MS = 1_000
const MINUTE_MS = 60 * SECOND_MS
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS

let database: TestDatabase
let receiver: Receiver
let world: CallbackWorld
let caller: Caller

beforeAll(async () => {
  database = await createTestDatabase()
})
afterAll(() => database.drop())
beforeEach(async () => {
  // Otherwise the nodes of the next test would deliver what this one leaves.
  await database.db.query({ name: 'wipe', text: 'truncate deliveries, events, webhook_endpoints, nodes' })
  receiver = await startReceiver()
  world = await openCallbacks(database.db)
  caller = await world.newAccount()
})
afterEach(() => receiver.close())

const createWebhook = (more: object = {}) =>
  world.webhooks.create(caller, { url: receiver.url('/hook'), ...more })
const idOf = (got: Got) => got.headers['webhook-id'] as string
const list = async (webhookId: string) =>
  (await world.deliveries.list(caller, webhookId, { limit: 500 })).data.toReversed()

async function createEvent(): Promise<string> {
  const message = await world.newMessage(caller.account.id)
  return (await world.happen(caller.account.id, message, 'message.sent'))[0]!
}

async function countWaitingForLocks(): Promise<number> {
  const { rows } = await database.db.query({
    name: 'test_waiting',
    text: `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
    values: [],
  })
  return rows.length
}

describe('an event', () => {
  test('has the metadata of its message with all digits of its numbers', async () => {
    await createWebhook()
    const node = await world.startNode()
    const message = await world.newMessage(caller.account.id, { metadata: '{"order":9007199254740993}' })
    await world.happen(caller.account.id, message, 'message.sent')
    await node.turn()
    expect(receiver.got[0]!.text).toContain('"metadata":{"order":9007199254740993}')
  })

  test('is delivered signed as in Standard Webhooks, without the text of the message', async () => {
    const { secret, id } = await createWebhook()
    const node = await world.startNode()
    const message = await world.newMessage(caller.account.id, {
      metadata: '{"order":7}',
      error_code: 'RECIPIENT_REJECTED',
      error_detail: 'no such number',
    })
    const [sent, failed] = await world.happen(caller.account.id, message, 'message.sent', 'message.failed')
    await node.turn()
    expect(receiver.got).toHaveLength(2)
    const [first, second] = receiver.got as [Got, Got]
    expect(verify(first, secret, world.clock.now())).toEqual({
      type: 'message.sent',
      id: sent,
      timestamp: new Date(world.clock.now()).toISOString(),
      data: {
        id: message,
        messageId: message,
        status: 'sent',
        mode: 'live',
        channel: 'int_sms',
        to: '+12025550142',
        country: 'US',
        messageType: 'utility',
        sender: 'Acme',
        provider: 'smpp',
        cost: 0.041,
        currency: 'USD',
        parts: 1,
        errorCode: null,
        errorMessage: null,
        conversationContext: null,
        metadata: { order: 7 },
      },
    })
    expect(idOf(first)).toBe(sent)
    expect(first.headers['content-type']).toBe('application/json')
    expect(verify(second, secret, world.clock.now())).toMatchObject({
      id: failed,
      data: { errorCode: 'RECIPIENT_REJECTED', errorMessage: 'no such number' },
    })
    expect(first.text).not.toContain('the words')
    expect(() => verify({ ...first, text: `${first.text} ` }, secret, world.clock.now())).toThrow(/signature/)
    expect(await list(id)).toMatchObject([
      { eventId: sent, status: 'delivered', attempts: 1, lastStatus: 200, nextAttemptAt: null },
      { eventId: failed, status: 'delivered' },
    ])
  })

  test('is delivered only to enabled endpoints of its account that subscribe to its type', async () => {
    const deliveredOnly = await createWebhook({
      url: receiver.url('/delivered'),
      events: ['message.delivered'],
    })
    const disabled = await createWebhook({ url: receiver.url('/disabled'), enabled: false })
    const other = await world.newAccount()
    await world.webhooks.create(other, { url: receiver.url('/other') })
    const node = await world.startNode()
    const message = await world.newMessage(caller.account.id)
    await world.happen(caller.account.id, message, 'message.sent', 'message.delivered')
    // No endpoint of the account that is enabled subscribes to the first event, so it is not stored.
    const rows = await database.db.query({
      name: 'test_events_and_deliveries',
      text: `select e.type, d.target_id from events e left join deliveries d on d.event_id = e.id`,
    })
    expect(rows.rows).toEqual([
      { type: 'message.delivered', target_id: toUuid(deliveredOnly.id as Id<'whk'>) },
    ])
    await node.turn()
    expect(receiver.got.map(({ path, body }) => [path, body['type']])).toEqual([
      ['/delivered', 'message.delivered'],
    ])
    expect(await list(deliveredOnly.id)).toHaveLength(1)
    expect(await list(disabled.id)).toHaveLength(0)
  })

  test.each([201, 204, 299])('is delivered with response status %i', async status => {
    const { id } = await createWebhook()
    receiver.react(status)
    const node = await world.startNode()
    await createEvent()
    await node.turn()
    expect(await list(id)).toMatchObject([{ status: 'delivered', lastStatus: status }])
  })

  test.each([
    ['a redirect', { status: 302, headers: { location: '/elsewhere' } }, null, /redirects to another place/],
    ['a redirect without a Location header', { status: 304, headers: {} }, 304, /304/],
    ['a 404', 404, 404, /404/],
    ['a 500', 500, 500, /500/],
    ['a connection that is cut', 'cut', null, /connection/],
  ] as const)('is retried after %s', async (_, reaction, lastStatus, error) => {
    const { id } = await createWebhook()
    receiver.react(reaction)
    const node = await world.startNode()
    await createEvent()
    await node.turn()
    expect(await list(id)).toMatchObject([{ status: 'pending', attempts: 1, lastStatus }])
    expect((await list(id))[0]!.lastError).toMatch(error)
    receiver.react(200)
    await world.clock.advance(5 * SECOND_MS * WITH_JITTER)
    await node.turn()
    expect(await list(id)).toMatchObject([{ status: 'delivered', attempts: 2 }])
    // The redirect was not followed.
    expect(receiver.got.map(({ path }) => path)).toEqual(['/hook', '/hook'])
  })

  test('reuses the connection of the previous event', async () => {
    await createWebhook()
    const node = await world.startNode()
    for (let count = 1; count <= 5; count++) {
      await createEvent()
      await node.turn()
    }
    expect(receiver.got).toHaveLength(5)
    expect(receiver.connections()).toBe(1)
  })

  test('is retried when the response takes more than 15 s', async () => {
    const { id } = await createWebhook()
    receiver.react('silence')
    const node = await world.startNode()
    await createEvent()
    await node.poll()
    await receiver.count(1)
    await world.clock.advance(14_999)
    expect(await list(id)).toMatchObject([{ attempts: 0 }])
    await world.clock.advance(1)
    await node.idle()
    expect(await list(id)).toMatchObject([
      { status: 'pending', attempts: 1, lastError: expect.stringMatching(/in time/) },
    ])
  })

  test('fails after ten attempts over three days, each at its planned time', async () => {
    const { id } = await createWebhook()
    receiver.react(500)
    const node = await world.startNode()
    await createEvent()
    await node.turn()
    const waits = [
      5 * SECOND_MS,
      5 * MINUTE_MS,
      30 * MINUTE_MS,
      ...[2, 5, 10, 14, 20, 24].map(h => h * HOUR_MS),
    ]
    for (const [at, waitMs] of waits.entries()) {
      const { nextAttemptAt } = (await list(id))[0]!
      const plannedMs = Date.parse(nextAttemptAt!) - world.clock.now()
      expect(plannedMs / waitMs).toBeGreaterThanOrEqual(0.9)
      expect(plannedMs / waitMs).toBeLessThanOrEqual(WITH_JITTER)
      await world.clock.advance(plannedMs - 1)
      await node.turn()
      expect(receiver.got).toHaveLength(at + 1)
      await world.clock.advance(1)
      await node.turn()
    }
    expect(receiver.got).toHaveLength(10)
    expect(new Set(receiver.got.map(idOf)).size).toBe(1)
    expect(await list(id)).toMatchObject([{ status: 'failed', attempts: 10, nextAttemptAt: null }])
    await world.clock.advance(2 * DAY_MS)
    await node.turn()
    expect(receiver.got).toHaveLength(10)
  })
})

describe('while deliveries fail', () => {
  test('for ten minutes, no event is lost or repeated, and the events of each message stay in order', async () => {
    const { secret, id } = await createWebhook()
    const node = await world.startNode()
    receiver.react('cut')
    const told: string[] = []
    const messages: { id: `msg_${string}`; next: number }[] = []
    const LIFE = ['message.sent', 'message.delivered', 'message.read'] as const
    for (let step = 0; step < 120; step++) {
      if (step % 6 === 0) messages.push({ id: await world.newMessage(caller.account.id), next: 0 })
      // Each message has its next event every ten seconds.
      for (const message of step % 2 === 0 ? messages.filter(each => each.next < LIFE.length) : []) {
        told.push(...(await world.happen(caller.account.id, message.id, LIFE[message.next++]!)))
      }
      await world.clock.advance(5 * SECOND_MS)
      await node.turn()
    }
    expect(new Set(receiver.got.map(({ status }) => status))).toEqual(new Set([null]))
    receiver.react(200)
    for (let minute = 0; minute < 45; minute++) {
      await world.clock.advance(MINUTE_MS)
      await node.turn()
    }
    const taken = receiver.got.filter(({ status }) => status === 200)
    // Once each: an event that got its 200 is not sent again.
    expect(taken.map(idOf).sort()).toEqual([...told].sort())
    for (const message of messages) {
      const types = taken
        .map(({ body }) => body)
        .filter(body => (body['data'] as { messageId: string }).messageId === message.id)
      expect(types.map(body => body['type'])).toEqual(LIFE.slice(0, message.next))
    }
    for (const got of taken) verify(got, secret, Number(got.headers['webhook-timestamp']) * SECOND_MS)
    expect((await list(id)).every(({ status }) => status === 'delivered')).toBe(true)
  }, 60_000)

  test('a failing event of one message does not delay other messages', async () => {
    await createWebhook()
    const node = await world.startNode()
    const [stuck, fine] = [
      await world.newMessage(caller.account.id),
      await world.newMessage(caller.account.id),
    ]
    receiver.react(({ body }) => ((body['data'] as { messageId: string }).messageId === stuck ? 500 : 200))
    for (const message of [stuck, fine])
      await world.happen(caller.account.id, message, 'message.sent', 'message.delivered')
    await node.turn()
    expect(
      receiver.got.map(({ body, status }) => [
        (body['data'] as { messageId: string }).messageId,
        body['type'],
        status,
      ]),
    ).toEqual(
      expect.arrayContaining([
        [stuck, 'message.sent', 500],
        [fine, 'message.sent', 200],
        [fine, 'message.delivered', 200],
      ]),
    )
    expect(receiver.got).toHaveLength(3)
  })

  test('many events that wait behind slow responses do not block other messages', async () => {
    await createWebhook()
    const node = await world.startNode({ limits: { total: 24, perTarget: 24 } })
    const slow = new Set<string>()
    receiver.react(({ body }) =>
      slow.has((body['data'] as { messageId: string }).messageId) ? 'silence' : 200,
    )
    const later = Array.from({ length: 9 }, () => 'message.delivered' as const)
    for (let at = 0; at < 20; at++) {
      const message = await world.newMessage(caller.account.id)
      slow.add(message)
      await world.happen(caller.account.id, message, 'message.sent', ...later)
    }
    // Each poll postpones one page of the waiting events.
    for (let begun = 0; begun < 20; ) begun += (await node.poll()).claimed
    await receiver.count(20)
    const event = await createEvent()
    for (let begun = 0; begun < 1; ) begun += (await node.poll()).claimed
    await receiver.count(21)
    expect(idOf(receiver.got[20]!)).toBe(event)
    await world.clock.advance(15 * SECOND_MS)
    await node.idle()
    // The waiting events are delivered later, each after the previous one of its message.
    receiver.react(200)
    for (let minutes = 0; minutes < 20; minutes++) {
      await world.clock.advance(MINUTE_MS)
      await node.turn()
    }
    expect(receiver.got.filter(({ status }) => status === 200)).toHaveLength(201)
  })

  test('an event that has failed for good lets the next event of its message through', async () => {
    const { id } = await createWebhook()
    const node = await world.startNode()
    receiver.react(({ body }) => (body['type'] === 'message.sent' ? 500 : 200))
    await world.happen(
      caller.account.id,
      await world.newMessage(caller.account.id),
      'message.sent',
      'message.read',
    )
    // Coarse steps make every wait a little longer than planned.
    for (let hours = 0; hours < 140; hours += 4) {
      await world.clock.advance(4 * HOUR_MS)
      await node.turn()
    }
    expect(await list(id)).toMatchObject([
      { eventType: 'message.sent', status: 'failed', attempts: 10 },
      { eventType: 'message.read', status: 'delivered', attempts: 1 },
    ])
  })
})

describe('nodes', () => {
  test('that run together deliver each event once', async () => {
    await createWebhook()
    const [one, two] = [await world.startNode(), await world.startNode()]
    const told: string[] = []
    for (let at = 0; at < 60; at++) told.push(await createEvent())
    await Promise.all([one.turn(), two.turn()])
    expect(receiver.got.map(idOf).sort()).toEqual(told.sort())
  })

  test('that die before recording a delivery are followed by another, which repeats it under the same id', async () => {
    const { id } = await createWebhook()
    const held = Promise.withResolvers<void>()
    const mute = (db: Database): Database => ({
      ...db,
      async query(query) {
        if (query.name === 'finish_deliveries') await held.promise
        return db.query(query)
      },
    })
    const [dying, living] = [await world.startNode({ through: mute }), await world.startNode()]
    const event = await createEvent()
    await dying.poll()
    await receiver.count(1)
    await living.turn()
    expect(receiver.got).toHaveLength(1)

    await dying.remove()
    expect(await living.free()).toBe(1)
    receiver.react(503)
    await living.turn()
    expect(receiver.got.map(idOf)).toEqual([event, event])
    // The late write of the dead node changes nothing.
    held.resolve()
    await dying.idle()
    expect(await list(id)).toMatchObject([{ status: 'pending', attempts: 1, lastStatus: 503 }])
  })

  test('that lost the response to a claim free the claimed delivery after a minute', async () => {
    await createWebhook()
    const node = await world.startNode({
      through: db => ({
        ...db,
        async query(query) {
          const result = await db.query(query)
          if (query.name === 'claim_deliveries') throw new Error('the answer was lost')
          return result as never
        },
      }),
    })
    await createEvent()
    await expect(node.poll()).rejects.toThrow('lost')
    expect(await node.free()).toBe(0)
    await world.clock.advance(60_001)
    expect(await node.free()).toBe(1)
    await (await world.startNode()).turn()
    expect(receiver.got).toHaveLength(1)
  })

  test('whose clock is minutes ahead leave the deliveries of the others alone', async () => {
    const { id } = await createWebhook()
    const [behind, ahead] = [await world.startNode(), await world.startNode({ aheadMs: 2 * MINUTE_MS })]
    const answered = Promise.withResolvers<number>()
    receiver.react(() => answered.promise)
    await createEvent()
    await behind.poll()
    await receiver.count(1)
    expect(await ahead.free()).toBe(0)
    await ahead.poll()
    answered.resolve(200)
    await Promise.all([behind.idle(), ahead.idle()])
    expect(receiver.got).toHaveLength(1)
    expect(await list(id)).toMatchObject([{ status: 'delivered', attempts: 1 }])
  })

  test('that stop release the deliveries that are still under way', async () => {
    const { id } = await createWebhook()
    receiver.react('silence')
    const node = await world.startNode()
    await createEvent()
    await node.poll()
    await receiver.count(1)
    const stopped = node.stop()
    await world.clock.advance(3_000)
    await stopped
    expect(await list(id)).toMatchObject([{ status: 'pending', attempts: 0 }])
    receiver.react(200)
    await (await world.startNode()).turn()
    expect(await list(id)).toMatchObject([{ status: 'delivered', attempts: 1 }])
    expect(await node.poll()).toEqual({ claimed: 0, more: false })
  })

  test('that stop do not wait for a silent receiver once they are abandoned', async () => {
    const { id } = await createWebhook()
    receiver.react('silence')
    const node = await world.startNode()
    await createEvent()
    await node.poll()
    await receiver.count(1)
    const stopped = node.stop()
    node.abandon()
    await stopped
    expect(await list(id)).toMatchObject([{ status: 'pending', attempts: 0 }])
  })

  test('keep slots free beside a silent receiver, and limit it to one request after a time-out', async () => {
    const silent = await startReceiver()
    silent.react('silence')
    await world.webhooks.create(caller, { url: silent.url() })
    const node = await world.startNode({ limits: { total: 16, perTarget: 12 } })
    for (let at = 0; at < 40; at++) await createEvent()
    await node.poll()
    await node.poll()
    await silent.count(12)
    const other = await world.newAccount()
    await world.webhooks.create(other, { url: receiver.url() })
    for (let at = 0; at < 20; at++) {
      await world.happen(other.account.id, await world.newMessage(other.account.id), 'message.sent')
    }
    while (receiver.got.length < 20) {
      const before = receiver.got.length
      if ((await node.poll()).claimed > 0) await receiver.count(before + 1)
      else await new Promise(resolve => setImmediate(resolve))
    }
    // After its first time-out it has one slot instead of twelve.
    await world.clock.advance(15_000)
    await node.idle()
    const before = silent.got.length
    await node.poll()
    await silent.count(before + 1)
    await node.poll()
    expect(silent.got).toHaveLength(before + 1)
    await world.clock.advance(15_000)
    await node.idle()
    await silent.close()
  })

  test('leave half of the slots to others, however many receivers are silent', async () => {
    const silent = await startReceiver()
    silent.react('silence')
    for (let at = 0; at < 4; at++) await world.webhooks.create(caller, { url: silent.url(`/${at}`) })
    const node = await world.startNode({ limits: { total: 4, perTarget: 2 } })
    for (let at = 0; at < 3; at++) await createEvent()
    await node.poll()
    await silent.count(4)
    await world.clock.advance(15_000)
    await node.idle()
    // Ends the round, so that the next poll begins with the first receiver.
    await node.poll()

    const other = await world.newAccount()
    await world.webhooks.create(other, { url: receiver.url() })
    for (let at = 0; at < 2; at++) {
      await world.happen(other.account.id, await world.newMessage(other.account.id), 'message.sent')
    }
    expect(await node.poll()).toMatchObject({ claimed: 4 })
    await Promise.all([silent.count(6), receiver.count(2)])
    await world.clock.advance(15_000)
    await node.idle()

    // The other two are next, although the first two have more.
    await node.poll()
    await node.poll()
    await silent.count(8)
    expect(new Set(silent.got.slice(4).map(({ path }) => path)).size).toBe(4)
    await world.clock.advance(15_000)
    await node.idle()
    await silent.close()
  })

  test('limit the connections to a receiver whose responses never end', async () => {
    const { id } = await createWebhook()
    receiver.react({ status: 200, headers: {}, endless: true })
    const node = await world.startNode({ limits: { total: 16, perTarget: 8 } })
    for (let at = 0; at < 40; at++) await createEvent()
    await node.turn()
    expect((await list(id)).filter(({ status }) => status === 'delivered')).toHaveLength(40)
    await lookUntil(
      () => receiver.open(),
      open => open <= 8,
      5_000,
    )
  })

  test('are not woken for a target that waited for a slot and was removed', async () => {
    const slow = await createWebhook({ events: ['message.sent'] })
    const removed = await createWebhook({ events: ['message.read'] })
    // Failing targets share one of the two slots.
    const node = await world.startNode({ limits: { total: 2, perTarget: 2 } })
    const wakes: number[] = []
    node.onCapacity(atMs => wakes.push(atMs))
    receiver.react(503)
    for (const type of ['message.sent', 'message.read'] as const) {
      await world.happen(caller.account.id, await world.newMessage(caller.account.id), type)
      await node.turn()
      await world.clock.advance(2 * SECOND_MS)
    }
    receiver.react('silence')
    await world.clock.advance(2 * SECOND_MS)
    expect(await node.poll()).toMatchObject({ claimed: 1 })
    await receiver.count(3)
    await world.clock.advance(2 * SECOND_MS)
    expect(await node.poll()).toMatchObject({ claimed: 0 })
    await world.webhooks.remove(caller, removed.id)
    await node.poll()
    wakes.length = 0
    await world.clock.advance(15 * SECOND_MS)
    await node.idle()
    expect(await list(slow.id)).toMatchObject([{ attempts: 2 }])
    expect(wakes).toEqual([])
  })
})

describe('an endpoint', () => {
  test('that responds with 410 is disabled, and another endpoint gets webhook.disabled', async () => {
    const gone = await createWebhook({ url: receiver.url('/gone') })
    const other = await createWebhook({ url: receiver.url('/other'), events: ['webhook.disabled'] })
    receiver.react(({ path }) => (path === '/gone' ? 410 : 200))
    const node = await world.startNode()
    await createEvent()
    await node.turn()
    await node.turn()
    expect(await world.webhooks.read(caller, gone.id)).toMatchObject({
      enabled: false,
      disabledReason: 'gone',
    })
    expect(await list(gone.id)).toMatchObject([{ status: 'failed', attempts: 1, lastStatus: 410 }])
    const told = receiver.got.find(({ path }) => path === '/other')!
    expect(verify(told, other.secret, world.clock.now())).toMatchObject({
      type: 'webhook.disabled',
      data: { webhookId: gone.id, url: gone.url, reason: 'gone' },
    })
    expect(world.log).toContain('a webhook endpoint was disabled')
    // No further delivery is stored for it.
    await createEvent()
    await node.turn()
    expect(await list(gone.id)).toHaveLength(1)
  })

  test('whose URL was changed is not disabled by a 410 of the previous URL', async () => {
    const { id } = await createWebhook({ url: receiver.url('/old') })
    const answer = Promise.withResolvers<410>()
    receiver.react(({ path }) => (path === '/old' ? answer.promise : 200))
    const node = await world.startNode()
    await createEvent()
    await node.poll()
    await receiver.count(1)
    await world.webhooks.update(caller, id, { url: receiver.url('/new') })
    answer.resolve(410)
    await node.idle()
    expect(await world.webhooks.read(caller, id)).toMatchObject({ enabled: true, disabledReason: null })
    await createEvent()
    await node.turn()
    expect(receiver.got.map(({ path }) => path)).toEqual(['/old', '/new'])
  })

  test('whose description is changed keeps a success that is recorded at the same time', async () => {
    const { id } = await createWebhook()
    const setFailing = (db: Db, since: Date | null) =>
      db.query({
        name: 'test_failing',
        text: 'update webhook_endpoints set failing_since = $1 where id = $2',
        values: [since, toUuid(id as Id<'whk'>)],
      })
    await setFailing(database.db, new Date(world.clock.now() - 6 * DAY_MS))
    const changed = await database.db.transaction(async tx => {
      await setFailing(tx, null)
      const changing = world.webhooks.update(caller, id, { description: 'ours' })
      await lookUntil(countWaitingForLocks, waiting => waiting > 0, 5_000)
      return { changing }
    })
    await changed.changing
    expect(await world.webhooks.read(caller, id)).toMatchObject({ description: 'ours', failingSince: null })
  })

  test('that fails for five days is disabled, with deliveries cancelled, and a replay delivers them', async () => {
    const webhook = await createWebhook()
    receiver.react(500)
    const node = await world.startNode()
    const events: string[] = []
    for (let hour = 0; hour <= 5 * 24; hour += 6) {
      expect(await world.webhooks.read(caller, webhook.id)).toMatchObject({ enabled: true })
      events.push(await createEvent())
      await node.turn()
      await world.clock.advance(6 * HOUR_MS)
    }
    await node.turn()
    await node.turn()
    const stands = await world.webhooks.read(caller, webhook.id)
    expect(stands).toMatchObject({ enabled: false, disabledReason: 'failing' })
    const statuses = new Set((await list(webhook.id)).map(({ status }) => status))
    expect(statuses).toEqual(new Set(['failed', 'cancelled']))

    receiver.react(200)
    const calls = receiver.got.length
    expect(await world.webhooks.update(caller, webhook.id, { enabled: true })).toMatchObject({
      enabled: true,
      failingSince: null,
      disabledAt: null,
      disabledReason: null,
    })
    const range = { from: '2020-01-01T00:00:00Z', to: new Date(world.clock.now() + 1).toISOString() }
    const replayed = await world.deliveries.replayRange(caller, webhook.id, {
      ...range,
      events: ['message.sent'],
    })
    expect(replayed).toMatchObject({ data: { queued: events.length }, nextCursor: null })
    await node.turn()
    expect(receiver.got.slice(calls).map(idOf).sort()).toEqual([...events].sort())
  })

  test('whose URL is changed while its last failure is being recorded is not disabled for failing', async () => {
    const { id } = await createWebhook({ url: receiver.url('/old') })
    receiver.react(500)
    const recorded = Promise.withResolvers<void>()
    const goOn = Promise.withResolvers<void>()
    const slow = (db: Database): Database => ({
      ...db,
      async query(query) {
        const result = await db.query(query)
        if (query.name === 'finish_deliveries') {
          recorded.resolve()
          await goOn.promise
        }
        return result as never
      },
    })
    await database.db.query({
      name: 'test_long_failing',
      text: 'update webhook_endpoints set failing_since = $1 where id = $2',
      values: [new Date(world.clock.now() - 6 * DAY_MS), toUuid(id as Id<'whk'>)],
    })
    const node = await world.startNode({ through: slow })
    await createEvent()
    await node.poll()
    const done = node.idle()
    await recorded.promise
    await world.webhooks.update(caller, id, { url: receiver.url('/new') })
    goOn.resolve()
    await done
    expect(await world.webhooks.read(caller, id)).toMatchObject({
      enabled: true,
      failingSince: null,
      disabledReason: null,
    })
  })

  test('that succeeds once restarts its five days', async () => {
    const webhook = await createWebhook()
    const node = await world.startNode()
    for (const reaction of [500, 200, 500]) {
      receiver.react(reaction)
      await createEvent()
      await node.turn()
      await world.clock.advance(3 * DAY_MS)
    }
    await node.turn()
    expect(await world.webhooks.read(caller, webhook.id)).toMatchObject({ enabled: true })
  })

  test('that was disabled or removed by its account gets no more requests', async () => {
    const [paused, removed] = [
      await createWebhook({ url: receiver.url('/paused') }),
      await createWebhook({ url: receiver.url('/removed') }),
    ]
    const node = await world.startNode()
    await createEvent()
    await world.webhooks.update(caller, paused.id, { enabled: false })
    await world.webhooks.remove(caller, removed.id)
    await node.turn()
    await world.clock.advance(DAY_MS)
    await node.turn()
    expect(receiver.got).toHaveLength(0)
    expect(await list(paused.id)).toMatchObject([{ status: 'cancelled' }])
  })

  test('gets signatures with both secrets for a day after a rotation', async () => {
    const { id, secret } = await createWebhook()
    const node = await world.startNode()
    const rotated = await world.webhooks.rotate(caller, id)
    expect(rotated.secret).toMatch(/^whsec_/)
    expect(rotated.secret).not.toBe(secret)
    expect(Date.parse(rotated.previousSecretValidUntil!)).toBe(world.clock.now() + DAY_MS)
    await createEvent()
    await node.turn()
    for (const each of [secret, rotated.secret]) verify(receiver.got[0]!, each, world.clock.now())

    await world.clock.advance(DAY_MS)
    await createEvent()
    await node.turn()
    verify(receiver.got[1]!, rotated.secret, world.clock.now())
    expect(() => verify(receiver.got[1]!, secret, world.clock.now())).toThrow(/signature/)
    expect(await world.webhooks.read(caller, id)).toMatchObject({ previousSecretValidUntil: null })
  })

  test('whose secret no master key opens is called again once it was rotated', async () => {
    const { id } = await createWebhook()
    const node = await world.startNode()
    await database.db.query({
      name: 'test_foreign_secret',
      text: 'update webhook_endpoints set secret = $2 where id = $1',
      values: [
        toUuid(id as WebhookId),
        createSeal(Buffer.alloc(32, 8), createRandom()).seal('whsec_AA==', 'else'),
      ],
    })
    const { secret, previousSecretValidUntil } = await world.webhooks.rotate(caller, id)
    expect(previousSecretValidUntil).toBeNull()
    await createEvent()
    await node.turn()
    verify(receiver.got[0]!, secret, world.clock.now())
  })

  test('whose host resolves to a private address is not called', async () => {
    const strict = await openCallbacks(database.db, { allow: [], resolve: async () => ['10.0.0.1'] })
    const { id } = await strict.webhooks.create(caller, { url: 'https://inside.example.com/' })
    const node = await strict.startNode()
    await createEvent()
    await node.turn()
    expect(await list(id)).toMatchObject([
      { status: 'pending', attempts: 1, lastError: 'The URL must point to a public address.' },
    ])
  })
})

describe('a replay', () => {
  /** Stores an event whose id has another time than the event itself. */
  async function told(idMs: number, atMs: number): Promise<string> {
    const id = `${firstUuidAt(idMs).slice(0, 14)}7000-8000-${String(idMs % 1_000_000).padStart(12, '0')}`
    await database.db.query({
      name: 'test_event_at',
      text: `insert into events (account_id, id, type, at) values ($1, $2, 'message.sent', $3)`,
      values: [toUuid(caller.account.id), id, new Date(atMs)],
    })
    return fromUuid('evt', id)
  }

  test('of two adjacent ranges brings each event once, by its own time and not that of its id', async () => {
    const { id } = await createWebhook()
    const noonMs = world.clock.now()
    const noon = new Date(noonMs).toISOString()
    const [from, to] = [noonMs - MINUTE_MS, noonMs + MINUTE_MS].map(each => new Date(each).toISOString())
    const before = await told(noonMs + 20, noonMs - 10)
    const after = await told(noonMs - 20, noonMs + 10)
    await database.db.query({ name: 'test_none_yet', text: 'truncate deliveries' })
    const replayed = async (range: { from: string; to: string }) => {
      const { data } = await world.deliveries.replayRange(caller, id, range)
      return (await list(id)).slice(-data.queued || Infinity).map(({ eventId }) => eventId)
    }
    expect(await replayed({ from: from!, to: noon })).toEqual([before])
    expect(await replayed({ from: noon, to: to! })).toEqual([after])
  })
})
