import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { SMS_POLICY } from '../../../src/channels/shared/sms.ts'
import type { ConnectionState, ConnectionView } from '../../../src/contract/admin.ts'
import type { Estimate } from '../../../src/contract/estimate.ts'
import { FAILURES_TO_OPEN } from '../../../src/workers/circuit.ts'
import { messageIdOf, startTestApp, type TestAccount, type TestApp } from '../../support/app.ts'
import { type Gateway, type GatewayOptions, notNow, startSmsGateway, taken } from '../../support/gateways.ts'

const TO = '+12025550123'
const ONCE = { maxAttempts: 1, backoffMs: 100 }

let app: TestApp
let account: TestAccount
let first: Gateway
let second: Gateway
const open: Gateway[] = []

beforeAll(async () => {
  app = await startTestApp()
}, 60_000)
afterAll(() => app.stop())
afterEach(async () => {
  await Promise.all(open.splice(0).map(gateway => gateway.close()))
})

async function start(...options: GatewayOptions[]): Promise<void> {
  account = await app.createAccount()
  for (const each of options) open.push(await startSmsGateway(app, { account, ...each }))
  first = open[0]!
  second = open[1]!
}

/** The test clock stands still, and so does the wait of an open circuit. */
const send = () => account.send({ to: TO, text: 'Hello' }, { live: true })

async function sendThrough(gateway: Gateway): Promise<void> {
  const before = gateway.peer.requests.length
  expect((await send()).body).toMatchObject({ status: 'sent' })
  expect(gateway.peer.requests).toHaveLength(before + 1)
}

async function stateOf({ connectionId }: Gateway): Promise<ConnectionState> {
  const list = (await app.admin('GET', '/connections?limit=500')).body['data'] as ConnectionView[]
  return list.find(({ id }) => id === connectionId)!.state
}

async function metricOf({ connectionId }: Gateway): Promise<string | undefined> {
  const { text } = await app.call('/metrics')
  const line = text
    .split('\n')
    .find(each => each.startsWith('posthorn_circuit_open{') && each.includes(connectionId))
  return line?.split(' ').at(-1)
}

describe('a connection that fails repeatedly', () => {
  test('is skipped while its circuit is open, then probed by one message, and used again on success', async () => {
    await start({ retryPolicy: ONCE }, { retryPolicy: ONCE })
    first.act(notNow)
    for (let at = 0; at < FAILURES_TO_OPEN; at++)
      expect((await send()).body).toMatchObject({ status: 'sent' })
    expect(first.peer.requests).toHaveLength(FAILURES_TO_OPEN)
    expect((await stateOf(first)).circuit).toBe('open')
    expect([await metricOf(first), await metricOf(second)]).toEqual(['1', '0'])

    for (let at = 0; at < 3; at++) await sendThrough(second)
    expect(first.peer.requests).toHaveLength(FAILURES_TO_OPEN)

    // The first wait is over; the probe fails, and the next wait is longer.
    await app.pass(1_100)
    expect((await stateOf(first)).circuit).toBe('half_open')
    expect((await send()).body).toMatchObject({ status: 'sent' })
    expect(first.peer.requests).toHaveLength(FAILURES_TO_OPEN + 1)
    await sendThrough(second)
    expect(first.peer.requests).toHaveLength(FAILURES_TO_OPEN + 1)

    first.act(nth => taken(nth))
    await app.pass(2_100)
    await sendThrough(first)
    expect((await stateOf(first)).circuit).toBe('closed')
    await sendThrough(first)
  })

  test('is skipped by an estimate too', async () => {
    await start({ retryPolicy: ONCE }, { retryPolicy: ONCE })
    first.act(notNow)
    for (let at = 0; at < FAILURES_TO_OPEN; at++) await send()
    const estimated = await app.call('/api/v2/messages/estimate', {
      method: 'POST',
      key: account.liveKey,
      body: { to: TO, text: 'Hello' },
    })
    const sent = await send()
    expect((estimated.body['data'] as Estimate).resolved).toEqual(sent.body['resolved'])
    expect(first.peer.requests).toHaveLength(FAILURES_TO_OPEN)
  })

  test('is still used, by its retry policy, when there is no other connection', async () => {
    await start({ retryPolicy: ONCE })
    first.act(notNow)
    for (let at = 0; at < FAILURES_TO_OPEN + 3; at++)
      expect((await send()).body['code']).toBe('PROVIDER_UNAVAILABLE')
    expect(first.peer.requests).toHaveLength(FAILURES_TO_OPEN + 3)
    expect((await stateOf(first)).circuit).toBe('open')
    first.act(nth => taken(nth))
    await sendThrough(first)
    expect((await stateOf(first)).circuit).toBe('closed')
  })

  test('keeps its messages queued for a quarter of an hour when there is no other connection', async () => {
    await start({ retryPolicy: SMS_POLICY.retryPolicy })
    first.act(notNow)
    const id = messageIdOf(await app.during(send()))
    // One attempt in each step, 17 minutes in all.
    for (let waitMs = 2_000; waitMs <= 512_000; waitMs *= 2) await app.leap(waitMs)
    expect(await account.message(id)).toMatchObject({ status: 'queued', billing: { state: 'held' } })
    first.act(nth => taken(nth))
    await app.leap(2_048_000)
    expect(await account.message(id)).toMatchObject({ status: 'sent', billing: { state: 'captured' } })
  })

  test('passes its messages that wait for a retry to another connection', async () => {
    await start({ retryPolicy: { maxAttempts: 9, backoffMs: 60_000 } })
    first.act(notNow)
    // The response to a batch does not wait for the provider.
    const to = Array.from({ length: FAILURES_TO_OPEN }, (_, at) => `+1202555${1000 + at}`)
    const sent = await account.send({ to, text: 'Hello' }, { live: true })
    const waiting = (sent.body['results'] as { messageId: string }[]).map(({ messageId }) => messageId)
    await app.until(
      () => stateOf(first),
      ({ circuit }) => circuit !== 'closed',
    )
    open.push(await startSmsGateway(app, { account }))
    // At least half of the backoff.
    await app.leap(25_000)
    for (const id of waiting) {
      const message = await app.until(
        () => account.message(id),
        found => found.status === 'sent',
      )
      expect(message).toMatchObject({ connectionId: open[1]!.connectionId })
      // One more attempt over the failing connection, not nine.
      expect(message.attempts, JSON.stringify(message.timeline)).toBe(3)
    }
  })

  test('closes its circuit when the operator changes it', async () => {
    await start({ retryPolicy: ONCE }, { retryPolicy: ONCE })
    first.act(notNow)
    for (let at = 0; at < FAILURES_TO_OPEN; at++) await send()
    first.act(nth => taken(nth))
    const changed = await app.admin('PATCH', `/connections/${first.connectionId}`, { name: 'mended' })
    expect((changed.body['data'] as ConnectionView).state).toMatchObject({ circuit: 'closed' })
    await sendThrough(first)
  })
})

test('a disabled connection has the link state closed', async () => {
  await start({})
  const closed = await app.admin('PATCH', `/connections/${first.connectionId}`, { enabled: false })
  expect((closed.body['data'] as ConnectionView).state).toEqual({
    link: 'closed',
    detail: 'disabled, or its configuration does not work',
    circuit: 'closed',
  })
})
