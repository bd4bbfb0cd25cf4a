import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { FraudSettingsView } from '../../../src/contract/fraud.ts'
import { DEFAULT_RULES } from '../../../src/core/fraud/settings.ts'
import { type Answer, faultPaths, startTestApp, type TestAccount, type TestApp } from '../../support/app.ts'

let app: TestApp
let account: TestAccount

beforeAll(async () => {
  app = await startTestApp()
  account = await app.createAccount()
})
afterAll(() => app.stop())
afterEach(async () => {
  await app.admin('PUT', '/fraud', {})
  await app.admin('PUT', `/accounts/${account.id}/fraud`, {})
})

const own = () => `/accounts/${account.id}/fraud`
const viewOf = (answer: Answer) => answer.body['data'] as FraudSettingsView

test('without settings, the effective rules of platform and account are the built-in defaults', async () => {
  for (const path of ['/fraud', own()]) {
    const answer = await app.admin('GET', path)
    expect(answer.status).toBe(200)
    expect(answer.body['data']).toEqual({ settings: {}, effective: DEFAULT_RULES })
  }
})

test("an account's settings override the platform's, field by field", async () => {
  await app.admin('PUT', '/fraud', {
    prefix: { mode: 'monitor', unverified: 40 },
    safe: ['+4479*'],
    spend: { dailyCap: 12.5 },
  })
  const put = await app.admin('PUT', own(), {
    // Every object inherits toString, but it is not a setting.
    prefix: { unverified: 15, unknown: 1, toString: 'x' },
    safe: ['friend@example.com'],
    spend: { dailyCap: null },
    unknown: { mode: 'block' },
  })
  expect(put.status, put.text).toBe(200)
  const { settings, effective } = viewOf(put)
  expect(settings).toEqual({
    prefix: { unverified: 15 },
    safe: ['friend@example.com'],
    spend: { dailyCap: null },
  })
  expect(effective).toEqual({
    ...DEFAULT_RULES,
    prefix: { mode: 'monitor', unverified: 15 },
    spend: { mode: 'block', dailyCap: null },
    safe: ['+4479*', 'friend@example.com'],
  })
  expect(viewOf(await app.admin('GET', own()))).toEqual({ settings, effective })
  // A field absent from a later PUT falls back to the platform setting.
  expect(viewOf(await app.admin('PUT', own(), {})).effective.prefix.unverified).toBe(40)
})

describe('PUT of fraud settings', () => {
  test.each([
    ['an unknown mode', { prefix: { mode: 'on' } }, ['prefix.mode']],
    ['a limit of zero sends', { recipient: { sends: 0 } }, ['recipient.sends']],
    ['a limit with a fraction of a send', { recipient: { sends: 1.5 } }, ['recipient.sends']],
    ['a window of more than a day', { clientIp: { windowMinutes: 1_441 } }, ['clientIp.windowMinutes']],
    ['a share above one', { conversion: { share: 1.1 } }, ['conversion.share']],
    ['a share of zero', { conversion: { share: 0 } }, ['conversion.share']],
    [
      'an unknown country',
      { allowedCountries: { countries: ['US', 'XX'] } },
      ['allowedCountries.countries[1]'],
    ],
    ['an unknown number type', { numberType: { types: ['mobile'] } }, ['numberType.types[0]']],
    ['a negative spending cap', { spend: { dailyCap: -1 } }, ['spend.dailyCap']],
    ['a spending cap with seven decimals', { spend: { dailyCap: 0.1234567 } }, ['spend.dailyCap']],
    [
      'malformed entries in the list of safe recipients',
      { safe: ['+4479*', 'all', '**', '4479*'] },
      ['safe[1]', 'safe[2]', 'safe[3]'],
    ],
    ['a rule that is not an object', { prefix: 'off' }, ['prefix']],
    ['a body that is an array', [], ['']],
  ])('is rejected with 400 naming the field, and stores nothing: %s', async (_, body, paths) => {
    for (const path of ['/fraud', own()]) {
      const answer = await app.admin('PUT', path, body)
      expect([answer.status, answer.body['code']], answer.text).toEqual([400, 'VALIDATION_ERROR'])
      expect(faultPaths(answer)).toEqual(paths)
      expect(viewOf(await app.admin('GET', path)).settings).toEqual({})
    }
  })

  test('returns 404 for an unknown account, as does GET', async () => {
    for (const id of ['acc_01m7zh2v4me8jr8s0w5b1yw1yh', 'nobody']) {
      expect((await app.admin('PUT', `/accounts/${id}/fraud`, {})).status).toBe(404)
      expect((await app.admin('GET', `/accounts/${id}/fraud`)).status).toBe(404)
    }
  })

  test('returns 401 for an API key in place of the operator token, as does GET', async () => {
    for (const path of ['/api/admin/fraud', `/api/admin${own()}`]) {
      expect((await app.call(path, { key: account.liveKey })).status).toBe(401)
      expect((await app.call(path, { method: 'PUT', key: account.liveKey, body: {} })).status).toBe(401)
    }
  })
})
