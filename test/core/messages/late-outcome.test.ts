import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { startTestApp, type TestAccount, type TestApp } from '../../support/app.ts'
import { bulkRows, createBulk, readBulkRows, untilBulk } from '../../support/bulk.ts'
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

test('an unknown message is sent by a late submit response, whose id matches a later receipt', async () => {
  const messageId = await unknownMessage()
  expect((await account.wallet()).held).toBeGreaterThan(0)
  smsc.send('submit_sm_resp', { sequence_number: smsc.submits[0]!.sequence, message_id: 'late-1' })
  await reaches(messageId, 'sent')
  expect(await account.wallet()).toMatchObject({ held: 0 })
  expect((await account.message(messageId)).providerMessageId).toBe('late-1')
  smsc.deliver({ esm_class: 4, short_message: 'id:late-1 stat:DELIVRD err:000' })
  await reaches(messageId, 'delivered')
})

test('an unknown message fails by a late rejection, and its money is released', async () => {
  const before = await account.wallet()
  const messageId = await unknownMessage()
  smsc.send('submit_sm_resp', { sequence_number: smsc.submits[1]!.sequence, command_status: 0x0b })
  await reaches(messageId, 'failed')
  expect(await account.message(messageId)).toMatchObject({ errorCode: 'RECIPIENT_REJECTED' })
  expect(await account.wallet()).toEqual(before)
})

/** Responds to the last submit after its timeout. */
function answerLate(status: number): void {
  smsc.send('submit_sm_resp', { sequence_number: smsc.submits.at(-1)!.sequence, command_status: status })
}

async function attempts(messageId: string) {
  const { timeline } = await account.message(messageId)
  return timeline
    .filter(entry => entry.event === 'attempt')
    .map(({ outcome, connectionId }) => [outcome, connectionId])
}

describe('with a second connection', () => {
  let other: Gateway
  let centreId: string

  /** Creates an account with a gateway of its own, which `priorityOrder` places before or after the SMS centre. */
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

  test('a one-time code that is rejected late fails: its text is erased', async () => {
    await start(900)
    const otp = { text: undefined, channel: 'local_sms', content: { otpCode: '918273' } }
    const messageId = await unknownMessage(otp)
    answerLate(0x0b)
    await reaches(messageId, 'failed')
    expect(await account.message(messageId)).toMatchObject({ errorCode: 'RECIPIENT_REJECTED' })
    expect(await attempts(messageId)).toEqual([['rejected', centreId]])
    expect(other.peer.requests).toHaveLength(0)
    expect(await account.wallet()).toMatchObject({ balance: 1, held: 0 })
  })

  test('a message that is rejected late fails over to it, with its money', async () => {
    await start(900)
    const messageId = await unknownMessage()
    const held = await account.wallet()
    answerLate(0x0b)
    // The clock stands still until the gateway has the submit.
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
    // It became unknown after it began and before its outcome was stored.
    expect(refused).toMatchObject({ event: 'attempt', outcome: 'rejected', unknownAt: expect.any(String) })
    const times = [refused!.at, refused!.unknownAt!, refused!.settledAt!]
    expect(times).toEqual(times.toSorted())
  })

  test('a one-time code does not fail over, because its text was erased when it became unknown', async () => {
    await start(900)
    const messageId = await unknownMessage({ text: undefined, content: { otpCode: '123456' } })
    answerLate(0x0b)
    await reaches(messageId, 'failed')
    expect(other.peer.requests).toHaveLength(0)
    expect(await account.wallet()).toMatchObject({ balance: 1, held: 0, captured: 0 })
  })

  test('a message that was not taken is retried at its connection, however many tries the other used', async () => {
    await start(1)
    other.act(notNow)
    const messageId = await unknownMessage()
    expect(other.peer.requests).toHaveLength(2)
    smsc.behave('accept')
    // The third attempt in all, and the first of three tries at this connection.
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

  describe('of a bulk job', () => {
    async function control(jobId: string, verb: string): Promise<void> {
      await app.call(`/api/v2/messages/bulk/${jobId}/${verb}`, { method: 'POST', key: account.liveKey })
      // Until the node that has the lane has read the job.
      await app.pass(1_000)
    }

    const leavesUnknown = (messageId: string) =>
      app.until(
        () => account.message(messageId),
        ({ status }) => status !== 'unknown',
      )

    const setBackoff = (backoffMs: number) =>
      app.admin('PATCH', `/connections/${centreId}`, { retryPolicy: { backoffMs } })

    /** Starts a job of one row, whose message becomes unknown. */
    async function startUnknownRow(
      options: { backoffMs?: number } = {},
    ): Promise<{ jobId: string; messageId: string }> {
      await start(900)
      if (options.backoffMs !== undefined) {
        await setBackoff(options.backoffMs)
        await smsc.bound(2)
      }
      const body = { messagesPerSecond: 1, messages: bulkRows(1) }
      const { body: job, text } = await createBulk(app, account, body, { live: true })
      const jobId = job['id'] as string
      await app.until(
        async () => smsc.submits.length,
        count => count > submits,
      )
      expect(smsc.submits, text).toHaveLength(++submits)
      const [row] = await readBulkRows(account, jobId)
      await reaches(row!.messageId!, 'unknown')
      return { jobId, messageId: row!.messageId! }
    }

    test('a message that is rejected late while its job is paused waits for the job, then fails over', async () => {
      const { jobId, messageId } = await startUnknownRow()
      await control(jobId, 'pause')
      answerLate(0x0b)
      await leavesUnknown(messageId)
      await app.pass(5_000)
      expect((await account.message(messageId)).status).toBe('queued')
      expect(other.peer.requests).toHaveLength(0)
      await control(jobId, 'resume')
      await reaches(messageId, 'sent')
      expect(other.peer.requests).toHaveLength(1)
      expect((await untilBulk(app, account, jobId, 'completed')).counts).toMatchObject({ sent: 1 })
    })

    test('a message that is rejected late after its job was cancelled is cancelled', async () => {
      const { jobId, messageId } = await startUnknownRow()
      await control(jobId, 'cancel')
      answerLate(0x0b)
      await leavesUnknown(messageId)
      await app.pass(3_000)
      expect((await account.message(messageId)).status).toBe('cancelled')
      expect(other.peer.requests).toHaveLength(0)
      expect(await account.wallet()).toMatchObject({ balance: 1, held: 0, captured: 0 })
    })

    test('one that was not taken is cancelled, too, however soon its next try is due', async () => {
      const { jobId, messageId } = await startUnknownRow({ backoffMs: 100 })
      await control(jobId, 'cancel')
      answerLate(0x08)
      await leavesUnknown(messageId)
      await app.pass(3_000)
      await setBackoff(2_000)
      expect((await account.message(messageId)).status).toBe('cancelled')
      expect(smsc.submits).toHaveLength(submits)
      expect(await account.wallet()).toMatchObject({ balance: 1, held: 0, captured: 0 })
    })
  })

  test('a message that both connections reject fails, and its money is released', async () => {
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
