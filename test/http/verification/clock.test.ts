import { afterAll, beforeAll, expect, test } from 'vitest'
import { DAY_MS } from '../../../src/lib/durations.ts'
import { startTestApp, type TestAccount, type TestApp } from '../../support/app.ts'
import { codeFor, verifications } from '../../support/verification.ts'

let app: TestApp
let account: TestAccount

beforeAll(async () => {
  app = await startTestApp()
  account = await app.createAccount()
})
afterAll(() => app.stop())

test('a code is verified by its recipient also after the clock was ahead by days for a while', async () => {
  const ver = verifications(app, account)
  app.jump(40 * DAY_MS)
  await ver.start({ to: '+12025550171' })
  app.jump(-40 * DAY_MS)
  const to = '+12025550172'
  await ver.start({ to })
  const { status, text } = await ver.post('verify', { to, code: await codeFor(account, to) })
  expect(status, text).toBe(200)
})
