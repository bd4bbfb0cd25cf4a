import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Answer, startTestApp, type TestAccount, type TestApp } from '../../support/app.ts'
import { codeFor, verifications } from '../../support/verification.ts'

let app: TestApp
let account: TestAccount
let phones = 0
beforeAll(async () => {
  app = await startTestApp()
  account = await app.createAccount({ plan: { verificationRateLimitPerSecond: 100_000 } })
})
afterAll(() => app.stop())

function phone(): string {
  return `+1202555${2_000 + phones++}`
}

function wrong(code: string): string {
  return code.replace(/^./, digit => String((Number(digit) + 1) % 10))
}

describe('the life of a verification', () => {
  test('a code is sent, checked once, and used', async () => {
    const { post, read } = verifications(app, account)
    const to = phone()
    const sent = await post('send', { to })
    expect(sent.status).toBe(200)
    expect(sent.headers.get('x-sandbox')).toBe('true')
    const startedMs = app.now()
    expect(sent.body).toEqual({
      success: true,
      verificationId: expect.stringMatching(/^ver_/),
      status: 'sent',
      channel: 'local_sms',
      expiresAt: expect.any(String),
      resendAvailableAt: expect.any(String),
      resendCount: 0,
    })
    expect(Date.parse(sent.body['expiresAt'] as string) - startedMs).toBeLessThanOrEqual(600_000)
    const code = await codeFor(account, to)
    expect(code).toMatch(/^\d{6}$/)

    const { verificationId } = sent.body
    const refused = await post('verify', { verificationId, code: wrong(code) })
    expect(refused.body).toMatchObject({ code: 'VERIFICATION_CODE_INVALID', attemptsRemaining: 4 })
    const verified = await post('verify', { to, code })
    expect(verified.status).toBe(200)
    expect(verified.body).toEqual({
      success: true,
      verificationId,
      status: 'verified',
      verifiedAt: expect.any(String),
    })
    expect(await post('verify', { verificationId, code })).toMatchObject({
      status: 409,
      body: { code: 'VERIFICATION_ALREADY_USED' },
    })
    expect(await read(verificationId as string)).toMatchObject({ status: 'verified', attemptsRemaining: 4 })
  })
})
