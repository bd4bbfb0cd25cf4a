import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestApp, type TestAccount, type TestApp } from '../../support/app.ts'
import { type Smsc, startSmsc } from '../../support/smsc.ts'

let app: TestApp
let account: TestAccount
let smsc: Smsc

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

async function unknownMessage(nth: number): Promise<string> {
  const answer = await app.during(account.send({ to: '+12025550123', text: 'x' }, { live: true }))
  expect(answer.body['status'], answer.text).toBe('queued')
  await smsc.submitted(nth)
  const { messageId } = answer.body['tracking'] as { messageId: string }
  await reaches(messageId, 'unknown')
  return messageId
}

test('an unknown message becomes sent by the answer that came late, and its receipt finds it', async () => {
  const messageId = await unknownMessage(1)
  expect((await account.wallet()).held).toBeGreaterThan(0)
  smsc.send('submit_sm_resp', { sequence_number: smsc.submits[0]!.sequence, message_id: 'late-1' })
  await reaches(messageId, 'sent')
  expect(await account.wallet()).toMatchObject({ held: 0 })
  expect((await account.message(messageId)).providerMessageId).toBe('late-1')
})

test('an unknown message that was refused gives its money back', async () => {
  const before = await account.wallet()
  const messageId = await unknownMessage(2)
  smsc.send('submit_sm_resp', { sequence_number: smsc.submits[1]!.sequence, command_status: 0x0b })
  await reaches(messageId, 'failed')
  expect(await account.message(messageId)).toMatchObject({ errorCode: 'RECIPIENT_REJECTED' })
  expect(await account.wallet()).toEqual(before)
})
