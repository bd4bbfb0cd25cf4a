import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { startTestApp, type TestAccount, type TestApp } from '../../support/app.ts'
import { type Gateway, noSuchNumber, notNow, startSmsGateway } from '../../support/gateways.ts'
import { type Smsc, startSmsc } from '../../support/smsc.ts'

let app: TestApp
let account: TestAccount
let smsc: Smsc
let submits = 0

beforeAll(async () => {
  app = await startTestApp()
  account = await app.createAccount({ balance: 10 })
  smsc = await startSmsc('silent')
  await app.admin('POST', '/connections', {
    provider: 'smpp',
    name: 'slow centre',
    channels: ['local_sms'],
    config: { host: '127.0.0.1', port: smsc.port, systemId: 'me', password: 'secret' },
  })
})
afterAll(async () => {
  await app.stop()
  await smsc.close()
})

const reaches = (messageId: string, status: string) =>
  app.until(
    () => account.message(messageId),
    message => message.status === status,
  )

async function unknownMessage(more: object = {}): Promise<string> {
  const answer = await app.during(account.send({ to: '+12025550123', text: 'x', ...more }, { live: true }))
  expect(answer.body['status'], answer.text).toBe('queued')
  await smsc.submitted(++submits)
  const { messageId } = answer.body['tracking'] as { messageId: string }
  await reaches(messageId, 'unknown')
  return messageId
}

test('an unknown message becomes sent by the answer that came late, and its receipt finds it', async () => {
  const messageId = await unknownMessage()
  expect((await account.wallet()).held).toBeGreaterThan(0)
  smsc.send('submit_sm_resp', { sequence_number: smsc.submits[0]!.sequence, message_id: 'late-1' })
  await reaches(messageId, 'sent')
  expect(await account.wallet()).toMatchObject({ held: 0 })
  expect((await account.message(messageId)).providerMessageId).toBe('late-1')
})

test('an unknown message that was refused gives its money back', async () => {
  const before = await account.wallet()
  const messageId = await unknownMessage()
  smsc.send('submit_sm_resp', { sequence_number: smsc.submits[1]!.sequence, command_status: 0x0b })
  await reaches(messageId, 'failed')
  expect(await account.message(messageId)).toMatchObject({ errorCode: 'RECIPIENT_REJECTED' })
  expect(await account.wallet()).toEqual(before)
})

/** The answer to the last submit, long after anybody waited for it. */
function answerLate(status: number): void {
  smsc.send('submit_sm_resp', { sequence_number: smsc.submits.at(-1)!.sequence, command_status: status })
}

async function attempts(messageId: string) {
  const { timeline } = await account.message(messageId)
  return timeline
    .filter(entry => entry.event === 'attempt')
    .map(({ outcome, connectionId }) => [outcome, connectionId])
}

describe('with another connection beside it', () => {
  let other: Gateway
  let centreId: string

  /** An account of its own, whose gateway is asked after the centre, or before it. */
  async function start(priorityOrder: number): Promise<void> {
    account = await app.createAccount({ balance: 1 })
    const connections = (await app.admin('GET', '/connections')).body['data'] as {
      id: string
      name: string
    }[]
    centreId = connections.find(({ name }) => name === 'slow centre')!.id
    other = await startSmsGateway(app, { account, priorityOrder })
  }
  afterEach(() => other.close())

  test('a message that turns out to be refused goes there, with its money', async () => {
    await start(900)
    const messageId = await unknownMessage()
    const held = await account.wallet()
    answerLate(0x0b)
    // No time passes while the gateway works, however long it takes.
    await other.peer.submitted(1)
    await reaches(messageId, 'sent')
    expect(other.peer.requests).toHaveLength(1)
    expect(await attempts(messageId)).toEqual([
      ['rejected', centreId],
      ['accepted', other.connectionId],
    ])
    expect(await account.wallet()).toMatchObject({ balance: held.balance, held: 0, captured: held.held })
    const { timeline } = await account.message(messageId)
    const [queued, refused, ...others] = timeline
    expect([queued, ...others].flatMap(entry => entry?.status ?? [])).toEqual(['queued', 'sending', 'sent'])
    expect(others.every(({ unknownAt }) => unknownAt === undefined)).toBe(true)
    // Since when nobody knew of it: after it began, and before it turned out.
    expect(refused).toMatchObject({ event: 'attempt', outcome: 'rejected', unknownAt: expect.any(String) })
    const times = [refused!.at, refused!.unknownAt!, refused!.settledAt!]
    expect(times).toEqual(times.toSorted())
  })

  test('a code does not: its words were erased when nobody knew whether it had left', async () => {
    await start(900)
    const messageId = await unknownMessage({ text: undefined, content: { otpCode: '123456' } })
    answerLate(0x0b)
    await reaches(messageId, 'failed')
    expect(other.peer.requests).toHaveLength(0)
    expect(await account.wallet()).toMatchObject({ balance: 1, held: 0, captured: 0 })
  })

  test('one that was not taken has the tries of this connection, whatever the other took of them', async () => {
    await start(1)
    other.act(notNow)
    const messageId = await unknownMessage()
    expect(other.peer.requests).toHaveLength(2)
    smsc.behave('accept')
    // Its third attempt, of three that it has here: the first.
    answerLate(0x08)
    submits++
    await reaches(messageId, 'sent')
    smsc.behave('silent')
    expect(await attempts(messageId)).toEqual([
      ['retry', other.connectionId],
      ['retry', other.connectionId],
      ['retry', centreId],
      ['accepted', centreId],
    ])
  })

  test('and is refused in the end where nothing is left', async () => {
    await start(900)
    other.act(noSuchNumber)
    const messageId = await unknownMessage()
    answerLate(0x0b)
    await other.peer.submitted(1)
    await reaches(messageId, 'failed')
    expect(other.peer.requests).toHaveLength(1)
    expect(await account.wallet()).toMatchObject({ balance: 1, held: 0, captured: 0 })
  })
})
