import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { MessageWithTimeline } from '../../src/contract/message.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { messageIdOf, startTestApp, type TestAccount, type TestApp } from '../support/app.ts'
import {
  hasKannel,
  hasNetSmpp,
  type PerlCentre,
  startDriveSmpp,
  startPerlCentre,
} from '../support/message-centres.ts'

/** Sends SMS through the HTTP API to independent message centres. */

let app: TestApp
beforeAll(async () => {
  // A slow machine must not turn "sent" into "queued".
  app = await startTestApp({ clock: systemClock, env: { POSTHORN_SYNC_WAIT_MS: '20000' } })
})
afterAll(() => app.stop())

/** Creates an account with its own connection to a centre, and waits until the connection is up. */
async function connect(app: TestApp, port: number, config: Record<string, unknown>): Promise<TestAccount> {
  const account = await app.createAccount({ homeCountry: 'DE', balance: 1_000 })
  const created = await app.admin('POST', '/connections', {
    provider: 'smpp',
    name: 'Centre',
    channels: ['local_sms', 'int_sms'],
    accountId: account.id,
    config: { host: '127.0.0.1', port, ...config },
  })
  expect(created.status, created.text).toBe(201)
  expect(created.text).not.toContain(String(config['password']))
  const { id } = (created.body['data'] as { connection: { id: string } }).connection
  await app.until(
    () => app.admin('POST', `/connections/${id}/test`),
    ({ body }) => (body['data'] as { ok: boolean } | undefined)?.ok === true,
  )
  await app.until(
    () => account.read<{ providerKey: string }[]>('/api/v2/messages/policies'),
    policies => policies.some(policy => policy.providerKey === 'smpp'),
  )
  return account
}

function reaches(account: TestAccount, id: string, status: MessageWithTimeline['status']) {
  return app.until(
    () => account.message(id),
    message => message.status === status,
  )
}

describe.skipIf(!hasKannel)('drive_smpp of Kannel', () => {
  const MESSAGES = 200
  const AT_ONCE = 40

  test('gets every message once, and each is charged once', async () => {
    const kannel = await startDriveSmpp(MESSAGES)
    try {
      const config = { systemId: 'foo', password: 'bar', systemType: 'VMA', bindMode: 'tx_rx', window: 50 }
      const account = await connect(app, kannel.port, config)
      let next = 0
      const worker = async () => {
        while (next < MESSAGES) {
          const nth = next++
          const body = { to: `+491701${String(1_000_000 + nth)}`, text: `hello ${nth}` }
          const answer = await account.send(body, { live: true, idempotencyKey: `kannel ${nth}` })
          expect(answer.body, answer.text).toMatchObject({ status: 'sent', resolved: { provider: 'smpp' } })
          expect(answer.headers.get('x-sandbox')).toBeNull()
        }
      }
      await Promise.all(Array.from({ length: AT_ONCE }, worker))
      await kannel.logged('All messages sent to ESME.')
      expect(await account.wallet()).toMatchObject({ balance: 998, held: 0, captured: 2 })
      expect(await account.footprint()).toMatchObject({ messages: MESSAGES, outbox: 0, keys: MESSAGES })
      expect(await account.inbox()).toEqual([])
      for (const { id } of await connectionsOf(account.id)) await app.admin('DELETE', `/connections/${id}`)
      expect(await kannel.report()).toContain(`Number of messages sent to SMSC: ${MESSAGES}`)
    } finally {
      await kannel.stop()
    }
  })

  async function connectionsOf(accountId: string) {
    const { body } = await app.admin('GET', '/connections')
    return (body['data'] as { id: string; accountId: string | null }[]).filter(
      each => each.accountId === accountId,
    )
  }
})

