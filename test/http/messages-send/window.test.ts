import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestApp, type TestAccount, type TestApp } from '../../support/app.ts'
import { type Smsc, startSmsc } from '../../support/smsc.ts'

/** More concurrent sends than the SMPP window holds: the rest wait for a free slot. */

const WINDOW = 50
const SENDS = 120
const RESPONSE_TIMEOUT_MS = 5_000
let app: TestApp
let account: TestAccount
let smsc: Smsc

beforeAll(async () => {
  app = await startTestApp()
  account = await app.createAccount({ balance: 100, plan: { name: 'wide', rateLimitPerSecond: 1_000 } })
})
afterAll(async () => {
  await app.stop()
  await smsc.close()
})

test('an SMPP connection never has more unanswered submits than its window, and submits each message once', async () => {
  const submittedMs: number[] = []
  smsc = await startSmsc((_, nth) => {
    submittedMs.push(app.now())
    return nth <= WINDOW ? null : { id: `id-${nth}` }
  })
  await app.admin('POST', '/connections', {
    provider: 'smpp',
    name: 'centre',
    channels: ['local_sms'],
    config: {
      ...{ host: '127.0.0.1', port: smsc.port, systemId: 'me', password: 'secret' },
      ...{ window: WINDOW, responseTimeoutMs: RESPONSE_TIMEOUT_MS },
    },
  })
  const to = (at: number) => `+1202555${2_000 + at}`
  const sends = Array.from({ length: SENDS }, (_, at) =>
    account.send({ to: to(at), text: 'x' }, { live: true }),
  )
  const answers = await app.during(Promise.all(sends))
  expect(answers.map(answer => answer.status)).toEqual(Array(SENDS).fill(200))
  await app.until(
    async () => smsc.submits.length,
    count => count === SENDS,
  )
  expect(new Set(smsc.submits.map(submit => submit['destination_addr'])).size).toBe(SENDS)
  expect(submittedMs[WINDOW]! - submittedMs[0]!).toBeGreaterThanOrEqual(RESPONSE_TIMEOUT_MS)
})