describe.skipIf(!hasNetSmpp)('an SMSC over Net::SMPP', () => {
  const hex = (text: string): string => Buffer.from(text, 'latin1').toString('hex')
  /** A German mobile number with these last digits. */
  const to = (ending: string) => `+4917012345${ending}`

  let centre: PerlCentre
  let account: TestAccount

  beforeEach(async () => {
    centre = await startPerlCentre()
    account = await connect(app, centre.port, {
      systemId: 'posthorn',
      password: 'pa55word',
      systemType: 'VMA',
    })
  })
  afterEach(() => centre.stop())

  test('a message whose receipt is marked as a message from a phone is delivered, and nobody gets it as a message', async () => {
    const answer = await account.send({ to: to('07'), text: 'Hello' }, { live: true })
    await reaches(account, messageIdOf(answer), 'sent')
    await account.send({ to: to('00'), text: 'Hello again' }, { live: true })
    await reaches(account, messageIdOf(answer), 'delivered')
    expect(await account.read('/api/v2/inbound')).toEqual([])
  })

  test.each([
    ['in optional parameters', '01'],
    ['in the text, with the id in decimal', '02'],
  ])('a message with a receipt %s is delivered and charged', async (_, ending) => {
    const answer = await account.send({ to: to(ending), text: 'Grüße {€}' }, { live: true })
    expect(answer.body).toMatchObject({
      status: 'sent',
      resolved: { channel: 'local_sms', provider: 'smpp', senderSource: 'platform' },
      billing: { estimatedCost: 0.01, parts: 1 },
      tracking: { queueId: null },
    })
    const message = await reaches(account, messageIdOf(answer), 'delivered')
    expect(message).toMatchObject({ providerMessageId: expect.stringMatching(/^[0-9A-F]{8}$/), attempts: 1 })
    expect(message.timeline.map(entry => entry.status ?? entry.outcome)).toEqual([
      'queued',
      'sending',
      'accepted',
      'sent',
      'delivered',
    ])
    const times = message.timeline.map(entry => entry.at)
    expect(times).toEqual(times.toSorted())
    expect(await account.wallet()).toMatchObject({ balance: 999.99, held: 0, captured: 0.01 })
    // GSM 03.38, with an escape before each extension character.
    expect(centre.got('submit_sm')).toMatchObject([
      {
        to: to(ending).slice(1),
        from: 'Posthorn',
        coding: 0,
        registered: 1,
        text: hex('Gr~\x1ee \x1b\x28\x1b\x65\x1b\x29'),
      },
    ])
  })

  test('a message with an undelivered receipt before the response is undelivered and charged', async () => {
    const answer = await account.send({ to: to('05'), text: 'Hello' }, { live: true })
    expect(answer.body['status']).toBe('sent')
    const message = await reaches(account, messageIdOf(answer), 'undelivered')
    expect(message.billing.state).toBe('captured')
    expect(message.timeline.at(-1)).toMatchObject({ event: 'status', status: 'undelivered' })
  })

  test('long messages in GSM-7 and UCS-2 are priced per part, and delivered by the receipts of all parts', async () => {
    const latin = `${'long '.repeat(80)}{}`
    const cyrillic = 'длинное сообщение '.repeat(10)
    const ids: string[] = []
    for (const [ending, text] of [
      ['01', latin],
      ['00', cyrillic],
    ] as const) {
      const answer = await account.send({ to: to(ending), text }, { live: true })
      expect(answer.body).toMatchObject({ status: 'sent', billing: { parts: 3, estimatedCost: 0.03 } })
      ids.push(messageIdOf(answer))
    }
    await centre.until('submit_sm', 6)
    const whole = centre.got('submit_sm').filter(line => line['text'] !== null)
    expect(whole.map(line => line['text'])).toEqual([
      hex(`${'long '.repeat(80)}\x1b\x28\x1b\x29`),
      Buffer.from(cyrillic, 'utf16le').swap16().toString('hex'),
    ])
    expect(await account.wallet()).toMatchObject({ held: 0, captured: 0.06 })
    // The SMSC sends a receipt for each of its parts.
    await reaches(account, ids[0]!, 'delivered')
  })

  test('a refused message returns 400, also when it is replayed, costs nothing and has an explanation', async () => {
    const options = { live: true, idempotencyKey: 'refused' }
    const answer = await account.send({ to: to('04'), text: 'Hello' }, options)
    expect([answer.status, answer.body['code']]).toEqual([400, 'RECIPIENT_REJECTED'])
    const again = await account.send({ to: to('04'), text: 'Hello' }, options)
    expect([again.text, again.headers.get('idempotency-replayed')]).toEqual([answer.text, 'true'])
    expect(centre.got('submit_sm')).toHaveLength(1)
    expect(await account.wallet()).toMatchObject({ balance: 1_000, held: 0, captured: 0 })
    const [failed] = await account.messages('?status=failed')
    const { timeline } = await account.message(failed!.messageId)
    expect(timeline.find(entry => entry.event === 'attempt')).toMatchObject({
      outcome: 'rejected',
      provider: 'smpp',
      providerCode: expect.any(String),
      explanation: expect.any(String),
    })
  })

  test('a one-time code is sent in clear text, and neither returned nor logged', async () => {
    const code = '471108'
    const answer = await account.send({ to: to('01'), content: { otpCode: code } }, { live: true })
    const message = await reaches(account, messageIdOf(answer), 'delivered')
    expect(centre.got('submit_sm')).toMatchObject([{ text: hex(`Your verification code is ${code}`) }])
    expect(JSON.stringify(message)).not.toContain(code)
    expect(app.log.join('')).not.toContain(code)
    expect(app.log.join('')).not.toContain(hex(code))
  })

  test('a message sent with a test key does not reach the SMSC', async () => {
    const answer = await account.send({ to: to('01'), text: 'Hello' })
    expect(answer.body).toMatchObject({ status: 'sent', resolved: { provider: 'sandbox' } })
    expect(centre.got('submit_sm')).toEqual([])
  })

  test('a throttled message is queued with its money held, and can be cancelled', async () => {
    const impatient = await startTestApp({ clock: systemClock, env: { POSTHORN_SYNC_WAIT_MS: '0' } })
    const throttling = await startPerlCentre()
    try {
      const login = { systemId: 'posthorn', password: 'pa55word', systemType: 'VMA', throttleMs: 60_000 }
      const own = await connect(impatient, throttling.port, login)
      const answer = await own.send({ to: to('03'), text: 'Hello' }, { live: true })
      expect(answer.body['status']).toBe('queued')
      const id = messageIdOf(answer)
      const waiting = await impatient.until(
        () => own.message(id),
        message => message.status === 'queued' && message.timeline.length > 1,
      )
      expect(waiting.timeline).toContainEqual(expect.objectContaining({ outcome: 'throttled', attempt: 1 }))
      expect(await own.wallet()).toMatchObject({ held: 0.01, captured: 0 })
      const request = { method: 'POST', key: own.liveKey }
      const cancelled = await impatient.call(`/api/v2/messages/${id}/cancel`, request)
      expect(cancelled.body['data']).toMatchObject({ status: 'cancelled', billing: { state: 'released' } })
      expect(await own.wallet()).toMatchObject({ balance: 1_000, held: 0 })
      expect(throttling.got('submit_sm')).toHaveLength(1)
    } finally {
      await throttling.stop()
      await impatient.stop()
    }
  })
})
